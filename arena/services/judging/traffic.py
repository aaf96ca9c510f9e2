"""A judge's requests and conduct during a run."""

import time
from dataclasses import dataclass, field

from data.errors import UnfitJudgeError
from data.models import Reply, Round, Verdict
from data.models.conduct import JudgeConduct
from judges.base import Judge
from judges.llm.client import Scheduler
from judges.llm.requests import CallFailure, Request


@dataclass(slots=True)
class Traffic:
    """LLM client that counts a run's requests to the scheduler."""

    scheduler: Scheduler
    requests: int = 0
    _first: float | None = None
    _last: float = 0.0

    async def ask(self, request: Request) -> Reply | CallFailure:
        """Send a request, and count it unless the reply is cached."""
        reply = await self.scheduler.ask(request)
        if not (isinstance(reply, Reply) and reply.cached):
            self.requests += 1
            self._last = time.monotonic()
            self._first = self._last if self._first is None else self._first
        return reply

    @property
    def rate(self) -> float | None:
        """Requests per second between the first and last reply; None before the second."""
        if self._first is None or self._last <= self._first:
            return None
        return (self.requests - 1) / (self._last - self._first)

    @property
    def waiting(self) -> str:
        """Wait imposed by endpoints, as a sentence; empty if not waiting."""
        wait = self.scheduler.waiting
        return "" if wait is None else str(wait)

    def seconds_left(self, battles_left: int, settled: int, settled_requests: int) -> float | None:
        """Estimate the remaining seconds from the replies so far; None before the first."""
        if not (settled and settled_requests and self.rate):
            return None
        begun = self.requests - settled_requests
        expected = battles_left * settled_requests / settled - begun
        return max(0.0, expected) / self.rate


@dataclass(frozen=True, slots=True)
class OpenedJudge:
    """Judge for a run.

    Attributes:
        traffic: Its requests; None for an embedded judge.
        waits: True if battles wait for replies; then no more start than calls may be in flight.
    """

    judge: Judge
    traffic: Traffic | None = None
    waits: bool = False


GO_ON = "go_on"
"""Key in a round's plan: judge to the end despite bad conduct."""


@dataclass(slots=True)
class ConductGuard:
    """Checks the verdicts of a run, and reports an unfit judge."""

    round_name: str
    conduct: JudgeConduct = field(default_factory=JudgeConduct)

    @classmethod
    def of_round(cls, round_: Round) -> "ConductGuard | None":
        """Return the guard of a round; None if it is judged regardless."""
        return None if round_.plan.get(GO_ON) else cls(round_.name)

    def look(self, verdict: Verdict) -> UnfitJudgeError | None:
        """Count a verdict, and return an error once the judge proves unfit."""
        self.conduct.add(verdict)
        if not self.conduct.enough:
            return None
        problems = self.conduct.grave()
        if not problems:
            return None
        example = f" A reply: «{self.conduct.example}»." if self.conduct.example else ""
        name = self.round_name
        return UnfitJudgeError(
            f"Round {name} is paused. {' '.join(problems)}{example}",
            advice=f"See its replies: `arena rounds status {name} --replies 20`. Correct the judge and "
            f"resume, or judge anyway: `arena rounds resume {name} --go-on`.",
        )
