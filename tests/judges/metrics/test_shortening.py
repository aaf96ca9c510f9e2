from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from data.errors import SpecError
from data.models import MetricItem, Passage
from judges.llm.requests import CallFailure
from judges.llm.tasks import Task, TaskReply
from judges.llm.templates import Input
from judges.metrics.dry_run import DryRunner
from judges.metrics.registry import metrics
from judges.metrics.shortening import build_reading, shortened

FILLER = "The weather that year was mild and nobody wrote much about it at all. "
LONG = f"{FILLER * 60}The iron bridge was opened in 1905 by the mayor. {FILLER * 60}"
ITEM = MetricItem(
    id="q",
    question="When was the iron bridge opened?",
    answer="The iron bridge was opened in 1905 [1]. Ships pass below it [2].",
    passages=(Passage("p1", LONG, "Bridge"), Passage("p2", "Ships pass below it.", "Ships")),
    contexts=(Passage("p1", LONG, "Bridge"), Passage("p2", "Ships pass below it.", "Ships")),
    aspects=("When it opened",),
    sub_questions=("When was the iron bridge opened?",),
)
SENDS_NONE = {"nuggets", "reference-coverage"}


class Listener(DryRunner):
    """Keeps every text that an LLM would have been sent."""

    def __init__(self) -> None:
        super().__init__(endpoint="http://localhost", model="gpt-4.1")
        self.heard: list[str] = []

    async def run_fully(self, task: Task[Any], inputs: Mapping[str, Input]) -> TaskReply[Any] | CallFailure:
        self.heard += [str(value) for value in inputs.values()]
        return await super().run_fully(task, inputs)


@pytest.mark.parametrize("name", [info.name for info in metrics() if not info.takes_judgments])
def test_no_metric_sends_a_long_passage_whole(name: str) -> None:
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


def test_the_limit_is_an_option_and_checked() -> None:
    for name in ("comprehensiveness-end-to-end", "context-crux", "citation-support", "factuality-fr1"):
        metric = build_reading(name, runner=Listener(), options={"longest_passage": 5_000})
        assert "cut" not in asyncio.run(metric.score(ITEM)).details
        with pytest.raises(SpecError, match="longest_passage"):
            build_reading(name, runner=Listener(), options={"longest_passage": 3})


def test_a_ground_truth_is_cut_alike_for_all_systems() -> None:
    heard = []
    for answer in (ITEM.answer, "The weather that year was mild."):
        runner = Listener()
        metric = build_reading("comprehensiveness-end-to-end", runner=runner, options={"longest_passage": 40})
        asyncio.run(metric.score(replace(ITEM, answer=answer)))
        heard.append([text for text in runner.heard if "Bridge" in text])
    assert heard[0] == heard[1] != []


def test_passages_that_were_rated_before_stay_whole() -> None:
    known = {ITEM.sub_questions[0]: {" ".join(LONG.split()): 5.0}}
    metric = build_reading("context-crux", runner=Listener(), options={"ratings": known})
    score = asyncio.run(metric.score(ITEM))
    assert "cut" not in score.details
    assert score.score == 1.0


def test_a_text_without_a_sentence_is_cut_at_its_end() -> None:
    """Figures or signs alone have no sentence to choose."""
    assert shortened(Passage("p", "* " * 60), (), 20).text == " ".join(["*"] * 20)
