"""Subscriptions, and the deliveries of events to them: claimed, ended, listed, sent again."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, insert, select, update

from data.errors import NotFoundError
from data.records.notifications import (
    Attempt,
    ClaimedDelivery,
    Delivery,
    DeliveryState,
    Event,
    EventKind,
    NewSubscription,
    Subscription,
)
from data.store.base import AnyRow, StorePart, to_record
from data.store.engine import db_now, new_id
from data.store.notifications.outbox import insert_delivery
from data.tables.columns import now
from data.tables.notifications import deliveries, events, subscriptions


class SubscriptionStore(StorePart):
    """Who is told of what."""

    def add(self, new: NewSubscription) -> Subscription:
        """Store a subscription."""
        with self._database.begin() as connection:
            number = new_id(
                connection.execute(
                    insert(subscriptions).values(
                        name=new.name,
                        team=new.team,
                        channel=new.channel,
                        address=new.address,
                        secret=new.secret,
                        kinds=[kind.value for kind in new.kinds],
                    )
                )
            )
        return self.get(number)

    def get(self, number: int) -> Subscription:
        """One subscription.

        Raises:
            NotFoundError: No subscription has this number.
        """
        row = self._first(select(subscriptions).where(subscriptions.c.id == number))
        if row is None:
            raise NotFoundError(
                f"There is no subscription {number}.", advice="`arena notifications list` names them."
            )
        return _subscription(row)

    def all(self, teams: Sequence[str] | None = None) -> tuple[Subscription, ...]:
        """Every subscription, or those of some teams; the organisers' have the team ''."""
        query = select(subscriptions).order_by(subscriptions.c.id)
        if teams is not None:
            query = query.where(subscriptions.c.team.in_(list(teams)))
        return tuple(_subscription(row) for row in self._all(query))

    def remove(self, number: int) -> None:
        """Delete a subscription with the log of its deliveries."""
        with self._database.begin() as connection:
            connection.execute(delete(deliveries).where(deliveries.c.subscription_id == number))
            connection.execute(delete(subscriptions).where(subscriptions.c.id == number))


