"""Errors of calls, classified by their remedy, and waits before retries."""

import json
import math
import random
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from data.models import TokenUsage
from data.text import storable, visible

_DURATION = re.compile(
    r"\A(?:(\d++(?:\.\d++)?)h)?(?:(\d++(?:\.\d++)?)m(?!s))?"
    r"(?:(\d++(?:\.\d++)?)s)?(?:(\d++(?:\.\d++)?)ms)?"
)
_UNITS = (3_600.0, 60.0, 1.0, 0.001)
MAX_WAIT = 10.0 * 365 * 86_400
"""Seconds; longer requested waits are effectively infinite."""


MAX_DOUBLINGS = 16
SPREAD = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Wait:
    """A wait before a retry.

    Attributes:
        cause: Error of the last attempt, such as `HTTP 429`.
        until: Time of the next attempt, in monotonic seconds.
    """

    cause: str
    until: float

    @property
    def seconds(self) -> float:
        """Remaining seconds."""
        return max(0.0, self.until - time.monotonic())

    def __str__(self) -> str:
        return f"{self.cause}, next try in {math.ceil(self.seconds)} s"


class Backoff:
    """Exponential waits with jitter."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self._jitter = random.Random()  # noqa: S311 - spreads retries, guards nothing

    def seconds(self, calls: int, requested: float | None) -> float:
        """Return the wait in seconds: half to all of the exponential wait, at least the requested one."""
        maximum = min(self._longest, self._first * 2 ** min(calls - 1, MAX_DOUBLINGS))
        own = self._jitter.uniform(maximum / 2, maximum)
        minimum = requested or 0.0
        return max(own, minimum + self._jitter.uniform(0.0, min(maximum, minimum * SPREAD)))


def requested_wait(headers: Mapping[str, str], body: object = None) -> float | None:
    """Return the wait in seconds that `retry-after-ms`, `retry-after` or an error's body requests.

    Unreadable values are ignored. A date in the past means no wait.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return min(MAX_WAIT, milliseconds / 1_000)
    value = headers.get("retry-after")
    if value is not None:
        for read in (_number, _duration, _until):
            wait = read(value)
            if wait is not None:
                return min(MAX_WAIT, wait)
    return _retry_delay(body)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if number >= 0 and math.isfinite(number) else None


def _duration(value: str) -> float | None:
    """Parse durations such as `1s`, `500ms` or `2m59.5s` as seconds."""
    match = _DURATION.fullmatch(value.strip().lower())
    if match is None or not any(match.groups()):
        return None
    return sum(float(part) * unit for part, unit in zip(match.groups(), _UNITS, strict=True) if part)


def _until(value: str) -> float | None:
    from datetime import UTC, datetime  # noqa: PLC0415 - only dates need them
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - as above

    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(value.strip())
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return max(0.0, (moment - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None


def _retry_delay(body: object) -> float | None:
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str):
            return _duration(delay)
    return None


def _wait_in(message: str) -> float | None:
    match = _WAIT.search(message)
    return match and _duration(match["words"] or match["delay"] or f"{match['seconds']}s")


RATE_LIMIT_STATUS = 429
UNAVAILABLE_STATUS = 503
REDIRECTS = range(300, 400)
REDIRECTED = (
    ": it redirects to another address, which is not followed. Use the final address as the endpoint."
)
SERVER_STATUS = 500
TRANSIENT_STATUSES = frozenset({408, 409, 425})
DENIED_STATUSES = frozenset({401, 403, 404, 405})
FATAL_STATUSES = DENIED_STATUSES | {402}
QUOTA_CODES = frozenset(
    {
        "billing_hard_limit_reached",
        "billing_not_active",
        "budget_exceeded",
        "exceeded_current_quota_error",
        "insufficient_quota",
    }
)
FILTER_CODES = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "data_inspection_failed",
        "moderation_blocked",
        "responsibleaipolicyviolation",
    }
)
CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
MODERATING_STATUSES = frozenset({400, 403, 422, 451})
TOO_LARGE_STATUS = 413
DETAIL_LENGTH = 300
QUOTED = 200
"""Maximum length of quotes of an unexpected body."""
MAX_ERROR_DEPTH = 5
MAX_QUOTE_DEPTH = 3
_MODERATION = re.compile(
    r"moderation|\bflagged\b|content[ _-]?(?:filter|management|polic)|safety (?:system|filter|setting)|"
    r"(?:usage|acceptable use|content|safety) polic|\bviolat\w*+ [^.]{0,60}polic|inappropriate content",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"exceeded[ _](?:your[ _])?current[ _]quota|insufficient[ _](?:quota|balance|credit|funds)|"
    r"billing[ _](?:hard[ _]limit|not[ _]active)|credit balance is too low|out of credit|arrearage|"
    r"credits? (?:are|is|have been) (?:depleted|exhausted)|used (?:all|up)[^.]{0,30} (?:credits|allocation)|"
    r"(?:spending|api usage) limits?\b|budget (?:has been |is )?(?:exceeded|exhausted)|余额不足",
    re.IGNORECASE,
)
PER_DAY = "PerDay"
"""Part of Google's names of daily quotas, whose errors nevertheless request a wait of seconds."""
_WAIT = re.compile(
    r"(?:retry|try again) (?:in|after) (?P<words>(?:\d++(?:\.\d++)?(?:h|ms|m|s))++)(?![a-z])|"
    r"(?:retry|try again) (?:in|after) (?P<seconds>\d++(?:\.\d++)?) ?seconds?|"
    r"retryDelay\W{1,8}(?P<delay>\d++(?:\.\d++)?s)",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|prompt is too long|input is too long|"
    r"input (?:token count|length|tokens?)[^.]{0,40}exceed|too many (?:input )?tokens|"
    r"reduce the length of|exceeds? the (?:model's |available |maximum )*(?:context|input|number of tokens)",
    re.IGNORECASE,
)

