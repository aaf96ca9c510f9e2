#!/usr/bin/env bash
# openskill 6.2.0, `rate(weights=...)`, one system against another.
#
# Expected: equal weights change nothing; weight 1 is the same as no weight.
# Seen: any equal weights double the winner's gain and halve the loser's loss, so ratings of equal systems drift up with each battle.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'openskill==6.2.0' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
from openskill.models import PlackettLuce

model = PlackettLuce()
first, second = model.rating(mu=25, sigma=3), model.rating(mu=25, sigma=3)


def changes(**options):
    (winner,), (loser,) = model.rate([[first], [second]], **options)
    return round(winner.mu - 25, 3), round(loser.mu - 25, 3)


plain, ones, fives = changes(), changes(weights=[[1], [1]]), changes(weights=[[5], [5]])
print(f"Winner and loser move by {plain} without weights, {ones} with weights of 1, {fives} with weights of 5.")
doubled = abs(ones[0] - 2 * plain[0]) < 0.002 and abs(ones[1] - plain[1] / 2) < 0.002
raise SystemExit(0 if plain[0] == -plain[1] and doubled and ones == fives else 1)
PYTHON
