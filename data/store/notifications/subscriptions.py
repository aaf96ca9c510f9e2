"""Subscriptions: added, listed, removed, and how their messages fared."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, insert, select, update

from data.errors import NotFoundError
from data.records.notifications import EventKind, NewSubscription, Subscription
from data.store.base import AnyRow, StorePart, to_record, to_row
from data.store.engine import new_id
from data.tables.columns import now
from data.tables.notifications import subscriptions


class SubscriptionStore(StorePart):
    """Who is notified of what."""

    def add(self, new: NewSubscription) -> Subscription:
        """Store a subscription."""
        row = to_row(subscriptions, new, kinds=[kind.value for kind in new.kinds])
        with self._database.begin() as connection:
            number = new_id(connection.execute(insert(subscriptions).values(row)))
        return self.get(number)

    def get(self, number: int) -> Subscription:
        """One subscription.

        Raises:
            NotFoundError: No subscription has this number.
        """
        row = self._first(select(subscriptions).where(subscriptions.c.id == number))
        if row is None:
            raise no_subscription(number)
        return _subscription(row)

    def all(self, teams: Sequence[str] | None = None) -> tuple[Subscription, ...]:
        """Every subscription, or those of some teams; the organisers' have the team ''."""
        query = select(subscriptions).order_by(subscriptions.c.id)
        if teams is not None:
            query = query.where(subscriptions.c.team.in_(list(teams)))
        return tuple(map(_subscription, self._all(query)))

    def remove(self, number: int) -> None:
        """Delete a subscription; messages that wait for it are not sent."""
        self._change(delete(subscriptions).where(subscriptions.c.id == number))

    def count(self, number: int, error: str) -> None:
        """Count an attempt to send a message; it failed where `error` says why."""
        failed = {"failed": subscriptions.c.failed + 1, "error": error, "failed_at": now()}
        values = failed if error else {"delivered": subscriptions.c.delivered + 1}
        self._change(update(subscriptions).where(subscriptions.c.id == number).values(values))


def no_subscription(number: int) -> NotFoundError:
    """The error of whoever asks for a subscription that is not there, or not theirs."""
    return NotFoundError(
        f"There is no subscription {number}.", advice="`arena notifications list` names them."
    )


def _subscription(row: AnyRow) -> Subscription:
    return to_record(Subscription, row, kinds=tuple(map(EventKind, row.kinds)))
