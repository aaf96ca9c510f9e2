"""`/uploads`: files of answers being uploaded, named by the sha256 of their content, resumable.

`PUT` sends a file, or with `Content-Range: bytes FIRST-LAST/TOTAL` the rest of one (what `curl -C OFFSET -T`
sends); `HEAD` says by `Upload-Offset` how much is there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from arena.api.caching import problems
from arena.api.dependencies import Services, Uploader, Who
from arena.api.errors import RefusedRequestError
from arena.services.accounts.auth import Caller, require
from arena.services.submissions.uploads import UploadState, UploadWriter
from data.errors import FileFormatError
from data.records import TokenScope

router = APIRouter(tags=["uploads"])

RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")
WRITTEN_AT_ONCE = 1024 * 1024
FILE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
Sha256 = Annotated[
    str, Path(pattern="^[0-9a-f]{64}$", description="sha256 of the whole file, in lower-case hex.")
]


class UploadLine(BaseModel):
    """How far an upload is."""

    sha256: str
    received: int = Field(description="Bytes that are there; the next one to send has this number.")
    complete: bool = Field(description="Whether it is whole, and its hash was found right.")


def owner_of(caller: Caller) -> str:
    """Whose uploads a caller's are: their account's, else their team's."""
    name = f"account {caller.account}" if caller.account else f"team {' '.join(caller.teams)}"
    return hashlib.sha256(name.encode()).hexdigest()[:32]


async def receive_file(request: Request, writer: UploadWriter) -> None:
    """Stream a body into a file; memory holds one megabyte of it.

    What came before a sender broke off is written.
    """
    async for block in _blocks(request):
        await run_in_threadpool(writer.write, block)


@router.put(
    "/uploads/{sha256}",
    responses={
        **problems(403, 408, 409, 413),
        200: {"model": UploadLine, "description": "It was there already."},
        201: {"model": UploadLine, "description": "It is whole now."},
        202: {"model": UploadLine, "description": "A part is there; send the rest."},
    },
    openapi_extra={
        **FILE_BODY,
        "parameters": [
            {
                "in": "header",
                "name": "Content-Range",
                "schema": {"type": "string", "pattern": "^bytes [0-9]{1,15}-[0-9]{1,15}/[0-9]{1,15}$"},
                "description": "Which bytes the body is, as `bytes 1000-1999/2000`; else it is all.",
            }
        ],
    },
    response_class=Response,
)
async def put_upload(request: Request, sha256: Sha256, arena: Services, caller: Uploader) -> Response:
    """Send a file, or the rest of one; then name it in `POST /sets/{name}/submissions`."""
    require(caller, TokenScope.SUBMIT)
    owner = owner_of(caller)
    start, length, total = _range_of(request)
    state = await run_in_threadpool(arena.uploads.state, owner, sha256)
    if state.complete:
        return _state_response(sha256, state, 200)
    try:
        with arena.uploads.receiving(owner, sha256, start=start) as writer:
            await receive_file(request, writer)
    except ClientDisconnect:
        # The client has gone; what arrived is stored.
        return Response(status_code=400)
    except (RefusedRequestError, FileFormatError) as refused:
        # What came too slowly is gone on with later; what is too long can never become whole.
        if getattr(refused, "status_code", None) != HTTPStatus.REQUEST_TIMEOUT:
            await run_in_threadpool(arena.uploads.remove, owner, sha256)
        raise
    received = writer.received
    if length is not None and received - start != length:
        await run_in_threadpool(arena.uploads.remove, owner, sha256)
        raise RefusedRequestError(
            422, "The body is not as long as its Content-Range.", advice="Start again from byte 0."
        )
    if total is not None and received < total:
        return _state_response(sha256, UploadState(received, complete=False), 202)
    return _state_response(sha256, await run_in_threadpool(arena.uploads.finish, owner, sha256), 201)


@router.head(
    "/uploads/{sha256}",
    responses={
        **problems(403, 404),
        200: {
            "description": "How much is there.",
            "headers": {
                "Upload-Offset": {"schema": {"type": "integer"}},
                "Upload-Complete": {"schema": {"type": "string", "enum": ["?0", "?1"]}},
            },
        },
    },
    response_class=Response,
)
def head_upload(sha256: Sha256, arena: Services, caller: Who) -> Response:
    """How much of a file is there: `Upload-Offset` bytes; 404 where nothing is."""
    require(caller, TokenScope.SUBMIT)
    state = arena.uploads.state(owner_of(caller), sha256)
    if not state.received:
        raise RefusedRequestError(404, "Nothing of this file is there.", advice="Send it by PUT.")
    return _state_response(sha256, state, 200)


@router.delete("/uploads/{sha256}", status_code=204, responses=problems(403), response_class=Response)
def delete_upload(sha256: Sha256, arena: Services, caller: Who) -> Response:
    """Remove an upload, whole or not."""
    require(caller, TokenScope.SUBMIT)
    arena.uploads.remove(owner_of(caller), sha256)
    return Response(status_code=204, headers={"Cache-Control": "no-store"})


def _state_response(sha256: str, state: UploadState, status: int) -> Response:
    line = UploadLine(sha256=sha256, received=state.received, complete=state.complete)
    headers = {
        "Upload-Offset": str(state.received),
        "Upload-Complete": f"?{int(state.complete)}",
        "Cache-Control": "no-store",
    }
    return Response(line.model_dump_json(), status, headers, media_type="application/json")


def _range_of(request: Request) -> tuple[int, int | None, int | None]:
    """First byte, number of bytes, and length of the whole file, as far as they are known."""
    content_range = request.headers.get("content-range")
    if content_range is None:
        length = request.headers.get("content-length", "")
        return 0, int(length) if length.isdecimal() else None, None
    matched = RANGE.fullmatch(content_range.strip())
    first, last, total = map(int, matched.groups()) if matched else (0, 0, 0)
    if not first <= last < total:
        raise RefusedRequestError(
            422, "The Content-Range cannot be read.", advice="Write `bytes FIRST-LAST/TOTAL`, as curl does."
        )
    return first, last - first + 1, total


async def _blocks(request: Request) -> AsyncIterator[bytes]:
    waiting: list[bytes] = []
    size = 0
    broken: ClientDisconnect | RefusedRequestError | None = None
    try:
        async for chunk in request.stream():
            waiting.append(chunk)
            size += len(chunk)
            if size >= WRITTEN_AT_ONCE:
                yield b"".join(waiting)
                waiting, size = [], 0
    except (ClientDisconnect, RefusedRequestError) as error:
        broken = error
    if waiting:
        yield b"".join(waiting)
    if broken is not None:
        raise broken
