"""Measure how often cheap tricks win with the embedded judge on pairs that people judged.

    python benchmarks/lexical_tricks.py PAIRS

PAIRS is a file in the format of `arena judges calibrate`, with `system_a`, `system_b`, passages and a
reference. Prints for each trick the number of questions to which it applies, its win share against the answer
that people labelled best and against the reference, and that answer's win share against the reference.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from lexical_agreement import SIDES, question_of

from data.models import Preference, Question
from judges.base import JudgeInput
from judges.catalogue import load_spec
from judges.lexical import LexicalJudge
from tests.cheap_tricks import Material, families, play

FURTHER = 7
EVERY = 8


def questions_of(path: Path) -> list[tuple[Question, str, str]]:
    """Return the questions with their best and worst answers by people's labels."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    liked: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    rows: dict[str, dict[str, Any]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        label = SIDES[row["label"]] if isinstance(row["label"], str) else float(row["label"])
        rows[row["question"]] = row
        for side, sign in (("a", -1), ("b", 1)):
            texts[row["question"]][row[f"system_{side}"]] = row[f"answer_{side}"]
            liked[row["question"]][row[f"system_{side}"]] += sign * label
    questions = []
    for question, row in rows.items():
        order = sorted(liked[question], key=lambda system: (-liked[question][system], system))
        questions.append((question_of(row), texts[question][order[0]], texts[question][order[-1]]))
    return questions


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pairs", type=Path)
    path = parser.parse_args().pairs
    judge = LexicalJudge(load_spec("lexical"))
    questions = questions_of(path)
    foreign = tuple(passage.text for question, *_ in questions[:60] for passage in question.passages)

    def wins(question: Question, text: str, opponent: str, side: str | None = None) -> bool:
        judge_input = JudgeInput(
            battle_id="x", question=question, answer_a=text, answer_b=opponent, reference_side=side
        )
        return judge.settle(judge_input).preference is Preference.A

    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number, (question, best, worst) in enumerate(questions):
        reference = str(question.reference)
        honest = wins(question, best, reference, "b")
        material = Material(
            question=question,
            honest=best,
            wrong=worst,
            other=questions[(number + FURTHER) % len(questions)][1],
            foreign=foreign if number % EVERY == 0 else (),
            seed=str(number),
        )
        for family in families():
            if text := play(family, material):
                counts[family].update(
                    made=1,
                    best=int(wins(question, text, best)),
                    reference=int(wins(question, text, reference, "b")),
                    honest=int(honest),
                )
    for family, count in counts.items():
        shares = [f"{name} {count[name] / count['made']:6.1%}" for name in ("best", "reference", "honest")]
        print(f"{family:22} {count['made']:4} questions: beats {', '.join(shares)}")


if __name__ == "__main__":
    main()
