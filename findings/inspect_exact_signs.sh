#!/usr/bin/env bash
# inspect-ai 0.3.285, scorers `exact()`, `f1()` and `match(numeric=True)`.
#
# Expected: -5 is not 5, C++ is not C#, and a percent sign changes a number no more than a unit does.
# Seen: punctuation is dropped, including signs: `exact()` and `f1()` accept "-5" for "5" and "C++" for "C#". `match(numeric=True)`
# rejects "42%" for "42" but accepts "42 km".
#
# Exits 0 while this holds and 1 once it changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'inspect-ai==0.3.285' 2>/dev/null
cd "$folder"
env/bin/python - <<'PYTHON'
import asyncio

from inspect_ai.model import ModelName, ModelOutput
from inspect_ai.scorer import Target, exact, f1, match
from inspect_ai.solver import TaskState


def score(scorer, answer, target):
    model = "mockllm/model"
    output = ModelOutput.from_content(model, answer)
    state = TaskState(model=ModelName(model), sample_id="1", epoch=1, input="question", messages=[], output=output)
    return asyncio.run(scorer(state, Target(target))).value


signs = [score(exact(), "-5", "5"), score(exact(), "C++", "C#"), score(f1(), "-5", "5")]
numbers = [score(match(numeric=True), "42%", "42"), score(match(numeric=True), "42 km", "42")]
print(f"exact -5 for 5, exact C++ for C#, f1 -5 for 5: {signs}; numeric match of 42% and 42 km for 42: {numbers}")
raise SystemExit(0 if signs == ["C", "C", 1.0] and numbers == ["I", "C"] else 1)
PYTHON
