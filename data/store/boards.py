"""Store for published boards."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, insert, or_, select, update

from data.errors import ConflictError, NotFoundError
from data.models import Board, BoardHead
from data.models.base import now
from data.models.rounds import boards, rounds
from data.store.base import AnyRow, StorePart, to_record, unique

SNAPSHOT = "@"
"""Separator of a board's name and the prefix of a hash: a permanent name of one snapshot."""
HASH_LENGTH = 12
MIN_HASH_LENGTH = 8


class BoardStore(StorePart):
    """Store for boards, whose snapshots never change.

    A board's name means its current snapshot; `NAME@HASH`, with at least eight characters of the hash, means
    one snapshot, current or replaced.
    """

    def publish(
        self, name: str, *, round_id: int | None, standings: Mapping[str, Any], notice: str = ""
    ) -> tuple[Board, bool]:
        """Store a snapshot of standings under a name.

        Returns:
            The board, and whether it is new; False if it has the same content already.
        """
        content_hash = hash_of(standings)
        with (
            unique(boards.c.name, boards.c.round_id, conflict=lambda: _conflict(name)),
            self._database.begin() as connection,
        ):
            existing = connection.execute(_select().where(boards.c.name == name)).first()
            if existing is None:
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
        if existing is not None and (existing.content_hash != content_hash or existing.retracted):
            raise _conflict(name)
        return self.get(name), existing is None

    def replace(self, name: str, standings: Mapping[str, Any]) -> tuple[Board, bool]:
        """Replace the current snapshot, which is kept under its hash.

        An earlier snapshot with the same standings becomes current again.

        Returns:
            The board, and whether its standings changed.
        """
        content_hash = hash_of(standings)
        with (
            unique(boards.c.name, boards.c.round_id, conflict=lambda: _conflict(name)),
            self._database.begin() as connection,
        ):
            current = connection.execute(_select().where(boards.c.name == name)).first()
            if current is None:
                raise _absent(name)
            if current.retracted:
                raise _conflict(name)
            changed = current.content_hash != content_hash
            if changed:
                _archive(connection, name, current.content_hash)
                _make_current(connection, current, standings, content_hash)
        return self.get(name), changed

    def get(self, name: str) -> Board:
        """Return a board or a snapshot of it."""
        row = self._first(_select().where(_named(name)))
        if row is None:
            raise _absent(name)
        return to_record(Board, row, marks={})

    def standing(self, round_id: int) -> str | None:
        """Return the hash of a round's current board, or None."""
        query = select(boards.c.content_hash).where(
            boards.c.round_id == round_id, ~boards.c.retracted, boards.c.replaced_at.is_(None)
        )
        row = self._first(query)
        return None if row is None else str(row.content_hash)

    def all(self) -> tuple[Board, ...]:
        """Return the current boards, newest first, with boards without a round at the end."""
        query = _select().where(~boards.c.retracted, boards.c.replaced_at.is_(None))
        query = query.order_by(boards.c.round_id.is_(None), boards.c.published_at.desc())
        return tuple(to_record(Board, row, marks={}) for row in self._all(query))

    def heads(self, *, retracted: bool = False, replaced: bool | None = False) -> tuple[BoardHead, ...]:
        """Return boards with only the title and the judge of their standings, in the order of `all`.

        Args:
            retracted: Whether to return retracted boards instead.
            replaced: Whether to return replaced snapshots instead of current ones; None for both.
        """
        query = (
            select(
                *(column for column in boards.c if column.name != "standings"),
                boards.c.standings["title"].as_string().label("title"),
                boards.c.standings["facts"]["judge"].as_string().label("judge"),
                rounds.c.name.label("round_name"),
            )
            .outerjoin(rounds, rounds.c.id == boards.c.round_id)
            .where(boards.c.retracted.is_(retracted))
        )
        if replaced is not None:
            query = query.where((boards.c.replaced_at.is_not if replaced else boards.c.replaced_at.is_)(None))
        query = query.order_by(boards.c.round_id.is_(None), boards.c.published_at.desc())
        return tuple(
            to_record(BoardHead, row, standings={"title": row.title, "facts": {"judge": row.judge}}, marks={})
            for row in self._all(query)
        )

    def every(self) -> tuple[Board, ...]:
        """Return all snapshots, including retracted ones, newest first."""
        query = _select().order_by(boards.c.published_at.desc(), boards.c.id.desc())
        return tuple(to_record(Board, row, marks={}) for row in self._all(query))

    def retract(self, name: str, notice: str) -> Board:
        """Retract all snapshots of a board's round, with the reason."""
        self._change(
            update(boards).where(self._snapshots(name)).values(retracted=True, notice=notice, noted_at=now())
        )
        return self.get(name)

    def put_notice(self, name: str, notice: str) -> Board:
        """Replace the notice on all snapshots of a board's round."""
        self._change(update(boards).where(self._snapshots(name)).values(notice=notice, noted_at=now()))
        return self.get(name)

    def _snapshots(self, name: str) -> ColumnElement[bool]:
        row = self._first(select(boards.c.id, boards.c.round_id).where(_named(name)))
        if row is None:
            raise _absent(name)
        snapshots: ColumnElement[bool] = (
            boards.c.id == row.id if row.round_id is None else boards.c.round_id == row.round_id
        )
        return snapshots


