"""Tables of what visitors say of blind pairs of published answers."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index

from data.records.public_votes import Rejection
from data.records.vocabulary import Preference
from data.tables import columns as col
from data.tables.columns import Base


class PollRow(Base, table=True):
    """Public blind votes on a set; `closed_at` is null while they are open, `salt` hides who voted."""

    __tablename__ = "poll"
    id: int | None = col.number()
    set_id: int = col.parent("question_set.id", unique=True)
    salt: str = col.label(64)
    opened_at: datetime = col.moment()
    closed_at: datetime | None = col.moment(nullable=True)


polls = PollRow.__table__


class PollPairRow(Base, table=True):
    """A pair that a visitor was shown, with the vote where there is one.

    In a gold pair side b shows the answer to another question, `decoy_id`. `visitor`, `address` and
    `network` are salted hashes; `preference` is of the sides, not of the places on the page.
    """

    __tablename__ = "poll_pair"
    __table_args__ = (
        Index(None, "poll_id", "visitor"),
        Index(None, "poll_id", "address", "served_at"),
    )
    id: int | None = col.number()
    poll_id: int = col.parent("poll.id")
    token: str = col.label(64, unique=True)
    question_id: int = col.parent("question.id")
    a_id: int = col.parent("submission.id")
    b_id: int = col.parent("submission.id")
    decoy_id: int | None = col.parent("question.id", nullable=True)
    b_first: bool = col.flag()
    visitor: str = col.label(64)
    address: str = col.label(64)
    network: str = col.label(64)
    served_at: datetime = col.moment()
    preference: Preference | None = col.word(Preference, 4, nullable=True)
    rejection: Rejection | None = col.word(Rejection, nullable=True)
    voted_at: datetime | None = col.moment(nullable=True)


poll_pairs = PollPairRow.__table__
