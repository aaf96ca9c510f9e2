"""Retests in the store: what is asked anew, by whom, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, exists, func, insert, literal, or_, select, update

from data.errors import ConflictError
from data.records import Outcome, RoundCounts, Verdict
from data.records.retests import (
    ORIGINAL,
    NewRetest,
    PendingCall,
    PlannedCall,
    Retest,
    RetestCall,
    Wording,
)
from data.store.base import AnyRow, StorePart, to_record, to_row
from data.store.engine import new_id
from data.store.rounds.battles import pending_battles
from data.store.rounds.budgets import counts_of
from data.store.rounds.canaries import is_unpriced, judgment_json
from data.store.rounds.fencing import lease_lost
from data.store.rounds.replies import put_replies
from data.tables.columns import now
from data.tables.jobs import lease_rows
from data.tables.judgments import judgments, replies
from data.tables.questions import questions, submissions
from data.tables.rounds import battles, retest_calls, retest_ledgers, retests, rounds

BOTH_ORDERS = "both"
SETTLED = ("outcome", "preference", "score", "flipped", "detail")
TOKENS = ("input_tokens", "output_tokens")


class RetestStore(StorePart):
    """Keeps retests apart from the rounds whose battles they ask anew."""

    def create(self, round_id: int, new: NewRetest, planned: Sequence[PlannedCall]) -> Retest:
        """Store a retest with what it is to ask, in one transaction."""
        with self._database.together() as connection:
            number = select(func.coalesce(func.max(retests.c.number), 0) + 1)
            wordings = [{"name": wording.name, "text": wording.text} for wording in new.wordings]
            row = to_row(retests, new, round_id=round_id, wordings=wordings)
            row["number"] = connection.execute(number.where(retests.c.round_id == round_id)).scalar_one()
            retest_id = new_id(connection.execute(insert(retests).values(row)))
            connection.execute(insert(retest_ledgers).values(retest_id=retest_id, cap_usd=new.budget_usd))
            calls = [
                to_row(
                    retest_calls, call, battle_id=call.battle, retest_id=retest_id, judgments=[], detail=""
                )
                for call in planned
            ]
            if calls:
                connection.execute(insert(retest_calls), calls)
            return _retest(connection.execute(_retests().where(retests.c.id == retest_id)).one())

    def of_round(self, round_name: str) -> tuple[Retest, ...]:
        """The retests of a round, oldest first."""
        query = _retests().where(rounds.c.name == round_name).order_by(retests.c.number)
        return tuple(map(_retest, self._all(query)))

    def hold(self, retest_id: int, lease_id: int) -> bool:
        """Let a lease alone ask a retest; False where another one that stands does."""
        alive = exists().where(lease_rows.c.id == retests.c.seat_id)
        statement = update(retests).where(
            retests.c.id == retest_id, or_(retests.c.seat_id.is_(None), ~alive, retests.c.seat_id == lease_id)
        )
        return bool(self._change(statement.values(seat_id=lease_id)))

    def free(self, retest_id: int, lease_id: int) -> None:
        """Let others ask a retest."""
        mine = (retests.c.id == retest_id) & (retests.c.seat_id == lease_id)
        self._change(update(retests).where(mine).values(seat_id=None))

    def reopen(self, retest_id: int, outcomes: Sequence[Outcome]) -> int:
        """Make calls that ended in one of `outcomes` pending again, and return how many."""
        ended = (retest_calls.c.retest_id == retest_id) & retest_calls.c.outcome.in_(list(outcomes))
        nothing = dict.fromkeys((*SETTLED, "asked_at")) | {"detail": ""}
        return self._change(update(retest_calls).where(ended).values(nothing))

    def pending(self, retest_id: int, *, after: int, limit: int) -> tuple[PendingCall, ...]:
        """The next calls without an outcome, after one's number, each with its battle as a judge sees it."""
        query = (
            select(retest_calls)
            .where(
                retest_calls.c.retest_id == retest_id,
                retest_calls.c.outcome.is_(None),
                retest_calls.c.id > after,
            )
            .order_by(retest_calls.c.id)
            .limit(limit)
        )
        with self._database.begin() as connection:
            waiting = connection.execute(query).all()
            asked = {
                battle.id: battle
                for battle in pending_battles(
                    connection, battles.c.id.in_({row.battle_id for row in waiting})
                )
            }
            return tuple(to_record(PendingCall, row, battle=asked[row.battle_id]) for row in waiting)

    def record(self, retest_id: int, verdicts: Sequence[tuple[int, Verdict]], *, lease_id: int) -> None:
        """Commit verdicts by the calls' numbers; a call that has an outcome keeps it.

        Raises:
            LeaseLostError: The lease was given up, or another one asks the retest; nothing is committed.
        """
        mine = (retests.c.id == retest_id) & (retests.c.seat_id == lease_id)
        moment = now()
        with self._database.begin() as connection:
            alive = exists().where(lease_rows.c.id == lease_id)
            if connection.execute(select(retests.c.id).where(mine, alive)).first() is None:
                raise lease_lost(lease_id)
            for number, verdict in verdicts:
                made = verdict.judgments
                paid: dict[str, Any] = {
                    name: retest_calls.c[name] + sum(getattr(judgment, name) or 0 for judgment in made)
                    for name in (*TOKENS, "cost_usd")
                }
                connection.execute(
                    update(retest_calls)
                    .where(retest_calls.c.id == number, retest_calls.c.outcome.is_(None))
                    .values(
                        **{name: getattr(verdict, name) for name in SETTLED},
                        **paid,
                        judgments=[judgment_json(judgment) for judgment in made],
                        asked_at=moment,
                    )
                )
                put_replies(connection, [judgment.reply for judgment in made if judgment.reply is not None])

    def counts(self, retest: Retest) -> RoundCounts:
        """The accounting of a retest; they are in no count of its round."""
        which = retest_calls.c.retest_id == retest.id
        with self._database.begin() as connection:
            unpriced = retest.budget_usd is None and any(
                is_unpriced(judgment)
                for made in connection.execute(select(retest_calls.c.judgments).where(which)).scalars()
                for judgment in made
            )
            return counts_of(connection, retest_calls, retest_ledgers, retest.id, unpriced=unpriced)

    def set_budget(self, retest: Retest, cap: float) -> None:
        """Give a retest another cap in USD.

        Raises:
            ConflictError: More was spent already.
        """
        enough = retest_ledgers.c.spent_usd + retest_ledgers.c.lost_usd <= cap
        ledger = update(retest_ledgers).where(retest_ledgers.c.retest_id == retest.id, enough)
        with self._database.begin() as connection:
            if not connection.execute(ledger.values(cap_usd=cap)).rowcount:
                raise ConflictError(
                    f"Retest {retest.number} of {retest.round_name} has spent more than {cap:g} USD.",
                    advice="Give it more than is spent.",
                )
            connection.execute(update(retests).where(retests.c.id == retest.id).values(budget_usd=cap))

    def calls(self, round_name: str) -> tuple[RetestCall, ...]:
        """The own verdicts of the battles that retests of a round drew, then those of the retests' calls."""
        numbers = select(retests.c.id).join(rounds, rounds.c.id == retests.c.round_id)
        which = retest_calls.c.retest_id.in_(numbers.where(rounds.c.name == round_name))
        with self._database.begin() as connection:
            return (*_originals(connection, which), *_calls(connection, which))


