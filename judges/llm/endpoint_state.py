"""State of an endpoint and model: concurrency, rate limits and circuit breaker.

`AdaptiveLimiter` is additive increase and multiplicative decrease (Chiu & Jain, 1989): the limit grows while
it is fully used, and shrinks after a 429, once for all calls that were in flight together. Other errors do
not change it, because fewer calls would not help.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from data.errors import EndpointError
from judges.llm.errors import DENIED_STATUSES, CallError, CallErrorKind
from judges.llm.requests import Request
from judges.llm.settings import AccessSettings

CUT = 0.7
UNREACHED = 4
"""Attempts without a connection after which an endpoint without any reply is given up."""
DENIALS = 3
"""Consecutive requests with a fatal status after which an endpoint with earlier replies is given up."""
MINUTE = 60.0


class AdaptiveLimiter:
    """First-in, first-out limiter of concurrent calls."""

    def __init__(self, first: int, maximum: int, *, probing: bool = False) -> None:
        self._first = float(min(first, maximum))
        self.limit = 1.0 if probing else self._first
        self.in_use = 0
        self._probing = probing
        self._maximum = maximum
        self._ramping = True
        self._last_cut = float("-inf")
        self._open_at = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closed: Callable[[], Exception] | None = None

    async def enter(self) -> None:
        """Acquire a slot, waiting if necessary."""
        if self._closed is not None:
            raise self._closed()
        if not self._waiting and self._free():
            self.in_use += 1
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled() and future.exception() is None:
                self.leave()
            raise

    def leave(self) -> None:
        """Release a slot."""
        self.in_use -= 1
        self._admit()

    async def __aenter__(self) -> None:
        await self.enter()

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    def finish_probe(self) -> None:
        """End the probe after a call with any result, and admit the other calls."""
        if self._probing:
            self._probing = False
            self.limit = self._first
            self._admit()

    def succeed(self) -> None:
        """Record a success; grow if the limit is fully used.

        The limit grows by one per success until the first 429, and then by one per round of successes.
        """
        if self.in_use >= int(self.limit):
            step = 1.0 if self._ramping else 1.0 / self.limit
            self.limit = min(float(self._maximum), self.limit + step)
            self._admit()

    def cut(self, started: float) -> None:
        """Shrink after a 429, once per generation of calls; `started` is in monotonic seconds."""
        if started < self._last_cut:
            return
        self._last_cut = time.monotonic()
        self._ramping = False
        self.limit = max(1.0, min(self.limit, float(self.in_use)) * CUT)

    def pause(self, seconds: float) -> None:
        """Admit no calls for some seconds."""
        until = time.monotonic() + seconds
        if until > self._open_at:
            self._open_at = until
            asyncio.get_running_loop().call_later(seconds, self._admit)

    def close(self, reason: Callable[[], Exception]) -> None:
        """Reject waiting and later calls; calls in flight finish."""
        self._closed = reason
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(reason())

    def _free(self) -> bool:
        return self.in_use < int(self.limit) and time.monotonic() >= self._open_at

    def _admit(self) -> None:
        while self._waiting and self._free():
            future = self._waiting.popleft()
            if not future.done():
                self.in_use += 1
                future.set_result(None)


class TokenBucket:
    """Limit of units in any minute.

    The burst is one second's worth; the rate is lowered by as much, so that no minute exceeds the limit. A
    larger amount passes at once and delays the next ones.
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._set(per_minute)
        self._level = self._burst
        self._at = clock()

    def delay(self, units: float) -> float:
        """Spend `units` and return how long to wait before using them, in seconds."""
        now = self._clock()
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        missing = min(units, self._burst) - self._level
        self._level -= units
        return max(0.0, missing / self._rate)

    def share(self, part: float) -> None:
        """Use only a part (0-1) of the limit; other processes use the rest."""
        self.delay(0.0)  # accrue at the old rate until now
        self._set(self._per_minute * part)
        self._level = min(self._level, self._burst)

    def start_empty(self) -> None:
        """Start one second's worth below zero, until the other processes know of this one."""
        self._level = -self._burst

    def _set(self, per_minute: float) -> None:
        self._burst = max(1.0, per_minute / MINUTE)
        self._rate = max(per_minute - self._burst, per_minute / 2) / MINUTE


