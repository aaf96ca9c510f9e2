"""Conflicts of unique keys, distinguished from other database errors."""

from __future__ import annotations

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from data.errors import ConflictError, RecordError
from data.models import JobKind, SystemCard
from data.models.teams import memberships
from data.store import Store
from data.store.base import unique
from data.store.submissions import NewSubmission


def test_repeated_key_is_conflict(store: Store) -> None:
    store.teams.add("a")
    store.teams.add_account("ann", email="Ann@Example.org")
    with pytest.raises(ConflictError, match="Team 'a' already exists"):
        store.teams.add("a")
    with pytest.raises(ConflictError, match="e-mail address"):
        store.teams.add_account("bob", email="ann@example.ORG")


def test_repeated_key_of_several_columns_is_conflict(store: Store) -> None:
    team, account = store.teams.add("a"), store.teams.add_account("ann")
    row = insert(memberships).values(team_id=team.id, account_id=account.id, role="owner")
    key = (memberships.c.team_id, memberships.c.account_id)
    with store.database.begin() as connection:
        connection.execute(row)
    with (
        pytest.raises(ConflictError, match="again"),
        unique(key, conflict=lambda: ConflictError("again")),
        store.database.begin() as connection,
    ):
        connection.execute(row)


def test_broken_reference_is_not_conflict(store: Store) -> None:
    with pytest.raises(IntegrityError):
        store.jobs.put(JobKind.JUDGE, round_id=99)
    with pytest.raises(IntegrityError):
        store.boards.publish("b", round_id=99, standings={})
    with pytest.raises(IntegrityError):
        store.rounds.create(
            name="r", set_id=99, judge_name="j", judge={}, plan={}, seed=1, budget_usd=None, planned=()
        )


def test_invalid_names_are_refused_before_write(store: Store) -> None:
    with pytest.raises(RecordError, match="Round name"):
        store.rounds.create(
            name="a b", set_id=1, judge_name="j", judge={}, plan={}, seed=1, budget_usd=None, planned=()
        )
    with pytest.raises(RecordError, match="System name"):
        NewSubmission(set_name="s", system="a  b", team="", card=SystemCard(), content_hash="")
    with pytest.raises(RecordError, match="Team name"):
        store.teams.add("a/b")
