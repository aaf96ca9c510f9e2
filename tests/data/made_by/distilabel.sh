#!/usr/bin/env bash
# distilabel 1.5.3, datasets 5.2.0: two generations per row as lists, in CSV. Run by hand: bash distilabel.sh PYTHON PORT OUT
set -euo pipefail
out=$(realpath "$3") && cd "$(mktemp -d)"
cat > qa_pipeline.py <<'PY'
import sys
from distilabel.models import OpenAILLM
from distilabel.pipeline import Pipeline
from distilabel.steps import LoadDataFromDicts
from distilabel.steps.tasks import TextGeneration

ASKED = ("What is the capital of France?", "How high is Mount Everest?", "Who wrote Hamlet?")

if __name__ == "__main__":
    port, out = sys.argv[1:]
    with Pipeline(name="qa") as pipeline:
        llm = OpenAILLM(model="good", base_url=f"http://127.0.0.1:{port}/v1", api_key="x")
        step = TextGeneration(llm=llm, num_generations=2, group_generations=True, add_raw_input=False, add_raw_output=False)
        LoadDataFromDicts(data=[{"instruction": asked} for asked in ASKED]) >> step
    pipeline.run(use_cache=False)["default"]["train"].to_csv(f"{out}/distilabel.csv")
PY
"$1" qa_pipeline.py "$2" "$out"
