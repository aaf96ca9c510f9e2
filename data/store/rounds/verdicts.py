"""Verdicts and judgments in the store, written in batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select, update

from data.records import (
    BattleColumns,
    BattleEvidence,
    BattleRecord,
    Judgment,
    Outcome,
    Reply,
    Verdict,
    VoteColumns,
)
from data.store.base import AnyRow, StorePart, to_record, to_row
from data.store.engine import pairs
from data.store.rounds.fencing import release_claims
from data.store.rounds.replies import put_replies
from data.tables.columns import now
from data.tables.jobs import battle_holds
from data.tables.judgments import judgments, replies
from data.tables.questions import questions, submissions
from data.tables.rounds import battles, rounds

if TYPE_CHECKING:
    # Arrays load when they are asked for; most commands ask for none.
    import numpy as np
    from numpy.typing import NDArray

ROWS_AT_ONCE = 20_000
ROWS_AT_FIRST = 500
"""Few, since some readers take the first battles alone."""


class EvidenceReader(StorePart):
    """Reads battles, with or without what judges said of them."""

    def battles(self, round_name: str, *, system: str | None = None) -> Iterator[BattleRecord]:
        """Yield the battles of a round, or those of one system in it, in a fixed order, without texts."""
        query = _select().where(rounds.c.name == round_name)
        if system is not None:
            sides = select(submissions.c.id).where(submissions.c.system == system)
            query = query.where(battles.c.a_id.in_(sides) | battles.c.b_id.in_(sides))
        after, most = 0, ROWS_AT_FIRST
        while rows := self._all(query.where(battles.c.id > after).order_by(battles.c.id).limit(most)):
            after, most = rows[-1].id, ROWS_AT_ONCE
            yield from map(_battle, rows)

    def page(self, round_name: str, *, after: int, limit: int) -> tuple[BattleRecord, ...]:
        """Up to `limit` battles of a round, from the one after number `after` on, without texts."""
        query = _select().where(rounds.c.name == round_name, battles.c.id > after)
        return tuple(map(_battle, self._all(query.order_by(battles.c.id).limit(limit))))

    def columns(self, round_name: str, *, systems: Collection[str] | None = None) -> BattleColumns:
        """Every battle of a round, or of some systems in it, as columns; as of one moment.

        Many times as fast as `battles`.
        """
        from data.store.rounds.battle_arrays import read_columns  # noqa: PLC0415 - loads numpy, see above

        return read_columns(self._database, round_name, systems)

    def positions(self, round_name: str) -> NDArray[np.float64]:
        """Which answer LLMs were shown first, by battle as in `columns`: 1 a, −1 b, NaN no LLM."""
        from data.store.rounds.battle_arrays import read_positions  # noqa: PLC0415 - as above

        return read_positions(self._database, round_name)

    def votes(self, round_name: str) -> VoteColumns:
        """What each judge of a round said, a panel's members apart, as columns."""
        from data.store.rounds.battle_arrays import read_votes  # noqa: PLC0415 - as above

        return read_votes(self._database, round_name)

    def settings(self, round_name: str) -> Mapping[str, int]:
        """The settings that judgments of a round were made with, to how many battles have one of each."""
        query = (
            select(judgments.c.settings, func.count(judgments.c.battle_id.distinct()))
            .join(battles, battles.c.id == judgments.c.battle_id)
            .join(rounds, rounds.c.id == battles.c.round_id)
            .where(rounds.c.name == round_name, judgments.c.outcome == Outcome.JUDGED.value)
            .group_by(judgments.c.settings)
        )
        with self._database.begin() as connection:
            counts: dict[str, int] = pairs(connection.execute(query).all())
            return counts

    def of_question(self, round_name: str, question_id: str) -> tuple[BattleEvidence, ...]:
        """The battles of a question in a round with every judgment, without those that are estimated."""
        # The set is named too, so that the question is found by its index before any battle is read.
        query = _select().where(
            rounds.c.name == round_name,
            questions.c.set_id == rounds.c.set_id,
            questions.c.key == question_id,
            is_asked(),
        )
        with self._database.begin() as connection:
            rows = connection.execute(query.order_by(battles.c.id)).all()
            return tuple(_with_judgments(connection, rows))

    def recent(self, round_id: int, limit: int) -> tuple[BattleEvidence, ...]:
        """The battles of a round that were judged last, newest first, with their judgments."""
        newest = (
            select(judgments.c.battle_id)
            .join(battles, battles.c.id == judgments.c.battle_id)
            .where(battles.c.round_id == round_id)
            .order_by(judgments.c.id.desc())
            .limit(limit)
        )
        with self._database.begin() as connection:
            numbers = list(dict.fromkeys(connection.execute(newest).scalars()))
            rows = connection.execute(_select().where(battles.c.id.in_(numbers))).all()
            ordered = sorted(rows, key=lambda row: numbers.index(row.id))
            return tuple(_with_judgments(connection, ordered))

    def evidence(self, round_name: str) -> Iterator[BattleEvidence]:
        """Yield every battle of a round with its judgments."""
        after = 0
        while True:
            with self._database.begin() as connection:
                rows = connection.execute(
                    _select()
                    .where(rounds.c.name == round_name, battles.c.id > after)
                    .order_by(battles.c.id)
                    .limit(ROWS_AT_ONCE // 20)
                ).all()
                batch = list(_with_judgments(connection, rows))
            if not rows:
                return
            after = rows[-1].id
            yield from batch


def is_asked() -> ColumnElement[bool]:
    """A clause: a battle is one that the round's judge is or was to decide."""
    return battles.c.outcome.is_(None) | (battles.c.outcome != Outcome.ESTIMATED)


def _select() -> Any:  # noqa: ANN401 - a Select over aliases has no narrower type
    side_a, side_b = submissions.alias("side_a"), submissions.alias("side_b")
    return (
        select(
            battles.c.id,
            battles.c.key,
            questions.c.key.label("question_id"),
            questions.c.domain,
            side_a.c.system.label("system_a"),
            side_b.c.system.label("system_b"),
            battles.c.outcome,
            battles.c.preference,
            battles.c.score,
            battles.c.flipped,
            battles.c.detail,
        )
        .join(rounds, rounds.c.id == battles.c.round_id)
        .join(questions, questions.c.id == battles.c.question_id)
        .join(side_a, side_a.c.id == battles.c.a_id)
        .join(side_b, side_b.c.id == battles.c.b_id)
    )


def _battle(row: AnyRow) -> BattleRecord:
    return to_record(BattleRecord, row)


def _with_judgments(connection: Connection, rows: Sequence[AnyRow]) -> Iterator[BattleEvidence]:
    by_battle: dict[int, list[Judgment]] = {row.id: [] for row in rows}
    query = (
        select(
            judgments,
            replies.c.text,
            replies.c.finish_reason,
            replies.c.logprobs,
            replies.c.thinking,
            replies.c.input_tokens.label("reply_input_tokens"),
            replies.c.output_tokens.label("reply_output_tokens"),
            replies.c.cost_usd.label("reply_cost_usd"),
        )
        .outerjoin(replies, replies.c.key == judgments.c.reply_key)
        .where(judgments.c.battle_id.in_(list(by_battle)))
        .order_by(judgments.c.id)
    )
    for row in connection.execute(query):
        by_battle[row.battle_id].append(_judgment(row))
    for row in rows:
        yield BattleEvidence(battle=_battle(row), judgments=tuple(by_battle[row.id]))


def _judgment(row: AnyRow) -> Judgment:
    return to_record(Judgment, row, reply=None if row.reply_key is None else _reply(row))


def _reply(row: AnyRow) -> Reply:
    return to_record(
        Reply,
        row,
        key=row.reply_key,
        text=row.text or "",
        finish_reason=row.finish_reason or "",
        input_tokens=row.reply_input_tokens or 0,
        output_tokens=row.reply_output_tokens or 0,
        cost_usd=row.reply_cost_usd,
        response_id="",
        response_model="",
    )


READ = ("outcome", "preference", "margin", "rationale", "detail", "grade", "parser")
SETTLED = ("outcome", "preference", "score", "flipped", "detail")


class _AnotherWriterError(Exception):
    """Some of the battles have an outcome already; never leaves this module."""


class VerdictStore(EvidenceReader):
    """Commits verdicts with their judgments, and reads them back as evidence."""

    def record(self, verdicts: Sequence[tuple[int, Verdict]], *, lease_id: int | None = None) -> int:
        """Commit verdicts by battle number in one transaction.

        A battle that has an outcome keeps it, so that a late second writer changes nothing.

        Args:
            verdicts: Battle numbers with their verdicts.
            lease_id: The lease that claimed these battles; the claims are released.

        Returns:
            How many battles were settled by this call.

        Raises:
            LeaseLostError: The lease was given up; nothing is committed.
        """
        if not verdicts:
            return 0
        try:
            with self._database.begin() as connection:
                _release(connection, lease_id, verdicts)
                if _settle(connection, verdicts) != len(verdicts):
                    raise _AnotherWriterError
                _insert_judgments(connection, verdicts)
        except _AnotherWriterError:
            return self._record_open(verdicts, lease_id)
        return len(verdicts)

    def _record_open(self, verdicts: Sequence[tuple[int, Verdict]], lease_id: int | None) -> int:
        """As `record`, one battle after another, where some have an outcome already."""
        with self._database.begin() as connection:
            _release(connection, lease_id, verdicts)
            fresh = [pair for pair in verdicts if _settle(connection, [pair])]
            _insert_judgments(connection, fresh)
        return len(fresh)

    def revise(self, changes: Sequence[tuple[int, Sequence[Judgment], Verdict | None]]) -> None:
        """Store other readings of judgments, in one transaction.

        Args:
            changes: Battle numbers, each with all of its judgments in the order of `evidence`, and the
                verdict that replaces the stored one, None where that stays.
        """
        with self._database.begin() as connection:
            for number, revised, verdict in changes:
                numbers = connection.execute(
                    select(judgments.c.id).where(judgments.c.battle_id == number).order_by(judgments.c.id)
                ).scalars()
                for judgment_id, judgment in zip(numbers, revised, strict=True):
                    values = {name: getattr(judgment, name) for name in READ}
                    connection.execute(update(judgments).where(judgments.c.id == judgment_id).values(values))
                if verdict is not None:
                    values = {name: getattr(verdict, name) for name in SETTLED}
                    connection.execute(update(battles).where(battles.c.id == number).values(values))


def _release(connection: Connection, lease_id: int | None, verdicts: Sequence[tuple[int, Verdict]]) -> None:
    if lease_id is not None:
        release_claims(connection, battle_holds, lease_id, verdicts)


def _settle(connection: Connection, verdicts: Sequence[tuple[int, Verdict]]) -> int:
    """Settle the battles that have no outcome, and return how many those were."""
    return connection.execute(
        update(battles)
        .where(battles.c.id == bindparam("number"), battles.c.outcome.is_(None))
        .values({name: bindparam(f"new_{name}") for name in SETTLED}),
        [
            {"number": number, **{f"new_{name}": getattr(verdict, name) for name in SETTLED}}
            for number, verdict in verdicts
        ],
    ).rowcount


def _insert_judgments(connection: Connection, settled: Sequence[tuple[int, Verdict]]) -> None:
    new = [(number, judgment) for number, verdict in settled for judgment in verdict.judgments]
    if not new:
        return
    moment = now()
    connection.execute(
        insert(judgments), [_judgment_row(number, judgment, moment) for number, judgment in new]
    )
    replied = [judgment.reply for _, judgment in new if judgment.reply is not None]
    # What came from the cache is stored already.
    put_replies(connection, [reply for reply in replied if not reply.cached])


def _judgment_row(number: int, judgment: Judgment, moment: datetime) -> dict[str, Any]:
    reply = judgment.reply
    return to_row(
        judgments,
        judgment,
        battle_id=number,
        endpoint="" if reply is None else reply.endpoint,
        reply_key=None if reply is None else reply.key,
        latency=0.0 if reply is None else reply.latency,
        cached=reply is not None and reply.cached,
        created_at=moment,
    )