class CircuitBreaker:
    """Opens permanently after enough consecutive errors over enough time.

    The minimum duration is needed because one bad second of a busy endpoint causes hundreds of errors. It is
    shorter for endpoints that never answered. Unless no connection is possible, the errors must come from
    different requests, because a single request may always fail. Rejected requests (HTTP 400) count only
    before the first success; later they are the request's own problem. A fatal status (401, 403, 404) opens
    the breaker at once before the first success, and later after several different requests in a row. An
    exhausted quota always opens it.
    """

    def __init__(
        self, name: str, settings: AccessSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name = name
        self._settings = settings
        self._clock = clock
        self._answered = False
        self._faults = 0
        self._unreachable = 0
        self._requests: set[str] = set()
        self._denied: set[str] = set()
        self._since = 0.0
        self._reason: str | None = None

    @property
    def is_open(self) -> bool:
        """True if the endpoint is given up."""
        return self._reason is not None

    def succeed(self) -> None:
        """Record a success."""
        self._answered = True
        self._faults = self._unreachable = 0
        self._requests.clear()
        self._denied.clear()

    def fail(self, fault: CallError, key: str) -> None:
        """Record an error of the request with this key, and open if the limit is reached."""
        if fault.kind is CallErrorKind.REFUSED:
            self.succeed()
            return
        if fault.kind is CallErrorKind.FATAL:
            self._denied.add(key)
            if not self._answered or len(self._denied) >= DENIALS or fault.status not in DENIED_STATUSES:
                self._reason = fault.detail
            return
        if fault.retry_after is not None and fault.retry_after > self._settings.rate_limit_patience:
            self._reason = f"it asks for a wait of {fault.retry_after:.0f} s: {fault.detail}"
            return
        if fault.kind is CallErrorKind.REJECTED and (self._answered or fault.context_length):
            return
        if self._faults == 0:
            self._since = self._clock()
        self._faults += 1
        self._unreachable += fault.unreachable
        self._requests.add(key)
        limit = self._settings.breaker_faults
        is_down = self._unreachable >= (limit if self._answered else min(limit, UNREACHED))
        duration = self._clock() - self._since
        if (is_down or len(self._requests) >= limit) and duration >= self._patience(fault):
            self._reason = f"{self._faults} errors in a row within {duration:.0f} s, last: {fault.detail}"

    def _patience(self, fault: CallError) -> float:
        if fault.kind is CallErrorKind.REJECTED:
            return 0.0
        if fault.kind is CallErrorKind.RATE_LIMITED:
            return self._settings.rate_limit_patience
        return self._settings.breaker_seconds if self._answered else self._settings.breaker_start_seconds

    def give_up(self, reason: str) -> None:
        """Open for a reason other than an error of a call."""
        self._reason = reason

    def error(self) -> EndpointError:
        """Return the error for a given-up endpoint."""
        message = f"Gave up on the LLM endpoint {self._name} ({self._reason})."
        return EndpointError(
            message,
            advice="Fix the endpoint, its address (OPENAI_BASE_URL, or in the spec) or its key, then resume; "
            "no verdict is lost. Before the first verdict you can change any setting of the judge.",
        )


UNLIMITED = 1_000_000_000


class EndpointState:
    """Shared state of calls to one endpoint and model."""

    def __init__(self, request: Request, settings: AccessSettings, *, unlimited: bool) -> None:
        first, maximum = settings.first_concurrency, settings.concurrency
        self.gate = (
            AdaptiveLimiter(UNLIMITED, UNLIMITED)
            if unlimited
            else AdaptiveLimiter(first, maximum, probing=True)
        )
        self.turn = asyncio.Lock()
        self._breaker = CircuitBreaker(f"{request.endpoint} ({request.model})", settings)
        self._requests = TokenBucket(settings.rpm) if settings.rpm and not unlimited else None
        self._tokens = TokenBucket(settings.tpm) if settings.tpm and not unlimited else None

    @property
    def counts_tokens(self) -> bool:
        """True with a limit of tokens per minute."""
        return self._tokens is not None

    @property
    def _buckets(self) -> tuple[TokenBucket, ...]:
        return tuple(bucket for bucket in (self._requests, self._tokens) if bucket is not None)

    @property
    def limited(self) -> bool:
        """True with a limit of requests or tokens per minute."""
        return bool(self._buckets)

    def delay(self, tokens: int) -> float:
        """Count a call against the limits per minute and return its wait in seconds.

        The caller must hold `turn` until the wait is over, so that a changed share also applies to queued
        calls.
        """
        wait = self._requests.delay(1) if self._requests else 0.0
        return max(wait, self._tokens.delay(tokens)) if self._tokens else wait

    def share(self, part: float) -> None:
        """Use only a part (0-1) of the limits per minute."""
        for bucket in self._buckets:
            bucket.share(part)

    def join(self, part: float) -> None:
        """Start with a part (0-1) of the limits that other processes have used fully until now."""
        for bucket in self._buckets:
            bucket.share(part)
            bucket.start_empty()

    def check(self) -> None:
        """Raise an error if the endpoint is given up."""
        if self._breaker.is_open:
            raise self._breaker.error()

    def succeed(self) -> None:
        """Record a success."""
        self._breaker.succeed()
        self.gate.finish_probe()
        self.gate.succeed()

    def fail(self, fault: CallError, key: str, started: float) -> None:
        """Record an error of the request with this key, started at `started` (monotonic seconds)."""
        if fault.kind is CallErrorKind.RATE_LIMITED:
            self.gate.cut(started)
        if fault.retry_after is not None:
            self.gate.pause(fault.retry_after)
        self._breaker.fail(fault, key)
        if self._breaker.is_open:
            self.gate.close(self._breaker.error)
            raise self._breaker.error() from fault
        self.gate.finish_probe()

    def give_up(self, reason: str) -> None:
        """Stop all calls to the endpoint."""
        self._breaker.give_up(reason)
        self.gate.close(self._breaker.error)
        raise self._breaker.error()
