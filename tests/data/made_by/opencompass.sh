#!/usr/bin/env bash
# opencompass 0.5.4 (pyarrow 19): predictions of a chat model, from its own writer (its command was not run).
# Run by hand: bash opencompass.sh PYTHON OUT
set -euo pipefail
out=$(realpath "$2") && cd "$(mktemp -d)"
"$1" - "$out" <<'PY'
import sys
from pathlib import Path
from opencompass.openicl.icl_inferencer.icl_base_inferencer import GenInferencerOutputHandler
from opencompass.utils.prompt import PromptList

ASKED = {"What is the capital of France?": "Paris is the capital of France.",
         "How high is Mount Everest?": "Mount Everest is 8,849 metres high.",
         "Who wrote Hamlet?": "William Shakespeare wrote Hamlet."}

handler = GenInferencerOutputHandler()
for place, (asked, right) in enumerate(ASKED.items()):
    prompt = PromptList([{"role": "SYSTEM", "prompt": "You are kind."}, {"role": "HUMAN", "prompt": f"Question: {asked}"}])
    handler.save_results(prompt, right, place, gold=right)
folder = Path(sys.argv[1], "predictions/good")
folder.mkdir(parents=True, exist_ok=True)
handler.write_to_json(str(folder), "four.json")
PY
