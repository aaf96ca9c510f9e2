"""Rounds in the store, with their accounting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from data.errors import ConflictError, NotFoundError
from data.models import (
    JudgeKind,
    PlannedBattle,
    Round,
    RoundCounts,
    RoundState,
    require_name,
)
from data.models.base import now
from data.models.rounds import battles, ledgers, rounds
from data.models.submissions import question_sets
from data.models.tables import judgments
from data.progress import counted
from data.store.base import AnyRow, StorePart, to_record, unique
from data.store.battles import insert_battles
from data.store.budgets import counts_of
from data.store.engine import new_id

ENDED = (RoundState.FINISHED, RoundState.CANCELLED)


class RoundStore(StorePart):
    """Creates rounds, moves them on, and keeps the accounts."""

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
    ) -> Round:
        """Store a round with its battles in one transaction."""
        require_name(name, "Round name")
        taken = ConflictError(
            f"There is a round {name!r} already.",
            advice=f"Go on with it by `arena rounds resume {name}`, or choose another --name.",
        )
        with unique(rounds.c.name, taken=lambda: taken), self._database.begin() as connection:
            result = connection.execute(
                insert(rounds).values(
                    name=name,
                    set_id=set_id,
                    state=RoundState.PLANNED,
                    judge_name=judge_name,
                    plan={"judge": dict(judge), **plan},
                    seed=seed,
                    budget_usd=budget_usd,
                )
            )
            number = new_id(result)
            insert_battles(connection, number, counted(planned, "storing battles"))
            connection.execute(insert(ledgers).values(round_id=number, cap_usd=budget_usd))
        return self.get(name)

    def get(self, name: str) -> Round:
        """One round."""
        row = self._first(_select().where(rounds.c.name == name))
        if row is None:
            raise NotFoundError(f"There is no round {name!r}.", advice="`arena rounds list` names them.")
        return _record(row)

    def all(self) -> tuple[Round, ...]:
        """Every round, newest first."""
        return tuple(_record(row) for row in self._all(_select().order_by(rounds.c.id.desc())))

    def move(self, name: str, *, to: RoundState, allowed: Sequence[RoundState]) -> Round:
        """Put a round into another state, if it is in one of the allowed ones."""
        stamps: dict[str, Any] = {"state": to}
        if to is RoundState.RUNNING:
            stamps["started_at"] = func.coalesce(rounds.c.started_at, now())
        if to in ENDED:
            stamps["finished_at"] = now()
        changed = self._change(
            update(rounds).where(rounds.c.name == name, rounds.c.state.in_(list(allowed))).values(stamps)
        )
        round_ = self.get(name)
        if not changed:
            raise ConflictError(
                f"Round {name} is {round_.state}, so it cannot become {to}.",
                advice=f"It would have to be {' or '.join(allowed)}.",
            )
        return round_

    def delete(self, name: str, *, allowed: Sequence[RoundState]) -> None:
        """Delete a round in one of the allowed states, with all that hangs on it."""
        round_ = self.get(name)
        with self._database.begin() as connection:
            gone = connection.execute(
                delete(rounds).where(rounds.c.id == round_.id, rounds.c.state.in_(list(allowed)))
            ).rowcount
        if not gone:
            raise ConflictError(
                f"Round {name} is {round_.state}, so it cannot be deleted.",
                advice=f"It would have to be {' or '.join(allowed)}.",
            )

    def set_budget(self, name: str, cap: float) -> Round:
        """Give a round another cap in USD; its account has it in the same transaction."""
        round_ = self.get(name)
        enough = ledgers.c.spent_usd + ledgers.c.lost_usd <= cap
        if round_.state is RoundState.RUNNING:
            enough = enough & (ledgers.c.cap_usd <= cap)
        with self._database.begin() as connection:
            changed = connection.execute(
                update(ledgers).where(ledgers.c.round_id == round_.id, enough).values(cap_usd=cap)
            ).rowcount
            if changed:
                connection.execute(update(rounds).where(rounds.c.id == round_.id).values(budget_usd=cap))
        if not changed:
            counts = self.counts(name)
            spent = (counts.cost_usd or 0.0) + counts.lost_usd
            raise ConflictError(
                f"Round {name} cannot have a budget of {cap:g} USD: {spent:g} USD are spent or lost"
                f"{' and it is running' if round_.state is RoundState.RUNNING else ''}.",
                advice="Give it more than is spent; a running round's budget can only be raised.",
            )
        return self.get(name)

    def amend(self, name: str, **values: Any) -> Round:  # noqa: ANN401 - JSON of any shape
        """Put values into a round's plan, its `judge` included; None takes one out."""
        with self._database.together() as connection:
            plan = connection.execute(select(rounds.c.plan).where(rounds.c.name == name)).scalar() or {}
            kept = {key: value for key, value in (plan | values).items() if value is not None}
            connection.execute(update(rounds).where(rounds.c.name == name).values(plan=kept))
        return self.get(name)

    def requests(self, name: str) -> int:
        """Count the requests that a round's judge sent."""
        query = (
            select(func.coalesce(func.sum(judgments.c.calls), 0))
            .join(battles, battles.c.id == judgments.c.battle_id)
            .where(battles.c.round_id == self.get(name).id)
        )
        with self._database.begin() as connection:
            return int(connection.execute(query).scalar_one())

    def counts(self, name: str) -> RoundCounts:
        """Return the accounting of a round."""
        round_ = self.get(name)
        with self._database.begin() as connection:
            unpriced = _asks_unpriced(connection, round_)
            return counts_of(connection, round_.id, unpriced=unpriced)


def _select() -> Select[*tuple[Any, ...]]:
    return select(rounds, question_sets.c.name.label("set_name")).join(
        question_sets, question_sets.c.id == rounds.c.set_id
    )


def _record(row: AnyRow) -> Round:
    plan = dict(row.plan)
    judge = plan.pop("judge")
    return to_record(Round, row, judge=judge, plan=plan)


def _asks_unpriced(connection: Connection, round_: Round) -> bool:
    """Return whether a round without a cap took calls of a model without a known price."""
    if round_.budget_usd is not None or round_.judge.get("kind") == JudgeKind.LEXICAL:
        return False
    unpriced = (
        select(judgments.c.id)
        .join(battles, battles.c.id == judgments.c.battle_id)
        .where(battles.c.round_id == round_.id, judgments.c.cost_usd.is_(None), judgments.c.calls > 0)
    )
    return connection.execute(unpriced.limit(1)).first() is not None
