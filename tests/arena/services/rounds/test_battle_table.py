from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sqlalchemy import event, text

from arena.services.rounds.battle_table import outcomes_by_system, outcomes_of, table_of_columns
from arena.services.rounds.models import RoundRequest
from data.models import Outcome, Preference
from data.store import Store
from tests.arena.conftest import Fill
from tests.battle_tables import table_of


@pytest.mark.parametrize("soft", [False, True])
def test_columns_equal_records(filled: Fill, database_url: str, *, soft: bool) -> None:
    arena = filled(database_url=database_url)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="r", pairs="all"))
    records = list(arena.rounds.battles("r"))
    _end(arena.store, [record.id for record in records], soft=soft)
    records = list(arena.rounds.battles("r"))
    columns = arena.store.verdicts.columns("r")
    preferences, outcomes = (None, *Preference), (None, *Outcome)
    assert [columns.questions[code] for code in columns.question] == [row.question_id for row in records]
    assert [columns.domains[code] for code in columns.question] == [row.domain for row in records]
    assert [columns.systems[code] for code in columns.a] == [row.system_a for row in records]
    assert [columns.systems[code] for code in columns.b] == [row.system_b for row in records]
    assert [outcomes[code + 1] for code in columns.outcome] == [row.outcome for row in records]
    assert [preferences[code + 1] for code in columns.preference] == [row.preference for row in records]
    assert [(None, False, True)[code + 1] for code in columns.flipped] == [row.flipped for row in records]
    assert (columns.score is not None) is soft
    if columns.score is not None:
        scores = [np.nan if row.score is None else row.score for row in records]
        np.testing.assert_array_equal(columns.score, scores)
    table, expected = table_of_columns(columns), table_of(records)
    for name in ("systems", "questions", "domains"):
        assert getattr(table, name) == getattr(expected, name)
    for name in ("a", "b", "winner", "question", "domain", "share"):
        np.testing.assert_array_equal(getattr(table, name), getattr(expected, name))
    assert outcomes_of(columns).total() == sum(row.outcome is not None for row in records)
    by_system = outcomes_by_system(columns)
    assert sum(sum(counts.values()) for counts in by_system.values()) == 2 * outcomes_of(columns).total()
    few = arena.store.verdicts.columns("r", systems={"full"})
    code = columns.systems.index("full")
    rows = (columns.a == code) | (columns.b == code)
    assert 0 < len(few) < len(columns)
    for name in ("question", "a", "b", "outcome", "preference", "flipped", *(("score",) if soft else ())):
        np.testing.assert_array_equal(getattr(few, name), getattr(columns, name)[rows])
    assert len(arena.store.verdicts.columns("nowhere")) == 0


def test_pages_cover_all_battles_of_round(filled: Fill, database_url: str) -> None:
    arena = filled(database_url=database_url)
    for name in ("before", "r", "after"):
        arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name=name, pairs="all"))
    verdicts = arena.store.verdicts
    everything = {name: [row.id for row in verdicts.battles(name)] for name in ("before", "r", "after")}
    assert all(numbers == sorted(numbers) for numbers in everything.values())
    assert len(set().union(*everything.values())) == 3 * len(everything["r"])
    paged: list[int] = []
    while page := verdicts.page("r", after=paged[-1] if paged else 0, limit=7):
        paged += [row.id for row in page]
    assert paged == everything["r"] == [row.battle.id for row in verdicts.evidence("r")]
    named = [row.id for row in verdicts.battles("r") if "full" in {row.system_a, row.system_b}]
    assert [row.id for row in verdicts.battles("r", system="full")] == named
    assert not list(verdicts.battles("nowhere"))


def test_sqlite_paging_does_not_sort(filled: Fill) -> None:
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="r", pairs="all"))
    plans: list[str] = []

    def explain(connection: Any, _cursor: Any, statement: str, parameters: Any, *_others: Any) -> None:  # noqa: ANN401 - of the driver
        if "ORDER BY battle.id" in statement:
            driver = connection.connection.driver_connection
            plans.extend(row[3] for row in driver.execute(f"EXPLAIN QUERY PLAN {statement}", parameters))

    event.listen(arena.store.database.engine, "before_cursor_execute", explain)
    arena.store.verdicts.page("r", after=3, limit=5)
    assert plans
    assert not any("TEMP B-TREE" in step for step in plans)


def _end(store: Store, numbers: list[int], *, soft: bool) -> None:
    """Settle battles with every outcome, and leave some pending."""
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
