"""Sets, submissions, teams, tokens and the log as JSON: one model each, for commands and routes alike."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from data.records import Role, SystemCard, TokenScope
from data.records.applications import ApplicationState, Channel

if TYPE_CHECKING:
    from arena.services.submissions.views import SubmissionLine


class Line(BaseModel):
    """What is shown of a record, read from its attributes of the same names."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, record: object) -> Self:
        """Translate a record, or a JSON object of the same fields."""
        return cls.model_validate(record)

    def to_json(self) -> dict[str, Any]:
        """The object that commands print; moments are in ISO 8601 with their offset."""
        printed: dict[str, Any] = json.loads(json.dumps(self.model_dump(), default=datetime.isoformat))
        return printed


class SetLine(Line):
    """A question set without its questions."""

    name: str = Field(examples=["demo"])
    title: str
    version: str
    licence: str
    source: str
    reference_name: str = Field(description="What the reference is called on boards.")
    reference_by: str = Field(description="Who wrote the references: `people`, or in free text; else empty.")
    note: str = Field(description="What readers of its boards and questions must know.")
    language: str = Field(description="Of its questions and references, by ISO 639-1.", examples=["en"])
    questions: int = Field(examples=[56])
    domains: dict[str, str] = Field(description="Labels by domain.", examples=[{"bio": "Biology"}])
    counts: dict[str, int] = Field(description="Questions by domain.")
    content_hash: str = Field(description="sha256 of its content.")


def _card_fields(card: object) -> object:
    return asdict(card) if isinstance(card, SystemCard) else card


class SubmissionFields(Line):
    """A submission, as the caller may see it."""

    id: int
    set: str = Field(validation_alias=AliasChoices("set_name", "set"))
    system: str
    team: str
    version: int
    kind: str = Field(
        "answers",
        description="`answers`, or `contexts`: retrieved passages alone, whose questions `answers` counts.",
    )
    state: str = Field(examples=["accepted"])
    phase: str
    anonymous: bool
    selected: bool = Field(description="Whether its team chose it to represent the system.")
    answers: int
    no_answers: int
    content_hash: str
    card: Annotated[dict[str, str], BeforeValidator(_card_fields)]
    created_at: datetime
    withdrawn_at: datetime | None
    withdrawn_reason: str


class Retraction(BaseModel):
    """A board that was taken down, and why."""

    board: str
    notice: str


class SubmissionStatusFields(SubmissionFields):
    """A submission and its status."""

    sight: str = Field(description="`full`, `nameless` or `tombstone`: how much of it is shown to you.")
    rounds: list[str] = Field(description="Rounds that have it.")
    position: int | None = Field(description="Its place in the queue, from 1; null where it is not in it.")
    eta: datetime | None = Field(description="When its last waiting round should be judged.")
    charged: bool = Field(description="Whether it counts against the quota.")
    attempt: int | None = Field(description="Which judged version of its system it is.")
    attempts: int = Field(description="How many versions of its system were judged.")
    retracted: list[Retraction] = Field(description="Boards with it that were taken down.")

    @classmethod
    def of_line(cls, line: SubmissionLine) -> Self:
        """Translate a submission with its status."""
        fields = asdict(line)
        retracted = [{"board": board, "notice": notice} for board, notice in line.status.retracted.items()]
        return cls.of(
            {
                **fields,
                **fields["submission"],
                **fields["status"],
                "sight": line.visibility,
                "retracted": retracted,
            }
        )


class SubmissionFull(SubmissionStatusFields):
    """A submission with its coverage of the set."""

    coverage: dict[str, float] = Field(description="Share of each domain's questions, 0–1.")
    no_answer_share: dict[str, float] = Field(description='Share of "no answer" by domain, 0–1.')


class TeamLine(Line):
    """A team."""

    name: str
    title: str
    contact: str
    created_at: datetime


class MemberLine(Line):
    """A member of a team."""

    account: str
    role: Role
    since: datetime = Field(validation_alias="created_at")


class AccountLine(Line):
    """An account, for organisers."""

    name: str
    subject: str | None
    email: str | None
    organiser: bool = Field(validation_alias="is_organiser")
    created_at: datetime


class TokenLine(Line):
    """A token without its secret."""

    id: int
    prefix: str = Field(description="The part between the first two underscores.")
    name: str
    team: str | None
    account: str | None
    scopes: Annotated[list[TokenScope], BeforeValidator(sorted)]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    used_at: datetime | None


class ApplicationLine(Line):
    """An application for a team, for organisers."""

    id: int
    team: str
    title: str
    contact: str
    reason: str
    channel: Channel
    address: str = Field(description="Mail address, or subject at the OIDC provider; empty once forgotten.")
    state: ApplicationState
    account: str
    created_at: datetime
    decided_at: datetime | None
    decided_by: str
    decision: str


class LogLine(Line):
    """One thing that was done."""

    id: int
    at: datetime
    actor: str
    action: str
    subject: str
    team: str
    detail: dict[str, Any]


class SubscriptionLine(Line):
    """A subscription without its secret."""

    id: int
    name: str
    team: str = Field(description="Whose events it gets; empty for those of the whole arena.")
    channel: str = Field(description="`webhook`, `slack` or `mail`.")
    place: str = Field(description="Its address without what may be secret in it.")
    events: Annotated[list[str], BeforeValidator(list)] = Field(
        validation_alias=AliasChoices("kinds", "events"), description="Its events; empty for all."
    )
    created_at: datetime


class DeliveryLine(Line):
    """One event on its way to one subscriber."""

    id: int
    event: str = Field(validation_alias=AliasChoices("kind", "event"), examples=["submission.judged"])
    webhook_id: str = Field(
        validation_alias=AliasChoices("message_id", "webhook_id"), description="The header `webhook-id`."
    )
    at: datetime = Field(description="When it happened.")
    subscription_id: int
    subscription: str
    state: str = Field(description="`pending`, `delivered` or `dead`.")
    attempts: int
    status: int | None = Field(description="The HTTP status of the last answer.")
    error: str = Field(description="Why the last attempt failed.")
    delivered_at: datetime | None
    next_in_seconds: float | None = Field(
        validation_alias=AliasChoices("wait", "next_in_seconds"), description="Until the next attempt."
    )


class BlockLine(Line):
    """One thing that a submission waits for."""

    why: str
    text: str
    round: str = Field(description="The round that it is about; empty for none.")


class WaitingLine(Line):
    """A submission that waits."""

    submission: int = Field(validation_alias=AliasPath("submission", "id"))
    system: str = Field(validation_alias=AliasPath("submission", "system"))
    version: int = Field(validation_alias=AliasPath("submission", "version"))
    team: str = Field(validation_alias=AliasPath("submission", "team"))
    plannable: bool = Field(description="Whether a new round would judge it.")
    blocks: list[BlockLine]


class InboxLine(Line):
    """The submissions to a set that wait."""

    set: str = Field(validation_alias=AliasChoices("set_name", "set"))
    plannable: list[str] = Field(description="Systems that a new round would judge.")
    waiting: list[WaitingLine]
