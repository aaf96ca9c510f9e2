"""Measure the speed of the embedded judge, from texts to verdict with reasons.

    python benchmarks/lexical_speed.py PAIRS [--battles 600]

PAIRS is a file in the format of `arena judges calibrate`. Prints battles per second of processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from lexical_agreement import question_of

from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.lexical import LexicalJudge


def judge_input(row: dict[str, Any], against: str) -> JudgeInput:
    """Return a battle of two answers judged by the reference, or of one and the reference by passages."""
    question, by_passages = question_of(row), against == "passages"
    return JudgeInput(
        battle_id="x",
        question=question if by_passages else replace(question, passages=()),
        answer_a=row["answer_a"],
        answer_b=row["reference"] if by_passages else row["answer_b"],
        reference_side="b" if by_passages else None,
    )


def rate(rows: list[dict[str, Any]], against: str) -> float:
    """Return battles per second of processor time."""
    inputs = [judge_input(row, against) for row in rows]
    judge = LexicalJudge(load_spec("lexical"))
    judge.settle(inputs[0])
    started = time.process_time()
    for item in inputs:
        assert judge.settle(item).preference is not None
    return len(inputs) / (time.process_time() - started)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--battles", type=int, default=600)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.pairs.read_text(encoding="utf-8").splitlines()]
    for against in ("reference", "passages"):
        rates = [rate(rows[: options.battles], against) for _ in range(3)]
        print(f"against {against}: {median(rates):.0f} a second")


if __name__ == "__main__":
    main()
