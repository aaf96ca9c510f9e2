"""The same judging work through inspect_ai: samples in, replies out, a log on disk.

    PYTHON benchmarks/inspect_judging.py URL CONNECTIONS < messages.json

PYTHON is an interpreter that has `inspect_ai` and `openai`; `benchmarks/judging.py --inspect PYTHON` calls
it.
Prints replies a second, by the wall clock and by processor time, as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time

from inspect_ai import Task, eval  # noqa: A004 - its name
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, GenerateConfig, get_model
from inspect_ai.solver import generate


def main() -> None:
    """Judge the messages on stdin."""
    url, connections = sys.argv[1], int(sys.argv[2])
    work = json.load(sys.stdin)
    samples = [
        Sample(input=[ChatMessageSystem(content=system), ChatMessageUser(content=user)])
        for system, user in work
    ]
    config = GenerateConfig(temperature=0.0, top_p=1.0, max_tokens=256, max_connections=connections)
    model = get_model("openai/gpt-4o", base_url=url, api_key="none", config=config, responses_api=False)
    task = Task(dataset=MemoryDataset(samples), solver=generate())
    with tempfile.TemporaryDirectory() as folder:
        started, used = time.perf_counter(), time.process_time()
        [log] = eval(task, model=model, log_dir=folder, display="none", max_samples=connections)
        seconds, busy = time.perf_counter() - started, time.process_time() - used
        done = len(log.samples or ())
    if log.status != "success" or done != len(work):
        sys.exit(f"inspect_ai ended with {log.status} after {done} of {len(work)} samples")
    print(json.dumps({"by the clock": done / seconds, "by processor time": done / busy}))


if __name__ == "__main__":
    main()
