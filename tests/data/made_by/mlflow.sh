#!/usr/bin/env bash
# mlflow 3.17.2: the results table of genai.evaluate, as Parquet, CSV and JSON Lines. Run by hand: bash mlflow.sh PYTHON OUT
cd "$2" && MLFLOW_TRACKING_URI="sqlite:///mlflow.db" "$1" - <<'PY'
import mlflow
from mlflow.genai.scorers import scorer

ASKED = {"What is the capital of France?": "Paris is the capital of France.",
         "How high is Mount Everest?": "Mount Everest is 8,849 metres high.",
         "Who wrote Hamlet?": "William Shakespeare wrote Hamlet."}

@scorer
def short(outputs) -> bool:
    return True

data = [{"inputs": {"question": asked}, "expectations": {"expected_response": answer}} for asked, answer in ASKED.items()]
def good(question: str) -> dict:
    return {"answer": ASKED[question], "reasoning": "I recall it."}

frame = mlflow.genai.evaluate(data=data, predict_fn=good, scorers=[short]).result_df
frame = frame.drop(columns=[name for name in ("trace", "spans", "trace_metadata", "tags", "assessments") if name in frame])
frame.to_csv("mlflow.csv", index=False)
frame.to_json("mlflow.jsonl", orient="records", lines=True)
frame.to_parquet("mlflow.parquet")
PY
