"""The account of a round: what may be spent, what is set aside, what is paid."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, Table, func, select, update

from data.errors import NotFoundError
from data.records import Account
from data.store.database import Database
from data.store.fencing import lost
from data.tables import battles, canaries, judgments, ledgers, seats

ROUNDING = 1e-12


class LedgerStore:
    """Accounts that many workers may draw on; `spent + drawn <= cap` holds at every moment."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def account(self, round_id: int) -> Account:
        """The account of a round as it stands.

        Raises:
            NotFoundError: The round has no account.
        """
        with self._database.begin() as connection:
            row = connection.execute(select(ledgers).where(ledgers.c.round_id == round_id)).first()
        if row is None:
            raise NotFoundError(f"There is no account of round {round_id}.")
        return Account(cap=row.cap_usd, spent=row.spent_usd, drawn=row.reserved_usd)

    def draw(self, round_id: int, least: float, wished: float, *, seat_id: int | None = None) -> float:
        """Set aside between `least` and `wished` USD; 0 where less than `least` is left.

        The update only holds if nobody drew or paid in between; else it is tried on the new state.

        Raises:
            LeaseLostError: It is for a seat that was given up.
        """
        while True:
            found = self.account(round_id)
            left = float("inf") if found.cap is None else found.cap - found.spent - found.drawn + ROUNDING
            if least > left:
                return 0.0
            amount = max(least, min(wished, left))
            with self._database.begin() as connection:
                # The seat is locked before the account, as everywhere, so that none waits in a ring.
                if seat_id is not None and not _add(connection, seat_id, drawn_usd=0.0):
                    raise lost(seat_id)
                changed = connection.execute(
                    update(ledgers)
                    .where(
                        ledgers.c.round_id == round_id,
                        ledgers.c.reserved_usd == found.drawn,
                        ledgers.c.spent_usd == found.spent,
                    )
                    .values(reserved_usd=found.drawn + amount)
                ).rowcount
                if changed and seat_id is not None:
                    _add(connection, seat_id, drawn_usd=amount)
            if changed:
                return amount

    def settle(self, round_id: int, *, spent: float, returned: float, seat_id: int | None = None) -> None:
        """Of what was drawn, `spent` USD were paid and `returned` USD are free again.

        What a seat had drawn was freed when it was given up, but what it paid was paid all the same.
        """
        with self._database.begin() as connection:
            freed = spent + returned
            if seat_id is not None and not _add(connection, seat_id, drawn_usd=-freed, paid_usd=spent):
                freed = 0.0
            connection.execute(
                update(ledgers)
                .where(ledgers.c.round_id == round_id)
                .values(reserved_usd=ledgers.c.reserved_usd - freed, spent_usd=ledgers.c.spent_usd + spent)
            )

    def note(
        self,
        round_id: int,
        *,
        spent: float,
        input_tokens: int,
        output_tokens: int,
        seat_id: int | None = None,
    ) -> None:
        """Add what was used; `spent` USD are those that no `settle` paid in (rounds without a cap)."""
        with self._database.begin() as connection:
            if seat_id is not None:
                _add(connection, seat_id, paid_usd=spent, paid_input=input_tokens, paid_output=output_tokens)
            connection.execute(
                update(ledgers)
                .where(ledgers.c.round_id == round_id)
                .values(
                    spent_usd=ledgers.c.spent_usd + spent,
                    input_tokens=ledgers.c.input_tokens + input_tokens,
                    output_tokens=ledgers.c.output_tokens + output_tokens,
                )
            )

    def release(self, round_id: int) -> None:
        """Free what a dead run had set aside; only for a round that nobody judges.

        A run that was killed may have committed judgments whose cost it had not paid in yet: the account
        is brought up to what judgments and canaries say was paid.
        """
        with self._database.begin() as connection:
            known = connection.execute(select(ledgers).where(ledgers.c.round_id == round_id)).first()
            if known is None:
                return
            recorded = [
                sum(values)
                for values in zip(
                    _paid(connection, judgments, battles.c.round_id == round_id),
                    _paid(connection, canaries, canaries.c.round_id == round_id),
                    strict=True,
                )
            ]
            connection.execute(
                update(ledgers)
                .where(ledgers.c.round_id == round_id)
                .values(
                    reserved_usd=0.0,
                    spent_usd=max(known.spent_usd, recorded[0]),
                    input_tokens=max(known.input_tokens, recorded[1]),
                    output_tokens=max(known.output_tokens, recorded[2]),
                )
            )


def _add(connection: Connection, seat_id: int, **amounts: float) -> bool:
    """Add to the counters of a seat; False where it was given up."""
    changed = connection.execute(
        update(seats)
        .where(seats.c.id == seat_id)
        .values({name: seats.c[name] + amount for name, amount in amounts.items()})
    )
    return changed.rowcount > 0


def _paid(connection: Connection, table: Table, which: ColumnElement[bool]) -> tuple[float, int, int]:
    """USD, input and output tokens that judgments or canaries of a round say were paid."""
    sums = [
        func.coalesce(func.sum(table.c[name]), 0) for name in ("cost_usd", "input_tokens", "output_tokens")
    ]
    query = select(*sums).select_from(table).where(which)
    if table is judgments:
        query = query.join(battles, battles.c.id == judgments.c.battle_id)
    cost, given, returned = connection.execute(query).one()
    return float(cost), int(given), int(returned)
