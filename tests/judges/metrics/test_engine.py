"""What embedded metrics say of their version."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from data.records import EMBEDDED_ENGINE, MetricItem, Passage
from judges.metrics.registry import METRICS, build_metric

ITEM = MetricItem(
    id="q",
    question="When was the bridge opened?",
    answer="The bridge was opened in 1960 [1].",
    passages=(Passage("p", "The bridge was opened in 1960."),),
    aspects=("opening of the bridge",),
    sub_questions=("When was the bridge opened?",),
)


@pytest.mark.parametrize(
    "name", [info.name for info in METRICS if info.embedded and not info.takes_judgments]
)
@pytest.mark.parametrize("answer", [ITEM.answer, ""])
def test_every_embedded_metric_names_its_version(name: str, answer: str) -> None:
    """So does a score without a value, else it would be taken for an old one for ever."""
    item = replace(ITEM, answer=answer)
    assert asyncio.run(build_metric(name).score(item)).details["engine"] == EMBEDDED_ENGINE
