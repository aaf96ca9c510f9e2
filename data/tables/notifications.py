"""Tables of who is told what: events, subscriptions, and deliveries of the ones to the others."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint

from data.records.notifications import Channel, DeliveryState, EventKind
from data.tables import columns as col
from data.tables.columns import Base


class EventRow(Base, table=True):
    """What happened, written in the transaction in which it happened; of one `key` there is one."""

    __tablename__ = "event"
    __table_args__ = (UniqueConstraint("key"),)
    id: int | None = col.number()
    uid: str = col.label(40, unique=True)
    kind: EventKind = col.word(EventKind, 40)
    key: str | None = col.prose(nullable=True)
    team: str = col.label(100)
    path: str = col.prose()
    data: Any = col.json()
    at: datetime = col.created()


events = EventRow.__table__


class SubscriptionRow(Base, table=True):
    """Who is told of what; `secret` signs what is sent, so it stands here as it is."""

    __tablename__ = "subscription"
    __table_args__ = (Index(None, "team"),)
    id: int | None = col.number()
    name: str = col.label(100)
    team: str = col.label(100)
    channel: Channel = col.word(Channel)
    address: str = col.prose()
    secret: str = col.label(100)
    kinds: Any = col.json()
    created_at: datetime = col.created()


subscriptions = SubscriptionRow.__table__


class DeliveryRow(Base, table=True):
    """Events on their way; `next_at` is by the database's clock, and ahead while somebody sends it."""

    __tablename__ = "delivery"
    __table_args__ = (
        Index(None, "state", "next_at"),
        Index(None, "subscription_id"),
        Index(None, "event_id"),
    )
    id: int | None = col.number()
    event_id: int = col.parent("event.id")
    subscription_id: int = col.parent("subscription.id")
    state: DeliveryState = col.word(DeliveryState)
    attempts: int = col.whole()
    next_at: float = col.real()
    claim: str = col.label(40)
    status: int | None = col.whole(nullable=True)
    error: str = col.prose()
    delivered_at: datetime | None = col.moment(nullable=True)


deliveries = DeliveryRow.__table__