def hash_of(standings: Mapping[str, Any]) -> str:
    """Return the sha256 of standings as canonical JSON."""
    canonical = json.dumps(
        standings, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def snapshot_name(name: str, content_hash: str) -> str:
    """Return the permanent name of one snapshot of a board."""
    return f"{name.partition(SNAPSHOT)[0]}{SNAPSHOT}{content_hash[:HASH_LENGTH]}"


def snapshot_of(head: Board) -> str:
    """Return the permanent name of a snapshot."""
    return head.name if head.round_name is None else snapshot_name(head.name, head.content_hash)


def is_called(head: Board, name: str) -> bool:
    """Return whether a name, as `BoardStore` reads it, means a snapshot."""
    base, _, prefix = name.partition(SNAPSHOT)
    if len(prefix) < MIN_HASH_LENGTH:
        return head.name == name
    return head.name.partition(SNAPSHOT)[0] == base and head.content_hash.startswith(prefix)


def _named(name: str) -> ColumnElement[bool]:
    base, _, prefix = name.partition(SNAPSHOT)
    if len(prefix) < MIN_HASH_LENGTH:
        return boards.c.name == name
    former = snapshot_name(base, prefix) if len(prefix) >= HASH_LENGTH else name
    begins = boards.c.name.startswith(former, autoescape=True)
    return or_(boards.c.name == base, begins) & boards.c.content_hash.startswith(prefix, autoescape=True)


def _archive(connection: Connection, name: str, content_hash: str) -> None:
    former = snapshot_name(name, content_hash)
    mine = (boards.c.name == name, boards.c.content_hash == content_hash)
    connection.execute(update(boards).where(*mine).values(name=former, replaced_at=now()))


def _make_current(
    connection: Connection, before: AnyRow, standings: Mapping[str, Any], content_hash: str
) -> None:
    former = update(boards).where(
        boards.c.name == snapshot_name(before.name, content_hash), boards.c.content_hash == content_hash
    )
    values = {"name": before.name, "replaced_at": None}
    if connection.execute(former.values(**values)).rowcount:
        return
    connection.execute(
        insert(boards).values(
            name=before.name,
            round_id=before.round_id,
            standings=dict(standings),
            content_hash=content_hash,
            notice=before.notice,
            published_at=now(),
        )
    )


def _absent(name: str) -> NotFoundError:
    return NotFoundError(
        f"There is no board {name!r}.", advice="Publish a round with `arena rounds publish NAME`."
    )


def _conflict(name: str) -> ConflictError:
    return ConflictError(
        f"A board called {name} is published with other standings, or was retracted.",
        advice="A published round never changes; judge a new round instead.",
    )


def _select() -> Select[*tuple[Any, ...]]:
    return select(boards, rounds.c.name.label("round_name")).outerjoin(
        rounds, rounds.c.id == boards.c.round_id
    )
