"""Applications of people who would like to take part with a team of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Channel(StrEnum):
    """How applicants show who they are, and how they are reached."""

    MAIL = "mail"
    OIDC = "oidc"


class ApplicationState(StrEnum):
    """How far an application is."""

    UNCONFIRMED = "unconfirmed"
    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApplication:
    """An application as it comes in.

    Attributes:
        team: The name that the team shall have.
        title: What readers shall see.
        contact: How organisers reach the team; for organisers and the team.
        reason: Why they would like to take part.
        channel: How the applicant is known.
        address: Their mail address, or their subject at the OIDC provider; for organisers alone.
        client: What stands for the address of their machine; never the address itself.
        code: Digest of the one-time code in the link that was mailed; None without one.
        expires_at: Until when it can be confirmed; None where it is confirmed already.
        state: How far it is.
    """

    team: str
    title: str
    contact: str
    reason: str
    channel: Channel
    address: str = field(repr=False)
    client: str
    code: str | None = field(default=None, repr=False)
    expires_at: datetime | None = None
    state: ApplicationState


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """A stored application; what is said of the fields of `NewApplication` holds here too.

    Attributes:
        account: The owner's account; empty until it is approved.
        expires_at: Until when the link that was mailed last can be used; None where there is none.
        decision: Why it was rejected; else empty.
    """

    id: int
    team: str
    title: str
    contact: str
    reason: str
    channel: Channel
    address: str = field(repr=False)
    state: ApplicationState
    account: str
    expires_at: datetime | None
    created_at: datetime
    decided_at: datetime | None
    decided_by: str
    decision: str
