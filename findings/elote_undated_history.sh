#!/usr/bin/env bash
# elote 1.5.1, `WholeHistoryRatingCompetitor`: one system wins all 100 battles against another.
#
# Expected: a near-certain favourite, with or without dates.
# Seen: 97.9 % with one date per day; without dates, as in a battle file, all battles count as one day, for which the prior allows
# 17 Elo points either way: 66.2 % after 100 wins in 100 battles, 51 % after four in four.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'elote==1.5.1' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
from datetime import datetime, timedelta

from elote import WholeHistoryRatingCompetitor


def chance(battles, dated):
    first, second = WholeHistoryRatingCompetitor(), WholeHistoryRatingCompetitor()
    for number in range(battles):
        options = {"match_time": datetime(2026, 1, 1) + timedelta(days=number)} if dated else {}
        first.beat(second, **options)
    return round(100 * first.expected_score(second), 1)


dated, undated, few = chance(100, True), chance(100, False), chance(4, False)
print(f"Chance of the winner: {dated} % with dates, {undated} % without, {few} % after four battles.")
raise SystemExit(0 if dated > 95 and undated < 70 and few < 52 else 1)
PYTHON
