"""Errors of calls, sorted by their remedy, and the waits before the next call."""

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
LONGEST = 10.0 * 365 * 86_400
"""Seconds; whatever asks for more asks for good."""


MOST_DOUBLINGS = 16
SPREAD = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Wait:
    """A request that waits for its next attempt.

    Attributes:
        cause: What the last attempt met, as in `HTTP 429`.
        until: When the next one is made, in monotonic seconds.
    """

    cause: str
    until: float

    @property
    def seconds(self) -> float:
        """Seconds that are left of it."""
        return max(0.0, self.until - time.monotonic())

    def __str__(self) -> str:
        return f"{self.cause}, next try in {math.ceil(self.seconds)} s"


class Backoff:
    """Exponential waits with jitter."""

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self._jitter = random.Random()  # noqa: S311 - spreads retries, guards nothing

    def seconds(self, calls: int, asked: float | None) -> float:
        """Return the seconds to wait: from half to all of the exponential wait, never less than asked."""
        most = min(self._longest, self._first * 2 ** min(calls - 1, MOST_DOUBLINGS))
        own = self._jitter.uniform(most / 2, most)
        least = asked or 0.0
        return max(own, least + self._jitter.uniform(0.0, min(most, least * SPREAD)))


def wait_asked_for(headers: Mapping[str, str], body: object = None) -> float | None:
    """Return the wait in seconds that `retry-after-ms`, `retry-after` or an error's body asks for.

    What cannot be read counts as not asked. A date in the past asks for no wait.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return min(LONGEST, milliseconds / 1_000)
    value = headers.get("retry-after")
    if value is not None:
        for read in (_number, _duration, _until):
            wait = read(value)
            if wait is not None:
                return min(LONGEST, wait)
    return _retry_delay(body)


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if number >= 0 and math.isfinite(number) else None


def _duration(value: str) -> float | None:
    """Seconds of `1s`, `500ms` or `2m59.5s`."""
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
    """Return the wait in seconds that the words of an error ask for."""
    match = _WAIT.search(message)
    return match and _duration(match["words"] or match["delay"] or f"{match['seconds']}s")


RATE_LIMIT_STATUS = 429
UNAVAILABLE_STATUS = 503
REDIRECTS = range(300, 400)
REDIRECTED = ": it leads to another address, which is not asked. Name the right one as the endpoint."
SERVER_STATUS = 500
TRANSIENT_STATUSES = frozenset({408, 409, 425})
DENIED_STATUSES = frozenset({401, 403, 404, 405})
FATAL_STATUSES = DENIED_STATUSES | {402}
QUOTA_CODES = frozenset(
    {"exceeded_current_quota_error", "insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
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
"""Characters of an endpoint's body that are quoted where it is not what was asked for."""
DEEPEST_ERROR = 5
DEEPEST_QUOTED = 3
_MODERATION = re.compile(
    r"moderation|\bflagged\b|content[ _-]?(?:filter|management|polic)|safety (?:system|filter|setting)|"
    r"(?:usage|acceptable use|content|safety) polic|\bviolat\w*+ [^.]{0,60}polic|inappropriate content",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"exceeded[ _](?:your[ _])?current[ _]quota|insufficient[ _](?:quota|balance|credit|funds)|"
    r"billing[ _](?:hard[ _]limit|not[ _]active)|credit balance is too low|out of credit|arrearage",
    re.IGNORECASE,
)
PER_DAY = "PerDay"
"""Part of Google's names of daily quotas, whose errors ask for a wait of seconds all the same."""
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
    """Consequences of a fault for the request and for its endpoint."""

    RATE_LIMITED = "rate_limited"
    """Too many calls: wait, and make fewer at a time."""
    TRANSIENT = "transient"
    """The same call may succeed later."""
    REJECTED = "rejected"
    """The endpoint will never take this request; others may pass."""
    REFUSED = "refused"
    """The model or a filter declined to answer."""
    FATAL = "fatal"
    """No request will pass: wrong key, no such model, nothing left to pay with."""


