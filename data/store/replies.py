"""Replies by request key, in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from data.records import Outcome, Reply
from data.store.database import Database
from data.store.moments import now
from data.tables import battles, judgments, replies, rounds


class ReplyStore:
    """Keeps the raw text of every reply once, under the key of its request."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """The replies that are there, by key."""
        with self._database.begin() as connection:
            # All at once: one by one, the driver is asked for each.
            rows = connection.execute(select(replies).where(replies.c.key.in_(list(keys)))).all()
            return {row.key: _reply(row) for row in rows}

    def forget(self) -> int:
        """Empty the cache, and return how many replies there were; judgments keep their verdicts."""
        with self._database.begin() as connection:
            return connection.execute(delete(replies)).rowcount

    def count_read(self, round_name: str, parsers: Sequence[str], note: str) -> int:
        """Replies of a round, read by some parsers, that gave no verdict or one with this note."""
        unread = judgments.c.outcome.in_([Outcome.UNREADABLE, Outcome.REFUSED])
        query = (
            select(func.count())
            .select_from(judgments.join(battles, battles.c.id == judgments.c.battle_id))
            .join(rounds, rounds.c.id == battles.c.round_id)
            .where(
                rounds.c.name == round_name,
                judgments.c.reply_key.is_not(None),
                judgments.c.parser.in_(list(parsers)),
                unread | judgments.c.detail.contains(note, autoescape=True),
            )
        )
        with self._database.begin() as connection:
            return int(connection.execute(query).scalar_one())

    def put(self, kept: Sequence[Reply]) -> None:
        """Keep replies in one transaction; a later one for a key replaces the earlier."""
        with self._database.begin() as connection:
            put_replies(connection, kept, replace=True)


def put_replies(connection: Connection, kept: Sequence[Reply], *, replace: bool = False) -> None:
    """Keep replies by key; one that is there already stays, or is replaced."""
    by_key = {reply.key: _row(reply) for reply in kept}
    if not by_key:
        return
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement: Any = dialect.insert(replies)
    if replace:
        changed = {one.name: statement.excluded[one.name] for one in replies.c if one.name != "key"}
        statement = statement.on_conflict_do_update(index_elements=["key"], set_=changed)
    else:
        statement = statement.on_conflict_do_nothing(index_elements=["key"])
    connection.execute(statement, list(by_key.values()))


def _row(reply: Reply) -> dict[str, Any]:
    return {
        "key": reply.key,
        "endpoint": reply.endpoint,
        "model": reply.model,
        "text": reply.text.replace("\x00", "\ufffd"),
        "finish_reason": reply.finish_reason,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "cost_usd": reply.cost_usd,
        "latency": reply.latency,
        "logprobs": reply.logprobs,
        "created_at": now(),
    }


def _reply(row: Row[*tuple[Any, ...]]) -> Reply:
    return Reply(
        key=row.key,
        endpoint=row.endpoint,
        model=row.model,
        text=row.text,
        finish_reason=row.finish_reason,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost_usd=row.cost_usd,
        latency=row.latency,
        logprobs=row.logprobs,
    )
