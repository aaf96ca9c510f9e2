"""What a question asks for, and which claims answer it: the embedded version of comprehensiveness."""

from __future__ import annotations

import asyncio

import pytest

from data.records import MetricItem, Passage
from judges.metrics.comprehensiveness.answering import Ground, claims_of
from judges.metrics.comprehensiveness.claims import Claim
from judges.metrics.registry import build_metric

FOUNDED = (
    Passage("a", "The observatory at Kestrel Point was founded in 1911 by local sailors."),
    Passage("b", "The observatory at Kestrel Point was founded in 1914 by local sailors."),
)


def covered(question: str, answer: str, passages: tuple[Passage, ...]) -> set[str]:
    """The passages whose claims an answer covers."""
    item = MetricItem(id="q", question=question, answer=answer, passages=passages)
    facts = asyncio.run(build_metric("comprehensiveness-nli").score(item)).details["covered"]
    assert isinstance(facts, list)
    return {str(name) for fact in facts if isinstance(fact, dict) for name in (fact["passages"] or ())}


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("1911", {"a"}),
        ("The observatory at Kestrel Point was founded in 1914 by local sailors.", {"b"}),
        ("It was founded in 1911 according to one source and in 1914 according to another.", {"a", "b"}),
        ("The observatory at Kestrel Point was founded in 1920 by local sailors.", set()),
    ],
)
def test_a_date_that_is_asked_for_must_be_the_claims_own(answer: str, names: set[str]) -> None:
    """Conflicting dates are two statements, and a third date covers neither, however alike the words are."""
    assert covered("When was the observatory at Kestrel Point founded?", answer, FOUNDED) == names


@pytest.mark.parametrize(
    ("question", "answer", "verdict"),
    [
        ("Was the harbour dredged in May?", "Yes, twice.", True),
        ("Was the harbour dredged in May?", "Answer: No.", False),
        ("Was the harbour dredged in May?", "According to the log, no.", False),
        ("Was the harbour dredged in May?", "The harbour was dredged, no doubt, in May.", None),
        ("When the harbour was dredged, was it closed to ships?", "No, it was not.", False),
        ("When was the harbour dredged?", "No idea.", None),
    ],
)
def test_a_verdict_is_read_where_yes_or_no_is_asked(question: str, answer: str, verdict: bool | None) -> None:
    """It may stand after an opening; a question that asks for something else has none."""
    assert Ground(question, ()).asked.verdict(answer) is verdict


def test_a_no_stands_with_what_excepts() -> None:
    """What a claim excludes it denies, so that "no" covers it and "yes" does not."""
    passages = (Passage("p", "The toll is charged on every lorry in the valley, excluding milk lorries."),)
    question = "Is the toll charged on milk lorries in the valley?"
    assert covered(question, "No, it is free for these.", passages) == {"p"}
    assert covered(question, "Yes, it is charged.", passages) == set()


def test_both_kinds_of_apostrophe_are_one() -> None:
    """A name is found however its apostrophe is written."""
    passages = (Passage("p", "Charles D'Arcy drew the map of the coast in ink."),)
    assert covered("What did D’Arcy draw?", "D’Arcy drew the map of the coast.", passages) == {"p"}


def test_claims_of_passages_are_clauses() -> None:
    """A sentence is cut where it starts anew; a leading word or two stays with what it opens."""
    text = "1961: Rowe becomes director; the board is dissolved. The valley has two towns: Orr and Ley Hill."
    assert claims_of(text) == (
        "1961: Rowe becomes director",
        "the board is dissolved.",
        "The valley has two towns",
        "Orr and Ley Hill.",
    )


def test_a_claim_is_rated_where_it_stands() -> None:
    """What its passage spoke of before counts for a claim; a passage far from the question is below 3.5."""
    passages = (
        Passage("p", "Ada Rowe kept a shop. She sold lamps there. In old age she was ill. She died in Orr."),
        Passage("far", "Basil wants warm soil and a sunny window."),
    )
    ground = Ground("When did Ada Rowe die?", passages)
    died = ground.rate(Claim("She died in Orr.", "p"))
    assert died > ground.rate(Claim("She sold lamps there.", "p")) >= 3.5
    assert ground.rate(Claim("Basil wants warm soil and a sunny window.", "far")) == 3.0