class CallError(Exception):
    """One call without a reply.

    Args:
        kind: What to do about it.
        detail: What happened, in one line.
        retry_after: The wait in seconds that the endpoint asked for.
        billable: Whether the provider may charge for it although nothing came back.
        unreachable: Whether no connection was made, so that no request can be to blame.
        usage: The tokens that the endpoint reported.
        status: The HTTP status, also where it stands in the body of a reply with 200; None without a reply.
        message: The endpoint's own words, without the status.
        param: The parameter that the endpoint says is at fault; empty where it names none.
        moderation: Whether the endpoint says that its policy or moderation turned the request away.
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

    def redact(self, redacted: Callable[[str], str]) -> None:
        """Take keys out of the detail: gateways repeat keys that they refuse, and details are kept."""
        self._full_detail, self.message = redacted(self._full_detail), redacted(self.message)
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
    """Sort an error by its status, its code, its words and the wait that it asks for."""
    if status in REDIRECTS:
        # What it says is a page, if anything.
        return CallError(CallErrorKind.FATAL, heading.format(status=status) + REDIRECTED, status=status)
    said, wait = said_in(body), wait_asked_for(headers, body)
    if wait is None and status in {RATE_LIMIT_STATUS, UNAVAILABLE_STATUS}:
        wait = _wait_in(said.message)
    moderation = said.code.lower() in FILTER_CODES or (
        status in MODERATING_STATUSES and bool(_MODERATION.search(said.message))
    )
    # Google's own word for a blocked prompt, which gateways pass on under any status.
    moderation = moderation or "blockReason" in said.message
    too_long = not moderation and (
        said.code.lower() in CONTEXT_CODES
        or status == TOO_LARGE_STATUS
        or (status != RATE_LIMIT_STATUS and bool(_CONTEXT.search(said.message)))
    )
    waits = wait is not None and PER_DAY not in str(body)
    return CallError(
        _kind_of(status, said, moderation=moderation, too_long=too_long, waits=waits),
        heading.format(status=status) + (f": {said.message}" if said.message else ""),
        retry_after=wait,
        usage=usage,
        status=status,
        message=said.message,
        param=said.param,
        moderation=moderation,
        context_length=too_long,
    )


def _kind_of(status: int, said: "Said", *, moderation: bool, too_long: bool, waits: bool) -> CallErrorKind:
    if moderation:
        return CallErrorKind.REFUSED
    # Gateways lose the code and keep the words, which Google also uses of a minute's limit, with a wait.
    if said.code in QUOTA_CODES or (not waits and _QUOTA.search(said.message)):
        return CallErrorKind.FATAL
    if status == RATE_LIMIT_STATUS:
        return CallErrorKind.RATE_LIMITED
    if too_long:
        return CallErrorKind.REJECTED
    if status >= SERVER_STATUS or status in TRANSIENT_STATUSES:
        return CallErrorKind.TRANSIENT
    return CallErrorKind.FATAL if status in FATAL_STATUSES else CallErrorKind.REJECTED


@dataclass(frozen=True, slots=True)
class Said:
    """Contents of an error's body: the code, the words, and the parameter at fault, else empty."""

    code: str = ""
    message: str = ""
    param: str = ""


def said_in(body: object, depth: int = DEEPEST_ERROR) -> Said:
    """Read an error's body as providers shape it, whether or not a client unwrapped `error`."""
    if isinstance(body, str):
        return _said_in_text(body, depth)
    if depth == 0 or not isinstance(body, list | Mapping):
        return Said()
    if isinstance(body, list):
        # Gemini's errors stand in a list, as FastAPI's complaints about several fields do.
        parts = [said_in(part, depth - 1) for part in body[:3]]
        first = parts[0] if parts else Said()
        words = "; ".join(part.message for part in parts if part.message)
        return Said(first.code, words, first.param)
    for name in ("error", "errors", "detail"):
        inner = body.get(name)
        found = said_in(inner, depth - 1) if inner else Said()
        if found.message or found.code:
            return found
    return Said(_code_of(body), _message_of(body), _param_of(body))


def _said_in_text(body: str, depth: int) -> Said:
    try:
        parsed = json.loads(body) if body.lstrip().startswith(("{", "[")) else body
    except (ValueError, RecursionError):
        parsed = body
    return Said(message=quoted(body)) if isinstance(parsed, str) else said_in(parsed, depth - 1)


def _code_of(error: Mapping[str, Any]) -> str:
    for name in ("code", "type", "status"):
        value = error.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value:
            return str(value)
    return ""


def _message_of(error: Mapping[str, Any]) -> str:
    words = next(
        (
            value
            for name in ("message", "msg", "title")
            if isinstance(value := error.get(name), str) and value
        ),
        "",
    )
    # OpenRouter says in the metadata what the provider behind it said.
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    inner = said_in(raw, DEEPEST_QUOTED).message if isinstance(raw, str | Mapping) else ""
    return f"{words} ({inner})".strip() if inner and inner not in words else words


def _param_of(error: Mapping[str, Any]) -> str:
    if isinstance(error.get("param"), str):
        return str(error["param"])
    place = error.get("loc")
    return str(place[-1]) if isinstance(place, list) and place else ""


def quoted(body: object) -> str:
    """Return the first characters of a body as it came, in one line."""
    if isinstance(body, bytes):
        body = body[: 4 * QUOTED].decode("utf-8", "replace")
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, default=str)
    line = " ".join(visible(storable(text[: 4 * QUOTED])).split())
    return line if len(line) <= QUOTED else f"{line[:QUOTED]}…"
