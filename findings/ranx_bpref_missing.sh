#!/usr/bin/env bash
# ranx 0.3.21, `bpref`, on a question with one document judged relevant and none judged irrelevant.
#
# Expected: 1.0 for that question, as in trec_eval (pytrec-eval-terrier 0.5.11).
# Seen: NaN, so the mean over all questions is also NaN, without a warning.
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'ranx==0.3.21' 'numba==0.68.1' 'numpy==2.4.6' 'pandas==3.1.1' 'pytrec-eval-terrier==0.5.11' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import math
import warnings

import pytrec_eval

warnings.simplefilter("ignore")
from ranx import Qrels, Run, evaluate

judgments = {"1": {"d1": 1, "d2": 1, "d3": 0}, "2": {"d1": 1}}
run = {"1": {"d2": 3.0, "d3": 2.0, "d1": 1.0}, "2": {"d5": 1.0, "d1": 0.5}}
by_trec = [scores["bpref"] for scores in pytrec_eval.RelevanceEvaluator(judgments, {"bpref"}).evaluate(run).values()]
by_ranx = [float(score) for score in evaluate(Qrels(judgments), Run(run), "bpref", return_mean=False)]
mean = float(evaluate(Qrels(judgments), Run(run), "bpref"))
print(f"bpref of two questions: {by_trec} by trec_eval, {by_ranx} by ranx, whose mean is {mean}.")
raise SystemExit(0 if by_trec[1] == 1.0 and math.isnan(by_ranx[1]) and math.isnan(mean) else 1)
PYTHON
