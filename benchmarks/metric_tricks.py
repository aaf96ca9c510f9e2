"""Score cheap tricks with the embedded metrics against honest answers to the same questions.

    python benchmarks/metric_tricks.py [SET] [--metric NAME ...]

SET is the folder of a question set (default: the bundled set). For each metric, prints the mean score of the
references (honest) and of each trick over the questions with both scores, their difference, and the number of
questions on which the trick is ahead. Differences above 0.02 are marked.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from statistics import fmean

from data.files.question_sets.registry import load_set
from data.models import MetricItem, Question
from judges.metrics.registry import Metric, build_metric
from tests.cheap_tricks import ON_METRICS, Material, families, play

DEMO = Path(__file__).parents[1] / "data/sets/demo"
METRICS = (
    "comprehensiveness-nli",
    "comprehensiveness-end-to-end",
    "factuality-fr2",
    "factuality-factscore",
    "coverage-icat-s",
    "coverage-icat-a",
    "answer-crux",
    "factuality-fr1",
    "factuality-fr3",
    "factuality-factverify",
    "factuality-veriscore",
    "factuality-direct",
)
ALLOWED = 0.02


def item_of(question: Question, answer: str) -> MetricItem:
    """Return the item for a question and an answer."""
    return MetricItem(
        id=question.id,
        question=question.question,
        answer=answer,
        passages=question.passages,
        reference=question.reference,
        aspects=question.aspects,
        sub_questions=question.sub_questions,
    )


def scores_of(metric: Metric, questions: list[Question], answers: list[str]) -> list[float | None]:
    """Return one score per answer; None if it is empty or has no score."""
    return [
        asyncio.run(metric.score(item_of(question, answer))).score if answer else None
        for question, answer in zip(questions, answers, strict=True)
    ]


def main() -> None:
    """Print each metric's table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("set", nargs="?", type=Path, default=DEMO)
    parser.add_argument("--metric", action="append")
    chosen = parser.parse_args()
    questions = [question for question in load_set(chosen.set).questions.questions if question.reference]
    for name in chosen.metric or METRICS:
        metric = build_metric(name)
        honest = scores_of(metric, questions, [question.reference or "" for question in questions])
        print(f"{name}: honest {fmean(score for score in honest if score is not None):.3f}")
        for family in (*families(), *ON_METRICS):
            answers = [
                play(family, _material(question, questions[(at + 7) % len(questions)]))
                for at, question in enumerate(questions)
            ]
            scores = scores_of(metric, questions, answers)
            pairs = [
                (score, base)
                for score, base in zip(scores, honest, strict=True)
                if score is not None and base is not None
            ]
            if not pairs:
                print(f"  {family:22} no score")
                continue
            difference = fmean(score - base for score, base in pairs)
            ahead = sum(score > base for score, base in pairs)
            mark = "  <- above" if difference > ALLOWED else ""
            mean = fmean(score for score, _ in pairs)
            print(f"  {family:22} {mean:.3f}  {difference:+.3f}  ahead {ahead:2} of {len(pairs)}{mark}")


def _material(question: Question, other: Question) -> Material:
    foreign = tuple(passage.text for passage in other.passages)
    wrong = "The question has no answer, and none is needed."
    return Material(
        question=question,
        honest=question.reference or "",
        wrong=wrong,
        other=other.reference or "",
        foreign=foreign,
        seed=question.id,
    )


if __name__ == "__main__":
    main()
