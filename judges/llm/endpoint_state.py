"""The state of one endpoint and model: places in flight, limits a minute, and whether it is given up.

How many calls may be in flight, and how many may start in a minute.

`AdaptiveLimiter` is additive increase and multiplicative decrease (Chiu & Jain, 1989): the limit grows while
every place is taken, and shrinks when the endpoint says 429, once for all calls that were in flight
together. Other faults leave it alone, since fewer calls would not cure them.
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
"""Attempts without a connection after which an endpoint that never answered is given up."""
DENIALS = 3
"""Different requests that in a row meet a fatal status before an endpoint that has answered is given up."""
MINUTE = 60.0


class AdaptiveLimiter:
    """Places for calls in flight, first come, first served."""

    def __init__(self, first: int, most: int, *, probing: bool = False) -> None:
        self._first = float(min(first, most))
        self.limit = 1.0 if probing else self._first
        self.in_use = 0
        self._probing = probing
        self._most = most
        self._ramping = True
        self._last_cut = float("-inf")
        self._open_at = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._closed: Callable[[], Exception] | None = None

    async def enter(self) -> None:
        """Take a place, waiting for one."""
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
        """Give a place back."""
        self.in_use -= 1
        self._admit()

    async def __aenter__(self) -> None:
        await self.enter()

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    def came_back(self) -> None:
        """Note that a call came back with any result: the others need not wait for a probe any more."""
        if self._probing:
            self._probing = False
            self.limit = self._first
            self._admit()

    def succeed(self) -> None:
        """Note a success: grow if every place is taken.

        Until the first 429, one place for each success; after it, one for each round of successes.
        """
        if self.in_use >= int(self.limit):
            step = 1.0 if self._ramping else 1.0 / self.limit
            self.limit = min(float(self._most), self.limit + step)
            self._admit()

    def cut(self, started: float) -> None:
        """Shrink after a 429 of a call begun at `started` (monotonic seconds), once for its generation."""
        if started < self._last_cut:
            return
        self._last_cut = time.monotonic()
        self._ramping = False
        self.limit = max(1.0, min(self.limit, float(self.in_use)) * CUT)

    def pause(self, seconds: float) -> None:
        """Close the gate for a while."""
        until = time.monotonic() + seconds
        if until > self._open_at:
            self._open_at = until
            asyncio.get_running_loop().call_later(seconds, self._admit)

    def close(self, reason: Callable[[], Exception]) -> None:
        """Turn away waiting and later calls; those inside finish."""
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
    """So many units a minute, at most, in any minute.

    A second's worth may be spent at once; the rate is lowered by as much, so that no minute exceeds
    the limit. What is larger than a second's worth is let through alone and waited for afterwards.
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
        """Leave this process only a part (0-1) of the limit, since others use the rest."""
        self.delay(0.0)  # What came in until now came in at the old rate.
        self._set(self._per_minute * part)
        self._level = min(self._level, self._burst)

    def hold_back(self) -> None:
        """Begin a second's worth below zero, while those who share the limit do not know of it yet."""
        self._level = -self._burst

    def _set(self, per_minute: float) -> None:
        self._burst = max(1.0, per_minute / MINUTE)
        self._rate = max(per_minute - self._burst, per_minute / 2) / MINUTE


