"""Which battles and canaries a seat judges at present."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, exists, func, literal, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from data.records import PendingBattle
from data.store.canaries import attacked_battles
from data.store.database import Database
from data.store.fencing import lost
from data.store.pending import pending_battles
from data.tables import battle_holds, battles, canaries, canary_holds, seats


class HoldStore:
    """Hands battles to seats, each to one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def battles(
        self, seat_id: int, round_id: int, *, limit: int, after: int = 0
    ) -> tuple[list[PendingBattle], int]:
        """Give a seat the next pending battles that nobody holds, question by question.

        Args:
            seat_id: Who gets them.
            round_id: The round.
            limit: How many at most.
            after: The number of the question to begin with.

        Returns:
            The battles, and the number of the last question; 0 where there are none.

        Raises:
            LeaseLostError: The seat was given up.
        """
        query = (
            select(battles.c.id, literal(seat_id))
            .where(
                battles.c.round_id == round_id,
                battles.c.outcome.is_(None),
                battles.c.question_id >= after,
                ~_held(battles, battle_holds),
            )
            .order_by(battles.c.question_id, battles.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        with self._database.together() as connection:
            held = _hold(connection, battle_holds, seat_id, query)
            if not held:
                return [], 0
            last = select(func.max(battles.c.question_id)).where(battles.c.id.in_(held))
            found = list(pending_battles(connection, battles.c.id.in_(held)))
            return found, int(connection.execute(last).scalar_one())

    def canaries(self, seat_id: int, round_id: int, *, limit: int) -> list[PendingBattle]:
        """Give a seat pending canaries that nobody holds, as the battles that a judge gets to see.

        Raises:
            LeaseLostError: The seat was given up.
        """
        query = (
            select(canaries.c.id, literal(seat_id))
            .where(
                canaries.c.round_id == round_id,
                canaries.c.outcome.is_(None),
                ~_held(canaries, canary_holds),
            )
            .order_by(canaries.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        with self._database.together() as connection:
            held = _hold(connection, canary_holds, seat_id, query)
            return list(attacked_battles(connection, canaries.c.id.in_(held))) if held else []


def has_pending(connection: Connection, round_id: int) -> bool:
    """Whether a battle or canary of a round has no outcome."""
    waiting = [
        exists().where(table.c.round_id == round_id, table.c.outcome.is_(None))
        for table in (battles, canaries)
    ]
    return bool(connection.execute(select(or_(*waiting))).scalar())


def has_work(round_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """A clause: a battle or canary of the round is pending and nobody holds it."""
    return or_(
        *(
            exists().where(table.c.round_id == round_id, table.c.outcome.is_(None), ~_held(table, holds))
            for table, holds in ((battles, battle_holds), (canaries, canary_holds))
        )
    )


def _held(table: Table, holds: Table) -> ColumnElement[bool]:
    (key, _) = holds.c
    return exists().where(key == table.c.id)


def _hold(connection: Connection, table: Table, seat_id: int, wanted: Select[int, int]) -> list[int]:
    """Hold what a query finds (numbers, and the seat), and return what was free."""
    alive = connection.execute(
        select(seats.c.id).where(seats.c.id == seat_id).with_for_update(read=True, key_share=True)
    ).first()
    if alive is None:
        raise lost(seat_id)
    (key, _) = table.c
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table).from_select([key.name, "seat_id"], wanted)
    got = connection.execute(statement.on_conflict_do_nothing().returning(key))
    return list(got.scalars())
