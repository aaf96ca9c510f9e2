"""The account of a round: what may be spent, what is set aside, what is paid."""

from __future__ import annotations

from sqlalchemy import select, update

from data.errors import NotFoundError
from data.records import Account
from data.store.database import Database
from data.tables import ledgers

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

    def draw(self, round_id: int, least: float, wished: float) -> float:
        """Set aside between `least` and `wished` USD; 0 where less than `least` is left.

        The update only holds if nobody drew or paid in between; else it is tried on the new state.
        """
        while True:
            found = self.account(round_id)
            left = float("inf") if found.cap is None else found.cap - found.spent - found.drawn + ROUNDING
            if least > left:
                return 0.0
            amount = max(least, min(wished, left))
            with self._database.begin() as connection:
                changed = connection.execute(
                    update(ledgers)
                    .where(
                        ledgers.c.round_id == round_id,
                        ledgers.c.reserved_usd == found.drawn,
                        ledgers.c.spent_usd == found.spent,
                    )
                    .values(reserved_usd=found.drawn + amount)
                ).rowcount
            if changed:
                return amount

    def settle(self, round_id: int, *, spent: float, returned: float) -> None:
        """Of what was drawn, `spent` USD were paid and `returned` USD are free again."""
        with self._database.begin() as connection:
            connection.execute(
                update(ledgers)
                .where(ledgers.c.round_id == round_id)
                .values(
                    reserved_usd=ledgers.c.reserved_usd - spent - returned,
                    spent_usd=ledgers.c.spent_usd + spent,
                )
            )

    def release(self, round_id: int) -> None:
        """Free what a dead run had set aside; only for a round that nobody judges."""
        with self._database.begin() as connection:
            connection.execute(update(ledgers).where(ledgers.c.round_id == round_id).values(reserved_usd=0.0))
