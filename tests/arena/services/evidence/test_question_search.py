"""Search in the texts of a round, and who won each question, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pstdev

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC
from arena.services.evidence.question_lists import Order, QuestionFilter
from arena.services.evidence.question_search import MarkedText
from arena.services.rounds.models import RoundRequest
from data.errors import InputError, NotFoundError
from data.records import Preference
from data.store.rounds.question_stats import QuestionStats
from tests.arena.conftest import mix


@pytest.fixture
def judged(filled: Callable[..., Arena], database_url: str, tmp_path: Path) -> Arena:
    """A published round named `one`, in which each system wins and loses."""
    arena = mix(filled(database_url=database_url), tmp_path)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="one"))
    arena.rounds.run("one", concurrency=1, report=lambda _progress: None)
    arena.boards.publish("one", report=lambda _line: None, score=False)
    return arena


def _search(arena: Arena, words: str, **options: object) -> dict[str, tuple[bool, bool, tuple[str, ...]]]:
    page = arena.question_search.page("one", QuestionFilter(search=words), **options)  # type: ignore[arg-type]  # of a test
    assert page.total == len(page.questions)
    return {
        one.id: (one.found.in_question, one.found.in_reference, tuple(one.found.systems))
        for one in page.questions
        if one.found is not None
    }


def test_texts_of_all_systems_are_searched_at_once(judged: Arena) -> None:
    """A word is found in questions, references and the answers of every system, and it is said where."""
    assert _search(judged, '"item 1"') == {"q1": (True, True, ("short", "wrong"))}
    found = _search(judged, "GRAMS beta")
    assert set(found) == {"q1", "q7"}
    assert found["q1"] == (False, True, ("wrong",))
    page = judged.question_search.page("one", QuestionFilter(search="weighs 99"))
    assert [one.id for one in page.questions] == ["q0", "q3", "q6", "q9"]
    place = page.questions[0].found
    assert isinstance(place, MarkedText)
    assert (place.source, place.systems) == ("wrong", ["wrong"])
    assert place.pieces == (
        ("It ", False),
        ("weighs", True),
        (" ", False),
        ("99", True),
        (" grams.", False),
    )
    assert _search(judged, "xylophone") == {}
    assert _search(judged, "q7") == {}
    named = judged.question_search.page("one", QuestionFilter(search=" Q7 "))
    assert [one.id for one in named.questions] == ["q7"]


def test_only_versions_of_the_round_are_searched(judged: Arena, answers_file: Callable[..., Path]) -> None:
    """Answers that came after the round, and those before its versions, are not among what is found."""
    judged.submissions.add(answers_file("late", "A xylophone."), "tiny", system="late")
    judged.submissions.add(answers_file("again", "A xylophone."), "tiny", system="full")
    assert _search(judged, "xylophone") == {}
    assert _search(judged, '"alpha. It weighs 99"') == {}


def test_what_may_not_be_read_is_not_searched(judged: Arena) -> None:
    """Withdrawn answers, hidden references and texts that are not public are found by no stranger."""
    assert _search(judged, "weighs 99")
    assert not judged.question_lists.of("one").hides_references
    (number,) = (
        one.id for one in judged.store.submissions.find(set_name="tiny", system="wrong") if one.version == 2
    )
    judged.submissions.withdraw(number, caller=OPERATOR)
    assert _search(judged, "weighs 99") == {}
    assert _search(judged, "weighs 99", caller=OPERATOR) == {}
    page = judged.question_search.page("one", QuestionFilter(search="grams"), caller=PUBLIC)
    assert "human" in {one.found.source for one in page.questions if one.found}
    policy = judged.store.policies.get("tiny")
    judged.store.policies.put(replace(policy, hidden_references=True))
    assert not any(found[1] for found in _search(judged, "grams").values())
    assert judged.question_lists.of("one").hides_references
    judged.store.policies.put(replace(policy, public_texts=False))
    assert _search(judged, "item") == _search(judged, "grams") == {}
    assert len(_search(judged, "item", caller=OPERATOR)) == 12


def test_search_refuses_what_it_cannot_do(judged: Arena) -> None:
    """Words that nearly every text has alone, and rounds that are not public, are refused with what to do."""
    with pytest.raises(InputError, match="no word to search for"):
        _search(judged, "the of and")
    judged.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="two"))
    with pytest.raises(NotFoundError, match="no round"):
        judged.question_search.find("two", "item")
    with pytest.raises(NotFoundError, match="no round"):
        judged.question_search.excerpts("two", "item", ())


def test_winner_margin_and_spread_are_those_of_the_battles(judged: Arena) -> None:
    """Shares are means of the battles' scores, or of 1, ½, 0; the reference wins nothing."""
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for battle in judged.store.verdicts.battles("one"):
        if battle.preference is None:
            continue
        won = {Preference.A: 1.0, Preference.B: 0.0, Preference.TIE: 0.5}[battle.preference]
        won = won if battle.score is None else battle.score
        shares[battle.question_id][battle.system_a].append(won)
        shares[battle.question_id][battle.system_b].append(1 - won)
    questions = judged.question_lists.of("one").questions
    assert len(questions) == 12
    for question in questions:
        means = {name: fmean(values) for name, values in shares[question.id].items() if name != "human"}
        first, second, *_ = sorted(means.values(), reverse=True)
        best = [name for name, mean in means.items() if mean == pytest.approx(first, abs=1e-6)]
        assert question.winner == (best[0] if len(best) == 1 else None)
        assert question.winners == len(best)
        assert question.margin == pytest.approx(first - second, abs=2e-6)
        assert question.spread == pytest.approx(pstdev(means.values()), abs=2e-6)
        assert question.contested == question.flips
    winners = {question.winner for question in questions}
    assert len(winners) > 1
    for winner in winners - {None}:
        matching = judged.question_lists.of("one").matching(QuestionFilter(winner=winner))
        assert [one.id for one in matching] == [one.id for one in questions if one.winner == winner]