class CircuitBreaker:
    """Opens for good after faults in a row that lasted long enough, with no success between.

    A dropped second of a busy endpoint causes hundreds of faults at once and must not end a round:
    hence the duration. An endpoint that never answered is given up sooner. A request on which an
    endpoint always fails must not end a round either, however often it is tried: unless no connection
    was made at all, the faults have to come from as many different requests. Rejected requests (HTTP
    400) count only until a first success: afterwards they are the request's own fault. A fatal status (401,
    403, 404) ends an endpoint at once only where nothing succeeded yet; afterwards several different
    requests in a row have to meet it. A spent quota ends it whenever it is met.
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
        """True if the endpoint was given up."""
        return self._reason is not None

    def succeed(self) -> None:
        """Note a success."""
        self._answered = True
        self._faults = self._unreachable = 0
        self._requests.clear()
        self._denied.clear()

    def fail(self, fault: CallError, key: str) -> None:
        """Note a fault of the request with this key; open if that was one too many."""
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
        needed = self._settings.breaker_faults
        away = self._unreachable >= (needed if self._answered else min(needed, UNREACHED))
        enough = away or len(self._requests) >= needed
        lasted = self._clock() - self._since
        if enough and lasted >= self._patience(fault):
            self._reason = f"{self._faults} faults in a row within {lasted:.0f} s, last: {fault.detail}"

    def _patience(self, fault: CallError) -> float:
        if fault.kind is CallErrorKind.REJECTED:
            return 0.0
        if fault.kind is CallErrorKind.RATE_LIMITED:
            return self._settings.rate_limit_patience
        return self._settings.breaker_seconds if self._answered else self._settings.breaker_start_seconds

    def give_up(self, reason: str) -> None:
        """Open for a reason that is not a fault of a call."""
        self._reason = reason

    def error(self) -> EndpointError:
        """Return the reason for giving up the endpoint, as an error of one line."""
        message = f"The LLM endpoint {self._name} was given up ({self._reason})."
        return EndpointError(
            message,
            advice="Repair the endpoint, or correct its address (OPENAI_BASE_URL, or the spec's) or key, "
            "then resume: nothing judged is lost. Until a battle has a verdict every setting of the judge "
            "may be corrected.",
        )


UNLIMITED = 1_000_000_000


class EndpointState:
    """Shared state of the calls to one endpoint and model."""

    def __init__(self, request: Request, settings: AccessSettings, *, unlimited: bool) -> None:
        first, most = settings.first_concurrency, settings.concurrency
        self.gate = (
            AdaptiveLimiter(UNLIMITED, UNLIMITED) if unlimited else AdaptiveLimiter(first, most, probing=True)
        )
        self.turn = asyncio.Lock()
        self._breaker = CircuitBreaker(f"{request.endpoint} ({request.model})", settings)
        self._requests = TokenBucket(settings.rpm) if settings.rpm and not unlimited else None
        self._tokens = TokenBucket(settings.tpm) if settings.tpm and not unlimited else None

    @property
    def counts_tokens(self) -> bool:
        """True if there is a limit on tokens a minute."""
        return self._tokens is not None

    @property
    def _buckets(self) -> tuple[TokenBucket, ...]:
        return tuple(bucket for bucket in (self._requests, self._tokens) if bucket is not None)

    @property
    def limited(self) -> bool:
        """True if there is a limit a minute."""
        return bool(self._buckets)

    def delay(self, tokens: int) -> float:
        """Count a call against the limits a minute and return how long it has to wait, in seconds.

        Called by whoever has the `turn`, who keeps it while waiting: what stands in line has not been
        counted yet, so that a share that changes meanwhile holds for it as well.
        """
        wait = self._requests.delay(1) if self._requests else 0.0
        return max(wait, self._tokens.delay(tokens)) if self._tokens else wait

    def share(self, part: float) -> None:
        """Leave this process only a part (0-1) of the limits a minute."""
        for bucket in self._buckets:
            bucket.share(part)

    def join(self, part: float) -> None:
        """Begin with a part (0-1) of the limits a minute, beside others who had it all until now."""
        for bucket in self._buckets:
            bucket.share(part)
            bucket.hold_back()

    def check(self) -> None:
        """Raise the breaker's error where the endpoint was given up."""
        if self._breaker.is_open:
            raise self._breaker.error()

    def succeed(self) -> None:
        """Note a success."""
        self._breaker.succeed()
        self.gate.came_back()
        self.gate.succeed()

    def fail(self, fault: CallError, key: str, started: float) -> None:
        """Note a fault of the request with this key, begun at `started` (monotonic seconds)."""
        if fault.kind is CallErrorKind.RATE_LIMITED:
            self.gate.cut(started)
        if fault.retry_after is not None:
            self.gate.pause(fault.retry_after)
        self._breaker.fail(fault, key)
        if self._breaker.is_open:
            self.gate.close(self._breaker.error)
            raise self._breaker.error() from fault
        self.gate.came_back()

    def give_up(self, reason: str) -> None:
        """Ask the endpoint nothing more."""
        self._breaker.give_up(reason)
        self.gate.close(self._breaker.error)
        raise self._breaker.error()
