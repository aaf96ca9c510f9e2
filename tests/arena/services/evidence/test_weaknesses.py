from __future__ import annotations

from collections.abc import Sequence

from arena.services.evidence.weaknesses import MAX_SHOWN, OVERALL, missed_facts
from data.models import Json
from data.store.scores import ScoredAnswer
from tests.arena.conftest import a_score


def stated(name: str) -> str:
    """Return a fact as a sentence."""
    return f"The machine {name} weighs ten kilograms."


def scored(
    system: str,
    question: str,
    covered: Sequence[str],
    missing: Sequence[str],
    basis: Sequence[str] | None = None,
    contradicted: Sequence[str] = (),
) -> ScoredAnswer:
    """Return a comprehensiveness score; passages a and b make the statement `ab`."""

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


def test_facts_of_most_systems_come_first() -> None:
    scores = {
        "own": [scored("own", "x1", [], ["a", "b", "cd"]), scored("own", "y1", [], ["e"])],
        "one": [scored("one", "x1", ["b"], ["a", "cd"]), scored("one", "y1", ["e"], [])],
        "two": [scored("two", "x1", [], ["a", "b", "cd"]), scored("two", "y1", ["e"], [])],
    }
    missed = missed_facts("own", scores)
    assert [fact.text for fact in missed.facts] == [stated(name) for name in ("e", "b", "cd", "a")]
    assert [(fact.covered_by, fact.missed_by) for fact in missed.facts] == [(2, 0), (1, 1), (0, 2), (0, 2)]


def test_consequences_of_missed_facts_are_counted_only() -> None:
    own = scored("own", "x1", ["a"], ["b", "c", "d"], basis=["b", "d"], contradicted=["d"])
    missed = missed_facts("own", {"own": [own]})
    assert [(fact.text, fact.contradicted) for fact in missed.facts] == [
        (stated("d"), True),
        (stated("b"), False),
    ]
    assert missed.in_all == 3


def test_missed_shares_are_computed_by_domain() -> None:
    scores = {
        "own": [scored("own", "x1", ["a"], ["b", "c"]), scored("own", "y1", ["d"], [])],
        "one": [scored("one", "x1", ["a", "b"], ["c"]), scored("one", "y1", [], ["d"])],
        "two": [scored("two", "x1", ["a", "b", "c"], [])],
    }
    missed = missed_facts("own", scores).by_domain
    assert set(missed) == {OVERALL, "x", "y"}
    assert (missed["x"].missed, missed["x"].statements, missed["x"].share) == (2, 3, 2 / 3)
    assert missed["x"].others == 1 / 6
    assert (missed["y"].share, missed["y"].others) == (0.0, 1.0)
    assert (missed[OVERALL].share, missed[OVERALL].others) == (2 / 4, 2 / 7)


def test_single_or_unscored_system_has_no_comparison() -> None:
    single = missed_facts("own", {"own": [scored("own", "x1", ["a"], ["b"])]})
    assert single.by_domain["x"].others is None
    nothing = missed_facts("own", {"own": [], "one": [scored("one", "x1", ["a"], [])]})
    assert (nothing.facts, nothing.in_all, dict(nothing.by_domain)) == ((), 0, {})


def test_listed_facts_are_limited() -> None:
    own = scored("own", "x1", [], [f"{at:02}" for at in range(40)])
    missed = missed_facts("own", {"own": [own]})
    assert (len(missed.facts), missed.in_all) == (MAX_SHOWN, 40)


def of_reference(system: str, question: str, states: str) -> ScoredAnswer:
    """Return a score of reference facts; `c`, `p` and `m` are their states in order."""
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


def test_reference_facts_are_missed_without_any_statement() -> None:
    scores = {
        "own": [of_reference("own", "x1", "mpmc")],
        "one": [of_reference("one", "x1", "mcpc")],
        "two": [of_reference("two", "x1", "mmcm")],
    }
    missed = missed_facts("own", scores)
    assert [fact.text for fact in missed.facts] == [stated("fact 2"), stated("fact 0")]
    assert [(fact.covered_by, fact.missed_by) for fact in missed.facts] == [(2, 0), (0, 2)]
    assert (missed.in_all, missed.by_domain[OVERALL].statements) == (2, 4)
