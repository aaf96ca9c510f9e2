"""Errors as `application/problem+json` (RFC 9457), with their HTTP status."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from http import HTTPStatus

import structlog
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from data import errors
from data.files.strict_json import wording
from data.models import Problem

MEDIA_TYPE = "application/problem+json"
TYPES = "/api/v1/#problem-"
STATUSES: Sequence[tuple[type[errors.ArenaError], int]] = (
    (errors.TooManyAttemptsError, 429),
    (errors.AccessError, 401),
    (errors.RetractedError, 410),
    (errors.NotFoundError, 404),
    (errors.ConflictError, 409),
    (errors.ForbiddenError, 403),
    (errors.InputError, 422),
    (errors.WorkError, 422),
    (errors.StatisticsError, 409),
    (errors.StoreError, 503),
    (errors.UnavailableError, 503),
    (errors.JudgeError, 503),
)
TITLES = {
    400: "Bad Address",
    401: "Sign In",
    403: "Not Allowed",
    404: "Not Found",
    405: "Wrong Method",
    408: "Request Timeout",
    409: "Conflict",
    410: "Retracted",
    413: "Too Long",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Error",
    503: "Unavailable",
}
OWN_TITLES: Sequence[tuple[type[errors.ArenaError], str]] = (
    (errors.QuotaError, "Quota Used Up"),
    (errors.ClosedError, "Closed"),
)
"""Titles of conflicts that scripts recognise by type."""
UNAVAILABLE = 503
RETRY_AFTER = 5
MAX_LISTED = 20
log = structlog.get_logger("arena.api")


class ProblemDetails(BaseModel):
    """Problem details (RFC 9457), with a remedy."""

    type: str = Field(description="Type of the problem.", examples=[f"{TYPES}not-found"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no board 'spring'."])
    advice: str = Field("", description="What to do.")
    problems: list[Problem] = Field([], description="All problems of the input.")
    error_id: str | None = Field(None, description="For a 500: id of the error in the log.")


class RefusedRequestError(HTTPException):
    """Request refused before it reaches a service."""

    def __init__(
        self, status: int, detail: str, *, advice: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, headers)
        self.advice = advice


def problem_response(
    status: int,
    detail: str,
    *,
    advice: str = "",
    title: str = "",
    headers: Mapping[str, str] | None = None,
    **extra: object,
) -> JSONResponse:
    """Return a problem as a response that is never cached."""
    title = title or TITLES.get(status) or HTTPStatus(status).phrase
    body = {
        "type": f"{TYPES}{slug(title)}",
        "title": title,
        "status": status,
        "detail": detail,
        "advice": advice,
        **extra,
    }
    all_headers = {"Cache-Control": "no-store", **(headers or {})}
    return JSONResponse(body, status, all_headers, media_type=MEDIA_TYPE)


def slug(title: str) -> str:
    """Return the last part of a problem's type."""
    return title.lower().replace(" ", "-")


async def on_arena_error(_request: Request, error: Exception) -> JSONResponse:
    """Report an error; hide the details of errors that clients cannot correct."""
    if not isinstance(error, errors.ArenaError):
        return internal_error(error)
    status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
    if isinstance(error, errors.InvalidFileError):
        problems = [asdict(problem) for problem in error.problems]
        return problem_response(status, error.message, advice=error.advice, problems=problems)
    if status == UNAVAILABLE:
        log.error("unavailable", error=str(error))
        headers = {"Retry-After": str(RETRY_AFTER)}
        return problem_response(
            status,
            "The service is temporarily unavailable.",
            advice="Try again in a moment.",
            headers=headers,
        )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return internal_error(error)
    headers = {}
    if isinstance(error, errors.TooManyAttemptsError):
        headers["Retry-After"] = str(error.retry_after)
    elif isinstance(error, errors.AccessError):
        headers["WWW-Authenticate"] = 'Bearer realm="arena"'
    title = next((title for kind, title in OWN_TITLES if isinstance(error, kind)), "")
    return problem_response(status, error.message, advice=error.advice, title=title, headers=headers)


async def on_http_error(_request: Request, error: Exception) -> JSONResponse:
    """Report an HTTP error of the framework or middleware."""
    if not isinstance(error, HTTPException):
        return internal_error(error)
    advice = getattr(error, "advice", "")
    if error.status_code == HTTPStatus.NOT_FOUND and error.detail == HTTPStatus.NOT_FOUND.phrase:
        return problem_response(404, "There is no such address.", advice="See /api/v1/ for all addresses.")
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        methods = (error.headers or {}).get("Allow", "")
        advice = f"Use {methods}." if methods else "See /api/v1/ for all methods."
        return problem_response(
            405, "This address does not support the method.", advice=advice, headers=error.headers
        )
    return problem_response(error.status_code, error.detail, advice=advice, headers=error.headers)


async def on_bad_request(_request: Request, error: Exception) -> JSONResponse:
    """Report every invalid field of a request, without its value."""
    if not isinstance(error, RequestValidationError):
        return internal_error(error)
    problems = [
        {
            "line": 0,
            "code": str(detail["type"]).replace("_", "-"),
            "severity": "error",
            "message": f"{'.'.join(map(str, detail['loc']))} {wording(detail, with_input=False)}"[:300],
            "advice": "",
        }
        for detail in error.errors()[:MAX_LISTED]
    ]
    return problem_response(
        422, "The request cannot be read.", advice="Fix the errors listed in `problems`.", problems=problems
    )


def internal_error(error: Exception) -> JSONResponse:
    """Log an internal error under an id, and return only the id."""
    error_id = uuid.uuid4().hex[:12]
    log.error("internal error", error_id=error_id, exc_info=error)
    detail = "An internal error occurred."
    advice = f"Try again; if it persists, send the organisers the id {error_id}."
    return problem_response(500, detail, advice=advice, error_id=error_id)
