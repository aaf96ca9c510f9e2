#!/usr/bin/env bash
# azure-ai-evaluation 1.18.10: answers in the data, next to an evaluator's reasons. Run by hand: bash azure.sh PYTHON OUT
set -euo pipefail
out=$(realpath "$2") && cd "$(mktemp -d)"
"$1" - "$out" <<'PY'
import json, sys
from azure.ai.evaluation import F1ScoreEvaluator, evaluate

ASKED = {"What is the capital of France?": "Paris is the capital of France.",
         "How high is Mount Everest?": "Mount Everest is 8,849 metres high.",
         "Who wrote Hamlet?": "William Shakespeare wrote Hamlet."}

def reasoned(response: str) -> dict:
    return {"good": 1.0, "good_reason": f"The response {response!r} is rather good."}

with open("data.jsonl", "w") as file:
    for asked, right in ASKED.items():
        file.write(json.dumps({"query": asked, "response": f"I think: {right}", "ground_truth": right}) + "\n")
evaluate(data="data.jsonl", evaluators={"f1": F1ScoreEvaluator(), "reasoned": reasoned}, output_path="azure.json")
made = json.load(open("azure.json"))
with open(f"{sys.argv[1]}/azure.json", "w") as file:
    file.write(json.dumps({**made, "metrics": {}, "studio_url": None}, indent=1) + "\n")
PY
