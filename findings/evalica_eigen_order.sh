#!/usr/bin/env bash
# evalica 0.4.2, `eigen`, on three systems with 10 battles per pair: a beats b 6 : 4, b beats c 6 : 4, a beats c 7 : 3.
#
# Expected: the scores rank a, b, c, as every other method of the package does.
# Seen: c, b, a. The scores are the leading eigenvector of the transposed win matrix, so losing to strong systems raises a score.
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

results = {("a", "b"): (6, 4), ("b", "c"): (6, 4), ("a", "c"): (7, 3)}
left, right, winners = [], [], []
for (first, second), (wins, losses) in results.items():
    left += [first] * (wins + losses)
    right += [second] * (wins + losses)
    winners += [Winner.X] * wins + [Winner.Y] * losses

orders = {}
for method in ("bradley_terry", "newman", "pagerank", "average_win_rate", "eigen"):
    scores = getattr(evalica, method)(left, right, winners).scores
    orders[method] = "".join(scores.index)
    print(f"{method}: {', '.join(f'{name} {score:.3f}' for name, score in scores.items())}")
eigen = orders.pop("eigen")
raise SystemExit(0 if set(orders.values()) == {"abc"} and eigen == "cba" else 1)
PYTHON
