"""`/submissions` and uploads to sets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from arena.api.caching import FRESH, JSON, answer, problems
from arena.api.dependencies import CheckQueue, Services, Uploader, Who, client_there
from arena.api.sets_and_rounds import NAME, Name
from arena.api.teams import Sent
from arena.models.submissions import AddedSubmission, SubmissionDetails, SubmissionStatus
from arena.services.accounts.auth import require
from arena.services.submissions.uploads import party_of
from arena.services.text_process import Poll
from data.errors import InvalidFileError, StoppedError
from data.models import Submission, SubmissionKind, SystemCard, TokenScope
from submissions.check import CheckReport

Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the submission.")]
SYSTEM_NAME = r"^[^\s@][^@]*$"
"""Pattern of system names, checked before the file is read."""
BLOCK = 1024 * 1024
FILE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class CheckQuery(Sent):
    """Query of an upload: set, system, kind and options."""

    file_name: str = Field("", max_length=255, description="File name for messages.")
    kind: SubmissionKind = Field(
        SubmissionKind.ANSWERS, description="`answers`, or `contexts` for retrieved passages."
    )
    system: str = Field("", max_length=100, description="System to read from a table of several systems.")
    keep_na: bool = Field(
        default=False, description="Read NA, None, NULL and the like as text, not as missing values."
    )


class SubmissionQuery(CheckQuery):
    """Query parameters for the uploaded file."""

    system: str = Field(
        pattern=SYSTEM_NAME, max_length=100, description="Name of the system.", examples=["my-system"]
    )
    team: str = Field("", max_length=100, description="Required only for members of several teams.")
    card: str = Field(
        "",
        max_length=8_000,
        description="The system card as JSON or YAML; every field is optional.",
        examples=['{"model": "my-model", "retriever": "BM25"}'],
    )
    anonymous: bool | None = Field(
        None, description="Hide the names until publication; default: as for the previous version."
    )
    hold: bool = Field(default=False, description="Store it as checked until it is confirmed with `confirm`.")


class Withdrawal(Sent):
    """Reason for withdrawing a submission."""

    reason: str = Field("", max_length=500)
    disqualify: bool = Field(default=False, description="Mark it as disqualified on boards.")


class SubmissionList(BaseModel):
    """Submissions by set, system and version."""

    submissions: list[SubmissionStatus]


router = APIRouter(tags=["submissions"])


@router.post(
    "/sets/{name}/check",
    responses=problems(403, 404, 408, 413),
    response_model=CheckReport,
    openapi_extra=FILE_BODY,
)
async def check(
    request: Request,
    name: Name,
    wish: Annotated[CheckQuery, Query()],
    arena: Services,
    caller: Uploader,
    queue: CheckQueue,
) -> Response:
    """Check the answer file in the request body and report every problem; nothing is stored."""
    require(caller, TokenScope.SUBMIT)
    await run_in_threadpool(arena.sets.summary, name)
    try:
        async with _received(request, arena, wish.file_name) as (path, poll):
            checked = partial(arena.submissions.check, path, name, kind=wish.kind, system=wish.system)
            work = partial(checked, keep_na=wish.keep_na, caller=caller, poll=poll)
            result = await run_in_threadpool(queue.run, party_of(caller), work)
    except (ClientDisconnect, StoppedError):
        # The client has disconnected.
        return Response(status_code=400)
    return Response(result.model_dump_json(), headers=FRESH, media_type=JSON)


@router.post(
    "/sets/{name}/submissions",
    responses={
        **problems(403, 404, 408, 409, 413),
        200: {"model": AddedSubmission, "description": "The newest version has the same content."},
        201: {"model": AddedSubmission, "description": "It is accepted."},
    },
    openapi_extra=FILE_BODY,
    response_class=Response,
)
async def submit(
    request: Request,
    name: Name,
    wish: Annotated[SubmissionQuery, Query()],
    arena: Services,
    caller: Uploader,
    queue: CheckQueue,
) -> Response:
    """Submit the answer file in the request body; repeated content changes nothing.

    It is stored whole or not at all. A file with errors returns 422 with every problem.
    """
    require(caller, TokenScope.SUBMIT)
    card = await run_in_threadpool(_card, arena, wish.card)
    try:
        async with _received(request, arena, wish.file_name) as (path, poll):
            work = partial(
                arena.submissions.add,
                path,
                name,
                system=wish.system,
                kind=wish.kind,
                team=wish.team,
                card=card,
                anonymous=wish.anonymous,
                confirm=not wish.hold,
                keep_na=wish.keep_na,
                caller=caller,
                poll=poll,
            )
            added = await run_in_threadpool(queue.run, party_of(caller), work)
    except (ClientDisconnect, StoppedError):
        return Response(status_code=400)
    headers = {**FRESH, "Location": f"/api/v1/submissions/{added.submission.id}"}
    body = AddedSubmission(**dict(added.submission), created=added.created, problems=added.warnings)
    return Response(
        body.model_dump_json(by_alias=True), 201 if added.created else 200, headers, media_type=JSON
    )


@asynccontextmanager
async def _received(request: Request, arena: Services, name: str) -> AsyncIterator[tuple[FilePath, Poll]]:
    with arena.uploads.scratch(name) as (path, writer):
        waiting, size = list[bytes](), 0
        async for chunk in request.stream():
            waiting.append(chunk)
            size += len(chunk)
            if size >= BLOCK:
                await run_in_threadpool(writer.write, b"".join(waiting))
                waiting, size = [], 0
        await run_in_threadpool(writer.write, b"".join(waiting))
        await run_in_threadpool(writer.close)
        async with client_there(request) as poll:
            yield path, poll


def _card(arena: Services, text: str) -> SystemCard:
    card, card_problems = arena.submissions.checks.card(text)
    if card is None:
        raise InvalidFileError("The system card is invalid.", card_problems, advice="Correct the card.")
    return card


@router.get("/submissions", responses=problems(403, 404), response_model=SubmissionList)
def list_submissions(
    request: Request,
    arena: Services,
    caller: Who,
    set_name: Annotated[
        str | None,
        Query(alias="set", pattern=NAME, max_length=100, description="Only submissions to this set."),
    ] = None,
    team: Annotated[str | None, Query(max_length=100, description="Only submissions of this team.")] = None,
) -> Response:
    """Return the submissions that you may see, without hidden parts."""
    lines = arena.submissions.find(set_name=set_name, team=team, caller=caller)
    return answer(request, SubmissionList(submissions=list(lines)))


@router.get("/submissions/{number}", responses=problems(403, 404), response_model=SubmissionDetails)
def show_submission(request: Request, number: Number, arena: Services, caller: Who) -> Response:
    """Return a submission: its state, position in the queue, coverage and card."""
    return answer(request, arena.submissions.view(number, caller=caller))


@router.post("/submissions/{number}/withdraw", responses=problems(403, 404, 409))
def withdraw(
    number: Number, response: Response, arena: Services, caller: Who, why: Withdrawal | None = None
) -> Submission:
    """Withdraw a submission; a tombstone stays."""
    response.headers.update(FRESH)
    withdrawal = why or Withdrawal()
    return arena.submissions.withdraw(
        number, reason=withdrawal.reason, disqualify=withdrawal.disqualify, caller=caller
    )


@router.post("/submissions/{number}/confirm", responses=problems(403, 404, 409))
def confirm(number: Number, response: Response, arena: Services, caller: Who) -> Submission:
    """Confirm a submission sent with `hold`."""
    response.headers.update(FRESH)
    return arena.submissions.confirm(number, caller=caller)


@router.post("/submissions/{number}/select", responses=problems(403, 404, 409))
def select(number: Number, response: Response, arena: Services, caller: Who) -> Submission:
    """Choose the version that represents its system in future rounds."""
    response.headers.update(FRESH)
    return arena.submissions.select(number, caller=caller)
