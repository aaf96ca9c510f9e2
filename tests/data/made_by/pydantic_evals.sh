#!/usr/bin/env bash
# pydantic-evals 2.62.0: an experiment report with one failed case. Run by hand: bash pydantic_evals.sh PYTHON OUT
"$1" - "$2" <<'PY'
import sys
from pathlib import Path
from pydantic_evals import Case, Dataset
from pydantic_evals.reporting import EvaluationReportAdapter

ASKED = {"q1": ("What is the capital of France?", "Paris."), "q2": ("How high is Mount Everest?", "8,849 metres."),
         "q3": ("Who wrote Hamlet?", "Shakespeare.")}
RIGHT = {"q1": "Paris is the capital of France.", "q2": "Mount Everest is 8,849 metres high."}

def good(inputs: dict[str, str]) -> str:
    return RIGHT[next(name for name, (text, _) in ASKED.items() if text == inputs["question"])]

cases = [Case(name=name, inputs={"question": text}, expected_output=right) for name, (text, right) in ASKED.items()]
report = Dataset(name="four", cases=cases).evaluate_sync(good, progress=False)
Path(sys.argv[1], "pydantic_evals.json").write_bytes(EvaluationReportAdapter.dump_json(report, indent=1))
PY
