"""Questions on which judges of a panel disagree, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.evidence.question_lists import QuestionFilter, Trait
from arena.services.rounds.models import RoundRequest
from data.models import Judgment, Outcome, Preference, Presentation, Verdict

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
    filled: Callable[..., Arena], database_url: str, judges: tuple[str, str]
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
