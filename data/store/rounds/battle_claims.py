"""Which battles and canaries a lease judges at present."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, exists, func, literal, or_, select

from data.records import PendingBattle
from data.store.base import StorePart, own_insert
from data.store.rounds.battles import pending_battles
from data.store.rounds.canaries import attacked_battles
from data.store.rounds.fencing import lease_lost
from data.tables.jobs import battle_holds, canary_holds, lease_rows
from data.tables.questions import questions
from data.tables.rounds import battles, canaries

CLAIMED = ((battles, battle_holds), (canaries, canary_holds))
"""What a round has judged, each with who holds it."""


class ClaimStore(StorePart):
    """Hands battles to leases, each to one."""

    def questions(self, round_id: int) -> list[tuple[int, str]]:
        """Numbers and ids of the questions with pending battles that nobody has claimed; see `battles`."""
        free = (
            select(battles.c.question_id)
            .where(
                battles.c.round_id == round_id,
                battles.c.outcome.is_(None),
                ~_is_claimed(battles, battle_holds),
            )
            .distinct()
        )
        query = select(questions.c.id, questions.c.key).where(questions.c.id.in_(free))
        return [(row.id, row.key) for row in self._all(query.order_by(questions.c.id))]

    def pending(self, round_id: int) -> int:
        """How many battles of a round have no outcome, claimed or not."""
        query = select(func.count()).where(battles.c.round_id == round_id, battles.c.outcome.is_(None))
        with self._database.begin() as connection:
            return int(connection.execute(query).scalar_one())

    def battles(
        self,
        lease_id: int,
        round_id: int,
        *,
        limit: int,
        after: int = 0,
        among: Sequence[int] | None = None,
    ) -> tuple[list[PendingBattle], int]:
        """Give a lease the next pending battles that nobody has claimed, question by question.

        Args:
            lease_id: Who gets them.
            round_id: The round.
            limit: How many at most.
            after: The number of the question to begin with.
            among: Numbers of the questions to choose from; None for all.

        Returns:
            The battles, and the number of the last question; 0 where there are none.

        Raises:
            LeaseLostError: The lease was given up.
        """
        query = (
            select(battles.c.id, literal(lease_id))
            .where(
                battles.c.round_id == round_id,
                battles.c.outcome.is_(None),
                battles.c.question_id >= after if among is None else battles.c.question_id.in_(among),
                ~_is_claimed(battles, battle_holds),
            )
            .order_by(battles.c.question_id, battles.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        with self._database.together() as connection:
            claimed_ids = _claim(connection, battle_holds, lease_id, query)
            if not claimed_ids:
                return [], 0
            last = select(func.max(battles.c.question_id)).where(battles.c.id.in_(claimed_ids))
            claimed = list(pending_battles(connection, battles.c.id.in_(claimed_ids)))
            return claimed, int(connection.execute(last).scalar_one())

    def canaries(self, lease_id: int, round_id: int, *, limit: int) -> list[PendingBattle]:
        """Give a lease pending canaries that nobody has claimed, as the battles that a judge gets to see.

        Raises:
            LeaseLostError: The lease was given up.
        """
        query = _free(canaries, canary_holds, lease_id, round_id).limit(limit)
        with self._database.together() as connection:
            claimed_ids = _claim(connection, canary_holds, lease_id, query)
            return list(attacked_battles(connection, canaries.c.id.in_(claimed_ids))) if claimed_ids else []


def has_pending(connection: Connection, round_id: int) -> bool:
    """Whether a battle or canary of a round has no outcome."""
    waiting = [
        exists().where(table.c.round_id == round_id, table.c.outcome.is_(None)) for table, _ in CLAIMED
    ]
    return bool(connection.execute(select(or_(*waiting))).scalar())


def has_work(round_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """A clause: a judge may be asked about something of the round that nobody has claimed."""
    return or_(
        *(
            exists().where(
                table.c.round_id == round_id, table.c.outcome.is_(None), ~_is_claimed(table, claims)
            )
            for table, claims in CLAIMED
        )
    )


def _free(table: Table, claims: Table, lease_id: int, round_id: int) -> Select[int, int]:
    """What of a round is pending and not claimed: numbers, and the lease that wants them."""
    return (
        select(table.c.id, literal(lease_id))
        .where(table.c.round_id == round_id, table.c.outcome.is_(None), ~_is_claimed(table, claims))
        .order_by(table.c.id)
        .with_for_update(skip_locked=True)
    )


def _is_claimed(table: Table, claims: Table) -> ColumnElement[bool]:
    (key, _) = claims.c
    return exists().where(key == table.c.id)


def _claim(connection: Connection, table: Table, lease_id: int, selected: Select[int, int]) -> list[int]:
    """Claim what a query selects (numbers, and the lease), and return what was free."""
    _lock(connection, lease_id)
    (key, _) = table.c
    statement = own_insert(connection, table).from_select([key.name, "seat_id"], selected)
    rows = connection.execute(statement.on_conflict_do_nothing().returning(key))
    return list(rows.scalars())


def _lock(connection: Connection, lease_id: int) -> None:
    """Hold a lease for the transaction.

    Raises:
        LeaseLostError: It was given up.
    """
    lease = connection.execute(
        select(lease_rows.c.id).where(lease_rows.c.id == lease_id).with_for_update(read=True, key_share=True)
    ).first()
    if lease is None:
        raise lease_lost(lease_id)
