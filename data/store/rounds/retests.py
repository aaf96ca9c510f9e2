"""Retests and control battles in the store: what is asked anew, by whom, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, exists, func, insert, or_, select, update

from data.errors import ConflictError
from data.records import Outcome, RoundCounts, Verdict
from data.records.retests import (
    AskingRecord,
    NewRetest,
    PendingAsking,
    PlannedAsking,
    PlannedControls,
    Retest,
    Wording,
)
from data.store.base import AnyRow, StorePart, to_record, to_row
from data.store.engine import new_id
from data.store.rounds.askings import (
    any_unpriced,
    insert_askings,
    outcome_counts,
    pending_askings,
    read_askings,
    read_originals,
    record_askings,
    reopen_askings,
)
from data.store.rounds.fencing import lease_lost, release_claims
from data.tables.jobs import asking_holds, seats
from data.tables.questions import submissions
from data.tables.rounds import askings, battles, controls, retest_ledgers, retests, rounds


class RetestStore(StorePart):
    """Keeps retests apart from the rounds whose battles they ask anew."""

    def create(self, round_id: int, new: NewRetest, planned: Sequence[PlannedAsking]) -> Retest:
        """Store a retest with what it is to ask, in one transaction."""
        with self._database.together() as connection:
            number = select(func.coalesce(func.max(retests.c.number), 0) + 1)
            wordings = [{"name": wording.name, "text": wording.text} for wording in new.wordings]
            row = to_row(retests, new, round_id=round_id, wordings=wordings)
            row["number"] = connection.execute(number.where(retests.c.round_id == round_id)).scalar_one()
            retest_id = new_id(connection.execute(insert(retests).values(row)))
            connection.execute(insert(retest_ledgers).values(retest_id=retest_id, cap_usd=new.budget_usd))
            insert_askings(connection, planned, retest_id=retest_id)
            return _retest(connection.execute(_retests().where(retests.c.id == retest_id)).one())

    def of_round(self, round_name: str) -> tuple[Retest, ...]:
        """The retests of a round, oldest first."""
        query = _retests().where(rounds.c.name == round_name).order_by(retests.c.number)
        return tuple(map(_retest, self._all(query)))

    def hold(self, retest_id: int, lease_id: int) -> bool:
        """Let a lease alone ask a retest; False where another one that stands does."""
        alive = exists().where(seats.c.id == retests.c.seat_id)
        statement = update(retests).where(
            retests.c.id == retest_id, or_(retests.c.seat_id.is_(None), ~alive, retests.c.seat_id == lease_id)
        )
        return bool(self._change(statement.values(seat_id=lease_id)))

    def free(self, retest_id: int, lease_id: int) -> None:
        """Let others ask a retest."""
        mine = (retests.c.id == retest_id) & (retests.c.seat_id == lease_id)
        self._change(update(retests).where(mine).values(seat_id=None))

    def reopen(self, retest_id: int, outcomes: Sequence[Outcome]) -> int:
        """Make askings that ended in one of `outcomes` pending again, and return how many."""
        with self._database.begin() as connection:
            return reopen_askings(connection, askings.c.retest_id == retest_id, outcomes)

    def pending(self, retest_id: int, *, after: int, limit: int) -> tuple[PendingAsking, ...]:
        """The next askings without an outcome, after one's number, as a judge gets to see them."""
        query = (
            select(askings.c.id)
            .where(askings.c.retest_id == retest_id, askings.c.outcome.is_(None), askings.c.id > after)
            .order_by(askings.c.id)
            .limit(limit)
        )
        with self._database.begin() as connection:
            numbers = list(connection.execute(query).scalars())
            return tuple(pending_askings(connection, askings.c.id.in_(numbers)))

    def record(self, retest_id: int, verdicts: Sequence[tuple[int, Verdict]], *, lease_id: int) -> None:
        """Commit verdicts by the askings' numbers.

        Raises:
            LeaseLostError: The lease was given up, or another one asks the retest; nothing is committed.
        """
        mine = (retests.c.id == retest_id) & (retests.c.seat_id == lease_id)
        with self._database.begin() as connection:
            alive = exists().where(seats.c.id == lease_id)
            if connection.execute(select(retests.c.id).where(mine, alive)).first() is None:
                raise lease_lost(lease_id)
            record_askings(connection, verdicts)

    def counts(self, retest: Retest) -> RoundCounts:
        """The books of a retest; they are in no count of its round."""
        which = askings.c.retest_id == retest.id
        with self._database.begin() as connection:
            ended = outcome_counts(connection, which)
            ledger = connection.execute(
                select(retest_ledgers).where(retest_ledgers.c.retest_id == retest.id)
            ).one()
            unknown = ledger.cap_usd is None and any_unpriced(connection, which)
        return RoundCounts(
            planned=sum(ended.values()),
            **{outcome.value: ended.get(outcome, 0) for outcome in Outcome},
            cost_usd=None if unknown else float(ledger.spent_usd),
            reserved_usd=max(0.0, float(ledger.reserved_usd)),
            lost_usd=float(ledger.lost_usd),
            input_tokens=int(ledger.input_tokens),
            output_tokens=int(ledger.output_tokens),
        )

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

    def askings(self, round_name: str) -> tuple[AskingRecord, ...]:
        """The own verdicts of the battles that retests of a round drew, then those of their askings."""
        numbers = select(retests.c.id).join(rounds, rounds.c.id == retests.c.round_id)
        which = askings.c.retest_id.in_(numbers.where(rounds.c.name == round_name))
        with self._database.begin() as connection:
            return (*read_originals(connection, which), *read_askings(connection, which))


