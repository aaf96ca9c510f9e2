#!/usr/bin/env bash
# elote 1.5.1, `WholeHistoryRatingCompetitor`: one system wins all of 100 battles against another.
#
# Expected: a near-certain favourite, whether the battles have dates or not.
# Seen: with a date a day 97.9 %; without dates, as in a file of battles, all count as one day, for which the prior allows 17 Elo points
# either side: 66.2 % after 100 wins of 100, 51 % after four of four.
#
# Exits 0 while this is so, 1 when that changes.
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
