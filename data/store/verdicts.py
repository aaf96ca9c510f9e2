"""Store for verdicts and judgments."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, insert, literal, select, update

from data import models
from data.models.base import now
from data.models.judgments import CORRECTION
from data.models.rounds import battles, rounds
from data.models.submissions import questions, submissions
from data.models.tables import judgments, replies
from data.store.base import AnyRow, StorePart, maker, to_record, to_row
from data.store.battles import first_and_last, release_claims
from data.store.engine import pairs
from data.store.replies import NOT_KEPT, NOT_STORED, put_replies

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ROWS_AT_ONCE = 20_000
ROWS_AT_FIRST = 500
"""Rows in the first chunk: few, since some readers need only the first battles."""


class EvidenceReader(StorePart):
    """Reader of battles and their judgments."""

    def battles(self, round_name: str, *, system: str | None = None) -> Iterator[models.BattleRecord]:
        """Yield the battles of a round, or of one system, in a fixed order, without texts."""
        clauses: list[ColumnElement[bool]] = []
        if system is not None:
            sides = select(submissions.c.id).where(submissions.c.system == system)
            clauses.append(battles.c.a_id.in_(sides) | battles.c.b_id.in_(sides))
        numbers, after, most = self._numbers(round_name, *clauses), 0, ROWS_AT_FIRST
        while rows := self._all(_following(numbers, after, most)):
            after, most = rows[-1].id, ROWS_AT_ONCE
            yield from _battles(rows)

    def page(
        self, round_name: str, *, after: int, limit: int, outcome: models.Outcome | None = None
    ) -> tuple[models.BattleRecord, ...]:
        """Return up to `limit` battles after number `after`, optionally of one outcome, without texts."""
        clauses = () if outcome is None else (battles.c.outcome == outcome,)
        return tuple(_battles(self._all(_following(self._numbers(round_name, *clauses), after, limit))))

    def _numbers(self, round_name: str, *clauses: ColumnElement[bool]) -> Select[Any]:
        """Return a query of a round's battles by number, for paging.

        SQLite, which rarely has statistics, would find the round by an index and sort it for each page; with
        a range of numbers it reads the table in order.
        """
        number = select(rounds.c.id).where(rounds.c.name == round_name).scalar_subquery()
        mine = battles.c.round_id == number
        if not self._database.is_sqlite:
            return select(battles.c.id).where(mine, *clauses)
        with self._database.begin() as connection:
            between = battles.c.id.between(*first_and_last(connection, mine))
        return select(battles.c.id).where(battles.c.round_id + 0 == number, between, *clauses)

    def columns(self, round_name: str, *, systems: Collection[str] | None = None) -> models.BattleColumns:
        """Return the battles of a round, or of `systems` in it, as columns; much faster than `battles`."""
        from data.store.battle_arrays import read_columns  # noqa: PLC0415 - loads numpy, see above

        return read_columns(self._database, round_name, systems)

    def positions(self, round_name: str) -> "NDArray[np.float64]":
        """Return the answer shown first to LLMs, by battle as in `columns`: 1 a, −1 b, NaN no LLM."""
        from data.store.battle_arrays import read_positions  # noqa: PLC0415 - as above

        return read_positions(self._database, round_name)

    def votes(self, round_name: str) -> models.VoteColumns:
        """Return the votes of each judge of a round, or member of its panel, as columns."""
        from data.store.battle_arrays import read_votes  # noqa: PLC0415 - as above

        return read_votes(self._database, round_name)

    def settings(self, round_name: str, *, once: bool, counted: int | None = None) -> Mapping[str, int]:
        """Count the battles of a round by the settings of their judgments."""
        battle, judged = judgments.c.battle_id, judgments.c.outcome == models.Outcome.JUDGED.value
        count = func.count() if once else func.count(battle.distinct())
        with self._database.begin() as connection:
            number = connection.execute(select(rounds.c.id).where(rounds.c.name == round_name)).scalar()
            first, last = first_and_last(connection, battles.c.round_id == number)
            query = select(judgments.c.settings, count).where(judged, battle.between(first, last))
            between = battles.c.id.between(first, last)
            foreign = select(battles.c.id).where(between, battles.c.round_id != number).limit(1)
            # Numbers without gaps belong to one round; a search for foreign battles would read all of them.
            if last - first + 1 != counted and connection.execute(foreign).first() is not None:
                query = query.join(battles, battles.c.id == battle).where(battles.c.round_id == number)
            counts: dict[str, int] = pairs(connection.execute(query.group_by(judgments.c.settings)).all())
            return counts

    def of_question(self, round_name: str, question_id: str) -> tuple[models.BattleEvidence, ...]:
        """Return the battles of a question in a round with every judgment."""
        # The set is redundant, but lets the database find the question by its index before it reads battles.
        query = _select().where(
            rounds.c.name == round_name, questions.c.set_id == rounds.c.set_id, questions.c.key == question_id
        )
        with self._database.begin() as connection:
            rows = connection.execute(query.order_by(battles.c.id)).all()
            return tuple(_with_judgments(connection, rows))

    def of_battles(self, numbers: Sequence[int | None]) -> tuple[models.BattleEvidence, ...]:
        """Return battles by number with their judgments, without unknown ones."""
        query = _select().where(battles.c.id.in_([number for number in numbers if number is not None]))
        with self._database.begin() as connection:
            rows = connection.execute(query.order_by(battles.c.id)).all()
            return tuple(_with_judgments(connection, rows))

    def evidence(self, round_name: str) -> Iterator[models.BattleEvidence]:
        """Yield the battles of a round with their judgments."""
        numbers, after = self._numbers(round_name), 0
        while True:
            with self._database.begin() as connection:
                rows = connection.execute(_following(numbers, after, ROWS_AT_ONCE // 20)).all()
                batch = list(_with_judgments(connection, rows))
            if not rows:
                return
            after = rows[-1].id
            yield from batch


def _select(round_id: ColumnElement[int] = battles.c.round_id) -> Any:  # noqa: ANN401 - a Select over aliases has no narrower type
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
        .join(rounds, rounds.c.id == round_id)
        .join(questions, questions.c.id == battles.c.question_id)
        .join(side_a, side_a.c.id == battles.c.a_id)
        .join(side_b, side_b.c.id == battles.c.b_id)
    )


def _following(numbers: Select[Any], after: int, most: int) -> Any:  # noqa: ANN401 - as above
    # A subquery, since otherwise SQLite finds and sorts all battles of each side for every page.
    following = numbers.where(battles.c.id > after).order_by(battles.c.id).limit(most)
    return _select().where(battles.c.id.in_(following)).order_by(battles.c.id)


def _battles(rows: Sequence[AnyRow]) -> Iterator[models.BattleRecord]:
    return map(maker(models.BattleRecord, rows[0]._fields), rows) if rows else iter(())


_OF_REPLY: Mapping[str, str] = MappingProxyType(
    {name: f"reply_{name}" for name in ("input_tokens", "output_tokens", "cost_usd")}
)
"""Labels of reply fields that have the same name as a column of judgments."""
_OF_ENDPOINT = ("response_id", "response_model", "fingerprint", "left_out")
"""Details of a reply from its endpoint, and omitted settings."""


def _with_judgments(connection: Connection, rows: Sequence[AnyRow]) -> Iterator[models.BattleEvidence]:
    records = tuple(_battles(rows))
    by_battle: dict[int, list[models.Judgment]] = {battle.id: [] for battle in records}
    query = (
        select(
            *(column for column in judgments.c if column is not judgments.c.created_at),
            replies.c.text,
            replies.c.finish_reason,
            replies.c.logprobs,
            replies.c.thinking,
            *(replies.c[name] for name in _OF_ENDPOINT),
            *(replies.c[name].label(label) for name, label in _OF_REPLY.items()),
        )
        .outerjoin(replies, replies.c.key == judgments.c.reply_key)
        .where(judgments.c.battle_id.in_(list(by_battle)))
        .order_by(judgments.c.id)
    )
    result = connection.execute(query)
    columns, judgment_rows = tuple(result.keys()), result.all()
    number, earlier = columns.index("battle_id"), columns.index("earlier_keys")
    judgment, reply = maker(models.Judgment, columns, "reply", "earlier"), _replies(columns)
    stored = _by_key(connection, [key for row in judgment_rows for key in row[earlier] or ()])
    for row in judgment_rows:
        earlier_replies = tuple(stored[key] for key in row[earlier] or () if key in stored)
        by_battle[row[number]].append(judgment(row, reply=reply(row), earlier=earlier_replies))
    for battle in records:
        yield models.BattleEvidence(battle=battle, judgments=tuple(by_battle[battle.id]))


def _by_key(connection: Connection, keys: Sequence[str]) -> Mapping[str, models.Reply]:
    if not keys:
        return {}
    rows = connection.execute(select(replies).where(replies.c.key.in_(keys))).all()
    return {row.key: to_record(models.Reply, row, **NOT_STORED) for row in rows}


def _replies(columns: Sequence[str]) -> Callable[[AnyRow], models.Reply | None]:
    """Build a converter from rows to replies, or None for rows without one."""
    values = itemgetter(*map(columns.index, ("reply_key", *_OF_REPLY.values())))
    details = itemgetter(*map(columns.index, _OF_ENDPOINT))
    converted = ("key", "text", "finish_reason", *_OF_REPLY, *_OF_ENDPOINT, *NOT_KEPT)
    reply = maker(models.Reply, columns, *converted)
    text, reason = columns.index("text"), columns.index("finish_reason")

    def convert(row: AnyRow) -> models.Reply | None:
        key, input_tokens, output_tokens, cost_usd = values(row)
        if key is None:
            return None
        return reply(
            row,
            key=key,
            text=row[text] or "",
            finish_reason=row[reason] or "",
            input_tokens=input_tokens or 0,
            output_tokens=output_tokens or 0,
            cost_usd=cost_usd,
            **NOT_KEPT,
            **{name: value or "" for name, value in zip(_OF_ENDPOINT, details(row), strict=True)},
        )

    return convert


READ = ("outcome", "preference", "margin", "rationale", "detail", "grade", "parser")
SETTLED = ("outcome", "preference", "score", "flipped", "detail")


class _AnotherWriterError(Exception):
    """Internal signal: some battles already have an outcome."""


class VerdictStore(EvidenceReader):
    """Store for verdicts with their judgments."""

    def record(self, verdicts: Sequence[tuple[int, models.Verdict]], *, lease_id: int | None = None) -> int:
        """Commit verdicts by battle number in one transaction; existing outcomes are kept.

        Returns:
            Number of battles that this call settled.
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

    def _record_open(self, verdicts: Sequence[tuple[int, models.Verdict]], lease_id: int | None) -> int:
        with self._database.begin() as connection:
            _release(connection, lease_id, verdicts)
            fresh = [pair for pair in verdicts if _settle(connection, [pair])]
            _insert_judgments(connection, fresh)
        return len(fresh)

    def carry_over(self, before: int, after: int) -> int:
        """Copy verdicts of a round to the same pending battles of another, and return their number.

        Copies count as cached: they have neither calls nor cost.
        """
        old = battles.alias()
        same = (old.c.round_id == before) & (old.c.key == battles.c.key)
        same &= (battles.c.round_id == after) & battles.c.outcome.is_(None)
        same &= old.c.outcome == models.Outcome.JUDGED
        unpaid = {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "cached": True}
        copied = [column for column in judgments.c if column.name not in {"id", "battle_id", *unpaid}]
        copies = select(battles.c.id, *copied, *map(literal, unpaid.values()))
        copies = copies.join(old, same).join(judgments, judgments.c.battle_id == old.c.id)
        names = ["battle_id", *(column.name for column in copied), *unpaid]
        with self._database.begin() as connection:
            connection.execute(insert(judgments).from_select(names, copies.order_by(judgments.c.id)))
            settled = {name: old.c[name] for name in SETTLED}
            return connection.execute(update(battles).where(same).values(settled)).rowcount

    def has_corrections(self, round_name: str) -> bool:
        """Return whether organisers corrected a verdict of a round."""
        query = (
            select(battles.c.id)
            .join(rounds, rounds.c.id == battles.c.round_id)
            .where(rounds.c.name == round_name, battles.c.detail.startswith(CORRECTION, autoescape=True))
        )
        return self._first(query.limit(1)) is not None

    def revise(self, changes: Sequence[tuple[int, Sequence[models.Judgment], models.Verdict | None]]) -> None:
        """Replace the readings of judgments in one transaction.

        Args:
            changes: Battle numbers, each with all judgments in the order of `evidence` and the new verdict,
                or None to keep it.
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


def _release(
    connection: Connection, lease_id: int | None, verdicts: Sequence[tuple[int, models.Verdict]]
) -> None:
    if lease_id is not None:
        release_claims(connection, lease_id, verdicts)


def _settle(connection: Connection, verdicts: Sequence[tuple[int, models.Verdict]]) -> int:
    return connection.execute(
        update(battles)
        .where(battles.c.id == bindparam("number"), battles.c.outcome.is_(None))
        .values({name: bindparam(f"new_{name}") for name in SETTLED}),
        [
            {"number": number, **{f"new_{name}": getattr(verdict, name) for name in SETTLED}}
            for number, verdict in verdicts
        ],
    ).rowcount


def _insert_judgments(connection: Connection, settled: Sequence[tuple[int, models.Verdict]]) -> None:
    new = [(number, judgment) for number, verdict in settled for judgment in verdict.judgments]
    if not new:
        return
    moment = now()
    connection.execute(
        insert(judgments), [_judgment_row(number, judgment, moment) for number, judgment in new]
    )
    replied = [
        reply for _, judgment in new for reply in (judgment.reply, *judgment.earlier) if reply is not None
    ]
    # Replies from the cache are already stored.
    put_replies(connection, [reply for reply in replied if not reply.cached])


def _judgment_row(number: int, judgment: models.Judgment, moment: datetime) -> dict[str, Any]:
    reply = judgment.reply
    return to_row(
        judgments,
        judgment,
        battle_id=number,
        endpoint="" if reply is None else reply.endpoint,
        reply_key=None if reply is None else reply.key,
        earlier_keys=[earlier.key for earlier in judgment.earlier] or None,
        latency=0.0 if reply is None else reply.latency,
        cached=reply is not None and reply.cached,
        created_at=moment,
    )
