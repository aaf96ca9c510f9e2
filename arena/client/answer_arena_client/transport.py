"""Requests to one arena: its token, patience where it asks for some, and its refusals as errors."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlsplit

import httpx
from pydantic import TypeAdapter, ValidationError

from .errors import AnswerError, ConnectionFailedError, TimedOutError, UsageError, error_of, seconds_of

API = "/api/v1"
TIMEOUT = httpx.Timeout(60.0, read=900.0)
"""Seconds; a large file is checked and stored before the answer comes."""
REFUSED_FOR_NOW = frozenset({429, 503})
"""Nothing was done, so that any request can be sent again."""
BROKEN_BETWEEN = frozenset({502, 504})
"""A proxy does not know what was done; only what changes nothing the second time is sent again."""
REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
NAME = re.compile(r"[^\x00-\x1f\x7f]{1,200}")

Params = Mapping[str, str | int | bool | None]
Body = Callable[[], Iterable[bytes]]
"""Makes the body of a request, once for each time that it is sent."""
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and how patiently a request is sent again.

    Attributes:
        tries: How often in all; 1 for never again.
        first_wait: Seconds before the second time where the arena does not say; doubled each time after.
        longest_wait: Where the arena asks for more seconds than this, its refusal is raised at once.
    """

    tries: int = 5
    first_wait: float = 0.5
    longest_wait: float = 60.0


class RequestOptions(TypedDict, total=False):
    """What else a request has.

    Attributes:
        params: Of the address; those that are None are left out.
        headers: Further ones.
        json: The body, as JSON.
        body: Makes the body, in place of `json`.
    """

    params: Params | None
    headers: Mapping[str, str]
    json: object
    body: Body


class Transport:
    """Sends requests to one arena.

    Raises:
        UsageError: The address or the token cannot be one.
    """

    def __init__(
        self,
        server: str,
        token: str | None,
        *,
        timeout: httpx.Timeout | float = TIMEOUT,
        retries: Retries | None = None,
        sleep: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        address = server.rstrip("/").removesuffix(API)
        headers = {"Accept": "application/json", "User-Agent": "answer-arena-client"}
        if token:
            headers["Authorization"] = f"Bearer {_printable(token)}"
        self.address = _checked(address)
        self.retries = retries or Retries()
        self.sleep = sleep
        self._client = httpx.Client(
            base_url=f"{address}{API}", headers=headers, timeout=timeout, transport=transport
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def read(self, answer: type[Value], path: str, *, key: str = "", params: Params | None = None) -> Value:
        """GET something and read it as a type; with `key`, that field of the answer."""
        return parsed(answer, self.request("GET", path, params=params), key)

    def pages(
        self, item: type[Value], path: str, key: str, *, params: Params | None = None, page: int = 100
    ) -> Iterator[Value]:
        """Everything of a list that comes in pages, each page asked for when its first item is wanted."""
        asked: dict[str, str | int | bool | None] = {**(params or {}), "limit": page}
        while True:
            response = self.request("GET", path, params=asked)
            yield from parsed(list[item], response, key)  # type: ignore[valid-type]  # a type that is a value
            following = parsed(dict[str, Any], response).get("next")
            if following is None:
                return
            asked["after"] = int(following)

    def request(
        self, method: str, path: str, *, repeatable: bool = False, **options: Unpack[RequestOptions]
    ) -> httpx.Response:
        """Send a request, again where that helps and does no harm.

        Args:
            method: Of HTTP.
            path: Below the API's address; its parts are quoted by `path_of`.
            repeatable: Whether a POST changes nothing the second time.
            options: What else it has.

        Raises:
            RequestError: No answer came.
            StatusError: The arena refuses.
        """
        again = repeatable or method in REPEATABLE
        for tried in range(1, self.retries.tries + 1):
            last = tried == self.retries.tries
            pause = self.retries.first_wait * 2 ** (tried - 1) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
            try:
                response = self.send(method, path, **options)
            except ConnectionFailedError as error:
                sent_nothing = isinstance(error.__cause__, httpx.ConnectError)
                if last or not (again or sent_nothing):
                    raise
                self.sleep(pause)
                continue
            if response.is_success:
                return response
            wait = seconds_of(response.headers.get("retry-after", ""))
            for_now = response.status_code in REFUSED_FOR_NOW or (
                again and response.status_code in BROKEN_BETWEEN
            )
            if last or not for_now or (wait or 0) > self.retries.longest_wait:
                raise error_of(response)
            self.sleep(pause if wait is None else wait)
        raise UsageError("Nothing is tried.", advice="Let `tries` be 1 or more.")

    def send(self, method: str, path: str, **options: Unpack[RequestOptions]) -> httpx.Response:
        """Send a request once, and give the answer, whatever it is.

        Raises:
            RequestError: No answer came.
        """
        params, body = options.get("params") or {}, options.get("body")
        try:
            return self._client.request(
                method,
                path,
                params={name: value for name, value in params.items() if value is not None},
                headers=dict(options.get("headers") or {}),
                json=options.get("json"),
                content=None if body is None else body(),
            )
        except httpx.TimeoutException as error:
            raise TimedOutError(
                f"{self.address} took too long.", advice="Try again, or give a longer `timeout`."
            ) from error
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise ConnectionFailedError(
                f"{self.address} cannot be reached: {reason}.",
                advice="Check the address and that the arena runs.",
            ) from error


def parsed(answer: type[Value], response: httpx.Response, key: str = "") -> Value:
    """Read an answer as a type; with `key`, that field of it.

    Raises:
        AnswerError: It is none of an arena.
    """
    try:
        fields = response.json()
        return TypeAdapter(answer).validate_python(fields[key] if key else fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise AnswerError(
            f"{response.request.url.path} answers what this client does not know: {where}: {first['msg']}.",
            advice="Upgrade answer-arena-client.",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise AnswerError(
            f"{response.request.url} does not answer as an arena does.", advice="Check the address."
        ) from error


def path_of(*parts: str | int) -> str:
    """An address below the API's, of parts that are names.

    Raises:
        UsageError: A part cannot be a name.
    """
    for part in parts:
        if not NAME.fullmatch(str(part)) or set(str(part)) <= {"."}:
            raise UsageError(f"{part!r} is no name.", advice="Give a name of 1 to 200 characters.")
    return "/" + "/".join(quote(str(part), safe="@") for part in parts)


def _checked(address: str) -> str:
    try:
        parts = urlsplit(address)
        strange = parts.username or parts.query or parts.fragment or parts.port == 0
        right = parts.scheme in {"http", "https"} and parts.hostname and not strange
    except ValueError:
        right = False
    if not right:
        # With a name in it there may be a password too, which must not be repeated.
        shown = "This" if "@" in address else repr(address)
        raise UsageError(f"{shown} is no address of an arena.", advice="Write https://arena.example.org.")
    return address


def _printable(token: str) -> str:
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("The token has signs that no token has.", advice="Copy it again.")
    return token
