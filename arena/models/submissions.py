"""Checks of files, submissions and what becomes of them, and who the token stands for."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field

from arena.models.base import Problem, Value, one_of

Kind = Annotated[str, one_of("answers", "contexts")]


def _card_fields(card: object) -> object:
    return asdict(card) if is_dataclass(card) and not isinstance(card, type) else card


class Identity(Value):
    """Account or team of a token."""

    name: str
    account: str | None
    teams: dict[str, Annotated[str, one_of("owner", "member")]]
    """Roles by team."""
    scopes: Annotated[
        list[Annotated[str, one_of("read", "submit", "manage", "organise")]], BeforeValidator(sorted)
    ]
    organiser: bool


class CheckReport(Value):
    """Result of a check: the JSON of `arena submissions check --json`."""

    set: str = Field(validation_alias=AliasChoices("set", "set_name"))
    kind: Kind
    """Kind that the file was read as."""
    accepted: bool
    """True if the file can be submitted."""
    format: str | None
    layout: str | None = None
    """Tool whose fields its rows have, such as `arena` or `ragas`."""
    rows: int
    answers: int
    questions: int
    coverage: dict[str, float]
    """Share of each domain's questions, 0-1."""
    no_answers: int
    with_contexts: int
    errors: int
    warnings: int
    content_hash: str
    problems: list[Problem]
    """Every error and warning."""


class Submission(Value):
    """A submission, as you may see it."""

    id: int
    set: str = Field(validation_alias=AliasChoices("set", "set_name"))
    system: str
    team: str
    version: int
    kind: str = "answers"
    """`answers`, or `contexts`: retrieved passages alone, whose questions `answers` counts."""
    state: str
    """`checked`, `accepted`, `queued`, `judged`, `published` or `withdrawn`."""
    phase: str
    anonymous: bool
    selected: bool
    """True if its team chose it to represent the system."""
    answers: int
    no_answers: int
    content_hash: str
    card: Annotated[dict[str, str], BeforeValidator(_card_fields)]
    created_at: datetime
    withdrawn_at: datetime | None
    withdrawn_reason: str


class AddedSubmission(Submission):
    """The submission, and what submitting did."""

    created: bool
    """False where the system's newest version has the same content."""
    problems: list[Problem]
    """Warnings of the check."""


class Retraction(Value):
    """A board that was taken down, and why."""

    board: str
    notice: str


class SubmissionStatus(Submission):
    """A submission and its status."""

    visibility: str
    """`full`, `nameless` or `tombstone`: how much of it is shown to you."""
    rounds: list[str]
    """Rounds that have it."""
    position: int | None
    """Its place in the queue, from 1; null where it is not in it."""
    eta: datetime | None
    """When its last waiting round should be judged."""
    charged: bool
    """True if it counts against the quota."""
    attempt: int | None
    """Number of this version among the judged ones of its system."""
    attempts: int
    """Number of judged versions of its system."""
    retracted: list[Retraction]
    """Boards with it that were taken down."""


class SubmissionDetails(SubmissionStatus):
    """A submission with its coverage of the set."""

    coverage: dict[str, float]
    """Share of each domain's questions, 0-1."""
    no_answer_share: dict[str, float]
    """Share of "no answer" by domain, 0-1."""