NO_USAGE = TokenUsage()


class CallErrorKind(StrEnum):
    """Consequences of an error for its request and endpoint."""

    RATE_LIMITED = "rate_limited"
    """Too many calls: wait, and reduce concurrency."""
    TRANSIENT = "transient"
    """The same call may succeed later."""
    REJECTED = "rejected"
    """The endpoint will never accept this request; others may succeed."""
    REFUSED = "refused"
    """The model or a filter declined to answer."""
    FATAL = "fatal"
    """No request will succeed: wrong key, unknown model or exhausted quota."""


class CallError(Exception):
    """A call without a reply.

    Args:
        kind: Consequence of the error.
        detail: Description in one line.
        retry_after: Wait in seconds that the endpoint requested.
        billable: Whether the provider may charge for it without a reply.
        unreachable: Whether no connection was made, so that the request cannot be the cause.
        usage: Reported tokens.
        status: HTTP status, or the status in the body of a reply with 200; None without a reply.
        message: The endpoint's message, without the status.
        param: The parameter that the endpoint blames, if any.
        moderation: Whether the endpoint's policy or moderation rejected the request.
        context_length: Whether the request is too long for the model.
    """

    def __init__(
        self,
        kind: CallErrorKind,
        detail: str,
        *,
        retry_after: float | None = None,
        billable: bool = False,
        unreachable: bool = False,
        usage: TokenUsage = NO_USAGE,
        status: int | None = None,
        message: str = "",
        param: str = "",
        moderation: bool = False,
        context_length: bool = False,
    ) -> None:
        self.kind = kind
        self._full_detail = " ".join(visible(storable(detail)).split())
        self.detail = self._full_detail[:DETAIL_LENGTH]
        self.retry_after = retry_after
        self.billable = billable
        self.unreachable = unreachable
        self.usage = usage
        self.status = status
        self.message = visible(storable(message))
        self.param = param
        self.moderation = moderation
        self.context_length = context_length
        super().__init__(self.detail)

    def redact(self, redaction: Callable[[str], str]) -> None:
        """Remove keys from the detail, which is stored; gateways repeat rejected keys."""
        self._full_detail, self.message = redaction(self._full_detail), redaction(self.message)
        self.detail = self._full_detail[:DETAIL_LENGTH]
        self.args = (self.detail,)


