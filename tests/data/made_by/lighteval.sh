#!/usr/bin/env bash
# lighteval 0.13.0 (xxhash 3): details with two texts per sample, from its own logger and writer; its command downloads its data.
# Run by hand: bash lighteval.sh PYTHON OUT
set -euo pipefail
out=$(realpath "$2") && cd "$(mktemp -d)"
"$1" - <<'PY'
from lighteval.logging.evaluation_tracker import EvaluationTracker
from lighteval.models.abstract_model import ModelConfig
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc

ASKED = {"What is the capital of France?": "Paris is the capital of France.",
         "How high is Mount Everest?": "Mount Everest is 8,849 metres high.",
         "Who wrote Hamlet?": "William Shakespeare wrote Hamlet."}

tracker = EvaluationTracker(output_dir="made", save_details=True)
tracker.general_config_logger.log_model_info(ModelConfig(model_name="org/good"))
for place, (asked, right) in enumerate(ASKED.items()):
    doc = Doc(id=str(place), task_name="four", query=f"Question: {asked}", choices=["It is so.", right], gold_index=1,
              instruction="Answer in a sentence.")
    texts = [right, f"{right} Sample 2."]
    response = ModelResponse(input=[{"role": "user", "content": doc.query}], text=texts, text_post_processed=texts,
                             reasonings=["I recall it.", None])
    tracker.details_logger.log("four", doc, response, {"em": 1.0})
tracker.save()
PY
cp -r made/details "$out"
