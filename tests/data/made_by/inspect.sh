#!/usr/bin/env bash
# inspect-ai 0.3.285: three completions per sample, one sample invalidated, one stopped by its token limit,
# one truncated at max_tokens. Run by hand: bash inspect.sh PYTHON PORT OUT
"$1" - "$2" "$3" <<'PY'
import glob, json, os, sys
port, out = sys.argv[1:]
os.environ.update(LOCAL_BASE_URL=f"http://127.0.0.1:{port}/v1", LOCAL_API_KEY="x", INSPECT_DISPLAY="none")
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import ProvenanceData, invalidate_samples, read_eval_log, write_eval_log
from inspect_ai.solver import generate, solver

ASKED = {"q1": "What is the capital of France?", "q2": "How high is Mount Everest?", "q3": "Who wrote Hamlet?",
         "q4": "How does rain form?"}

@solver
def limited():
    async def solve(state, gen):
        if state.sample_id == "q4":
            from inspect_ai.util import LimitExceededError
            raise LimitExceededError("token", value=9, limit=5)
        return await gen(state)
    return solve

task = Task(name="qa", dataset=[Sample(input=text, id=name) for name, text in ASKED.items()], solver=limited())
(log,) = eval(task, model="openai-api/local/good", num_choices=3, log_dir=out, log_format="eval")
log = read_eval_log(log.location)
third = next(one for one in log.samples if one.id == "q3")
log = invalidate_samples(log, [third.uuid], ProvenanceData(author="ann", reason="the tool was down"))
for one in log.samples:
    one.events = []
write_eval_log(log, f"{out}/inspect_choices.json", format="json")
write_eval_log(log, f"{out}/inspect_choices.eval", format="eval")
PY