def fault_of_status(
    status: int,
    body: object,
    headers: Mapping[str, str],
    *,
    usage: TokenUsage = NO_USAGE,
    heading: str = "HTTP {status}",
) -> CallError:
    """Classify an error by its status, code, message and requested wait."""
    if status in REDIRECTS:
        # Bodies of redirects are pages.
        return CallError(CallErrorKind.FATAL, heading.format(status=status) + REDIRECTED, status=status)
    error, wait = parse_error(body), requested_wait(headers, body)
    if wait is None and status in {RATE_LIMIT_STATUS, UNAVAILABLE_STATUS}:
        wait = _wait_in(error.message)
    moderation = error.code.lower() in FILTER_CODES or (
        status in MODERATING_STATUSES and bool(_MODERATION.search(error.message))
    )
    # Google's term for a blocked prompt, which gateways pass on with any status.
    moderation = moderation or "blockReason" in error.message
    too_long = not moderation and (
        error.code.lower() in CONTEXT_CODES
        or status == TOO_LARGE_STATUS
        or (status != RATE_LIMIT_STATUS and bool(_CONTEXT.search(error.message)))
    )
    waits = wait is not None and PER_DAY not in str(body)
    return CallError(
        _kind_of(status, error, moderation=moderation, too_long=too_long, waits=waits),
        heading.format(status=status) + (f": {error.message}" if error.message else ""),
        retry_after=wait,
        usage=usage,
        status=status,
        message=error.message,
        param=error.param,
        moderation=moderation,
        context_length=too_long,
    )


def _kind_of(
    status: int, error: "ErrorBody", *, moderation: bool, too_long: bool, waits: bool
) -> CallErrorKind:
    if moderation:
        return CallErrorKind.REFUSED
    # Gateways may drop the code; Google uses the same message for limits per minute, but with a wait.
    if error.code in QUOTA_CODES or (not waits and _QUOTA.search(error.message)):
        return CallErrorKind.FATAL
    if status == RATE_LIMIT_STATUS:
        return CallErrorKind.RATE_LIMITED
    if too_long:
        return CallErrorKind.REJECTED
    if status >= SERVER_STATUS or status in TRANSIENT_STATUSES:
        return CallErrorKind.TRANSIENT
    return CallErrorKind.FATAL if status in FATAL_STATUSES else CallErrorKind.REJECTED


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """Code, message and parameter of an error's body; empty if missing."""

    code: str = ""
    message: str = ""
    param: str = ""


def parse_error(body: object, depth: int = MAX_ERROR_DEPTH) -> ErrorBody:
    """Parse a provider's error body, with or without the outer `error`."""
    if isinstance(body, str):
        return _parse_error_text(body, depth)
    if depth == 0 or not isinstance(body, list | Mapping):
        return ErrorBody()
    if isinstance(body, list):
        # Gemini's errors are lists, as are FastAPI's errors about several fields.
        parts = [parse_error(part, depth - 1) for part in body[:3]]
        first = parts[0] if parts else ErrorBody()
        words = "; ".join(part.message for part in parts if part.message)
        return ErrorBody(first.code, words, first.param)
    for name in ("error", "errors", "detail"):
        inner = body.get(name)
        nested = parse_error(inner, depth - 1) if inner else ErrorBody()
        if nested.message or nested.code:
            return nested
    return ErrorBody(_code_of(body), _message_of(body), _param_of(body))


def _parse_error_text(body: str, depth: int) -> ErrorBody:
    try:
        parsed = json.loads(body) if body.lstrip().startswith(("{", "[")) else body
    except (ValueError, RecursionError):
        parsed = body
    return ErrorBody(message=quoted(body)) if isinstance(parsed, str) else parse_error(parsed, depth - 1)


def _code_of(error: Mapping[str, Any]) -> str:
    values = [error.get(name) for name in ("code", "type", "status")]
    codes = [
        str(value)
        for value in values
        if isinstance(value, str | int) and not isinstance(value, bool) and value
    ]
    # Gateways repeat the HTTP status as the code, next to the type.
    return next((code for code in codes if not code.isdigit()), codes[0] if codes else "")


def _message_of(error: Mapping[str, Any]) -> str:
    words = next(
        (
            value
            for name in ("message", "msg", "title")
            if isinstance(value := error.get(name), str) and value
        ),
        "",
    )
    # OpenRouter puts the provider's error into the metadata.
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    inner = parse_error(raw, MAX_QUOTE_DEPTH).message if isinstance(raw, str | Mapping) else ""
    return f"{words} ({inner})".strip() if inner and inner not in words else words


def _param_of(error: Mapping[str, Any]) -> str:
    if isinstance(error.get("param"), str):
        return str(error["param"])
    place = error.get("loc")
    return str(place[-1]) if isinstance(place, list) and place else ""


def quoted(body: object) -> str:
    """Return the start of a body in one line."""
    if isinstance(body, bytes):
        body = body[: 4 * QUOTED].decode("utf-8", "replace")
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
    line = " ".join(visible(storable(text[: 4 * QUOTED])).split())
    return line if len(line) <= QUOTED else f"{line[:QUOTED]}…"
