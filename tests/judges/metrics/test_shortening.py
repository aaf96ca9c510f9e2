from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from data.errors import SpecError
from data.files.question_sets.registry import load_set
from data.models import MetricItem, Passage, Question
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskReply
from judges.llm.templates import Input
from judges.metrics.dry_run import DryRunner
from judges.metrics.registry import build_metric, metrics
from judges.metrics.shortening import WORTH, build_reading, shorten, surface_of
from judges.text.sentences import split_sentences
from judges.text.tokens import terms
from tests.cheap_tricks import ON_METRICS, Material, families, play
from tests.judges.asking import embedded, item_of

FILLER = "The weather that year was mild and nobody wrote much about it at all. "
LONG = f"{FILLER * 60}The iron bridge was opened in 1905 by the mayor. {FILLER * 60}"
PASSAGES = (Passage("p1", LONG, "Bridge"), Passage("p2", "Ships pass below it.", "Ships"))
ITEM = MetricItem(
    id="q",
    question="When was the iron bridge opened?",
    answer="The iron bridge was opened in 1905 [1]. Ships pass below it [2].",
    passages=PASSAGES,
    contexts=PASSAGES,
    aspects=("When it opened",),
    sub_questions=("When was the iron bridge opened?",),
)
SENDS_NONE = {"nuggets", "reference-coverage"}


class Listener(DryRunner):
    """Records every text that an LLM would get."""

    def __init__(self) -> None:
        super().__init__(endpoint="http://localhost", model="gpt-4.1")
        self.heard: list[str] = []

    async def run_fully(self, task: Task[Any], inputs: Mapping[str, Input]) -> TaskReply[Any] | CallFailure:
        self.heard += [str(value) for value in inputs.values()]
        return await super().run_fully(task, inputs)


@pytest.mark.parametrize("name", [info.name for info in metrics() if not info.takes_judgments])
def test_metrics_shorten_long_passages(name: str) -> None:
    runner = Listener()
    item = ITEM if name not in SENDS_NONE else replace(ITEM, nuggets=())
    score = asyncio.run(build_reading(name, runner=runner, options={}).score(item))
    assert not any(FILLER * 60 in text for text in runner.heard), name
    if name.startswith("coverage") or name in SENDS_NONE:
        # Chunks are short from the start.
        assert "cut" not in score.details
        return
    assert any("opened in 1905 by the mayor" in text for text in runner.heard)
    cut: Any = score.details["cut"]
    assert list(cut) == ["p1"]
    assert cut["p1"]["kept"] <= 700 < cut["p1"]["words"]


def test_limit_option_is_validated() -> None:
    for name in ("comprehensiveness-end-to-end", "context-crux", "citation-support", "factuality-fr1"):
        metric = build_reading(name, runner=Listener(), options={"longest_passage": 5_000})
        assert "cut" not in asyncio.run(metric.score(ITEM)).details
        with pytest.raises(SpecError, match="longest_passage"):
            build_reading(name, runner=Listener(), options={"longest_passage": 3})


def test_ground_truth_is_shortened_equally_for_all_systems() -> None:
    bridges = []
    for answer in (ITEM.answer, "The weather that year was mild."):
        runner = Listener()
        metric = build_reading("comprehensiveness-end-to-end", runner=runner, options={"longest_passage": 40})
        asyncio.run(metric.score(replace(ITEM, answer=answer)))
        bridges.append([text for text in runner.heard if "Bridge" in text])
    assert bridges[0] == bridges[1] != []


def test_rated_passages_are_not_shortened() -> None:
    known = {ITEM.sub_questions[0]: {" ".join(LONG.split()): 5.0}}
    metric = build_reading("context-crux", runner=Listener(), options={"ratings": known})
    score = asyncio.run(metric.score(ITEM))
    assert "cut" not in score.details
    assert score.score == 1.0


def test_long_passage_is_shortened_to_best_sentences() -> None:
    short = shorten(ITEM.passages[0], terms(ITEM.question), 20)
    assert "The iron bridge was opened in 1905 by the mayor." in short.text
    assert (short.id, short.title, len(short.text.split()) <= 20) == ("p1", "Bridge", True)
    assert shorten(ITEM.passages[1], (), 20) is ITEM.passages[1]
    # Texts of only figures or signs have no sentences.
    for word in ("*", "word"):
        assert shorten(Passage("p", f"{word} " * 60), (), 20).text == " ".join([word] * 20)


DEMO = Path(__file__).parents[3] / "data/sets/demo"
EVERY = 14
ALLOWED = 0.02
QUOTED = "Rain fell on the hills for three days and the river rose above its banks."


def scored(name: str, question: Question, answer: str) -> float | None:
    return embedded(name, item_of(question, answer)).score


@pytest.mark.slow
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
def test_tricks_do_not_beat_honest_answer(name: str) -> None:
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


SAID = MetricItem(
    id="q",
    question="What happened?",
    answer=QUOTED,
    passages=(Passage("p", f"{QUOTED} Nobody was hurt, though several bridges were closed for a week."),),
)


@pytest.mark.parametrize(
    "answer", [QUOTED, f"{QUOTED} " * 3, "The river flooded after long rain, and some bridges were shut."]
)
def test_honest_answer_keeps_score(answer: str) -> None:
    item = replace(SAID, answer=answer)
    surface = surface_of(item)
    assert (surface.worth, surface.left_out) == (1.0, 0)
    assert split_sentences(surface.answer) == split_sentences(answer)
    assert WORTH not in asyncio.run(build_metric("comprehensiveness-nli").score(item)).details


@pytest.mark.parametrize(
    "opening",
    [
        "It is not true that",
        "It is false that",
        "It would be wrong to say that",
        "Nobody should believe that",
    ],
)
def test_denials_and_questions_are_ignored(opening: str) -> None:
    item = replace(SAID, answer=f"{opening} {QUOTED[:1].lower()}{QUOTED[1:]} What happened?")
    score = asyncio.run(build_metric("comprehensiveness-nli").score(item))
    worth: Any = score.details[WORTH]
    assert (score.score, worth["left_out"]) == (0, 2)
