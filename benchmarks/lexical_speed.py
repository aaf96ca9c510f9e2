"""Measure the speed of the embedded judge, from texts to verdict with reasons.

    python benchmarks/lexical_speed.py PAIRS [--former COMMIT] [--battles 600]

PAIRS is a file in the format of `arena judges calibrate`. With a former commit, both settle the same pairs in
this run, each in a process of its own, in turns; only the ratio carries over to other machines.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
TURNS = 3
WORKER = """
import json, sys, time
from data.models import Passage, Question
from judges import base
JudgeInput = getattr(base, "JudgeInput", None) or base.Contest
from judges import catalogue
from judges.lexical import LexicalJudge
rows, against = json.load(sys.stdin)
def judge_input(row):
    passages = tuple(Passage(p["id"], p["text"]) for p in row["passages"]) if against == "passages" else ()
    question = Question(
        id=row["id"], domain="d", question=row["question"], reference=row["reference"], passages=passages
    )
    side = "b" if against == "passages" else None
    answer_b = row["reference"] if side else row["answer_b"]
    return JudgeInput(
        battle_id="x", question=question, answer_a=row["answer_a"], answer_b=answer_b, reference_side=side
    )
inputs = [judge_input(row) for row in rows]
judge = LexicalJudge(catalogue.load_spec("lexical"))
judge.settle(inputs[0])
started = time.process_time()
for each in inputs:
    assert judge.settle(each).preference is not None
print(len(inputs) / (time.process_time() - started))
"""


def rate(checkout: Path, rows: list[object], against: str) -> float:
    """Battles by the second of processor time in one checkout."""
    done = subprocess.run(
        [sys.executable, "-c", WORKER],
        input=json.dumps([rows, against]),
        cwd=checkout,
        env={"PYTHONPATH": str(checkout), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr[-2_000:])
    return float(done.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--former", help="a commit to compare with")
    parser.add_argument("--battles", type=int, default=600)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.pairs.read_text(encoding="utf-8").splitlines()]
    rows = rows[: options.battles]
    with tempfile.TemporaryDirectory() as folder:
        checkouts = {"now": ROOT}
        if options.former:
            packed = subprocess.run(
                ["git", "archive", options.former], cwd=ROOT, capture_output=True, check=True
            )
            with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
                archive.extractall(folder, filter="data")
            checkouts["former"] = Path(folder)
        for against in ("reference", "passages"):
            found: dict[str, list[float]] = {name: [] for name in checkouts}
            for _ in range(TURNS):
                for name, checkout in checkouts.items():
                    found[name].append(rate(checkout, rows, against))
            line = ", ".join(f"{name} {median(rates):.0f} a second" for name, rates in found.items())
            ratio = median(found["now"]) / median(found["former"]) if "former" in found else 1.0
            print(f"against {against}: {line}; ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
