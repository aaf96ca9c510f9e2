#!/usr/bin/env bash
# statsmodels 0.15.0, `aggregate_raters` then `fleiss_kappa`: three raters disagree on four answers; six more answers are still unrated.
#
# Expected: missing ratings are ignored or rejected; kappa stays −0.33.
# Seen: NaN becomes a third category, on which all three raters agree six times: kappa is 0.52.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'statsmodels==0.15.0' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import numpy as np
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

rated = np.array([[1, 1, 2], [2, 2, 1], [1, 2, 2], [2, 1, 1]], dtype=float)
waiting = np.full((6, 3), np.nan)


def kappa(ratings):
    counts, categories = aggregate_raters(ratings)
    return round(float(fleiss_kappa(counts)), 2), [float(category) for category in categories]


alone, together = kappa(rated), kappa(np.vstack([rated, waiting]))
print(f"Kappa and categories: {alone} for the rated answers, {together} with six unrated ones.")
raise SystemExit(0 if alone[0] == -0.33 and together[0] == 0.52 and len(together[1]) == 3 else 1)
PYTHON
