"""Published boards in the store."""

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
"""Between a board's name and the beginning of a hash: together they name one snapshot for good."""
HASH_NAMED = 12
SHORTEST_HASH = 8


class BoardStore(StorePart):
    """Publishes, finds and retracts boards. A published snapshot never changes.

    A board's name gives the snapshot that stands; `NAME@HASH`, with eight or more characters of its hash,
    gives one snapshot whether it stands or was replaced.
    """

    def publish(
        self, name: str, *, round_id: int | None, standings: Mapping[str, Any], notice: str = ""
    ) -> tuple[Board, bool]:
        """Store a snapshot of standings under a name.

        Returns:
            The board, and whether it is new; False where the same content stands already.
        """
        content_hash = hash_of(standings)
        with (
            unique(boards.c.name, boards.c.round_id, taken=lambda: _taken(name)),
            self._database.begin() as connection,
        ):
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
        if stored is not None and (stored.content_hash != content_hash or stored.retracted):
            raise _taken(name)
        return self.get(name), stored is None

    def replace(self, name: str, standings: Mapping[str, Any]) -> tuple[Board, bool]:
        """Let another snapshot stand under a name; the former one stays, named by its hash.

        A snapshot that stood before stands again where the standings are its own.

        Returns:
            The board, and whether its standings are other than they were.
        """
        content_hash = hash_of(standings)
        with (
            unique(boards.c.name, boards.c.round_id, taken=lambda: _taken(name)),
            self._database.begin() as connection,
        ):
            standing = connection.execute(_select().where(boards.c.name == name)).first()
            if standing is None:
                raise _absent(name)
            if standing.retracted:
                raise _taken(name)
            changed = standing.content_hash != content_hash
            if changed:
                _stand_aside(connection, name, standing.content_hash)
                _put_up(connection, standing, standings, content_hash)
        return self.get(name), changed

    def get(self, name: str) -> Board:
        """One board, or one snapshot of it."""
        row = self._first(_select().where(_named(name)))
        if row is None:
            raise _absent(name)
        return to_record(Board, row, marks={})

    def standing(self, round_id: int) -> str | None:
        """Return the hash of the board of a round that stands; None where none does."""
        query = select(boards.c.content_hash).where(
            boards.c.round_id == round_id, ~boards.c.retracted, boards.c.replaced_at.is_(None)
        )
        row = self._first(query)
        return None if row is None else str(row.content_hash)

    def all(self) -> tuple[Board, ...]:
        """Every board that stands, the newest first, rounds before boards without one."""
        query = _select().where(~boards.c.retracted, boards.c.replaced_at.is_(None))
        query = query.order_by(boards.c.round_id.is_(None), boards.c.published_at.desc())
        return tuple(to_record(Board, row, marks={}) for row in self._all(query))

    def heads(self, *, retracted: bool = False, replaced: bool | None = False) -> tuple[BoardHead, ...]:
        """Every board that stands (or that was retracted), in the order of `all`.

        Of their standings they have the title and the judge alone. `replaced` asks for snapshots
        that others took the place of; with None both are read.
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
        """Every snapshot that was ever published, retracted ones too, the newest first."""
        query = _select().order_by(boards.c.published_at.desc(), boards.c.id.desc())
        return tuple(to_record(Board, row, marks={}) for row in self._all(query))

    def retract(self, name: str, notice: str) -> Board:
        """Take a board down with every snapshot of its round, keeping them and the reason."""
        self._change(
            update(boards).where(self._snapshots(name)).values(retracted=True, notice=notice, noted_at=now())
        )
        return self.get(name)

    def put_notice(self, name: str, notice: str) -> Board:
        """Say something to a board's readers, in place of what was said before; its standings stay.

        Readers of every snapshot of its round see it.
        """
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
    return f"{name.partition(SNAPSHOT)[0]}{SNAPSHOT}{content_hash[:HASH_NAMED]}"


def snapshot_of(head: Board) -> str:
    """Return a name that leads to exactly this snapshot, also after another took its place."""
    return head.name if head.round_name is None else snapshot_name(head.name, head.content_hash)


def is_called(head: Board, name: str) -> bool:
    """Return whether a name, as `BoardStore` reads it, is that of a snapshot."""
    base, _, wanted = name.partition(SNAPSHOT)
    if len(wanted) < SHORTEST_HASH:
        return head.name == name
    return head.name.partition(SNAPSHOT)[0] == base and head.content_hash.startswith(wanted)


def _named(name: str) -> ColumnElement[bool]:
    base, _, wanted = name.partition(SNAPSHOT)
    if len(wanted) < SHORTEST_HASH:
        return boards.c.name == name
    former = snapshot_name(base, wanted) if len(wanted) >= HASH_NAMED else name
    begins = boards.c.name.startswith(former, autoescape=True)
    return or_(boards.c.name == base, begins) & boards.c.content_hash.startswith(wanted, autoescape=True)


def _stand_aside(connection: Connection, name: str, content_hash: str) -> None:
    former = snapshot_name(name, content_hash)
    mine = (boards.c.name == name, boards.c.content_hash == content_hash)
    connection.execute(update(boards).where(*mine).values(name=former, replaced_at=now()))


def _put_up(connection: Connection, before: AnyRow, standings: Mapping[str, Any], content_hash: str) -> None:
    """Let a snapshot stand: one that was replaced before, else a new one."""
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


def _taken(name: str) -> ConflictError:
    return ConflictError(
        f"A board called {name} is published with other standings, or was retracted.",
        advice="A published round never changes; judge a new round instead.",
    )


def _select() -> Select[*tuple[Any, ...]]:
    return select(boards, rounds.c.name.label("round_name")).outerjoin(
        rounds, rounds.c.id == boards.c.round_id
    )
