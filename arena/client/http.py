"""One HTTP client for an arena's API: its token, its errors as ours, and patience where it asks for some."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import IO, Any, Self, TypedDict, Unpack
from urllib.parse import urlsplit

import httpx

from data.errors import (
    AccessError,
    ArenaError,
    ConflictError,
    ForbiddenError,
    InputError,
    InvalidFileError,
    NotFoundError,
    ServerError,
)
from data.records import Problem, Severity

API = "/api/v1"
TIMEOUT = httpx.Timeout(60.0, read=900.0)
"""Seconds; a large file is checked and stored before the answer comes."""
BUSY = (429, 503)
LONGEST_WAIT = 60
TRIES = 5


class Options(TypedDict, total=False):
    """What else a request has."""

    params: Mapping[str, str]
    headers: Mapping[str, str]
    json: Mapping[str, object]


ERRORS: Mapping[int, type[ArenaError]] = {
    401: AccessError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: InputError,
    422: InputError,
}


class ApiClient:
    """Asks one arena.

    Without a token only what is public can be asked.

    Raises:
        InputError: The address cannot be used.
    """

    def __init__(self, server: str, token: str | None) -> None:
        address = server.rstrip("/").removesuffix(API)
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
            # With a name in it there may be a password too, which must not be repeated.
            shown = "This" if "@" in server else repr(server)
            raise InputError(f"{shown} is no address of an arena.", advice="Write https://arena.example.org.")
        headers = {"Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {_printable(token)}"
        self.address = address
        self._client = httpx.Client(base_url=f"{address}{API}", headers=headers, timeout=TIMEOUT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._client.close()

    def ask(
        self, method: str, path: str, *, file: IO[bytes] | None = None, **options: Unpack[Options]
    ) -> httpx.Response:
        """Send a request, with a file as its body where one is given.

        Where the arena is busy and says how long, wait and send it again.

        Raises:
            ArenaError: It refuses; of the kind that the same refusal has here.
            ServerError: It cannot be reached, or fails.
        """
        for tried in range(1, TRIES + 1):
            if file is not None:
                file.seek(0)
            response = self.send(method, path, content=file, **options)
            wait = _wait_of(response)
            if response.status_code not in BUSY or tried == TRIES or wait > LONGEST_WAIT:
                break
            time.sleep(wait)
        raise_for(response)
        return response

    def send(
        self, method: str, path: str, *, content: Iterable[bytes] | None = None, **options: Unpack[Options]
    ) -> httpx.Response:
        """Send a request and give the answer, whatever it is.

        Raises:
            ServerError: The arena cannot be reached.
        """
        try:
            return self._client.request(method, path, content=content, **options)
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise ServerError(
                f"{self.address} cannot be reached: {reason}.",
                advice="Check the address and that the arena runs; sending again goes on where it stopped.",
            ) from error


def raise_for(response: httpx.Response) -> None:
    """Raise the error that an answer reports; nothing where it reports none."""
    if response.is_success:
        return
    problem = _problem_of(response)
    message = str(problem.get("detail") or f"HTTP {response.status_code}")
    advice = str(problem.get("advice") or "")
    problems = tuple(map(problem_of, problem.get("problems") or ()))
    if problems:
        raise InvalidFileError(message, problems, advice=advice)
    kind = ERRORS.get(response.status_code)
    if kind is None:
        raise ServerError(f"The arena answers {response.status_code}: {message}", advice=advice)
    raise kind(message, advice=advice)


def _problem_of(response: httpx.Response) -> Mapping[str, Any]:
    try:
        problem = response.json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def problem_of(fields: Mapping[str, Any]) -> Problem:
    """A problem of a file or request, as an arena reports it."""
    return Problem(
        line=int(fields.get("line") or 0),
        code=str(fields.get("code", "")),
        message=str(fields.get("message", "")),
        severity=Severity.WARNING if fields.get("severity") == Severity.WARNING else Severity.ERROR,
        advice=str(fields.get("advice", "")),
    )


def _wait_of(response: httpx.Response) -> float:
    seconds = response.headers.get("retry-after", "")
    return float(seconds) if seconds.isdecimal() else 2.0


def _printable(token: str) -> str:
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InputError("The token has signs that no token has.", advice="Copy it again.")
    return token
