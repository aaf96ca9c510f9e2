"""Answers that can be cached: ETag, 304, and who may cache them."""

import hashlib

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from arena.api.errors import ProblemDetails

JSON = "application/json"
NDJSON = "application/x-ndjson"
PUBLIC = "public, no-cache"
"""Clients revalidate by ETag before reuse, so that a text that was withheld since is not shown."""
PRIVATE = "private, no-cache"
OK = 200
REFUSALS = {
    400: "The address cannot be used.",
    401: "A valid token is needed.",
    403: "The token does not allow this.",
    404: "There is no such thing, or not for you.",
    408: "The body came too slowly.",
    409: "The state forbids it.",
    410: "The board was retracted; the notice says why.",
    413: "The body is too long.",
    422: "What was sent cannot be used; `problems` lists why.",
    429: "Too many requests; `Retry-After` says when to go on.",
    500: "A fault of the arena; `error_id` finds it in the log.",
    503: "The arena cannot do this now; `Retry-After` says when to try again.",
}
FRESH = {"Cache-Control": "no-store"}
ALWAYS = (400, 401, 422, 429, 500, 503)


def problems(*statuses: int) -> dict[int | str, dict[str, object]]:
    """Return the errors of a route for the OpenAPI document."""
    return {
        status: {"model": ProblemDetails, "description": REFUSALS[status]}
        for status in sorted({*ALWAYS, *statuses})
    }


def files(description: str, *media_types: str) -> dict[int | str, dict[str, object]]:
    """Return a file as the answer, for the OpenAPI document."""
    content = {media: {"schema": {"type": "string"}} for media in media_types}
    return {200: {"description": description, "content": content}, 304: {"description": "Unchanged."}}


def answer(
    request: Request,
    body: BaseModel | bytes,
    *,
    media_type: str = JSON,
    tag: str = "",
    filename: str = "",
    status: int = OK,
) -> Response:
    """Answer a GET, or say 304 where the reader has it already and nothing is wrong with it."""
    content = body if isinstance(body, bytes) else body.model_dump_json(by_alias=True).encode()
    # Weak, since the same content may travel gzipped.
    etag = f'W/"{tag or hashlib.sha256(content).hexdigest()[:32]}"'
    personal = "authorization" in request.headers
    sent = {"ETag": etag, "Cache-Control": PRIVATE if personal else PUBLIC, "Vary": "Accept, Authorization"}
    if status == OK and _has(request, etag):
        return Response(status_code=304, headers=sent)
    if filename:
        sent["Content-Disposition"] = f'attachment; filename="{filename}"'
    return Response(content, status, headers=sent, media_type=media_type)


def _has(request: Request, etag: str) -> bool:
    asked = request.headers.get("if-none-match", "")
    cached_tags = {tag.strip().removeprefix("W/") for tag in asked.split(",")}
    return "*" in cached_tags or etag.removeprefix("W/") in cached_tags
