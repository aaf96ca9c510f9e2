#!/usr/bin/env bash
# ppi-python 0.2.3: a judge's verdicts on 2,000 battles, corrected by few labels of people (prediction-powered inference).
#
# Expected: the 95 % interval of one label is as wide as ignorance, or an error; that of twenty labels that all say 1 reaches below 1.
# Seen: both intervals are [1, 1], and the p-value of "the share is .999" is 0; no warning.
#
# Exits 0 while this is so, 1 when that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'ppi-python==0.2.3' 'numpy==2.4.6' 'scipy==1.17.1' 2>/dev/null
cd "$folder"
cat > intervals.py <<'PYTHON'
import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pval

random = np.random.default_rng(0)
judge, rest = random.random(20), random.random(2_000)


def ends(labels, verdicts, others):
    return [float(end[0]) for end in ppi_mean_ci(labels, verdicts, others, alpha=0.05)]


one = ends(np.ones(1), judge[:1], rest)
twenty = ends(np.ones(20), judge, rest)
p = float(ppi_mean_pval(np.ones(20), judge, rest, null=0.999)[0])
print(f"one label {one}, twenty labels {twenty}, p {p}")
raise SystemExit(not (one == twenty == [1.0, 1.0] and p == 0.0))
PYTHON
"$folder/env/bin/python" intervals.py
