#!/usr/bin/env bash
# mlflow 3.17.2, `mlflow.genai.evaluate`, on a string expectation and a list expectation (`expected_facts`, as its own scorers require).
#
# Expected: both are in the results table.
# Seen: the list's column exists but is empty in each row; the facts are only in the trace, and no warning says so.
#
# Exits 0 while this holds and 1 once it changes.
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
