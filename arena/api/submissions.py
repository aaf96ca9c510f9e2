"""Checking and submitting files of answers, and what becomes of submissions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from arena.api.caching import FRESH, JSON, answer, problems
from arena.api.dependencies import CheckSlot, Services, Uploader, Who, client_there
from arena.api.errors import ProblemLine
from arena.api.schemas import NAME, Name
from arena.api.teams import Sent
from arena.api.uploads import FILE_BODY, owner_of, receive_file
from arena.schemas import SubmissionFields, SubmissionFull, SubmissionStatusFields
from arena.services.accounts.auth import Caller, require
from arena.services.submissions.service import AddedSubmission
from arena.services.system.text_work import Poll
from data.errors import InvalidFileError, StoppedError
from data.records import SubmissionKind, SystemCard, TokenScope
from submissions.check_report import report_json

Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the submission.")]


LONGEST_FILE_NAME = 255
FILE_NAME = "What the file is called at your side; messages about it use this name."


class CheckReport(BaseModel):
    """What a check found: the JSON of `arena submissions check --json`."""

    set: str
    kind: SubmissionKind = Field(description="What the file was read as.")
    accepted: bool = Field(description="Whether the file can be submitted.")
    format: str | None = Field(examples=["jsonl"])
    layout: str | None = Field(
        None, examples=["arena", "ragas", "inspect"], description="Whose fields its rows have."
    )
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
    open_weights: str = Field("", max_length=200, description="`yes` or `no`.", examples=["yes"])
    parameters: str = Field("", max_length=200, description="How many in all.", examples=["70B"])
    released: str = Field("", max_length=200, description="A day, month or year.", examples=["2026-05-01"])


class SubmissionCreate(Sent):
    """What is to be submitted."""

    upload: str = Field(
        pattern="^[0-9a-f]{64}$", description="sha256 of a file that was sent by PUT /uploads."
    )
    file_name: str = Field("", max_length=LONGEST_FILE_NAME, description=FILE_NAME)
    system: str = Field(
        pattern=NAME, max_length=100, description="Name of the system.", examples=["my-system"]
    )
    kind: SubmissionKind = Field(
        SubmissionKind.ANSWERS,
        description="`answers`, or `contexts`: what was retrieved, for a board of retrieval.",
    )
    team: str = Field("", max_length=100, description="Needed only by members of several teams.")
    card: CardFields = CardFields()
    anonymous: bool | None = Field(
        None, description="Hide the names until publication; null: as the version before."
    )
    selected: bool = Field(
        default=False,
        description="Choose this version for the system; where none is chosen, the newest represents it.",
    )
    hold: bool = Field(default=False, description="Store it as checked; it waits for `confirm`.")


class Withdrawal(Sent):
    """Why a submission is withdrawn."""

    reason: str = Field("", max_length=500)


class SubmissionList(BaseModel):
    """Submissions by set, system and version."""

    submissions: list[SubmissionStatusFields]


class Added(SubmissionFields):
    """The submission, and what submitting did."""

    created: bool = Field(description="False where the system's newest version has the same content.")
    problems: list[ProblemLine] = Field(description="Warnings of the check.")

    @classmethod
    def of_added(cls, added: AddedSubmission) -> Added:
        """Translate what `add` did."""
        fields = SubmissionFields.of(added.submission).model_dump()
        return cls.of({**fields, "created": added.created, "problems": added.warnings})


router = APIRouter(tags=["submissions"])
FileName = Annotated[str, Query(max_length=LONGEST_FILE_NAME, description=FILE_NAME)]


@router.post(
    "/sets/{name}/check",
    responses=problems(403, 404, 408, 413),
    response_model=CheckReport,
    openapi_extra=FILE_BODY,
)
async def check(
    request: Request,
    name: Name,
    arena: Services,
    caller: Uploader,
    turn: CheckSlot,
    file_name: FileName = "",
    kind: Annotated[
        SubmissionKind, Query(description="What the file holds: `answers`, or `contexts`.")
    ] = SubmissionKind.ANSWERS,
) -> Response:
    """Check a file of answers: every problem at once. The body is the file; nothing is stored."""
    require(caller, TokenScope.SUBMIT)
    await run_in_threadpool(arena.sets.summary, name)
    with arena.uploads.scratch(file_name) as (path, writer):
        try:
            await receive_file(request, writer)
        except ClientDisconnect:
            return Response(status_code=400)
        await run_in_threadpool(writer.close)
        async with client_there(request) as poll:
            try:
                result = await turn.run(
                    arena.submissions.check, path, name, kind=kind, caller=caller, poll=poll
                )
            except StoppedError:
                return Response(status_code=400)
    return Response(json.dumps(report_json(result), ensure_ascii=False), headers=FRESH, media_type=JSON)


@router.post(
    "/sets/{name}/submissions",
    responses={
        **problems(403, 404, 409),
        200: {"model": Added, "description": "The newest version has the same content."},
        201: {"model": Added, "description": "It is accepted."},
    },
    response_class=Response,
)
async def submit(
    request: Request, name: Name, body: SubmissionCreate, arena: Services, caller: Uploader, turn: CheckSlot
) -> Response:
    """Submit a file that was sent by `PUT /uploads/{sha256}`; the same content again changes nothing.

    It is stored whole or not at all. A file with errors is answered by 422 with every problem. The upload is
    removed, except where something other than the file was refused (a deadline, a quota).
    """
    async with client_there(request) as poll:
        try:
            added = await turn.run(_submit, arena, name, body, caller, poll)
        except StoppedError:
            # The upload is there still; nobody is there to be answered.
            return Response(status_code=400)
    status = 201 if added.created else 200
    headers = {**FRESH, "Location": f"/api/v1/submissions/{added.submission.id}"}
    return Response(Added.of_added(added).model_dump_json(), status, headers, media_type=JSON)


def _submit(
    arena: Services, name: str, body: SubmissionCreate, caller: Caller, poll: Poll
) -> AddedSubmission:
    owner = owner_of(caller)
    require(caller, TokenScope.SUBMIT)
    card = _card(arena, body.card)
    sent = arena.uploads.get(owner, body.upload)
    try:
        with arena.uploads.named(sent, body.file_name) as path:
            added = arena.submissions.add(
                path,
                name,
                system=body.system,
                kind=body.kind,
                team=body.team,
                card=card,
                anonymous=body.anonymous,
                confirm=not body.hold,
                caller=caller,
                poll=poll,
            )
        if body.selected:
            chosen = arena.submissions.select(added.submission.id, caller=caller)
            added = replace(added, submission=chosen)
    except InvalidFileError:
        arena.uploads.remove(owner, body.upload)
        raise
    arena.uploads.remove(owner, body.upload)
    return added


def _card(arena: Services, sent: CardFields) -> SystemCard:
    # JSON is YAML, so that one check does for files and for bodies.
    card, card_problems = arena.submissions.checks.card(json.dumps(sent.model_dump(), ensure_ascii=False))
    if card is None:
        raise InvalidFileError("The system card has problems.", card_problems, advice="Correct the card.")
    return card


@router.get("/submissions", responses=problems(403, 404), response_model=SubmissionList)
def list_submissions(
    request: Request,
    arena: Services,
    caller: Who,
    set_name: Annotated[
        str | None, Query(alias="set", pattern=NAME, max_length=100, description="Of this set only.")
    ] = None,
    team: Annotated[str | None, Query(max_length=100, description="Of this team only.")] = None,
) -> Response:
    """Submissions, as you may see them."""
    lines = arena.submissions.find(set_name=set_name, team=team, caller=caller)
    return answer(
        request, SubmissionList(submissions=[SubmissionStatusFields.of_line(line) for line in lines])
    )


@router.get("/submissions/{number}", responses=problems(403, 404), response_model=SubmissionFull)
def show_submission(request: Request, number: Number, arena: Services, caller: Who) -> Response:
    """A submission: its state, position in the queue, coverage and card."""
    return answer(request, SubmissionFull.of_line(arena.submissions.view(number, caller=caller)))


@router.post("/submissions/{number}/withdraw", responses=problems(403, 404, 409))
def withdraw(
    number: Number, response: Response, arena: Services, caller: Who, why: Withdrawal | None = None
) -> SubmissionFields:
    """Withdraw a submission; a tombstone stays."""
    response.headers.update(FRESH)
    reason = why.reason if why else ""
    return SubmissionFields.of(arena.submissions.withdraw(number, reason=reason, caller=caller))


@router.post("/submissions/{number}/confirm", responses=problems(403, 404, 409))
def confirm(number: Number, response: Response, arena: Services, caller: Who) -> SubmissionFields:
    """Submit what was only checked (sent with `hold`)."""
    response.headers.update(FRESH)
    return SubmissionFields.of(arena.submissions.confirm(number, caller=caller))


@router.post("/submissions/{number}/select", responses=problems(403, 404, 409))
def select(number: Number, response: Response, arena: Services, caller: Who) -> SubmissionFields:
    """Choose the version that represents its system in future rounds."""
    response.headers.update(FRESH)
    return SubmissionFields.of(arena.submissions.select(number, caller=caller))
