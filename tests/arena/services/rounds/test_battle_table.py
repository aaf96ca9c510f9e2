"""A round's battles as columns of codes: the same battles as records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from arena.container import Arena
from arena.services.rounds.battle_table import (
    judged_shares,
    outcomes_by_system,
    outcomes_of,
    table_of,
    table_of_columns,
)
from arena.services.rounds.models import RoundRequest
from data.records import Outcome, Preference
from data.store import Store


@pytest.mark.parametrize("soft", [False, True])
def test_columns_say_what_records_say(filled: Callable[..., Arena], database_url: str, *, soft: bool) -> None:
    """Every outcome, preference, flip and score is read as it is stored, on both engines."""
    arena = filled(database_url=database_url)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="r", pairs="all"))
    records = list(arena.rounds.battles("r"))
    _end(arena.store, [record.id for record in records], soft=soft)
    records = list(arena.rounds.battles("r"))
    columns = arena.store.verdicts.columns("r")
    preferences, outcomes = (None, *Preference), (None, *Outcome)
    assert [columns.questions[code] for code in columns.question] == [one.question_id for one in records]
    assert [columns.domains[code] for code in columns.question] == [one.domain for one in records]
    assert [columns.systems[code] for code in columns.a] == [one.system_a for one in records]
    assert [columns.systems[code] for code in columns.b] == [one.system_b for one in records]
    assert [outcomes[code + 1] for code in columns.outcome] == [one.outcome for one in records]
    assert [preferences[code + 1] for code in columns.preference] == [one.preference for one in records]
    assert [(None, False, True)[code + 1] for code in columns.flipped] == [one.flipped for one in records]
    assert (columns.score is not None) is soft
    if columns.score is not None:
        scores = [np.nan if one.score is None else one.score for one in records]
        np.testing.assert_array_equal(columns.score, scores)
    _same_table(table_of_columns(columns), table_of(records))
    assert outcomes_of(columns).total() == sum(one.outcome is not None for one in records)
    by_system = outcomes_by_system(columns)
    assert sum(sum(counts.values()) for counts in by_system.values()) == 2 * outcomes_of(columns).total()
    arena.close()


def test_shares_are_of_the_systems_that_have_battles(filled: Callable[..., Arena]) -> None:
    """How much was judged is not said of systems that a round leaves out."""
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="r", systems=("full",)))
    shares = judged_shares(arena.store.verdicts.columns("r"))
    assert set(shares.systems) == {"full", "human"}
    arena.close()


def test_a_round_that_is_not_there_has_no_columns(store: Store) -> None:
    """Nothing is read of it, and nothing breaks."""
    assert len(store.verdicts.columns("nowhere")) == 0


def _end(store: Store, numbers: list[int], *, soft: bool) -> None:
    """End battles in every way there is, and leave some pending."""
    with store.database.begin() as connection:
        for place, number in enumerate(numbers):
            outcome = (None, *Outcome)[place % 7]
            judged = outcome is Outcome.JUDGED
            values = {
                "id": number,
                "outcome": outcome,
                "preference": list(Preference)[place % 3] if judged else None,
                "flipped": (None, False, True)[place // 7 % 3] if judged else None,
                "score": 0.25 if judged and soft and place % 2 else None,
            }
            statement = (
                "UPDATE battle SET outcome = :outcome, preference = :preference, flipped = :flipped, "
                "score = :score WHERE id = :id"
            )
            connection.execute(text(statement), values)


def _same_table(found: Any, expected: Any) -> None:  # noqa: ANN401 - two tables
    for name in ("systems", "questions", "domains"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("a", "b", "winner", "question", "domain", "share"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
