"""Published boards in the store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, insert, select, update
from sqlalchemy.exc import IntegrityError

from data.errors import ConflictError, NotFoundError
from data.records import Board
from data.store.base import StorePart, to_record
from data.tables import boards, rounds
from data.tables.columns import now


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardHead:
    """A board without its standings: what lists of boards need."""

    name: str
    title: str
    judge: str
    content_hash: str
    notice: str
    retracted: bool
    published_at: datetime
    round_name: str | None


class BoardStore(StorePart):
    """Publishes, finds and retracts boards. A published board never changes."""

    def publish(
        self, name: str, *, round_id: int | None, standings: Mapping[str, Any], notice: str = ""
    ) -> tuple[Board, bool]:
        """Store a snapshot of standings under a name.

        Returns:
            The board, and whether it is new; False where the same content stands already.

        Raises:
            ConflictError: Other standings are published under this name.
        """
        content_hash = hash_of(standings)
        try:
            with self._database.begin() as connection:
                stored = connection.execute(_select().where(boards.c.name == name)).first()
                if stored is None:
                    connection.execute(
                        insert(boards).values(
                            name=name,
                            round_id=round_id,
                            standings=dict(standings),
                            content_hash=content_hash,
                            notice=notice,
                            published_at=now(),
                        )
                    )
        except IntegrityError as error:
            raise _name_conflict(name) from error
        if stored is not None and (stored.content_hash != content_hash or stored.retracted):
            raise _name_conflict(name)
        return self.get(name), stored is None

    def get(self, name: str) -> Board:
        """One board.

        Raises:
            NotFoundError: No board has this name.
        """
        row = self._first(_select().where(boards.c.name == name))
        if row is None:
            raise NotFoundError(
                f"There is no board {name!r}.", advice="Publish a round with `arena rounds publish NAME`."
            )
        return to_record(Board, row)

    def all(self) -> tuple[Board, ...]:
        """Every board that stands, the newest first, rounds before boards without one."""
        query = _select().where(~boards.c.retracted)
        query = query.order_by(boards.c.round_id.is_(None), boards.c.published_at.desc())
        return tuple(to_record(Board, row) for row in self._all(query))

    def heads(self, *, retracted: bool = False) -> tuple[BoardHead, ...]:
        """Every board that stands (or that was retracted), in the order of `all`, without its standings."""
        query = (
            select(
                boards.c.name,
                boards.c.standings["title"].as_string().label("title"),
                boards.c.standings["facts"]["judge"].as_string().label("judge"),
                boards.c.content_hash,
                boards.c.notice,
                boards.c.retracted,
                boards.c.published_at,
                rounds.c.name.label("round_name"),
            )
            .outerjoin(rounds, rounds.c.id == boards.c.round_id)
            .where(boards.c.retracted.is_(retracted))
        )
        query = query.order_by(boards.c.round_id.is_(None), boards.c.published_at.desc())
        return tuple(
            to_record(BoardHead, row, title=row.title or row.name, judge=row.judge or "")
            for row in self._all(query)
        )

    def every(self) -> tuple[Board, ...]:
        """Every board that was ever published, retracted ones too, the newest first."""
        query = _select().order_by(boards.c.published_at.desc(), boards.c.id.desc())
        return tuple(to_record(Board, row) for row in self._all(query))

    def retract(self, name: str, notice: str) -> Board:
        """Take a board down, keeping it and the reason.

        Raises:
            NotFoundError: No board has this name.
        """
        self.get(name)
        self._change(update(boards).where(boards.c.name == name).values(retracted=True, notice=notice))
        return self.get(name)

    def put_notice(self, name: str, notice: str) -> Board:
        """Say something to a board's readers, in place of what was said before; its standings stay.

        Raises:
            NotFoundError: No board has this name.
        """
        self.get(name)
        self._change(update(boards).where(boards.c.name == name).values(notice=notice))
        return self.get(name)


def hash_of(standings: Mapping[str, Any]) -> str:
    """The sha256 of standings as canonical JSON."""
    canonical = json.dumps(
        standings, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def _name_conflict(name: str) -> ConflictError:
    return ConflictError(
        f"A board called {name} is published with other standings, or was retracted.",
        advice="A published round never changes; judge a new round instead.",
    )


def _select() -> Select[*tuple[Any, ...]]:
    return select(boards, rounds.c.name.label("round_name")).outerjoin(
        rounds, rounds.c.id == boards.c.round_id
    )
