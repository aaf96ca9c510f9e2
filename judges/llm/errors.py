"""What can go wrong with one call, sorted by what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

RATE_LIMIT_STATUS = 429
SERVER_STATUS = 500
TRANSIENT_STATUSES = frozenset({408, 409, 425})
FATAL_STATUSES = frozenset({401, 402, 403, 404, 405})
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "moderation_blocked"})
DETAIL_LENGTH = 300
SHORTEST_SECRET = 8
"""Shorter keys are placeholders such as `none`, and words of messages."""


class CallErrorKind(StrEnum):
    """What a fault means for the request and for its endpoint."""

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
        usage: Input and output tokens, where the endpoint reported them.
    """

    def __init__(
        self,
        kind: CallErrorKind,
        detail: str,
        *,
        retry_after: float | None = None,
        billable: bool = False,
        unreachable: bool = False,
        usage: tuple[int, int] = (0, 0),
    ) -> None:
        self.kind = kind
        self._full_detail = " ".join(detail.split())
        self.detail = self._full_detail[:DETAIL_LENGTH]
        self.retry_after = retry_after
        self.billable = billable
        self.unreachable = unreachable
        self.usage = usage
        super().__init__(self.detail)

    def redact(self, secrets: Iterable[str]) -> None:
        """Take secrets out of the detail: gateways repeat keys that they refuse, and details are kept."""
        for secret in secrets:
            if len(secret) >= SHORTEST_SECRET:
                self._full_detail = self._full_detail.replace(secret, "***")
        self.detail = self._full_detail[:DETAIL_LENGTH]
        self.args = (self.detail,)


def fault_of_status(status: int, body: object, headers: Mapping[str, str]) -> CallError:
    """Sort an HTTP error by its status, its error code and its `Retry-After`."""
    code, message = _error_of(body)
    detail = f"HTTP {status}" + (f": {message}" if message else "")
    return CallError(_kind_of(status, code), detail, retry_after=retry_after_of(headers))


def _kind_of(status: int, code: str) -> CallErrorKind:
    if code in FILTER_CODES:
        return CallErrorKind.REFUSED
    if status == RATE_LIMIT_STATUS:
        return CallErrorKind.FATAL if code in QUOTA_CODES else CallErrorKind.RATE_LIMITED
    if status >= SERVER_STATUS or status in TRANSIENT_STATUSES:
        return CallErrorKind.TRANSIENT
    return CallErrorKind.FATAL if status in FATAL_STATUSES else CallErrorKind.REJECTED


def _error_of(body: object) -> tuple[str, str]:
    """The code and message of an error body, whether or not the client unwrapped `error`."""
    if isinstance(body, Mapping):
        inner: Any = body.get("error", body)
        if isinstance(inner, Mapping):
            return str(inner.get("code") or inner.get("type") or ""), str(inner.get("message") or "")
        return "", str(inner)
    return "", body if isinstance(body, str) else ""


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """The wait that `retry-after-ms` or `retry-after` (seconds or a date) asks for, in seconds."""
    milliseconds = headers.get("retry-after-ms")
    if milliseconds is not None:
        wait = _number(milliseconds)
        return None if wait is None else wait / 1_000
    value = headers.get("retry-after")
    if value is None:
        return None
    return _number(value) if _number(value) is not None else _until(value)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _until(value: str) -> float | None:
    from datetime import UTC, datetime  # noqa: PLC0415 - only dates need them
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - as above

    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
