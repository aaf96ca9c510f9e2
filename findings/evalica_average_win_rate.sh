#!/usr/bin/env bash
# evalica 0.4.2, `average_win_rate`, on three systems: a won 90 of 100 against b and lost 9 of 10 to c; b and c split 12 with two ties.
#
# Expected: a's rate is wins over battles, 91 of 110, the highest.
# Seen: the rates against each opponent are averaged, so ten battles weigh as much as a hundred: a has 0.50 and c 0.70. The package's
# `counting`, Elo and Bradley-Terry all rank a first.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'evalica==0.4.2' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import evalica
from evalica import Winner

left, right, winners = [], [], []
for first, second, wins, losses, ties in (("a", "b", 90, 10, 0), ("a", "c", 1, 9, 0), ("b", "c", 5, 5, 2)):
    left += [first] * (wins + losses + ties)
    right += [second] * (wins + losses + ties)
    winners += [Winner.X] * wins + [Winner.Y] * losses + [Winner.Draw] * ties

leaders = {}
for method in ("counting", "elo", "bradley_terry", "average_win_rate"):
    scores = getattr(evalica, method)(left, right, winners).scores
    leaders[method] = scores.idxmax()
    print(f"{method}: {scores.round(2).to_dict()}")
rates = scores.round(2).to_dict()
raise SystemExit(0 if list(leaders.values()) == ["a", "a", "a", "c"] and rates == {"c": 0.7, "a": 0.5, "b": 0.3} else 1)
PYTHON
