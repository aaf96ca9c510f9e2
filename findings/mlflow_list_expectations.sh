#!/usr/bin/env bash
# mlflow 3.17.2, `mlflow.genai.evaluate`, on an expectation that is a text and one that is a list (`expected_facts`, as its own scorers ask for).
#
# Expected: both are in the table of results.
# Seen: the column of the list exists and is empty in each row; the facts stand in the trace only, and no warning says so.
#
# Exits 0 while this is so, 1 when that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'mlflow==3.17.2' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import os

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
import mlflow
from mlflow.genai import evaluate, scorer

mlflow.set_tracking_uri("sqlite:///runs.db")


@scorer
def answered(outputs):
    return bool(outputs)


data = [
    {
        "inputs": {"question": "Where is the Louvre?"},
        "outputs": "In Paris.",
        "expectations": {"expected_response": "Paris", "expected_facts": ["It is in Paris.", "It is in France."]},
    }
]
row = evaluate(data=data, scorers=[answered]).result_df.iloc[0]
text, facts = row["expected_response/value"], row["expected_facts/value"]
print(f"In the table: expected_response {text!r}, expected_facts {facts!r}.")
raise SystemExit(0 if text == "Paris" and not isinstance(facts, (list, str)) else 1)
PYTHON
