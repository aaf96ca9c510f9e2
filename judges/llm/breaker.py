"""When to give an endpoint up, so that a dead one stops a round instead of failing it battle by battle."""

from __future__ import annotations

import time
from collections.abc import Callable

from data.errors import EndpointError
from judges.llm.faults import FaultError, FaultKind
from judges.llm.settings import AccessSettings


class Breaker:
    """Opens for good after faults in a row that lasted long enough, with no success between.

    A dropped second of a busy endpoint brings hundreds of faults at once and must not end a round:
    hence the duration. An endpoint that never answered is given up sooner. A request on which an
    endpoint always fails must not end a round either, however often it is tried: unless no connection
    was made at all, the faults have to come from as many different requests. Rejected requests (HTTP
    400) count only until a first success: afterwards they are the request's own fault.
    """

    def __init__(
        self,
        name: str,
        settings: AccessSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._settings = settings
        self._clock = clock
        self._answered = False
        self._faults = 0
        self._unreachable = 0
        self._requests: set[str] = set()
        self._since = 0.0
        self._reason: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether the endpoint was given up."""
        return self._reason is not None

    def succeed(self) -> None:
        """A call succeeded."""
        self._answered = True
        self._faults = self._unreachable = 0
        self._requests.clear()

    def fail(self, fault: FaultError, key: str) -> None:
        """A call for the request with this key met a fault; open if that was one too many."""
        if fault.kind is FaultKind.REFUSED:
            self.succeed()
            return
        if fault.kind is FaultKind.FATAL:
            self._reason = fault.detail
            return
        if fault.retry_after is not None and fault.retry_after > self._settings.rate_limit_patience:
            self._reason = f"it asks for a wait of {fault.retry_after:.0f} s: {fault.detail}"
            return
        if fault.kind is FaultKind.REJECTED and self._answered:
            return
        if self._faults == 0:
            self._since = self._clock()
        self._faults += 1
        self._unreachable += fault.unreachable
        self._requests.add(key)
        enough = max(self._unreachable, len(self._requests)) >= self._settings.breaker_faults
        lasted = self._clock() - self._since
        if enough and lasted >= self._patience(fault):
            self._reason = f"{self._faults} faults in a row within {lasted:.0f} s, last: {fault.detail}"

    def _patience(self, fault: FaultError) -> float:
        if fault.kind is FaultKind.REJECTED:
            return 0.0
        if fault.kind is FaultKind.RATE_LIMITED:
            return self._settings.rate_limit_patience
        return self._settings.breaker_seconds if self._answered else self._settings.breaker_start_seconds

    def error(self) -> EndpointError:
        """Why the endpoint was given up, as an error of one line."""
        message = f"The LLM endpoint {self._name} was given up ({self._reason})."
        return EndpointError(message, advice="Mend it or its settings, then resume: nothing judged is lost.")
