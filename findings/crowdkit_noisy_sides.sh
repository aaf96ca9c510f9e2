#!/usr/bin/env bash
# crowd-kit 1.4.2, `NoisyBradleyTerry`, on 30 comparisons of three systems by three people, and on the same rows with left and right
# swapped (labels are names, so nothing else changes).
#
# Expected: the same scores.
# Seen: different scores. The model learns a preference for the left side, from random starting values that depend on position.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'crowd-kit==1.4.2' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import pandas as pd
from crowdkit.aggregation import NoisyBradleyTerry

results = {("a", "b"): (6, 4), ("b", "c"): (6, 4), ("a", "c"): (7, 3)}
rows = [
    (f"person {number % 3}", first, second, first if number < wins else second)
    for (first, second), (wins, losses) in results.items()
    for number in range(wins + losses)
]
table = pd.DataFrame(rows, columns=["worker", "left", "right", "label"])
swapped = table.rename(columns={"left": "right", "right": "left"})
scores = [NoisyBradleyTerry(random_state=0).fit_predict(each).round(2).to_dict() for each in (table, swapped)]
again = NoisyBradleyTerry(random_state=0).fit_predict(table).round(2).to_dict()
print(f"Scores: {scores[0]} as given, {scores[1]} with sides swapped.")
raise SystemExit(0 if scores[0] != scores[1] and again == scores[0] else 1)
PYTHON
