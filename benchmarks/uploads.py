"""Many uploads at once: how each ends, and how long all of them take.

    python -m benchmarks.uploads [--uploads 50] [--answers 16000] [--database URL]

Each upload is a process of its own with a file and a system of its own; none may be stored in part.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
import time
from collections import Counter
from pathlib import Path

from arena.container import Arena
from arena.settings import Settings
from data.errors import ArenaError
from data.files.question_sets.rows import content_hash
from data.models import Question, QuestionSet

SET = "many"


def main() -> None:
    """Run the benchmark and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uploads", type=int, default=50)
    parser.add_argument("--answers", type=int, default=16_000)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--database", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        url = given.database or f"sqlite:///{home / 'arena.sqlite'}"
        arena = Arena(Settings(home=home, database_url=url))
        questions = tuple(
            Question(id=f"q{at}", domain="d", question=f"What is number {at}?") for at in range(given.answers)
        )
        many = QuestionSet(name=SET, title="Many", domains={"d": "D"}, questions=questions)
        arena.store.sets.add(many, content_hash(many))
        work = [(folder, url, _write(home, at, given.answers), at) for at in range(given.uploads)]
        began = time.perf_counter()
        with multiprocessing.get_context("spawn").Pool(given.at_once) as pool:
            ended = Counter(pool.map(upload, work, chunksize=1))
        seconds = time.perf_counter() - began
        stored = arena.store.submissions.find(set_name=SET)
        partial = [one.id for one in stored if len(arena.store.submissions.answered(one.id)) != given.answers]
        arena.close()
    counts = {"ended": dict(ended), "stored": len(stored), "partial": len(partial)}
    print(json.dumps({**counts, "seconds": round(seconds, 1)}))


def upload(work: tuple[str, str, str, int]) -> str:
    """Submit one file, and say how it ended."""
    home, url, path, number = work
    arena = Arena(Settings(home=Path(home), database_url=url))
    try:
        arena.submissions.add(Path(path), SET, system=f"s{number}", team=f"team{number % 10}")
    except ArenaError as error:
        return f"{type(error).__name__}: {error}"
    finally:
        arena.close()
    return "accepted"


def _write(folder: Path, number: int, answers: int) -> str:
    path = folder / f"{number}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for at in range(answers):
            text = f"System {number} says that it is {at}. " * 10
            file.write(json.dumps({"question_id": f"q{at}", "answer": text}) + "\n")
    return str(path)


if __name__ == "__main__":
    main()
