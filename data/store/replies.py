"""Stores for replies, batches and the conduct of judges."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, select

from data.models import Outcome, Preference, Presentation, Reply
from data.models.base import now
from data.models.conduct import JudgeConduct
from data.models.rounds import battles, rounds
from data.models.tables import batches, judgments, replies
from data.store.base import StorePart, own_insert, to_record, to_row

RECENT_JUDGMENTS = 20_000
SAMPLED_REPLIES = 200
NOT_KEPT = {"metered": True, "usage": None}
NOT_STORED = {"cached": False, **NOT_KEPT}


class ReplyStore(StorePart):
    """Store for replies by the key of their request."""

    def get_many(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """Return the stored replies by key."""
        rows = self._all(select(replies).where(replies.c.key.in_(list(keys))))
        return {row.key: to_record(Reply, row, **NOT_STORED) for row in rows}

    def mean_output_tokens(self, judge: str, model: str) -> float | None:
        """Return the mean length of the latest replies of a judge's model in tokens; None without replies."""
        newest = select(func.max(judgments.c.id)).scalar_subquery()
        last = (
            select(judgments.c.reply_key)
            .where(
                judgments.c.id > newest - RECENT_JUDGMENTS,
                judgments.c.judge == judge,
                judgments.c.model == model,
                judgments.c.reply_key.is_not(None),
            )
            .order_by(judgments.c.id.desc())
            .limit(SAMPLED_REPLIES)
        )
        lengths = select(func.avg(replies.c.output_tokens)).where(
            replies.c.key.in_(last), replies.c.output_tokens > 0
        )
        mean = self._values(lengths)[0]
        return None if mean is None else float(mean)

    def forget(self) -> int:
        """Delete all replies and return their number; verdicts are kept."""
        return self._change(delete(replies))

    def put(self, new: Sequence[Reply]) -> None:
        """Store replies in one transaction, replacing those with the same key."""
        with self._database.begin() as connection:
            put_replies(connection, new, replace=True)


def put_replies(connection: Connection, new: Sequence[Reply], *, replace: bool = False) -> None:
    """Store replies; existing ones with the same key are kept or replaced."""
    by_key = {reply.key: to_row(replies, reply, created_at=now()) for reply in new}
    if not by_key:
        return
    statement = own_insert(connection, replies)
    if replace:
        changed = {
            column.name: statement.excluded[column.name] for column in replies.c if not column.primary_key
        }
        statement = statement.on_conflict_do_update(index_elements=["key"], set_=changed)
    else:
        statement = statement.on_conflict_do_nothing(index_elements=["key"])
    connection.execute(statement, list(by_key.values()))


class BatchStore(StorePart):
    """Store for batches whose replies are not all stored, by our name."""

    def write(self, name: str, *, endpoint: str, keys: tuple[str, ...], batch_id: str) -> None:
        """Store or update a batch."""
        row = {"name": name, "endpoint": endpoint, "keys": list(keys), "batch_id": batch_id}
        with self._database.begin() as connection:
            statement = own_insert(connection, batches).values(**row, created_at=now())
            connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=row))

    def unread(self) -> tuple[Mapping[str, Any], ...]:
        """Return all batches, oldest first: name, endpoint, keys, batch_id."""
        query = select(batches.c.name, batches.c.endpoint, batches.c["keys"], batches.c.batch_id)
        rows = self._all(query.order_by(batches.c.created_at, batches.c.name))
        return tuple(dict(row._mapping) for row in rows)  # noqa: SLF001 - SQLAlchemy's public name of it

    def delete(self, name: str) -> None:
        """Delete a batch's record."""
        self._change(delete(batches).where(batches.c.name == name))


class ConductStore(StorePart):
    """Counts of replies of a round's judge."""

    def of_round(self, name: str) -> JudgeConduct:
        """Return the conduct of a round's judge."""
        mine = rounds.c.name == name
        # Unreadable judgments of battles that were retried successfully do not count.
        current = (judgments.c.outcome == Outcome.JUDGED) | (
            func.coalesce(battles.c.outcome, Outcome.FAILED) != Outcome.JUDGED
        )
        replied = (judgments.c.calls > 0) | judgments.c.reply_key.is_not(None)
        joined = judgments.join(battles, battles.c.id == judgments.c.battle_id).join(
            rounds, rounds.c.id == battles.c.round_id
        )
        by_outcome = (
            select(judgments.c.outcome, func.count(), func.count(judgments.c.reply_key))
            .select_from(joined)
            .where(mine, replied, current)
            .group_by(judgments.c.outcome)
        )
        by_place = (
            select(judgments.c.presentation, judgments.c.preference, func.count())
            .select_from(joined)
            .where(mine, replied, battles.c.flipped.is_not(None))
            .group_by(judgments.c.presentation, judgments.c.preference)
        )
        by_reason = (
            select(judgments.c.detail, func.count())
            .select_from(joined)
            .where(mine, replied, current, judgments.c.outcome == Outcome.UNREADABLE)
            .group_by(judgments.c.detail)
            .order_by(func.count().desc())
            .limit(3)
        )
        flips = (
            select(battles.c.flipped, func.count())
            .select_from(battles.join(rounds, rounds.c.id == battles.c.round_id))
            .where(mine, battles.c.flipped.is_not(None))
            .group_by(battles.c.flipped)
        )
        conduct = JudgeConduct()
        with self._database.begin() as connection:
            for outcome, count, replies_ in connection.execute(by_outcome).all():
                conduct.readings += count
                conduct.replies += replies_
                conduct.unreadable += count * (outcome == Outcome.UNREADABLE)
                conduct.refused += count * (outcome == Outcome.REFUSED)
                conduct.failed += count * (outcome == Outcome.FAILED)
            for presentation, preference, count in connection.execute(by_place).all():
                winner = None if preference is None else Preference(preference)
                conduct.count_place(Presentation(presentation), winner, count)
            for flipped, count in connection.execute(flips).all() if conduct.readings else ():
                conduct.both_orders += count
                conduct.flips += count * bool(flipped)
            if conduct.unreadable:
                for detail, count in connection.execute(by_reason).all():
                    conduct.reasons[detail] += count
        return conduct

    def reasons(self, name: str) -> tuple[tuple[Outcome, str, int], ...]:
        """Return the outcomes, reasons and numbers of missing verdicts, most frequent first."""
        number = func.count()
        query = (
            select(battles.c.outcome, battles.c.detail, number)
            .join(rounds, rounds.c.id == battles.c.round_id)
            .where(rounds.c.name == name, battles.c.outcome != Outcome.JUDGED)
            .group_by(battles.c.outcome, battles.c.detail)
            .order_by(number.desc(), battles.c.detail)
        )
        with self._database.begin() as connection:
            return tuple(
                (outcome, reason, count) for outcome, reason, count in connection.execute(query).all()
            )

    def models(self, name: str) -> Mapping[str, Counter[str]]:
        """Count the models that answered, as endpoints name them, for each requested model of a round."""
        joined = (
            judgments.join(battles, battles.c.id == judgments.c.battle_id)
            .join(rounds, rounds.c.id == battles.c.round_id)
            .join(replies, replies.c.key == judgments.c.reply_key)
        )
        query = (
            select(judgments.c.model, replies.c.response_model, func.count())
            .select_from(joined)
            .where(rounds.c.name == name, replies.c.response_model != "")
            .group_by(judgments.c.model, replies.c.response_model)
        )
        served: dict[str, Counter[str]] = {}
        with self._database.begin() as connection:
            for model, response_model, count in connection.execute(query).all():
                served.setdefault(model, Counter())[response_model] += count
        return served
