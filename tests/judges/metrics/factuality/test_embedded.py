from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from data.models import MetricItem, Passage
from judges.llm.requests import CallFailure
from judges.metrics.factuality.embedded import WEAK, LexicalRelations
from judges.metrics.registry import build_metric
from judges.metrics.relations.model import Entailment, Pair, Related

BIOGRAPHY = (
    Passage("p1", "Joe Flaherty (July 27, 1942 – April 2, 2020) was a jazz pianist from Ohio."),
    Passage("p2", "Joe Flaherty was born on June 21, 1941, in Pittsburgh. He was an actor."),
    Passage("p3", "Flaherty moved to Chicago, where he began his career in comedy."),
)


def relate(premises: list[str], hypothesis: str, question: str) -> list[Related]:
    pairs = [Pair(premise, hypothesis) for premise in premises]
    relations = asyncio.run(LexicalRelations().relate(pairs, question=question))
    assert not any(isinstance(relation, CallFailure) for relation in relations)
    return [relation for relation in relations if isinstance(relation, Related)]


@pytest.mark.parametrize(
    ("date", "label", "support"),
    [("December 18, 1949", "contradicted", []), ("June 21, 1941", "supported", ["p2"])],
)
def test_wrong_birth_date_is_not_supported(date: str, label: str, support: list[str]) -> None:
    answer, question = f"Joe Flaherty was born on {date}.", "Tell me about Joe Flaherty."
    item = MetricItem(id="f", question=question, answer=answer, passages=BIOGRAPHY)
    details: Any = asyncio.run(build_metric("factuality-fr2").score(item)).details
    (claim,) = details["claims"]
    assert claim["label"] == label
    assert [link["passage"] for link in claim["for"]] == support


@pytest.mark.parametrize(
    ("question", "template", "first", "second"),
    [
        ("When was Paul McCole born?", "Paul McCole was born on {} February 1972.", 1, 10),
        ("How far does it fire?", "The range of the weapon is {} meters.", 2, 10),
    ],
)
def test_different_figure_contradicts(question: str, template: str, first: int, second: int) -> None:
    premise, hypothesis = template.format(first), template.format(second)
    both = f"{premise} {hypothesis} it is said."
    assert relate([premise], hypothesis, question)[0].stance is Entailment.CONTRADICTION
    assert relate([both], hypothesis, question)[0].stance is not Entailment.CONTRADICTION


def test_names_must_be_in_passage() -> None:
    fact = "The opera house of the city was designed by Jørn Utzon in Denmark."
    first, second = relate(
        ["The opera house of the city was designed by an architect.", fact],
        "The opera house of the city was designed by Jørn Utzon.",
        "Who designed the opera house?",
    )
    assert first.stance is Entailment.NEUTRAL
    assert second.stance is Entailment.ENTAILMENT


def test_weak_links_are_capped() -> None:
    premises = [f"Glaciers number {number} carve wide valleys over long periods." for number in "abcdefghij"]
    relations = relate(
        premises, "Glaciers carve fjords beneath coastal waters slowly.", "What do glaciers do?"
    )
    supports = [row.probability for row in relations if row.stance is Entailment.ENTAILMENT]
    odds = math.fsum(math.log(p / (1 - p)) for p in supports if p < WEAK)
    assert odds <= math.log(WEAK / (1 - WEAK)) + 1e-9


def test_more_passages_require_more_words() -> None:
    premise = "Glaciers carve wide valleys."
    claim, other = "Glaciers carve fjords beneath waters.", "Bread is baked."
    fillers = [f"Volcanoes of kind {letter} erupt." for letter in range(100, 500)]
    stances = []
    for held_against in (other, claim):
        pairs = [Pair(premise, claim), *(Pair(filler, held_against) for filler in fillers)]
        relation = asyncio.run(LexicalRelations().relate(pairs, question="What happens?"))[0]
        assert isinstance(relation, Related)
        stances.append(relation.stance)
    assert stances == [Entailment.ENTAILMENT, Entailment.NEUTRAL]