def test_questions_come_in_the_order_that_is_asked_for(judged: Arena) -> None:
    """What is largest or closest comes first, and what is not known last; equal ones in the set's order."""
    listed = judged.question_lists.of("one")
    some = (*listed.questions, replace(listed.questions[0], id="new", number=99, margin=None, spread=None))
    orders: dict[Order, Callable[[QuestionStats], float | None]] = {
        Order.CLOSEST: lambda one: one.margin,
        Order.CLEAREST: lambda one: None if one.margin is None else -one.margin,
        Order.SPREAD: lambda one: None if one.spread is None else -one.spread,
        Order.FLIPS: lambda one: -one.flips,
        Order.DISAGREEMENT: lambda one: None if one.disagreement is None else -one.disagreement,
    }
    for order, key in orders.items():
        ordered = type(listed).of(some).matching(QuestionFilter(), order=order)
        keys = [key(one) for one in ordered]
        known = [one for one in keys if one is not None]
        assert known == sorted(known)
        assert keys == known + [None] * (len(keys) - len(known))
        assert sorted(one.id for one in ordered) == sorted(one.id for one in some)
    assert listed.matching(QuestionFilter(), order=Order.SET) == listed.questions


def test_pages_of_a_search_are_parts_of_one_list(judged: Arena) -> None:
    """Page by page every question that has the words comes once, in the order that is asked for."""
    wanted = QuestionFilter(search="item")
    whole = judged.question_search.page("one", wanted, Order.SPREAD).questions
    parts = [
        judged.question_search.page("one", wanted, Order.SPREAD, after=after, limit=5) for after in (0, 5, 10)
    ]
    assert [one for part in parts for one in part.questions] == whole
    assert {part.total for part in parts} == {12}
    assert [sum(one.found is not None for one in part.questions) for part in parts] == [5, 5, 2]
