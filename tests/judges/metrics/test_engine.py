from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from data.models import EMBEDDED_ENGINE, MetricItem, Passage
from judges.metrics.registry import build_metric, metrics

ITEM = MetricItem(
    id="q",
    question="When was the bridge opened?",
    answer="The bridge was opened in 1960 [1].",
    passages=(Passage("p", "The bridge was opened in 1960."),),
    aspects=("opening of the bridge",),
    sub_questions=("When was the bridge opened?",),
)


@pytest.mark.parametrize(
    "name", [info.name for info in metrics() if info.embedded and not info.takes_judgments]
)
@pytest.mark.parametrize("answer", [ITEM.answer, ""])
def test_every_embedded_metric_names_its_version(name: str, answer: str) -> None:
    item = replace(ITEM, answer=answer)
    assert asyncio.run(build_metric(name).score(item)).details["engine"] == EMBEDDED_ENGINE


@pytest.mark.parametrize("name", ["factuality-fr2", "comprehensiveness-nli", "coverage-icat-a"])
def test_numbers_of_citations_are_no_part_of_what_an_answer_says(name: str) -> None:
    passages = (
        Passage("p1", "The bridge has 12 arches. It was opened in 1905 by the mayor."),
        Passage("p2", "It is painted red every 5 years. Ships pass below it."),
    )
    plain = "The bridge was opened in 1905 by the mayor. It has 12 arches. It is painted red every 5 years."
    cited = "The bridge was opened in 1905 by the mayor [1]. It has 12 arches [1, 2]. "
    cited += "It is painted red every 5 years. [2]"
    scores = [
        asyncio.run(
            build_metric(name).score(
                MetricItem(id="q", question="What of the bridge?", answer=answer, passages=passages)
            )
        )
        for answer in (plain, cited)
    ]
    assert scores[0].score == scores[1].score is not None
    assert "mayor [1" not in str(scores[1].details)
