"""Lists of a round's questions: filters, orders, pages, winners and disputes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pstdev

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.evidence.question_lists import Order, QuestionFilter, Trait
from arena.services.rounds.models import RoundRequest
from data.models import Judgment, Outcome, Preference, Presentation, Verdict
from data.store.question_stats import QuestionStats
from tests.arena.conftest import Fill, mix, play


@pytest.fixture
def judged(filled: Fill, database_url: str, tmp_path: Path) -> Arena:
    """A published round named `one`, in which each system wins and loses."""
    arena = mix(filled(database_url=database_url), tmp_path)
    play(arena, "one", publish=True)
    return arena


def test_winner_margin_and_spread_are_those_of_the_battles(judged: Arena) -> None:
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


def test_words_match_parts_of_questions_and_ids(judged: Arena) -> None:
    page = judged.question_lists.page("one", QuestionFilter(words="ITEM q7"))
    assert [one.id for one in page.questions] == ["q7"]
    assert judged.question_lists.page("one", QuestionFilter(words="xylophone")).total == 0


def test_pages_of_a_search_are_parts_of_one_list(judged: Arena) -> None:
    """Page by page every question that has the words comes once, in the order that is asked for."""
    wanted = QuestionFilter(words="item")
    whole = judged.question_lists.page("one", wanted, Order.SPREAD).questions
    parts = [
        judged.question_lists.page("one", wanted, Order.SPREAD, after=after, limit=5) for after in (0, 5, 10)
    ]
    assert tuple(one for part in parts for one in part.questions) == whole
    assert {part.total for part in parts} == {12}


PAIR = ("full", "short")


def _judgment(judge: str, preference: Preference, presentation: Presentation) -> Judgment:
    return Judgment(
        judge=judge, model="m", presentation=presentation, outcome=Outcome.JUDGED, preference=preference
    )


def _judge(arena: Arena, name: str, judges: tuple[str, str]) -> None:
    """A round in which the second voice says otherwise than the first on the question q3, on one pair."""
    arena.rounds.create(RoundRequest(set_name="tiny", judge="panel", pairs="all", name=name))
    verdicts = []
    for battle in arena.rounds.battles(name):
        differs = battle.question_id == "q3" and (battle.system_a, battle.system_b) == PAIR
        votes = (Preference.A, Preference.B if differs else Preference.A)
        orders = (Presentation.A_FIRST, Presentation.B_FIRST)
        judgments = tuple(map(_judgment, judges, votes, orders))
        verdicts.append(
            (battle.id, Verdict(outcome=Outcome.JUDGED, preference=Preference.A, judgments=judgments))
        )
    arena.store.verdicts.record(verdicts)


@pytest.mark.parametrize("judges", [("careful", "hasty"), ("careful", "careful")])
def test_a_question_is_disputed_where_two_judges_disagree(
    filled: Fill, database_url: str, judges: tuple[str, str]
) -> None:
    """One pair of one question is disputed; a judge that contradicts itself in the other order is no dispute.

    So it is beside another round whose judges disagree everywhere.
    """
    arena = filled(database_url=database_url)
    _judge(arena, "other", ("careful", "hasty"))
    _judge(arena, "panel", judges)
    questions = arena.question_lists.of("panel", caller=OPERATOR).matching(
        QuestionFilter(trait=Trait.DISPUTED)
    )
    expected = {"q3": 1} if len(set(judges)) > 1 else {}
    assert {question.id: question.disputed for question in questions} == expected
