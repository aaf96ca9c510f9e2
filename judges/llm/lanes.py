"""The state of one endpoint and model: places in flight, limits a minute, and whether it is given up."""

from __future__ import annotations

import asyncio

from judges.llm.breaker import Breaker
from judges.llm.faults import FaultError, FaultKind
from judges.llm.pace import Bucket, Gate
from judges.llm.requests import Request
from judges.llm.settings import AccessSettings

UNLIMITED = 1_000_000_000


class Lane:
    """What the calls to one endpoint and model share.

    Args:
        request: Names the endpoint and the model.
        settings: Limits and patience.
        unlimited: Whether any number of requests may wait at once.
    """

    def __init__(self, request: Request, settings: AccessSettings, *, unlimited: bool) -> None:
        first, most = settings.first_concurrency, settings.concurrency
        self.gate = Gate(UNLIMITED, UNLIMITED) if unlimited else Gate(first, most)
        self.turn = asyncio.Lock()
        self._breaker = Breaker(f"{request.endpoint} ({request.model})", settings)
        self._requests = Bucket(settings.rpm) if settings.rpm and not unlimited else None
        self._tokens = Bucket(settings.tpm) if settings.tpm and not unlimited else None

    @property
    def counts_tokens(self) -> bool:
        """Whether there is a limit on tokens a minute."""
        return self._tokens is not None

    @property
    def _buckets(self) -> tuple[Bucket, ...]:
        return tuple(bucket for bucket in (self._requests, self._tokens) if bucket is not None)

    @property
    def limited(self) -> bool:
        """Whether there is a limit a minute."""
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
        """Raise the breaker's error where the endpoint was given up.

        Raises:
            EndpointError: It was.
        """
        if self._breaker.is_open:
            raise self._breaker.error()

    def succeed(self) -> None:
        """A call succeeded."""
        self._breaker.succeed()
        self.gate.succeed()

    def fail(self, fault: FaultError, key: str, started: float) -> None:
        """A call for the request with this key, begun at `started` (monotonic seconds), met a fault.

        Raises:
            EndpointError: That was one too many.
        """
        if fault.kind is FaultKind.RATE_LIMITED:
            self.gate.cut(started)
        if fault.retry_after is not None:
            self.gate.pause(fault.retry_after)
        self._breaker.fail(fault, key)
        if self._breaker.is_open:
            self.gate.close(self._breaker.error)
            raise self._breaker.error() from fault
