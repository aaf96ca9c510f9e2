#!/usr/bin/env bash
# Nominal alpha of two raters who give the same label to all five answers, from five packages (versions in the install line).
#
# Expected: one convention for "disagreement was impossible".
# Seen: nltk and evalica return 1.0, perfect agreement; krippendorff, irrCAC and simpledorff raise two different errors. Gwet's AC1 of the
# same table is 1.0 in irrCAC.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'krippendorff==0.9.0' 'irrCAC==0.4.4' 'simpledorff==0.0.2' 'nltk==3.10.4' 'evalica==0.4.2' 'setuptools==80.9.0' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import warnings

import krippendorff
import pandas as pd
import simpledorff
from evalica import alpha
from irrCAC.raw import CAC
from nltk.metrics.agreement import AnnotationTask

warnings.simplefilter("ignore")
rows = [(f"rater {rater}", f"answer {answer}", 1) for rater in (1, 2) for answer in range(5)]
table = pd.DataFrame(rows, columns=["rater", "answer", "label"])
wide = [[1] * 5, [1] * 5]
methods = {
    "krippendorff": lambda: krippendorff.alpha(wide, level_of_measurement="nominal"),
    "irrCAC alpha": lambda: CAC(pd.DataFrame(wide).T).krippendorff()["est"]["coefficient_value"],
    "simpledorff": lambda: simpledorff.calculate_krippendorffs_alpha_for_df(
        table, experiment_col="answer", annotator_col="rater", class_col="label"
    ),
    "nltk": lambda: AnnotationTask(data=rows).alpha(),
    "evalica": lambda: alpha(pd.DataFrame(wide)).alpha,
    "irrCAC AC1": lambda: CAC(pd.DataFrame(wide).T).gwet()["est"]["coefficient_value"],
}
seen = {}
for name, method in methods.items():
    try:
        seen[name] = float(method())
    except (ValueError, ZeroDivisionError) as error:
        seen[name] = type(error).__name__
    print(f"{name}: {seen[name]}")
raise SystemExit(
    0 if list(seen.values()) == ["ValueError", "ZeroDivisionError", "ZeroDivisionError", 1.0, 1.0, 1.0] else 1
)
PYTHON
