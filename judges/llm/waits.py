"""Waits between attempts: what an endpoint asks for, and the exponential one."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

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
    """Exponential waits with jitter.

    Args:
        first: Seconds before the second attempt at most; doubles at each further one.
        longest: Seconds that the wait never grows beyond, unless the endpoint asks for more.
    """

    def __init__(self, first: float, longest: float) -> None:
        self._first, self._longest = first, longest
        self._jitter = random.Random()  # noqa: S311 - spreads retries, guards nothing

    def seconds(self, calls: int, asked: float | None) -> float:
        """Seconds before the next attempt: from half to all of the exponential wait, never less than asked.

        Args:
            calls: Attempts so far.
            asked: The wait that the endpoint asks for, where it asks for one.
        """
        most = min(self._longest, self._first * 2 ** min(calls - 1, MOST_DOUBLINGS))
        own = self._jitter.uniform(most / 2, most)
        least = asked or 0.0
        return max(own, least + self._jitter.uniform(0.0, min(most, least * SPREAD)))


def wait_asked_for(headers: Mapping[str, str], body: object = None) -> float | None:
    """The wait in seconds that `retry-after-ms`, `retry-after` or an error's body asks for.

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
    """The `retryDelay` in the details of a Google error."""
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str):
            return _duration(delay)
    return None
