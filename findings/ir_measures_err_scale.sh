#!/usr/bin/env bash
# ir-measures 0.4.3, `ERR@10`, on a run whose first document is relevant, with judgments 0 and 1. (Requires perl, as the measure's
# provider does.)
#
# Expected: near 1, the value of a perfect ranking, as for every other measure of the package.
# Seen: 0.0625. The maximum grade is fixed at 4 whatever the judgments contain, so a grade of 1 satisfies one reader in sixteen.
# ERR from binary judgments is not comparable with ERR from graded ones.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-compile 'ir-measures==0.4.3' 'pytrec-eval-terrier==0.5.11' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import ir_measures
from ir_measures import ERR, RR, nDCG

judgments = {"1": {"a": 1, "b": 0}}
run = {"1": {"a": 2.0, "b": 1.0}}
measures = [ERR @ 10, RR, nDCG @ 10]
binary = ir_measures.calc_aggregate(measures, judgments, run)
graded = ir_measures.calc_aggregate(measures, {"1": {"a": 4, "b": 0}}, run)
print(f"A perfect run: {binary} with grades to 1, {graded} with grades to 4.")
raise SystemExit(0 if [binary[m] for m in measures] == [0.0625, 1.0, 1.0] and graded[ERR @ 10] == 0.9375 else 1)
PYTHON
