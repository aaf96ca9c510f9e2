"""What the API answers about submissions, and what is sent to make one."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from arena.services.json_views import line_json, submission_json
from arena.services.submission_views import SubmissionLine, SubmissionView
from arena.services.submissions import AddedSubmission
from arena.web.api.models import NAME
from arena.web.api.problems import ProblemLine
from arena.web.api.team_models import Sent
from data.records import Submission
from submissions.report import problem_json

Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the submission.")]


class CheckReport(BaseModel):
    """What a check found: the JSON of `arena submissions check --json`."""

    set: str
    accepted: bool = Field(description="Whether the file can be submitted.")
    format: str | None = Field(examples=["jsonl"])
    rows: int
    answers: int
    questions: int
    coverage: dict[str, float] = Field(description="Share of each domain's questions, 0–1.")
    no_answers: int
    with_contexts: int
    errors: int
    warnings: int
    content_hash: str
    problems: list[ProblemLine]


class CardFields(Sent):
    """The system card; every field is optional."""

    model: str = Field("", max_length=200, examples=["my-model"])
    retriever: str = Field("", max_length=200, examples=["BM25"])
    passages: str = Field("", max_length=200, examples=["5"])
    organisation: str = Field("", max_length=200)
    licence: str = Field("", max_length=200)
    link: str = Field("", max_length=200, examples=["https://example.org"])
    contact: str = Field("", max_length=200)
    notes: str = Field("", max_length=2_000)


class SubmissionWish(Sent):
    """What is to be submitted."""

    upload: str = Field(
        pattern="^[0-9a-f]{64}$", description="sha256 of a file that was sent by PUT /uploads."
    )
    system: str = Field(
        pattern=NAME, max_length=100, description="Name of the system.", examples=["my-system"]
    )
    team: str = Field("", max_length=100, description="Needed only by whoever has several teams.")
    card: CardFields = CardFields()
    anonymous: bool | None = Field(
        None, description="Hide the names until publication; null: as the version before."
    )
    selected: bool = Field(
        default=False,
        description="Choose this version for the system; else its newest stands where none is chosen.",
    )
    hold: bool = Field(default=False, description="Store it as checked; it waits for `confirm`.")


class Withdrawal(Sent):
    """Why a submission is withdrawn."""

    reason: str = Field("", max_length=500)


class SubmissionFields(BaseModel):
    """A submission, as whoever asks may see it."""

    id: int
    set: str
    system: str
    team: str
    version: int
    state: str = Field(examples=["accepted"])
    phase: str
    anonymous: bool
    selected: bool = Field(description="Whether its team chose it to stand for the system.")
    answers: int
    no_answers: int
    content_hash: str
    card: dict[str, str]
    created_at: datetime
    withdrawn_at: datetime | None
    withdrawn_reason: str

    @classmethod
    def of(cls, one: Submission) -> SubmissionFields:
        """Translate a submission."""
        return cls.model_validate(submission_json(one))


class LifeFields(SubmissionFields):
    """A submission and where it stands."""

    sight: str = Field(description="`full`, `nameless` or `tombstone`: how much of it is shown to you.")
    rounds: list[str] = Field(description="Rounds that have it.")
    position: int | None = Field(description="Its place in the queue, from 1; null where it is not in it.")
    eta: datetime | None = Field(description="When its last waiting round should be judged.")
    charged: bool = Field(description="Whether it counts against the quota.")
    attempt: int | None = Field(description="Which judged version of its system it is.")
    attempts: int = Field(description="How many versions of its system were judged.")

    @classmethod
    def of_line(cls, line: SubmissionLine) -> LifeFields:
        """Translate a line."""
        return cls.model_validate(line_json(line))


class SubmissionFull(LifeFields):
    """A submission with its coverage of the set."""

    coverage: dict[str, float] = Field(description="Share of each domain's questions, 0–1.")
    no_answer_share: dict[str, float] = Field(description='Share of "no answer" by domain, 0–1.')

    @classmethod
    def of_view(cls, view: SubmissionView) -> SubmissionFull:
        """Translate a view."""
        shares = {"coverage": dict(view.coverage), "no_answer_share": dict(view.no_answer_share)}
        return cls.model_validate({**line_json(view), **shares})


class SubmissionList(BaseModel):
    """Submissions by set, system and version."""

    submissions: list[LifeFields]


class Added(SubmissionFields):
    """The submission, and what submitting did."""

    created: bool = Field(description="False where the system's newest version has the same content.")
    problems: list[ProblemLine] = Field(description="Warnings of the check.")

    @classmethod
    def of_added(cls, added: AddedSubmission) -> Added:
        """Translate what `add` did."""
        warnings = [problem_json(one) for one in added.warnings]
        return cls.model_validate(
            {**submission_json(added.submission), "created": added.created, "problems": warnings}
        )
