from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import fmean

import pytest

from data.files.question_sets.registry import load_set
from data.models import MetricItem, Passage, Question
from judges.metrics.registry import build_metric
from judges.metrics.shortening import WORTH, surface_of
from tests.cheap_tricks import ON_METRICS, Material, families, play

DEMO = Path(__file__).parents[3] / "data/sets/demo"
EVERY = 14
ALLOWED = 0.02
QUOTED = "Rain fell on the hills for three days and the river rose above its banks."


def scored(name: str, question: Question, answer: str) -> float | None:
    item = MetricItem(
        id=question.id,
        question=question.question,
        answer=answer,
        passages=question.passages,
        reference=question.reference,
        aspects=question.aspects,
        sub_questions=question.sub_questions,
    )
    return asyncio.run(build_metric(name).score(item)).score


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        "comprehensiveness-nli",
        "comprehensiveness-end-to-end",
        "factuality-fr2",
        "coverage-icat-s",
        "coverage-icat-a",
        "answer-crux",
        "reference-coverage",
    ],
)
def test_no_trick_scores_above_the_honest_answer(name: str) -> None:
    questions = load_set(DEMO).questions.questions[::EVERY]
    honest = [scored(name, question, question.reference or "") for question in questions]
    for family in (*families(), *ON_METRICS):
        gains = []
        for at, question in enumerate(questions):
            other = questions[at - 1]
            material = Material(
                question=question,
                honest=question.reference or "",
                wrong="The question has no answer, and none is needed.",
                other=other.reference or "",
                foreign=tuple(passage.text for passage in other.passages),
            )
            text = play(family, material)
            score = scored(name, question, text) if text else None
            reference = honest[at]
            if score is not None and reference is not None:
                gains.append(score - reference)
        assert not gains or fmean(gains) <= ALLOWED, family


def test_an_honest_answer_keeps_its_score() -> None:
    passages = (
        Passage("p", f"{QUOTED} Nobody was hurt, though several bridges had to be closed for a week."),
    )
    for answer in (
        QUOTED,
        f"{QUOTED} " * 3,
        "The river flooded after long rain, and some bridges were shut.",
    ):
        item = MetricItem(id="q", question="What happened?", answer=answer, passages=passages)
        surface = surface_of(item)
        assert (surface.worth, surface.left_out, surface.answer) == (1.0, 0, answer)
        assert WORTH not in asyncio.run(build_metric("comprehensiveness-nli").score(item)).details


def test_what_is_denied_or_asked_is_left_out() -> None:
    item = MetricItem(
        id="q",
        question="What happened?",
        answer=f"It is not true that {QUOTED[:1].lower()}{QUOTED[1:]} What happened?",
        passages=(Passage("p", QUOTED),),
    )
    score = asyncio.run(build_metric("comprehensiveness-nli").score(item))
    assert score.score == 0
    worth = score.details[WORTH]
    assert isinstance(worth, dict)
    assert worth["left_out"] == 2


@pytest.mark.parametrize(
    "opening",
    [
        "It is false that",
        "It would be wrong to say that",
        "Nobody should believe that",
    ],
)
def test_what_an_opening_takes_back_is_not_said(opening: str) -> None:
    item = MetricItem(
        id="q",
        question="What happened?",
        answer=f"{opening} {QUOTED[:1].lower()}{QUOTED[1:]}",
        passages=(Passage("p", QUOTED),),
    )
    assert asyncio.run(build_metric("comprehensiveness-nli").score(item)).score == 0