def _calls(connection: Connection, which: ColumnElement[bool]) -> tuple[RetestCall, ...]:
    """The calls that a clause chooses, in the order in which they were planned."""
    names = ("battle_id", "repeat", "wording", "turned", "asked_at", "judgments", "cost_usd")
    query = _with_battle(*(retest_calls.c[name] for name in (*names, *SETTLED, *TOKENS)))
    query = query.join(retest_calls, retest_calls.c.battle_id == battles.c.id).where(which)
    return tuple(
        to_record(
            RetestCall,
            row,
            battle=row.battle_id,
            order=_order({judgment["presentation"] for judgment in row.judgments}),
            cost_usd=None if any(map(is_unpriced, row.judgments)) else row.cost_usd,
        )
        for row in connection.execute(query.order_by(retest_calls.c.id))
    )


def _originals(connection: Connection, which: ColumnElement[bool]) -> tuple[RetestCall, ...]:
    """The own verdicts of the battles of the calls that a clause chooses; their cost is the round's."""
    chosen = select(retest_calls.c.battle_id).where(which)
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
        *(battles.c[name] for name in SETTLED),
        literal(0).label("repeat"),
    )
    records = []
    for row in connection.execute(query.where(battles.c.id.in_(chosen)).order_by(battles.c.id)):
        moment, order = made.get(row.battle_id, (None, ""))
        values = {"battle": row.battle_id, "asked_at": moment, "order": order, "cost_usd": 0.0}
        values |= dict.fromkeys(TOKENS, 0)
        records.append(to_record(RetestCall, row, wording=ORIGINAL, turned=False, **values))
    return tuple(records)


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


def _order(presentations: set[str]) -> str:
    """The one presentation of some judgments; `both` where there are two, empty where there is none."""
    shown = sorted(map(str, presentations))
    return shown[0] if len(shown) == 1 else BOTH_ORDERS if shown else ""


def _retests() -> Select[*tuple[Any, ...]]:
    return select(retests, rounds.c.name.label("round_name")).join(rounds, rounds.c.id == retests.c.round_id)


def _retest(row: AnyRow) -> Retest:
    return to_record(Retest, row, wordings=tuple(Wording(**wording) for wording in row.wordings))
