#!/usr/bin/env bash
# evalica 0.4.2, `newman`, on three systems that each met one baseline 100 times without ties (the usual baseline design).
#
# Expected: the odds from the counts, 60 : 40, 70 : 30 and 80 : 20, so scores of 1.5, 2.33 and 4 times the baseline's.
# Seen: at the default limit of 100 iterations, the baseline outranks the system that beat it 60 : 40; at 101, the scores are 3.5, 5.4
# and 9.3 times the baseline's. The fit oscillates between the two forever, without a warning.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'evalica==0.4.2' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import evalica
from evalica import Winner

left, right, winners = [], [], []
for name, wins in (("s60", 60), ("s70", 70), ("s80", 80)):
    left += [name] * 100
    right += ["baseline"] * 100
    winners += [Winner.X] * wins + [Winner.Y] * (100 - wins)


def odds(method, limit):
    scores = getattr(evalica, method)(left, right, winners, limit=limit).scores
    return [round(float(scores[name] / scores["baseline"]), 2) for name in ("s60", "s70", "s80")]


reference = odds("bradley_terry", 100)
even, odd, late = odds("newman", 100), odds("newman", 101), odds("newman", 100_000)
print(f"Bradley-Terry: {reference}; newman after 100, 101 and 100,000 iterations: {even}, {odd}, {late}.")
raise SystemExit(0 if reference == [1.5, 2.33, 4.0] and even == late == [0.64, 1.0, 1.71] and odd == [3.5, 5.44, 9.33] else 1)
PYTHON
