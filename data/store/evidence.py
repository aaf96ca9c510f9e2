"""Battles and judgments in the store, read by battle, question or round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from data.records import (
    BattleColumns,
    BattleEvidence,
    BattleRecord,
    Judgment,
    Outcome,
    Preference,
    Presentation,
    Reply,
)
from data.store.columns import read_columns
from data.store.database import Database
from data.tables import battles, judgments, questions, replies, rounds, submissions

ROWS_AT_ONCE = 20_000


class EvidenceReader:
    """Reads battles, with or without what judges said of them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def battles(self, round_name: str, *, system: str | None = None) -> Iterator[BattleRecord]:
        """Yield the battles of a round, or those of one system in it, in a fixed order, without texts."""
        query = _select().where(rounds.c.name == round_name)
        if system is not None:
            sides = select(submissions.c.id).where(submissions.c.system == system)
            query = query.where(battles.c.a_id.in_(sides) | battles.c.b_id.in_(sides))
        after = 0
        while True:
            with self._database.begin() as connection:
                rows = connection.execute(
                    query.where(battles.c.id > after).order_by(battles.c.id).limit(ROWS_AT_ONCE)
                ).all()
            if not rows:
                return
            after = rows[-1].id
            for row in rows:
                yield _battle(row)

    def page(self, round_name: str, *, after: int, limit: int) -> tuple[BattleRecord, ...]:
        """Up to `limit` battles of a round, from the one after number `after` on, without texts."""
        query = _select().where(rounds.c.name == round_name, battles.c.id > after)
        with self._database.begin() as connection:
            rows = connection.execute(query.order_by(battles.c.id).limit(limit)).all()
        return tuple(map(_battle, rows))

    def columns(self, round_name: str) -> BattleColumns:
        """Every battle of a round as columns, many times as fast as `battles`; as of one moment."""
        return read_columns(self._database, round_name)

    def of_question(self, round_name: str, question_id: str) -> tuple[BattleEvidence, ...]:
        """The battles of a question in a round with every judgment."""
        with self._database.begin() as connection:
            rows = connection.execute(
                _select()
                .where(rounds.c.name == round_name, questions.c.key == question_id)
                .order_by(battles.c.id)
            ).all()
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
                found = list(_with_judgments(connection, rows))
            if not rows:
                return
            after = rows[-1].id
            yield from found


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


def _battle(row: Row[*tuple[Any, ...]]) -> BattleRecord:
    return BattleRecord(
        id=row.id,
        key=row.key,
        question_id=row.question_id,
        domain=row.domain,
        system_a=row.system_a,
        system_b=row.system_b,
        outcome=None if row.outcome is None else Outcome(row.outcome),
        preference=None if row.preference is None else Preference(row.preference),
        score=row.score,
        flipped=row.flipped,
        detail=row.detail,
    )


def _with_judgments(
    connection: Connection, rows: Sequence[Row[*tuple[Any, ...]]]
) -> Iterator[BattleEvidence]:
    found: dict[int, list[Judgment]] = {row.id: [] for row in rows}
    query = (
        select(
            judgments,
            replies.c.text,
            replies.c.finish_reason,
            replies.c.logprobs,
            replies.c.input_tokens.label("reply_input_tokens"),
            replies.c.output_tokens.label("reply_output_tokens"),
            replies.c.cost_usd.label("reply_cost_usd"),
        )
        .outerjoin(replies, replies.c.key == judgments.c.reply_key)
        .where(judgments.c.battle_id.in_(list(found)))
        .order_by(judgments.c.id)
    )
    for row in connection.execute(query):
        found[row.battle_id].append(_judgment(row))
    for row in rows:
        yield BattleEvidence(battle=_battle(row), judgments=tuple(found[row.id]))


def _judgment(row: Row[*tuple[Any, ...]]) -> Judgment:
    return Judgment(
        judge=row.judge,
        model=row.model,
        presentation=Presentation(row.presentation),
        outcome=Outcome(row.outcome),
        preference=None if row.preference is None else Preference(row.preference),
        margin=row.margin,
        rationale=row.rationale,
        detail=row.detail,
        grade=row.grade,
        settings=row.settings,
        prompt_hash=row.prompt_hash,
        parser=row.parser,
        calls=row.calls,
        reply=None if row.reply_key is None else _reply(row),
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost_usd=row.cost_usd,
    )


def _reply(row: Row[*tuple[Any, ...]]) -> Reply:
    return Reply(
        key=row.reply_key,
        endpoint=row.endpoint,
        model=row.model,
        text=row.text or "",
        finish_reason=row.finish_reason or "",
        input_tokens=row.reply_input_tokens or 0,
        output_tokens=row.reply_output_tokens or 0,
        cost_usd=row.reply_cost_usd,
        latency=row.latency,
        cached=row.cached,
        logprobs=row.logprobs,
    )
