"""Stores for rounds and their accounts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from data.errors import ConflictError, NotFoundError
from data.models import (
    Account,
    JudgeKind,
    Outcome,
    PlannedBattle,
    Round,
    RoundCounts,
    RoundState,
    require_name,
)
from data.models.base import now
from data.models.jobs import lease_rows
from data.models.rounds import battles, ledgers, rounds
from data.models.submissions import question_sets
from data.models.tables import judgments
from data.progress import counted
from data.store.base import AnyRow, StorePart, to_record, unique
from data.store.battles import insert_battles, lease_lost
from data.store.engine import new_id, pairs

ENDED = (RoundState.FINISHED, RoundState.CANCELLED)


class RoundStore(StorePart):
    """Store for rounds."""

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
        conflict = ConflictError(
            f"Round {name!r} already exists.",
            advice=f"Continue it with `arena rounds resume {name}`, or choose another --name.",
        )
        with unique(rounds.c.name, conflict=lambda: conflict), self._database.begin() as connection:
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
        """Return a round."""
        row = self._first(_select().where(rounds.c.name == name))
        if row is None:
            raise NotFoundError(f"There is no round {name!r}.", advice="See `arena rounds list`.")
        return _record(row)

    def all(self) -> tuple[Round, ...]:
        """Return all rounds, newest first."""
        return tuple(_record(row) for row in self._all(_select().order_by(rounds.c.id.desc())))

    def move(self, name: str, *, to: RoundState, allowed: Sequence[RoundState]) -> Round:
        """Change the state of a round that is in one of the allowed states."""
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
                advice=f"Its state must be {' or '.join(allowed)}.",
            )
        return round_

    def delete(self, name: str, *, allowed: Sequence[RoundState]) -> None:
        """Delete a round in one of the allowed states, with its battles."""
        round_ = self.get(name)
        with self._database.begin() as connection:
            deleted = connection.execute(
                delete(rounds).where(rounds.c.id == round_.id, rounds.c.state.in_(list(allowed)))
            ).rowcount
        if not deleted:
            raise ConflictError(
                f"Round {name} is {round_.state}, so it cannot be deleted.",
                advice=f"Its state must be {' or '.join(allowed)}.",
            )

    def set_budget(self, name: str, cap: float) -> Round:
        """Change the cap of a round in USD."""
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
                advice="Set a budget above the amount spent. A running round's budget can only be raised.",
            )
        return self.get(name)

    def amend(self, name: str, **values: Any) -> Round:  # noqa: ANN401 - JSON of any shape
        """Update values of a round's plan, including its `judge`; None removes a value."""
        with self._database.together() as connection:
            plan = connection.execute(select(rounds.c.plan).where(rounds.c.name == name)).scalar() or {}
            plan = {key: value for key, value in (plan | values).items() if value is not None}
            connection.execute(update(rounds).where(rounds.c.name == name).values(plan=plan))
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
        """Return the counts and costs of a round."""
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
    if round_.budget_usd is not None or round_.judge.get("kind") == JudgeKind.LEXICAL:
        return False
    unpriced = (
        select(judgments.c.id)
        .join(battles, battles.c.id == judgments.c.battle_id)
        .where(battles.c.round_id == round_.id, judgments.c.cost_usd.is_(None), judgments.c.calls > 0)
    )
    return connection.execute(unpriced.limit(1)).first() is not None


Paid = tuple[float, int, int]
"""USD, input and output tokens."""


