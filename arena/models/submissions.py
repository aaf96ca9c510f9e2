"""Checks of files, submissions and their states, and the owner of the token."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, Field

from arena.models.base import Value, one_of
from data.models import Problem, Submission


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


DESCRIBED = Submission.model_config | {"use_attribute_docstrings": True}


class AddedSubmission(Submission):
    """Result of submitting a file."""

    model_config = DESCRIBED

    created: bool
    """False if the system's newest version has the same content."""
    problems: tuple[Problem, ...]
    """Warnings of the check."""


class Retraction(Value):
    """Retracted board with its notice."""

    board: str
    notice: str


class SubmissionStatus(Submission):
    """Submission with its status."""

    model_config = DESCRIBED

    visibility: str
    """`full`, `nameless` or `tombstone`: the part that is visible to you."""
    rounds: tuple[str, ...]
    """Rounds with the submission."""
    position: int | None
    """Position in the queue, from 1; null if it is not queued."""
    eta: datetime | None
    """Expected end of its last waiting round."""
    charged: bool
    """True if it counts against the quota."""
    attempt: int | None
    """Number of this version among the judged ones of its system."""
    attempts: int
    """Number of judged versions of its system."""
    published: bool = Field(exclude=True)
    """True if it is, or was, on a published board."""
    retracted: list[Retraction]
    """Retracted boards with the submission."""


class SubmissionDetails(SubmissionStatus):
    """Submission with its coverage of the set."""

    model_config = DESCRIBED

    coverage: Mapping[str, float]
    """Share of each domain's questions, 0-1."""
    no_answer_share: Mapping[str, float]
    """Share of "no answer" by domain, 0-1."""


class Block(Value):
    """Blocker of a submission."""

    why: str
    """`no round`, `not submitted`, `domains`, `not started`, `judging`, `paused` or `not published`."""
    text: str
    round: str = ""
    """Round in question; may be empty."""


class WaitingSubmission(Value):
    """Submission that is not on a board yet."""

    submission: int
    system: str
    version: int
    team: str
    since: datetime = Field(exclude=True)
    plannable: bool
    """True if a new round would judge it."""
    blocks: list[Block]
    warnings: list[str]
    """Warnings of its check."""


class SetInbox(Value):
    """Waiting submissions to a set, oldest first."""

    set: str
    title: str = Field(exclude=True)
    plannable: list[str]
    """Systems without a round, oldest first."""
    waiting: list[WaitingSubmission]
