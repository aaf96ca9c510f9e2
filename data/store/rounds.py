"""Rounds in the store, with their books."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from data.errors import ConflictError, NotFoundError
from data.records import (
    Outcome,
    PlannedBattle,
    PlannedCanary,
    Round,
    RoundCounts,
    RoundState,
)
from data.store.battles import insert_battles
from data.store.canaries import insert_canaries
from data.store.database import Database, new_id, pairs
from data.store.moments import as_utc, now
from data.tables import battles, ledgers, question_sets, rounds

ENDED = (RoundState.FINISHED, RoundState.CANCELLED)


class RoundStore:
    """Creates rounds, moves them on, and keeps the books."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        *,
        name: str,
        set_id: int,
        judge_name: str,
        judge: Mapping[str, Any],
        plan: Mapping[str, Any],
        seed: int,
        budget_usd: float | None,
        planned: Iterable[PlannedBattle],
        canaries: Iterable[PlannedCanary] = (),
    ) -> Round:
        """Store a round with its battles and canaries in one transaction.

        Raises:
            ConflictError: A round has this name.
        """
        try:
            with self._database.begin() as connection:
                result = connection.execute(
                    insert(rounds).values(
                        name=name,
                        set_id=set_id,
                        state=RoundState.PLANNED,
                        judge=judge_name,
                        plan={"judge": dict(judge), **plan},
                        seed=seed,
                        budget_usd=budget_usd,
                        created_at=now(),
                    )
                )
                number = new_id(result)
                insert_battles(connection, number, planned)
                insert_canaries(connection, number, canaries)
                connection.execute(
                    insert(ledgers).values(
                        round_id=number,
                        cap_usd=budget_usd,
                        reserved_usd=0.0,
                        spent_usd=0.0,
                        input_tokens=0,
                        output_tokens=0,
                    )
                )
        except IntegrityError as error:
            raise ConflictError(
                f"There is a round {name!r} already.",
                advice=f"Go on with it by `arena rounds resume {name}`, or choose another --name.",
            ) from error
        return self.get(name)

    def get(self, name: str) -> Round:
        """One round.

        Raises:
            NotFoundError: No round has this name.
        """
        with self._database.begin() as connection:
            row = connection.execute(_select().where(rounds.c.name == name)).first()
        if row is None:
            raise NotFoundError(f"There is no round {name!r}.", advice="`arena rounds list` names them.")
        return _record(row)

    def all(self) -> tuple[Round, ...]:
        """Every round, newest first."""
        with self._database.begin() as connection:
            return tuple(_record(row) for row in connection.execute(_select().order_by(rounds.c.id.desc())))

    def move(self, name: str, *, to: RoundState, allowed: Sequence[RoundState]) -> Round:
        """Put a round into another state, if it is in one of the allowed ones.

        Raises:
            ConflictError: It is in another state.
            NotFoundError: No round has this name.
        """
        stamps: dict[str, Any] = {"state": to}
        if to is RoundState.RUNNING:
            stamps["started_at"] = func.coalesce(rounds.c.started_at, now())
        if to in ENDED:
            stamps["finished_at"] = now()
        with self._database.begin() as connection:
            changed = connection.execute(
                update(rounds).where(rounds.c.name == name, rounds.c.state.in_(list(allowed))).values(stamps)
            ).rowcount
        found = self.get(name)
        if not changed:
            raise ConflictError(
                f"Round {name} is {found.state}, so it cannot become {to}.",
                advice=f"It would have to be {' or '.join(allowed)}.",
            )
        return found

    def set_budget(self, name: str, cap: float) -> Round:
        """Give a round another cap in USD; its account has it in the same transaction.

        Raises:
            ConflictError: More was spent already, or the round is running and its cap would sink: a worker
                may have drawn on it.
            NotFoundError: No round has this name.
        """
        found = self.get(name)
        enough = ledgers.c.spent_usd <= cap
        if found.state is RoundState.RUNNING:
            enough = enough & (ledgers.c.cap_usd <= cap)
        with self._database.begin() as connection:
            changed = connection.execute(
                update(ledgers).where(ledgers.c.round_id == found.id, enough).values(cap_usd=cap)
            ).rowcount
            if changed:
                connection.execute(update(rounds).where(rounds.c.id == found.id).values(budget_usd=cap))
        if not changed:
            spent = self.counts(name).cost_usd
            raise ConflictError(
                f"Round {name} cannot have a budget of {cap:g} USD: {spent:g} USD are spent"
                f"{' and it is running' if found.state is RoundState.RUNNING else ''}.",
                advice="Give it more than is spent; a running round's budget can only be raised.",
            )
        return self.get(name)

    def counts(self, name: str) -> RoundCounts:
        """The books of a round.

        Raises:
            NotFoundError: No round has this name.
        """
        number = self.get(name).id
        with self._database.begin() as connection:
            outcomes: dict[str | None, int] = pairs(
                connection.execute(
                    select(battles.c.outcome, func.count())
                    .where(battles.c.round_id == number)
                    .group_by(battles.c.outcome)
                )
            )
            cost, tokens_in, tokens_out = connection.execute(
                select(ledgers.c.spent_usd, ledgers.c.input_tokens, ledgers.c.output_tokens).where(
                    ledgers.c.round_id == number
                )
            ).one()
        return RoundCounts(
            planned=sum(outcomes.values()),
            **{outcome.value: outcomes.get(outcome.value, 0) for outcome in Outcome},
            cost_usd=float(cost),
            input_tokens=int(tokens_in),
            output_tokens=int(tokens_out),
        )


def _select() -> Select[*tuple[Any, ...]]:
    return select(rounds, question_sets.c.name.label("set_name")).join(
        question_sets, question_sets.c.id == rounds.c.set_id
    )


def _record(row: Row[*tuple[Any, ...]]) -> Round:
    plan = dict(row.plan)
    judge = plan.pop("judge")
    return Round(
        id=row.id,
        name=row.name,
        set_name=row.set_name,
        state=RoundState(row.state),
        judge_name=row.judge,
        judge=judge,
        plan=plan,
        seed=row.seed,
        budget_usd=row.budget_usd,
        created_at=as_utc(row.created_at),
        started_at=None if row.started_at is None else as_utc(row.started_at),
        finished_at=None if row.finished_at is None else as_utc(row.finished_at),
    )
