"""Which battles and canaries a lease judges at present."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, exists, func, literal, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from data.records import PendingBattle
from data.store.base import StorePart
from data.store.rounds.battles import pending_battles
from data.store.rounds.canaries import attacked_battles
from data.store.rounds.fencing import lease_lost
from data.tables import battle_holds, battles, canaries, canary_holds, seats


class ClaimStore(StorePart):
    """Hands battles to leases, each to one."""

    def battles(
        self, lease_id: int, round_id: int, *, limit: int, after: int = 0
    ) -> tuple[list[PendingBattle], int]:
        """Give a lease the next pending battles that nobody has claimed, question by question.

        Args:
            lease_id: Who gets them.
            round_id: The round.
            limit: How many at most.
            after: The number of the question to begin with.

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
                battles.c.question_id >= after,
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
        query = (
            select(canaries.c.id, literal(lease_id))
            .where(
                canaries.c.round_id == round_id,
                canaries.c.outcome.is_(None),
                ~_is_claimed(canaries, canary_holds),
            )
            .order_by(canaries.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        with self._database.together() as connection:
            claimed_ids = _claim(connection, canary_holds, lease_id, query)
            return list(attacked_battles(connection, canaries.c.id.in_(claimed_ids))) if claimed_ids else []


def has_pending(connection: Connection, round_id: int) -> bool:
    """Whether a battle or canary of a round has no outcome."""
    waiting = [
        exists().where(table.c.round_id == round_id, table.c.outcome.is_(None))
        for table in (battles, canaries)
    ]
    return bool(connection.execute(select(or_(*waiting))).scalar())


def has_work(round_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """A clause: a battle or canary of the round is pending and nobody has claimed it."""
    return or_(
        *(
            exists().where(
                table.c.round_id == round_id, table.c.outcome.is_(None), ~_is_claimed(table, claims)
            )
            for table, claims in ((battles, battle_holds), (canaries, canary_holds))
        )
    )


def _is_claimed(table: Table, claims: Table) -> ColumnElement[bool]:
    (key, _) = claims.c
    return exists().where(key == table.c.id)


def _claim(connection: Connection, table: Table, lease_id: int, selected: Select[int, int]) -> list[int]:
    """Claim what a query selects (numbers, and the lease), and return what was free."""
    alive = connection.execute(
        select(seats.c.id).where(seats.c.id == lease_id).with_for_update(read=True, key_share=True)
    ).first()
    if alive is None:
        raise lease_lost(lease_id)
    (key, _) = table.c
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table).from_select([key.name, "seat_id"], selected)
    rows = connection.execute(statement.on_conflict_do_nothing().returning(key))
    return list(rows.scalars())
