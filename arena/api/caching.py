"""Cacheable responses: ETag, 304 and cache control."""

import hashlib

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from arena.api.errors import ProblemDetails

JSON = "application/json"
NDJSON = "application/x-ndjson"
PUBLIC = "public, no-cache"
"""Clients must revalidate before reuse, since texts may have been hidden."""
PRIVATE = "private, no-cache"
OK = 200
REFUSALS = {
    400: "The URL is invalid.",
    401: "A valid token is needed.",
    403: "The token does not allow this.",
    404: "The resource does not exist or is hidden from you.",
    408: "The body came too slowly.",
    409: "The current state does not allow this.",
    410: "The board was retracted; its notice has the reason.",
    413: "The body is too long.",
    422: "The input is invalid; `problems` lists the reasons.",
    429: "Too many requests; wait for `Retry-After`.",
    500: "Internal error; `error_id` is in the log.",
    503: "Temporarily unavailable; retry after `Retry-After`.",
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
    """Return the file responses of a route for the OpenAPI document."""
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
    """Return a response to a GET, or 304 if the client has the same content."""
    content = body if isinstance(body, bytes) else body.model_dump_json(by_alias=True).encode()
    # Weak, since the same content may be gzipped.
    etag = f'W/"{tag or hashlib.sha256(content).hexdigest()[:32]}"'
    personal = "authorization" in request.headers
    headers = {
        "ETag": etag,
        "Cache-Control": PRIVATE if personal else PUBLIC,
        "Vary": "Accept, Authorization",
    }
    if status == OK and _has(request, etag):
        return Response(status_code=304, headers=headers)
    if filename:
        headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return Response(content, status, headers=headers, media_type=media_type)


def _has(request: Request, etag: str) -> bool:
    header = request.headers.get("if-none-match", "")
    cached_tags = {tag.strip().removeprefix("W/") for tag in header.split(",")}
    return "*" in cached_tags or etag.removeprefix("W/") in cached_tags