class ControlStore(StorePart):
    """The control battles of sets, and what later rounds were told of them."""

    def pool(self, set_id: int, judge: str) -> tuple[int, ...]:
        """The numbers of a judge's control battles on a set, those of withdrawn submissions left out."""
        sides = submissions.alias("side_a"), submissions.alias("side_b")
        query = (
            select(controls.c.battle_id)
            .join(battles, battles.c.id == controls.c.battle_id)
            .join(sides[0], sides[0].c.id == battles.c.a_id)
            .join(sides[1], sides[1].c.id == battles.c.b_id)
            .where(controls.c.set_id == set_id, controls.c.judge == judge)
            .where(*(side.c.withdrawn_at.is_(None) for side in sides))
            .order_by(controls.c.id)
        )
        return tuple(self._values(query))

    def of_round(self, round_name: str) -> tuple[AskingRecord, ...]:
        """The control battles of a round: first what was said of them before, then what it was told now."""
        which = askings.c.round_id.in_(select(rounds.c.id).where(rounds.c.name == round_name))
        with self._database.begin() as connection:
            return (*read_originals(connection, which), *read_askings(connection, which))

    def pending(self, round_id: int) -> int:
        """How many control battles of a round have no outcome."""
        with self._database.begin() as connection:
            return outcome_counts(connection, askings.c.round_id == round_id).get(None, 0)

    def record(self, verdicts: Sequence[tuple[int, Verdict]], *, lease_id: int) -> None:
        """Commit the verdicts on control battles by the askings' numbers.

        Raises:
            LeaseLostError: They are those of a lease that was given up; nothing is committed.
        """
        with self._database.begin() as connection:
            release_claims(connection, asking_holds, lease_id, verdicts)
            record_askings(connection, verdicts)

    def reopen(self, round_id: int, outcomes: Sequence[Outcome]) -> int:
        """Make control battles that ended in one of `outcomes` pending again, and return how many."""
        with self._database.begin() as connection:
            return reopen_askings(connection, askings.c.round_id == round_id, outcomes)

    def close_pending(self, round_id: int, outcome: Outcome, detail: str) -> int:
        """End every pending control battle of a round with one outcome, and return how many there were."""
        pending = (askings.c.round_id == round_id) & askings.c.outcome.is_(None)
        return self._change(update(askings).where(pending).values(outcome=outcome, detail=detail))


def insert_controls(
    connection: Connection, round_id: int, set_id: int, planned: PlannedControls | None
) -> None:
    """Store what a new round asks of control battles, and the set's control battles where it has none."""
    if planned is None:
        return
    if planned.pool:
        rows = [{"set_id": set_id, "judge": planned.judge, "battle_id": battle} for battle in planned.pool]
        connection.execute(insert(controls), rows)
    insert_askings(connection, planned.askings, round_id=round_id)


def _retests() -> Select[*tuple[Any, ...]]:
    return select(retests, rounds.c.name.label("round_name")).join(rounds, rounds.c.id == retests.c.round_id)


def _retest(row: AnyRow) -> Retest:
    return to_record(Retest, row, wordings=tuple(Wording(**wording) for wording in row.wordings))
