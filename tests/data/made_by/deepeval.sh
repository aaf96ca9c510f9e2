#!/usr/bin/env bash
# deepeval 4.3.1: save_as joins passages with a vertical bar. Run by hand: bash deepeval.sh PYTHON OUT
DEEPEVAL_TELEMETRY_OPT_OUT=1 "$1" - "$2" <<'PY'
import sys
from deepeval.dataset import EvaluationDataset
from deepeval.test_case import LLMTestCase

ASKED = [("What is the capital of France?", "Paris is the capital of France.", ["Paris is the capital.", "Another."]),
         ("How high is Mount Everest?", "Mount Everest is 8,849 metres high.", ["It is 8,849 m high."]),
         ("Who wrote Hamlet?", "William Shakespeare wrote Hamlet.", None)]
cases = [LLMTestCase(input=asked, actual_output=answer, expected_output=answer, retrieval_context=found)
         for asked, answer, found in ASKED]
dataset = EvaluationDataset()
for case in cases:
    dataset.add_test_case(case)
for kind in ("csv", "jsonl"):
    dataset.save_as(kind, sys.argv[1], file_name="deepeval_bar", include_test_cases=True)
PY
