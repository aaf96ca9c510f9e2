"""Conduct of a judge during a run: its requests, and the usability of its verdicts."""

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
    """Counts the requests of a run on their way to the scheduler; itself a client of LLMs."""

    scheduler: Scheduler
    requests: int = 0
    _first: float | None = None
    _last: float = 0.0

    async def ask(self, request: Request) -> Reply | CallFailure:
        """Ask, and count what no cache answered."""
        answered = await self.scheduler.ask(request)
        if not (isinstance(answered, Reply) and answered.cached):
            self.requests += 1
            self._last = time.monotonic()
            self._first = self._last if self._first is None else self._first
        return answered

    @property
    def rate(self) -> float | None:
        """Requests a second from the first that came back to the last; None before there are two."""
        if self._first is None or self._last <= self._first:
            return None
        return (self.requests - 1) / (self._last - self._first)

    @property
    def waiting(self) -> str:
        """Wait that the endpoints impose, as a sentence; empty without one."""
        wait = self.scheduler.waiting
        return "" if wait is None else str(wait)

    def seconds_left(self, battles_left: int, settled: int, settled_requests: int) -> float | None:
        """Return the time left in seconds, from the replies so far; None where nothing was asked yet."""
        if not (settled and settled_requests and self.rate):
            return None
        begun = self.requests - settled_requests
        expected = battles_left * settled_requests / settled - begun
        return max(0.0, expected) / self.rate


@dataclass(frozen=True, slots=True)
class OpenedJudge:
    """A judge for a run.

    Attributes:
        traffic: Its requests; None of an embedded judge.
        waits: Whether its battles wait for replies, so that only so many are begun as calls are in flight.
    """

    judge: Judge
    traffic: Traffic | None = None
    waits: bool = False


GO_ON = "go_on"
"""In a round's plan: judge it whatever its judge says."""


@dataclass(slots=True)
class ConductGuard:
    """Counts what a run's judge says, and objects once it is not a judge."""

    round_name: str
    conduct: JudgeConduct = field(default_factory=JudgeConduct)

    @classmethod
    def of_round(cls, round_: Round) -> "ConductGuard | None":
        """Return the guard of a round; None where it is to be judged anyway."""
        return None if round_.plan.get(GO_ON) else cls(round_.name)

    def look(self, verdict: Verdict) -> UnfitJudgeError | None:
        """Count a verdict, and return what is wrong with the judge; None where nothing is, or not yet."""
        self.conduct.add(verdict)
        if not self.conduct.enough:
            return None
        wrong = self.conduct.grave()
        if not wrong:
            return None
        example = f" A reply: «{self.conduct.example}»." if self.conduct.example else ""
        name = self.round_name
        return UnfitJudgeError(
            f"Round {name} is paused. {' '.join(wrong)}{example}",
            advice=f"See its replies: `arena rounds status {name} --replies 20`. Correct the judge and "
            f"resume, or judge all the same: `arena rounds resume {name} --go-on`.",
        )
