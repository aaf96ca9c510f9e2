"""Checking and submitting files of answers, and what becomes of submissions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from arena.services.identity import Caller, require
from arena.services.submissions import AddedSubmission
from arena.web.api.answers import JSON, answer, problems
from arena.web.api.context import Bringer, Services, Turn, Who
from arena.web.api.models import NAME, Name
from arena.web.api.submission_models import (
    Added,
    CardFields,
    CheckReport,
    LifeFields,
    Number,
    SubmissionFields,
    SubmissionFull,
    SubmissionList,
    SubmissionWish,
    Withdrawal,
)
from arena.web.api.uploads import FILE_BODY, owner_of, receive_file
from data.errors import InvalidFileError
from data.records import SystemCard, TokenScope
from submissions.card import check_card
from submissions.report import report_json

router = APIRouter(tags=["submissions"])
FRESH = {"Cache-Control": "no-store"}


@router.post(
    "/sets/{name}/check",
    responses=problems(403, 404, 408, 413),
    response_model=CheckReport,
    openapi_extra=FILE_BODY,
)
async def check(request: Request, name: Name, arena: Services, caller: Bringer, turn: Turn) -> Response:
    """Check a file of answers: every problem at once. The body is the file; nothing is stored."""
    require(caller, TokenScope.SUBMIT)
    await run_in_threadpool(arena.sets.summary, name)
    with arena.uploads.scratch() as (path, writer):
        try:
            await receive_file(request, writer)
        except ClientDisconnect:
            return Response(status_code=400)
        await run_in_threadpool(writer.close)
        found = await turn.run(arena.submissions.check, path, name, caller=caller)
    return Response(json.dumps(report_json(found), ensure_ascii=False), headers=FRESH, media_type=JSON)


@router.post(
    "/sets/{name}/submissions",
    responses={
        **problems(403, 404, 409),
        200: {"model": Added, "description": "The newest version has the same content."},
        201: {"model": Added, "description": "It is accepted."},
    },
    response_class=Response,
)
async def submit(name: Name, wish: SubmissionWish, arena: Services, caller: Bringer, turn: Turn) -> Response:
    """Submit a file that was sent by `PUT /uploads/{sha256}`; the same content again changes nothing.

    It is stored whole or not at all. A file with errors is answered by 422 with every problem. The upload is
    removed, except where something else than the file stood in the way (a deadline, a quota).
    """
    added = await turn.run(_submit, arena, name, wish, caller)
    status = 201 if added.created else 200
    headers = {**FRESH, "Location": f"/api/v1/submissions/{added.submission.id}"}
    return Response(Added.of_added(added).model_dump_json(), status, headers, media_type=JSON)


def _submit(arena: Services, name: str, wish: SubmissionWish, caller: Caller) -> AddedSubmission:
    owner = owner_of(caller)
    require(caller, TokenScope.SUBMIT)
    card = _card(wish.card)
    path = arena.uploads.get(owner, wish.upload)
    try:
        added = arena.submissions.add(
            path,
            name,
            system=wish.system,
            team=wish.team,
            card=card,
            anonymous=wish.anonymous,
            confirm=not wish.hold,
            caller=caller,
        )
        if wish.selected:
            chosen = arena.submissions.select(added.submission.id, caller=caller)
            added = replace(added, submission=chosen)
    except InvalidFileError:
        arena.uploads.remove(owner, wish.upload)
        raise
    arena.uploads.remove(owner, wish.upload)
    return added


def _card(sent: CardFields) -> SystemCard:
    # JSON is YAML, so that one check does for files and for bodies.
    card, found = check_card(json.dumps(sent.model_dump(), ensure_ascii=False))
    if card is None:
        raise InvalidFileError("The system card has problems.", found, advice="Mend the card.")
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
    found = arena.submissions.find(set_name=set_name, team=team, caller=caller)
    return answer(request, SubmissionList(submissions=[LifeFields.of_line(one) for one in found]))


@router.get("/submissions/{number}", responses=problems(403, 404), response_model=SubmissionFull)
def show_submission(request: Request, number: Number, arena: Services, caller: Who) -> Response:
    """A submission: its state, place in the queue, coverage and card."""
    return answer(request, SubmissionFull.of_view(arena.submissions.view(number, caller=caller)))


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
    """Choose the version that stands for its system in rounds to come."""
    response.headers.update(FRESH)
    return SubmissionFields.of(arena.submissions.select(number, caller=caller))
