"""Askings in the store: battles that are asked anew, with their verdicts, and what they are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, insert, literal, null, select, update

from data.records import STOPPED, Outcome, Verdict
from data.records.retests import ORIGINAL, AskingRecord, PendingAsking, PlannedAsking
from data.store.base import AnyRow, to_record, to_row
from data.store.rounds.battles import pending_battles
from data.store.rounds.canaries import is_unpriced, judgment_json
from data.store.rounds.replies import put_replies
from data.tables.columns import now
from data.tables.judgments import judgments, replies
from data.tables.questions import questions, submissions
from data.tables.rounds import askings, battles

BOTH_ORDERS = "both"
SETTLED = ("outcome", "preference", "score", "flipped", "detail")


def insert_askings(connection: Connection, planned: Iterable[PlannedAsking], **owner: int) -> None:
    """Store what is to be asked; `owner` is the retest or the round that asks."""
    new = [
        to_row(askings, asking, battle_id=asking.battle, judgments=[], detail="", **owner)
        for asking in planned
    ]
    if new:
        connection.execute(insert(askings), new)


def pending_askings(connection: Connection, *which: ColumnElement[bool]) -> Iterator[PendingAsking]:
    """Yield the askings that some clauses choose, each with its battle as a judge gets to see it."""
    waiting = connection.execute(select(askings).where(*which).order_by(askings.c.id)).all()
    asked = {
        battle.id: battle
        for battle in pending_battles(connection, battles.c.id.in_({row.battle_id for row in waiting}))
    }
    return (to_record(PendingAsking, row, battle=asked[row.battle_id]) for row in waiting)


def record_askings(connection: Connection, verdicts: Sequence[tuple[int, Verdict]]) -> None:
    """Store verdicts by the askings' numbers; an asking that has an outcome keeps it."""
    moment = now()
    for number, verdict in verdicts:
        made = verdict.judgments
        paid: dict[str, Any] = {
            "input_tokens": askings.c.input_tokens + sum(judgment.input_tokens for judgment in made),
            "output_tokens": askings.c.output_tokens + sum(judgment.output_tokens for judgment in made),
            "cost_usd": askings.c.cost_usd + sum(judgment.cost_usd or 0.0 for judgment in made),
        }
        connection.execute(
            update(askings)
            .where(askings.c.id == number, askings.c.outcome.is_(None))
            .values(
                **{name: getattr(verdict, name) for name in SETTLED},
                **paid,
                judgments=[judgment_json(judgment) for judgment in made],
                asked_at=moment,
            )
        )
        put_replies(connection, [judgment.reply for judgment in made if judgment.reply is not None])


def reopen_askings(connection: Connection, which: ColumnElement[bool], outcomes: Sequence[Outcome]) -> int:
    """Make askings that ended in one of `outcomes` pending again, and return how many.

    Those that a stopping rule left out stay so: a round that stopped has judged enough.
    """
    return connection.execute(
        update(askings)
        .where(which, askings.c.outcome.in_(list(outcomes)), ~askings.c.detail.startswith(STOPPED))
        .values(outcome=None, preference=None, score=None, flipped=None, detail="", asked_at=None)
    ).rowcount


def outcome_counts(connection: Connection, which: ColumnElement[bool]) -> Mapping[Outcome | None, int]:
    """How many askings ended how; those of None are pending."""
    query = select(askings.c.outcome, func.count()).where(which).group_by(askings.c.outcome)
    return {row[0]: int(row[1]) for row in connection.execute(query)}


def any_unpriced(connection: Connection, which: ColumnElement[bool]) -> bool:
    """Whether an asking took calls of a model without a known price."""
    query = select(askings.c.judgments).where(which)
    return any(is_unpriced(judgment) for made in connection.execute(query).scalars() for judgment in made)


def read_askings(connection: Connection, which: ColumnElement[bool]) -> tuple[AskingRecord, ...]:
    """The askings that a clause chooses, in the order in which they were planned."""
    query = _with_battle(
        *(askings.c[name] for name in ("battle_id", "repeat", "wording", "turned", "asked_at", "judgments")),
        *(askings.c[name] for name in ("outcome", "preference", "score", "detail")),
        *(askings.c[name] for name in ("cost_usd", "input_tokens", "output_tokens")),
    )
    query = query.join(askings, askings.c.battle_id == battles.c.id).where(which).order_by(askings.c.id)
    return tuple(_asking(row) for row in connection.execute(query))


def read_originals(connection: Connection, which: ColumnElement[bool]) -> tuple[AskingRecord, ...]:
    """The own verdicts of the battles that a clause on askings chooses; their cost is the round's."""
    chosen = select(askings.c.battle_id).where(which)
    # What came from the cache was asked when its reply came.
    asked_at = func.min(func.coalesce(replies.c.created_at, judgments.c.created_at)).label("asked_at")
    orders = func.min(judgments.c.presentation), func.max(judgments.c.presentation)
    made: dict[int, tuple[datetime, str]] = {
        row.battle_id: (row.asked_at, _order({row.first, row.last}))
        for row in connection.execute(
            select(judgments.c.battle_id, asked_at, orders[0].label("first"), orders[1].label("last"))
            .outerjoin(replies, replies.c.key == judgments.c.reply_key)
            .where(judgments.c.battle_id.in_(chosen))
            .group_by(judgments.c.battle_id)
        )
    }
    query = _with_battle(
        battles.c.id.label("battle_id"),
        *(battles.c[name] for name in ("outcome", "preference", "score", "detail")),
        literal(0).label("repeat"),
        null().label("cost_usd"),
    )
    return tuple(
        _record(row, made.get(row.battle_id, (None, "")), wording=ORIGINAL, turned=False, cost_usd=0.0)
        for row in connection.execute(query.where(battles.c.id.in_(chosen)).order_by(battles.c.id))
    )


def _with_battle(*columns: ColumnElement[Any]) -> Select[*tuple[Any, ...]]:
    """Columns with the names of a battle's question, domain and systems."""
    side_a, side_b = submissions.alias("side_a"), submissions.alias("side_b")
    return (
        select(
            *columns,
            questions.c.key.label("question_id"),
            questions.c.domain,
            side_a.c.system.label("system_a"),
            side_b.c.system.label("system_b"),
        )
        .select_from(battles)
        .join(questions, questions.c.id == battles.c.question_id)
        .join(side_a, side_a.c.id == battles.c.a_id)
        .join(side_b, side_b.c.id == battles.c.b_id)
    )


def _asking(row: AnyRow) -> AskingRecord:
    order = _order({judgment["presentation"] for judgment in row.judgments})
    cost = None if any(map(is_unpriced, row.judgments)) else row.cost_usd
    return _record(
        row,
        (row.asked_at, order),
        wording=row.wording,
        turned=row.turned,
        cost_usd=cost,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
    )


def _record(row: AnyRow, asked: tuple[datetime | None, str], **others: Any) -> AskingRecord:  # noqa: ANN401 - fields of any type
    values = {"input_tokens": 0, "output_tokens": 0, **others}
    return to_record(AskingRecord, row, battle=row.battle_id, asked_at=asked[0], order=asked[1], **values)


def _order(presentations: set[str]) -> str:
    """The one presentation of some judgments; `both` where there are two, empty where there is none."""
    shown = sorted(map(str, presentations))
    return shown[0] if len(shown) == 1 else BOTH_ORDERS if shown else ""
