from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pstdev

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.evidence.question_lists import Order, QuestionFilter, Result, Trait
from arena.services.rounds.models import RoundRequest
from data.models import Judgment, Outcome, Preference, Presentation, Verdict
from data.store.question_stats import QuestionStats
from tests.arena.conftest import Fill, mix, play, quiet
from tests.served import published


def test_question_figures_match_battles(filled: Fill, database_url: str, tmp_path: Path) -> None:
    judged = mix(filled(database_url=database_url), tmp_path)
    play(judged, "one")
    before = judged.question_lists.of("one", caller=OPERATOR).questions
    judged.boards.publish("one", report=quiet, score=False)
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for battle in judged.store.verdicts.battles("one"):
        if battle.preference is None:
            continue
        won = {Preference.A: 1.0, Preference.B: 0.0, Preference.TIE: 0.5}[battle.preference]
        won = won if battle.score is None else battle.score
        shares[battle.question_id][battle.system_a].append(won)
        shares[battle.question_id][battle.system_b].append(1 - won)
    questions = judged.question_lists.of("one").questions
    assert questions == before
    assert [row.id for row in questions] == [f"q{number}" for number in range(12)]
    battles = list(judged.store.verdicts.battles("one"))
    assert sum(row.battles for row in questions) == len(battles)
    assert sum(row.ties for row in questions) == sum(row.preference is Preference.TIE for row in battles)
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
        assert [row.id for row in matching] == [row.id for row in questions if row.winner == winner]
    page = judged.question_lists.page("one", QuestionFilter(words="ITEM q7"))
    assert [row.id for row in page.questions] == ["q7"]
    assert judged.question_lists.page("one", QuestionFilter(words="xylophone")).total == 0
    wanted = QuestionFilter(words="item")
    whole = judged.question_lists.page("one", wanted, Order.SPREAD).questions
    parts = [
        judged.question_lists.page("one", wanted, Order.SPREAD, after=after, limit=5) for after in (0, 5, 10)
    ]
    assert tuple(row for part in parts for row in part.questions) == whole
    assert {part.total for part in parts} == {12}


def test_questions_are_sorted_by_each_order() -> None:
    with closing(Arena(published())) as arena:
        listed = arena.question_lists.of("tiny")
    some = (*listed.questions, replace(listed.questions[0], id="new", number=99, margin=None, spread=None))
    orders: dict[Order, Callable[[QuestionStats], float | None]] = {
        Order.CLOSEST: lambda row: row.margin,
        Order.CLEAREST: lambda row: None if row.margin is None else -row.margin,
        Order.SPREAD: lambda row: None if row.spread is None else -row.spread,
        Order.FLIPS: lambda row: -row.flips,
        Order.DISAGREEMENT: lambda row: None if row.disagreement is None else -row.disagreement,
    }
    for order, key in orders.items():
        ordered = type(listed).of(some).matching(QuestionFilter(), order=order)
        keys = [key(row) for row in ordered]
        known = [row for row in keys if row is not None]
        assert known == sorted(known)
        assert keys == known + [None] * (len(keys) - len(known))
        assert sorted(row.id for row in ordered) == sorted(row.id for row in some)
    assert listed.matching(QuestionFilter(), order=Order.SET) == listed.questions


def test_pair_filter_selects_questions_with_battle() -> None:
    with closing(Arena(published())) as reading:
        questions = reading.question_lists.of("tiny")
        turned = reading.question_lists.endings("tiny", "short", "full")
        endings = reading.question_lists.endings("tiny", "full", "short")
    assert len(endings) == 12
    pair = QuestionFilter(system="full", opponent="short")
    by_result = {
        result: {row.id for row in questions.matching(replace(pair, result=result), endings=endings)}
        for result in Result
    }
    assert sum(map(len, by_result.values())) == 12
    lost = questions.matching(QuestionFilter(system="short", result=Result.LOST), endings=turned)
    assert {row.id for row in lost} == by_result[Result.WON] != set()


PAIR = ("full", "short")


def _judge(arena: Arena, name: str, judges: tuple[str, str]) -> None:
    """Round in which the second judge disagrees with the first on question q3 for one pair."""
    arena.rounds.create(RoundRequest(set_name="tiny", judge="panel", pairs="all", name=name))
    verdicts = []
    for battle in arena.rounds.battles(name):
        differs = battle.question_id == "q3" and (battle.system_a, battle.system_b) == PAIR
        votes = (Preference.A, Preference.B if differs else Preference.A)
        judgments = tuple(
            Judgment(judge=judge, model="m", presentation=order, outcome=Outcome.JUDGED, preference=vote)
            for judge, vote, order in zip(judges, votes, Presentation, strict=True)
        )
        verdicts.append(
            (battle.id, Verdict(outcome=Outcome.JUDGED, preference=Preference.A, judgments=judgments))
        )
    arena.store.verdicts.record(verdicts)


@pytest.mark.parametrize("judges", [("careful", "hasty"), ("careful", "careful")])
def test_disagreeing_judges_dispute_question(
    filled: Fill, database_url: str, judges: tuple[str, str]
) -> None:
    """One pair of one question is disputed; a judge that contradicts itself in the other order is no dispute.

    Another round, whose judges disagree everywhere, does not change it.
    """
    arena = filled(database_url=database_url)
    _judge(arena, "other", ("careful", "hasty"))
    _judge(arena, "panel", judges)
    questions = arena.question_lists.of("panel", caller=OPERATOR).matching(
        QuestionFilter(trait=Trait.DISPUTED)
    )
    expected = {"q3": 1} if len(set(judges)) > 1 else {}
    assert {question.id: question.disputed for question in questions} == expected
