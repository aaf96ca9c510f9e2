"""Memory used to check the largest answer files, each in a separate process."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="NO /proc: the memory of a check is not looked at"
)
ROOT = Path(__file__).parents[2]
CHECK = """
import json, sys
from pathlib import Path
from data.models import Question, QuestionSet
from submissions.check import check_answers, read_answers
number = int(sys.argv[2])
items = tuple(
    Question(id=f"q{n}", domain=f"d{n % 7}", question=f"What is known of {n}?", reference=f"Of {n} " * 80)
    for n in range(number)
)
domains = {f"d{n}": "D" for n in range(7)}
questions = QuestionSet(name="large", title="Large", domains=domains, questions=items)
path = Path(sys.argv[1])
result = check_answers(path, questions)
read = sum(1 for _ in read_answers(path, questions))
# The peak since this program began; that of `getrusage` counts the process that started it as well.
[line] = [row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith("VmHWM:")]
peak = int(line.split()[1]) * 1024 / 1e6
print(json.dumps({"accepted": result.accepted, "answers": result.answers, "read": read, "peak_mb": peak}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    # Memory grows with the number of answers: within this limit for 20,000, 100,000 stay below 400 MB.
    ("answers", "context_chars", "max_mb"),
    [(20_000, 0, 120), (4_000, 50_000, 400)],
    ids=["many", "long"],
)
def test_largest_files_are_checked_within_memory_limit(
    answers: int, context_chars: int, max_mb: int, tmp_path: Path
) -> None:
    path, size = tmp_path / "answers.jsonl.gz", 0
    with gzip.open(path, "wt", compresslevel=1) as file:
        for number in range(answers):
            # Distinct texts, so that the file does not look like a bomb.
            text = " ".join(f"{number * 7919 + word:x}" for word in range(60))
            contexts = [f"{number} " + text * (context_chars // len(text))] if context_chars else []
            row = {"question_id": f"q{number}", "answer": f"Of {number}: {text}", "contexts": contexts}
            size += file.write(json.dumps(row) + "\n")
    assert size >= (200_000_000 if context_chars else 0)
    command = [sys.executable, "-c", CHECK, str(path), str(answers)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    result = json.loads(output)
    assert (result["accepted"], result["answers"], result["read"]) == (True, answers, answers)
    assert result["peak_mb"] < max_mb
