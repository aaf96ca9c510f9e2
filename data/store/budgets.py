"""The account of a round: what may be spent, what is set aside, what is paid."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, update

from data.errors import NotFoundError
from data.models import Account, Outcome, RoundCounts
from data.models.jobs import lease_rows
from data.models.rounds import battles, ledgers
from data.models.tables import judgments
from data.store.base import StorePart
from data.store.battles import lease_lost
from data.store.engine import pairs

ROUNDING = 1e-12
Paid = tuple[float, int, int]
"""USD, input and output tokens."""


class LedgerStore(StorePart):
    """Rounds' accounts that many workers may draw on; `spent + lost + drawn <= cap` holds at every moment."""

    def account(self, round_id: int) -> Account:
        """Return the account of a round as it stands."""
        row = self._first(select(ledgers).where(ledgers.c.round_id == round_id))
        if row is None:
            raise NotFoundError(f"There is no account of round {round_id}.")
        return Account(cap=row.cap_usd, spent=row.spent_usd, drawn=row.reserved_usd, lost=row.lost_usd)

    def draw(self, round_id: int, least: float, wished: float, *, lease_id: int | None = None) -> float:
        """Set aside between `least` and `wished` USD; 0 where less than `least` is left.

        The update only holds if nobody drew or settled in between; else it is tried on the new state.
        """
        while True:
            account = self.account(round_id)
            used = account.spent + account.lost + account.drawn
            available = float("inf") if account.cap is None else account.cap - used + ROUNDING
            if least > available:
                return 0.0
            amount = max(least, min(wished, available))
            with self._database.begin() as connection:
                # The lease is locked before the account, as everywhere, so that none waits in a ring.
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
        self,
        round_id: int,
        *,
        spent: float,
        returned: float,
        lost: float = 0.0,
        lease_id: int | None = None,
    ) -> None:
        """Of what was drawn, `spent` USD were charged, `lost` may have been, `returned` are free again.

        What a lease had drawn was freed when it was given up, but what it paid was paid all the same.
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
        """Add what was used; `spent` and `lost` are those that no `settle` recorded (without a cap)."""
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
        """Free what a stopped run had set aside; only for a round that nobody judges.

        A run that was killed may have committed judgments whose cost it had not flushed yet: the account
        is set to what judgments say was paid.
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
    """Count how a round's battles ended, with its account; `unpriced`: the price of a call is not known."""
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
    """Add to the counters of a lease; False where it was given up."""
    changed = connection.execute(
        update(lease_rows)
        .where(lease_rows.c.id == lease_id)
        .values({name: lease_rows.c[name] + amount for name, amount in amounts.items()})
    )
    return changed.rowcount > 0


def _paid(connection: Connection, round_id: int) -> tuple[float, int, int]:
    """USD, input and output tokens that the judgments of a round say were paid."""
    sums = (
        func.coalesce(func.sum(judgments.c[name]), 0)
        for name in ("cost_usd", "input_tokens", "output_tokens")
    )
    joined = judgments.join(battles, battles.c.id == judgments.c.battle_id)
    query = select(*sums).select_from(joined).where(battles.c.round_id == round_id)
    cost, input_tokens, output_tokens = connection.execute(query).one()
    return float(cost), int(input_tokens), int(output_tokens)
