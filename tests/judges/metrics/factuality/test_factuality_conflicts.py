"""Which side of a conflict between passages stands."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from data.records import Json, MetricItem, Passage
from judges.metrics.factuality.evidence.conflicts import Basis, PassageStance, resolve
from judges.metrics.registry import build_metric

SAID = "The bridge was opened in 1905."


def voice(name: str, side: str, probability: float = 0.9, prior: float = 0.99) -> PassageStance:
    """A passage with a say, its side written + or −."""
    return PassageStance(name, side == "+", probability, prior)


def test_more_passages_that_agree_outweigh_fewer() -> None:
    """Two against one: the two stand, the posterior is that of naive Bayes, and the sentence says why."""
    found = resolve(SAID, [voice("p1", "+"), voice("p2", "−"), voice("p3", "+")])
    heard = 0.99 * 0.9 + 0.01 * 0.5
    odds = heard / (1 - heard)
    assert found.probability == pytest.approx(odds / (1 + odds))
    assert (found.basis, found.stands) == (Basis.AGREEMENT, ("p1", "p3"))
    assert found.reason() == "p1 and p3 stand (0.90): 2 passages against one passage (p2)."


def test_a_better_source_outweighs_one_as_sure() -> None:
    """One against one: the source with more credit beforehand stands."""
    found = resolve(SAID, [voice("p1", "+", prior=0.6), voice("p2", "−", prior=0.99)])
    assert (found.basis, found.stands) == (Basis.SOURCES, ("p2",))
    assert found.reason() == "p2 stands (0.75): its source is given more credit than p1."
    two = [voice(name, "+") for name in ("p1", "p2")] + [
        voice(name, "−", prior=0.55) for name in ("p3", "p4")
    ]
    assert "p1 and p2 stand " in resolve(SAID, two).reason()
    assert "their sources are given more credit than p3 and p4" in resolve(SAID, two).reason()


def test_one_good_source_stands_against_two_poor_ones_by_its_credit() -> None:
    """Outnumbered and in no surer words: what decides is the source, and that is what is said."""
    voices = [voice("p1", "+"), voice("p2", "−", prior=0.5), voice("p3", "−", prior=0.52)]
    voices[1:] = [
        PassageStance(one.passage, supports=False, probability=0.8, prior=one.prior) for one in voices[1:]
    ]
    found = resolve(SAID, voices)
    assert (found.basis, found.stands) == (Basis.SOURCES, ("p1",))
    assert "its source is given more credit than p2 and p3" in found.reason()


def test_an_even_conflict_is_left_undecided_with_the_reason() -> None:
    """One against one, equally sure and credible: neither stands, and why is said."""
    found = resolve(SAID, [voice("p1", "+"), voice("p2", "−")])
    assert found.probability == pytest.approx(0.5)
    assert (found.basis, found.stands, found.decided) == (Basis.NOTHING, (), False)
    said = "one passage for it and one passage against it, neither clearly ahead."
    assert found.reason() == f"Undecided (0.50): {said}"
    close = resolve(SAID, [voice("p1", "+", 0.7), voice("p2", "+", 0.65), voice("p3", "−", 0.75)])
    assert close.basis is Basis.NOTHING
    assert close.reason().startswith(
        f"Undecided ({close.probability:.2f}): 2 passages for it and one passage"
    )


def test_surer_words_alone_are_said_to_be_no_more_than_that() -> None:
    """One against one where only the wording differs: it stands, by wording alone."""
    found = resolve(SAID, [voice("p1", "+", 0.95), voice("p2", "−", 0.7)])
    assert (found.basis, found.stands) == (Basis.WORDING, ("p1",))
    assert "by wording alone" in found.reason()
    assert "0.95 against 0.70." in found.reason()
    outnumbered = resolve(SAID, [voice("p1", "+", 0.97), voice("p2", "−", 0.75), voice("p3", "−", 0.8)])
    assert (outnumbered.basis, outnumbered.stands) == (Basis.WORDING, ("p1",))
    assert "in surer words, 0.97 against 0.78 on average" in outnumbered.reason()


def test_a_passage_that_is_heard_twice_counts_once() -> None:
    """A passage has one vote, its surest; turning every vote round turns the outcome round."""
    voices = [voice("p1", "+", 0.7), voice("p1", "+", 0.9), voice("p2", "−", 0.9)]
    found = resolve(SAID, voices)
    assert len(found.stances) == 2
    assert found.probability == pytest.approx(0.5)
    three = [voice("p1", "+", 0.8), voice("p2", "−", 0.7), voice("p3", "+", 0.65)]
    turned = [PassageStance(one.passage, not one.supports, one.probability, one.prior) for one in three]
    assert resolve(SAID, three).probability == pytest.approx(1 - resolve(SAID, turned).probability)


def bridges(**options: Json) -> list[dict[str, Any]]:
    """The conflicts of an answer to a question whose passages give two years."""
    item = MetricItem(
        id="b",
        question="When was the iron bridge over the Elbe opened?",
        answer="The iron bridge over the Elbe was opened in 1905.",
        passages=(
            Passage("guide", "The iron bridge over the Elbe was opened in 1905 by the king."),
            Passage("chronicle", "The iron bridge over the Elbe was opened in 1911 by the king."),
        ),
    )
    score = asyncio.run(build_metric("factuality-fr3", options=options).score(item))
    details: Any = score.details
    return list(details["conflicts"])


def test_two_passages_alone_leave_the_sentence_open_until_a_source_is_doubted() -> None:
    """By themselves two passages tie; a prior for one of them decides, over the claim and by itself."""
    stated, *_ = bridges()
    assert stated["claim"] is None
    assert stated["resolution"]["basis"] == "nothing"
    assert {one["passage"] for one in stated["resolution"]["voices"]} == {"guide", "chronicle"}
    decided = bridges(source_priors={"chronicle": 0.55})
    assert {conflict["claim"] for conflict in decided} == {None, "a1"}
    assert all(conflict["resolution"]["stands"] == ["guide"] for conflict in decided)