class DeliveryStore(StorePart):
    """What is on its way. Who sends a delivery claims it for some seconds, so that no other sends it too."""

    def claim(self, seconds: float, *, number: int | None = None) -> ClaimedDelivery | None:
        """Take the delivery that is due for longest, or the one of a number; None where none is.

        Args:
            seconds: For how long nobody else may take it, unless it is ended before.
            number: Takes only this one, if it is due.
        """
        with self._database.begin() as connection:
            if connection.execute(_due(connection, number)).first() is None:
                return None
        with self._database.together() as connection:
            query = _due(connection, number).with_for_update(skip_locked=True, of=deliveries)
            row = connection.execute(query).first()
            if row is None:
                return None
            claim = uuid.uuid4().hex
            connection.execute(
                update(deliveries)
                .where(deliveries.c.id == row.id)
                .values(attempts=deliveries.c.attempts + 1, next_at=db_now(connection) + seconds, claim=claim)
            )
            event = connection.execute(select(events).where(events.c.id == row.event_id)).one()
            subscription = connection.execute(
                select(subscriptions).where(subscriptions.c.id == row.subscription_id)
            ).one()
        return ClaimedDelivery(
            id=row.id,
            claim=claim,
            attempts=row.attempts + 1,
            event=to_record(Event, event),
            subscription=_subscription(subscription),
        )

    def end(self, claimed: ClaimedDelivery, attempt: Attempt, *, wait: float | None) -> bool:
        """Write down how an attempt ended; False where the claim was lost meanwhile.

        Args:
            claimed: What was sent.
            attempt: How that ended.
            wait: Seconds until the next attempt; None where there is none, so that it is dead.
        """
        values: dict[str, Any] = {"status": attempt.status, "error": attempt.error, "claim": ""}
        if attempt.delivered:
            values |= {"state": DeliveryState.DELIVERED, "delivered_at": now()}
        elif wait is None:
            values["state"] = DeliveryState.DEAD
        with self._database.begin() as connection:
            if wait is not None and not attempt.delivered:
                values["next_at"] = db_now(connection) + wait
            mine = (deliveries.c.id == claimed.id, deliveries.c.claim == claimed.claim)
            return connection.execute(update(deliveries).where(*mine).values(values)).rowcount > 0

    def find(
        self,
        teams: Sequence[str] | None = None,
        *,
        subscription: int | None = None,
        state: DeliveryState | None = None,
        number: int | None = None,
        limit: int,
    ) -> tuple[Delivery, ...]:
        """Deliveries, the newest first; those of some teams' subscriptions, of one, or in one state."""
        with self._database.begin() as connection:
            query = (
                select(
                    deliveries,
                    (deliveries.c.next_at - db_now(connection)).label("left"),
                    events.c.kind,
                    events.c.uid,
                    events.c.at,
                    subscriptions.c.name.label("subscription"),
                    subscriptions.c.team,
                )
                .join(events, events.c.id == deliveries.c.event_id)
                .join(subscriptions, subscriptions.c.id == deliveries.c.subscription_id)
                .order_by(deliveries.c.id.desc())
                .limit(limit)
            )
            if teams is not None:
                query = query.where(subscriptions.c.team.in_(list(teams)))
            for column, wanted in (
                (deliveries.c.subscription_id, subscription),
                (deliveries.c.state, state),
                (deliveries.c.id, number),
            ):
                if wanted is not None:
                    query = query.where(column == wanted)
            return tuple(_delivery(row) for row in connection.execute(query))

    def again(self, numbers: Sequence[int]) -> int:
        """Let dead deliveries be due at once, with all their attempts; return how many were dead."""
        with self._database.begin() as connection:
            changed = connection.execute(
                update(deliveries)
                .where(deliveries.c.id.in_(list(numbers)), deliveries.c.state == DeliveryState.DEAD)
                .values(state=DeliveryState.PENDING, attempts=0, next_at=db_now(connection), claim="")
            )
            return int(changed.rowcount)

    def forget(self, before: datetime) -> int:
        """Delete ended deliveries of events before a moment, and the events that nothing names any more.

        Events with a key stay, since they are what keeps them from happening twice.

        Returns:
            How many deliveries were deleted.
        """
        old = select(events.c.id).where(events.c.at < before)
        ended = deliveries.c.state != DeliveryState.PENDING
        unnamed = ~exists().where(deliveries.c.event_id == events.c.id)
        with self._database.begin() as connection:
            deleted = connection.execute(delete(deliveries).where(deliveries.c.event_id.in_(old), ended))
            connection.execute(delete(events).where(events.c.at < before, events.c.key.is_(None), unnamed))
            return int(deleted.rowcount)

    def put_test(self, subscription_id: int) -> int:
        """Record a test event for one subscription, and return the number of its delivery."""
        with self._database.begin() as connection:
            event = new_id(
                connection.execute(
                    insert(events).values(
                        uid=uuid.uuid4().hex,
                        kind=EventKind.TEST,
                        team="",
                        path="",
                        data={"subscription": subscription_id},
                    )
                )
            )
            return insert_delivery(connection, event, subscription_id)


def _due(connection: Connection, number: int | None) -> Select[*tuple[Any, ...]]:
    query = select(deliveries).where(
        deliveries.c.state == DeliveryState.PENDING, deliveries.c.next_at <= db_now(connection)
    )
    if number is not None:
        query = query.where(deliveries.c.id == number)
    return query.order_by(deliveries.c.next_at, deliveries.c.id).limit(1)


def _subscription(row: AnyRow) -> Subscription:
    return to_record(Subscription, row, kinds=tuple(map(EventKind, row.kinds)))


def _delivery(row: AnyRow) -> Delivery:
    waits = row.state is DeliveryState.PENDING
    return to_record(Delivery, row, wait=max(0.0, float(row.left)) if waits else None)
