"""Time and peak memory of checking a large file of answers, each format in a process of its own.

    python benchmarks/intake.py [--answers 100000] [--megabytes 200]

Checks a file of so many answers, and one of so many megabytes (with contexts), to as many questions.
The issue's limit is 400 MB of memory for either.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from data.models import Passage, Question, QuestionSet
from submissions.check import check_answers, read_answers

WORDS = 120
CONTEXT_WORDS = 60
DOMAINS = ("biomedical", "finance", "lifestyle", "recreation", "science", "technology", "writing")
FORMATS = ("jsonl", "jsonl.gz", "json", "csv")


def main() -> None:
    """Write the files, check each in a new process, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--check", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--questions", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.check:
        print(json.dumps(measure(given.check, given.questions)))
        return
    print(f"{'file':<24}{'answers':>9}{'MB':>8}{'set MB':>8}{'peak MB':>9}{'check s':>9}{'read s':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMATS:
            report(Path(folder) / f"answers.{form}", given.answers, contexts=0)
        # A row with four contexts of 60 words has about 3,340 bytes.
        number = given.megabytes * 1_000_000 // 3_340
        for form in FORMATS:
            report(Path(folder) / f"contexts.{form}", number, contexts=4)


def report(path: Path, number: int, *, contexts: int) -> None:
    """Write one file and measure it in a new process."""
    write(path, number, contexts)
    command = [sys.executable, __file__, "--check", str(path), "--questions", str(number)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    size = path.stat().st_size / 1e6
    path.unlink()
    print(
        f"{path.name:<24}{found['answers']:>9,}{size:>8.0f}{found['set_mb']:>8.0f}{found['peak_mb']:>9.0f}"
        f"{found['check_s']:>9.1f}{found['read_s']:>8.1f}",
        flush=True,
    )


def measure(path: Path, number: int) -> dict[str, Any]:
    """Check and read one file; memory in megabytes, times in seconds."""
    questions = make_set(number)
    before = peak()
    start = time.perf_counter()
    result = check_answers(path, questions)
    checked = time.perf_counter()
    assert result.accepted, result.problems[:3]
    read = sum(1 for _ in read_answers(path, questions))
    assert read == result.answers == number
    return {
        "answers": result.answers,
        "set_mb": before,
        "peak_mb": peak(),
        "check_s": checked - start,
        "read_s": time.perf_counter() - checked,
    }


def peak() -> float:
    """The most memory this process ever had, in megabytes (Linux counts in kilobytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def make_set(number: int) -> QuestionSet:
    """A set of so many questions, each with a reference of 80 words."""
    source = random.Random(1)
    asked = tuple(
        Question(
            id=f"q-{place}",
            domain=DOMAINS[place % len(DOMAINS)],
            question=f"What is known of number {place}?",
            reference=words(source, 80),
        )
        for place in range(number)
    )
    return QuestionSet(name="large", title="Large", domains={name: name for name in DOMAINS}, questions=asked)


def write(path: Path, number: int, contexts: int) -> None:
    """Write answers of 120 words in the format of the file's name."""
    source = random.Random(2)
    with open_text(path) as file:
        if path.suffix == ".csv":
            table = csv.writer(file)
            table.writerow(["question_id", "answer", "contexts"])
            for row in rows(source, number, contexts):
                table.writerow([row["question_id"], row["answer"], json.dumps(row["contexts"])])
            return
        array = path.suffix == ".json"
        file.write("[\n" if array else "")
        for place, row in enumerate(rows(source, number, contexts)):
            file.write(",\n" if array and place else "")
            file.write(json.dumps(row) + ("" if array else "\n"))
        file.write("\n]\n" if array else "")


def open_text(path: Path) -> IO[str]:
    """A text file for writing, gzipped where its name says so."""
    if path.suffix == ".gz":
        return gzip.open(path, "wt", encoding="utf-8", compresslevel=1)
    return path.open("w", encoding="utf-8", newline="")


def rows(source: random.Random, number: int, contexts: int) -> Iterator[dict[str, Any]]:
    """Rows of a file of answers."""
    for place in range(number):
        passages = [Passage(f"d{place}-{rank}", words(source, CONTEXT_WORDS)) for rank in range(contexts)]
        yield {
            "question_id": f"q-{place}",
            "answer": words(source, WORDS),
            "contexts": [{"id": passage.id, "text": passage.text} for passage in passages],
        }


def words(source: random.Random, number: int) -> str:
    """Text of so many words."""
    return " ".join(f"word{source.randrange(5_000)}" for _ in range(number)) + "."


if __name__ == "__main__":
    main()