class LedgerStore(StorePart):
    """Store for accounts, shared by workers; `spent + lost + drawn <= cap` is always true."""

    def account(self, round_id: int) -> Account:
        """Return the account of a round."""
        row = self._first(select(ledgers).where(ledgers.c.round_id == round_id))
        if row is None:
            raise NotFoundError(f"There is no account of round {round_id}.")
        return Account(cap=row.cap_usd, spent=row.spent_usd, drawn=row.reserved_usd, lost=row.lost_usd)

    def draw(self, round_id: int, least: float, wished: float, *, lease_id: int | None = None) -> float:
        """Reserve between `least` and `wished` USD; 0 if less than `least` is available.

        The update is optimistic: it is retried after a concurrent draw or settlement.
        """
        while True:
            account = self.account(round_id)
            amount = account.drawable(least, wished)
            if not amount:
                return 0.0
            with self._database.begin() as connection:
                # The lease is locked before the account, as everywhere, to avoid deadlocks.
                if lease_id is not None and not _add(connection, lease_id, drawn_usd=0.0):
                    raise lease_lost(lease_id)
                changed = connection.execute(
                    update(ledgers)
                    .where(
                        ledgers.c.round_id == round_id,
                        ledgers.c.reserved_usd == account.drawn,
                        ledgers.c.spent_usd == account.spent,
                        ledgers.c.lost_usd == account.lost,
                    )
                    .values(reserved_usd=account.drawn + amount)
                ).rowcount
                if changed and lease_id is not None:
                    _add(connection, lease_id, drawn_usd=amount)
            if changed:
                return amount

    def settle(
        self, round_id: int, *, spent: float, returned: float, lost: float = 0.0, lease_id: int | None = None
    ) -> None:
        """Settle a draw: `spent` USD were charged, `lost` may have been, `returned` are free again.

        The draws of an expired lease were freed already, but its costs still count.
        """
        with self._database.begin() as connection:
            freed = spent + lost + returned
            if lease_id is not None and not _add(connection, lease_id, drawn_usd=-freed, paid_usd=spent):
                freed = 0.0
            connection.execute(
                update(ledgers)
                .where(ledgers.c.round_id == round_id)
                .values(
                    reserved_usd=ledgers.c.reserved_usd - freed,
                    spent_usd=ledgers.c.spent_usd + spent,
                    lost_usd=ledgers.c.lost_usd + lost,
                )
            )

    def note(
        self,
        round_id: int,
        *,
        spent: float,
        input_tokens: int,
        output_tokens: int,
        lost: float = 0.0,
        lease_id: int | None = None,
    ) -> None:
        """Add usage; `spent` and `lost` are costs that `settle` did not record (without a cap)."""
        with self._database.begin() as connection:
            if lease_id is not None:
                _add(connection, lease_id, paid_usd=spent, paid_input=input_tokens, paid_output=output_tokens)
            connection.execute(
                update(ledgers)
                .where(ledgers.c.round_id == round_id)
                .values(
                    spent_usd=ledgers.c.spent_usd + spent,
                    lost_usd=ledgers.c.lost_usd + lost,
                    input_tokens=ledgers.c.input_tokens + input_tokens,
                    output_tokens=ledgers.c.output_tokens + output_tokens,
                )
            )

    def release(self, round_id: int) -> None:
        """Free the reservations of a stopped run; only for a round that is not being judged.

        A killed run may not have recorded the cost of its last judgments: it is added from them.
        """
        with self._database.begin() as connection:
            account_row = connection.execute(select(ledgers).where(ledgers.c.round_id == round_id)).first()
            if account_row is None:
                return
            recorded = _paid(connection, round_id)
            connection.execute(
                update(ledgers)
                .where(ledgers.c.round_id == round_id)
                .values(
                    reserved_usd=0.0,
                    spent_usd=max(account_row.spent_usd, recorded[0]),
                    input_tokens=max(account_row.input_tokens, recorded[1]),
                    output_tokens=max(account_row.output_tokens, recorded[2]),
                )
            )


def counts_of(connection: Connection, round_id: int, *, unpriced: bool) -> RoundCounts:
    """Count outcomes and costs of a round; with `unpriced` the cost is unknown."""
    query = select(battles.c.outcome, func.count()).where(battles.c.round_id == round_id)
    ended: dict[Outcome | None, int] = pairs(connection.execute(query.group_by(battles.c.outcome)))
    account = connection.execute(select(ledgers).where(ledgers.c.round_id == round_id)).one()
    return RoundCounts(
        planned=sum(ended.values()),
        **{outcome.value: ended.get(outcome, 0) for outcome in Outcome},
        cost_usd=None if unpriced else float(account.spent_usd),
        reserved_usd=max(0.0, float(account.reserved_usd)),
        lost_usd=float(account.lost_usd),
        input_tokens=int(account.input_tokens),
        output_tokens=int(account.output_tokens),
    )


def _add(connection: Connection, lease_id: int, **amounts: float) -> bool:
    """Add to the counters of a lease; False if it expired."""
    changed = connection.execute(
        update(lease_rows)
        .where(lease_rows.c.id == lease_id)
        .values({name: lease_rows.c[name] + amount for name, amount in amounts.items()})
    )
    return changed.rowcount > 0


def _paid(connection: Connection, round_id: int) -> tuple[float, int, int]:
    sums = (
        func.coalesce(func.sum(judgments.c[name]), 0)
        for name in ("cost_usd", "input_tokens", "output_tokens")
    )
    joined = judgments.join(battles, battles.c.id == judgments.c.battle_id)
    query = select(*sums).select_from(joined).where(battles.c.round_id == round_id)
    cost, input_tokens, output_tokens = connection.execute(query).one()
    return float(cost), int(input_tokens), int(output_tokens)
