"""The one tree of errors that this client raises.

::

    ClientError
    ├── UsageError                an address, token or name that cannot be one, or a file that cannot be read
    ├── RequestError              no answer came
    │   ├── ConnectionFailedError     the arena cannot be reached, or the line broke
    │   └── TimedOutError             it took too long
    ├── AnswerError               an answer came that is none of an arena
    └── StatusError               the arena refuses
        ├── AuthenticationError       401: no token, or one that is not valid
        ├── ForbiddenError            403: the token does not allow it
        ├── NotFoundError             404: there is no such thing, or not for you
        │   └── RetractedError            410: the board was retracted
        ├── ConflictError             409: the present state forbids it
        │   ├── QuotaError                the team has used up its submissions
        │   └── ClosedError               the set takes no submissions now
        ├── TooLongError              413: the file or body is too long
        ├── InvalidError              422: what was sent cannot be used; `problems` lists why
        ├── RateLimitError            429: too many requests
        └── ServerError               5xx: the arena cannot, or fails
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from pydantic import ValidationError

from .models.base import Problem


class ClientError(Exception):
    """What this client raises; `message` says what happened, `advice` what to do."""

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        """One line: what happened, then what to do."""
        return f"{self.message} {self.advice}".strip()


class UsageError(ClientError):
    """Nothing was sent: an address, token or name that cannot be one, or a file that cannot be read."""


class RequestError(ClientError):
    """No answer came."""


class ConnectionFailedError(RequestError):
    """The arena cannot be reached, or the line broke."""


class TimedOutError(RequestError):
    """The arena took too long."""


class AnswerError(ClientError):
    """An answer came that is none of an arena, or of a newer one that this client does not know."""


class StatusError(ClientError):
    """The arena refuses; one subclass a status."""

    def __init__(self, response: httpx.Response) -> None:
        fields = _fields_of(response)
        self.response = response
        self.status = response.status_code
        self.title = str(fields.get("title") or response.reason_phrase)
        self.type = str(fields.get("type") or "")
        self.problems = _problems_of(fields)
        message = str(fields.get("detail") or fields.get("notice") or f"HTTP {self.status} {self.title}")
        super().__init__(message, advice=str(fields.get("advice") or ""))

    @property
    def retry_after(self) -> float | None:
        """After how many seconds the arena asks to try again; None where it does not say."""
        return seconds_of(self.response.headers.get("retry-after", ""))


class AuthenticationError(StatusError):
    """401: no token, or one that is not valid."""


class ForbiddenError(StatusError):
    """403: the token does not allow it."""


class NotFoundError(StatusError):
    """404: there is no such thing, or not for you."""


class RetractedError(NotFoundError):
    """410: the board was retracted; the message or advice is its notice."""


class ConflictError(StatusError):
    """409: the present state forbids it."""


class QuotaError(ConflictError):
    """The team has used up its submissions, of the day or in total."""


class ClosedError(ConflictError):
    """The question set takes no submissions now."""


class TooLongError(StatusError):
    """413: the file or body is too long."""


class InvalidError(StatusError):
    """422: what was sent cannot be used; `problems` lists why, each with its line."""


class RateLimitError(StatusError):
    """429: too many requests, also after the retries; `retry_after` says when to go on."""


class ServerError(StatusError):
    """5xx: the arena cannot do it now, or fails; `error_id` finds a fault in its log."""

    @property
    def error_id(self) -> str:
        """Under which the organisers find a fault in their log; empty for none."""
        return str(_fields_of(self.response).get("error_id") or "")


STATUSES: Mapping[int, type[StatusError]] = {
    401: AuthenticationError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: RetractedError,
    413: TooLongError,
    422: InvalidError,
    429: RateLimitError,
}
CONFLICTS: Mapping[str, type[ConflictError]] = {
    "problem-quota-used-up": QuotaError,
    "problem-closed": ClosedError,
}
FIRST_SERVER_FAULT = 500


def error_of(response: httpx.Response) -> StatusError:
    """The error that an answer reports."""
    if response.status_code >= FIRST_SERVER_FAULT:
        return ServerError(response)
    kind = STATUSES.get(response.status_code, StatusError)
    error = kind(response)
    own = CONFLICTS.get(error.type.rpartition("#")[2])
    return error if own is None else own(response)


def seconds_of(header: str) -> float | None:
    """Seconds of a `Retry-After`: a number, as arenas write it, or a date, as proxies may."""
    text = header.strip()
    if text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)


def _fields_of(response: httpx.Response) -> Mapping[str, Any]:
    try:
        fields = response.json()
    except (ValueError, httpx.ResponseNotRead):
        return {}
    return fields if isinstance(fields, dict) else {}


def _problems_of(fields: Mapping[str, Any]) -> tuple[Problem, ...]:
    listed = fields.get("problems")
    try:
        return tuple(map(Problem.model_validate, listed)) if isinstance(listed, list) else ()
    except ValidationError:
        return ()
