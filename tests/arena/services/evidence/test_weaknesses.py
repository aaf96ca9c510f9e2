from __future__ import annotations

from collections.abc import Sequence

from arena.services.evidence.weaknesses import MOST_SHOWN, OVERALL, missed_facts
from data.models import Json
from data.store.scores import ScoredAnswer
from tests.arena.conftest import a_score


def stated(name: str) -> str:
    """A fact in a sentence, since nothing else is listed."""
    return f"The machine {name} weighs ten kilograms."


def scored(
    system: str,
    question: str,
    covered: Sequence[str],
    missing: Sequence[str],
    basis: Sequence[str] | None = None,
    contradicted: Sequence[str] = (),
) -> ScoredAnswer:
    """A comprehensiveness score of an answer; a statement `ab` is made by the passages a and b."""

    def listed(names: Sequence[str]) -> list[dict[str, object]]:
        return [{"id": name, "text": stated(name), "passages": list(name), "answer": "no"} for name in names]

    return a_score(
        system,
        question=question,
        covered=listed(covered),
        missing=listed(missing),
        basis=listed(missing if basis is None else basis),
        contradicted=listed(contradicted),
    )


def test_facts_of_most_others_come_first() -> None:
    scores = {
        "own": [scored("own", "x1", [], ["a", "b", "cd"]), scored("own", "y1", [], ["e"])],
        "one": [scored("one", "x1", ["b"], ["a", "cd"]), scored("one", "y1", ["e"], [])],
        "two": [scored("two", "x1", [], ["a", "b", "cd"]), scored("two", "y1", ["e"], [])],
    }
    found = missed_facts("own", scores)
    assert [fact.text for fact in found.facts] == [stated(name) for name in ("e", "b", "cd", "a")]
    assert [(fact.covered_by, fact.missed_by) for fact in found.facts] == [(2, 0), (1, 1), (0, 2), (0, 2)]


def test_consequences_of_missed_facts_are_counted_only() -> None:
    own = scored("own", "x1", ["a"], ["b", "c", "d"], basis=["b", "d"], contradicted=["d"])
    found = missed_facts("own", {"own": [own]})
    assert [(fact.text, fact.contradicted) for fact in found.facts] == [
        (stated("d"), True),
        (stated("b"), False),
    ]
    assert found.in_all == 3


def test_shares_by_domain_stand_beside_the_others() -> None:
    scores = {
        "own": [scored("own", "x1", ["a"], ["b", "c"]), scored("own", "y1", ["d"], [])],
        "one": [scored("one", "x1", ["a", "b"], ["c"]), scored("one", "y1", [], ["d"])],
        "two": [scored("two", "x1", ["a", "b", "c"], [])],
    }
    found = missed_facts("own", scores).by_domain
    assert set(found) == {OVERALL, "x", "y"}
    assert (found["x"].missed, found["x"].statements, found["x"].share) == (2, 3, 2 / 3)
    assert found["x"].others == 1 / 6
    assert (found["y"].share, found["y"].others) == (0.0, 1.0)
    assert (found[OVERALL].share, found[OVERALL].others) == (2 / 4, 2 / 7)


def test_a_system_alone_or_without_scores_has_no_comparison() -> None:
    alone = missed_facts("own", {"own": [scored("own", "x1", ["a"], ["b"])]})
    assert alone.by_domain["x"].others is None
    nothing = missed_facts("own", {"own": [], "one": [scored("one", "x1", ["a"], [])]})
    assert (nothing.facts, nothing.in_all, dict(nothing.by_domain)) == ((), 0, {})


def test_only_so_many_are_listed() -> None:
    own = scored("own", "x1", [], [f"{at:02}" for at in range(40)])
    found = missed_facts("own", {"own": [own]})
    assert (len(found.facts), found.in_all) == (MOST_SHOWN, 40)


def of_reference(system: str, question: str, states: str) -> ScoredAnswer:
    """A score by the facts of a reference: `c`, `p` and `m` are states of its facts in order."""
    named = {"c": "covered", "p": "partly", "m": "missing"}
    facts: list[Json] = [
        {
            "text": stated(f"fact {at}"),
            "state": named[state],
            "share": 0.5,
            "evidence": "words" * (state != "m"),
        }
        for at, state in enumerate(states)
    ]
    return a_score(system, "reference-coverage", question, facts=facts)


def test_facts_of_references_are_missed_where_nothing_of_them_is_stated() -> None:
    scores = {
        "own": [of_reference("own", "x1", "mpmc")],
        "one": [of_reference("one", "x1", "mcpc")],
        "two": [of_reference("two", "x1", "mmcm")],
    }
    found = missed_facts("own", scores)
    assert [fact.text for fact in found.facts] == [stated("fact 2"), stated("fact 0")]
    assert [(fact.covered_by, fact.missed_by) for fact in found.facts] == [(2, 0), (0, 2)]
    assert (found.in_all, found.by_domain[OVERALL].statements) == (2, 4)
