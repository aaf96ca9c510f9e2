"""Tables of events and subscriptions; messages on their way are jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint

from data.records.notifications import EventKind
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
    """Who gets what. A number is never used again: messages that still wait name their subscription by it."""

    __tablename__ = "subscription"
    __table_args__ = (Index(None, "team"), {"sqlite_autoincrement": True})
    id: int | None = col.number()
    name: str = col.label(100)
    team: str = col.label(100)
    address: str = col.prose()
    kinds: Any = col.json()
    created_at: datetime = col.created()
    delivered: int = col.whole(default=0)
    failed: int = col.whole(default=0)
    error: str = col.prose(default="")
    failed_at: datetime | None = col.moment(nullable=True)


subscriptions = SubscriptionRow.__table__
