"""The organisers' first page: waiting submissions and rounds under way."""

from __future__ import annotations

from dataclasses import dataclass

from arena.services.accounts.auth import Caller, require
from arena.services.jobs.service import JobStatus
from arena.services.organisers.inbox import InboxService, SetInbox
from arena.services.organisers.round_jobs import RoundJobs
from arena.services.rounds.service import RoundService
from data.models import JobKind, JobState, Round, RoundCounts, RoundState, TokenScope
from data.store import Store

UNDER_WAY = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED, RoundState.FINISHED)
UNENDED = (JobState.QUEUED, JobState.RUNNING)
CALIBRATIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundProgress:
    """A round that is not published, and how far it is; `job` is the one that moves it, None without."""

    round: Round
    counts: RoundCounts
    job: JobStatus | None

    @property
    def share(self) -> float:
        """Share of the planned battles that have ended, 0–1."""
        planned = self.counts.planned
        return (planned - self.counts.pending) / planned if planned else 1.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds until its battles have ended at the workers' rate; None where nobody judges."""
        rate = 0.0 if self.job is None else self.job.rate
        return self.counts.pending / rate if rate else None

    @property
    def moving(self) -> bool:
        """Whether a job of it waits or is in a worker's hands."""
        return self.job is not None and self.job.job.state in UNENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Contents of the organisers' first page."""

    inboxes: tuple[SetInbox, ...]
    calibrations: tuple[JobStatus, ...]
    accounts: int
    teams: int

    @property
    def waiting(self) -> int:
        """Number of submissions that wait."""
        return sum(len(inbox.waiting) for inbox in self.inboxes)


class OverviewService:
    """Use cases of organisers who come back to see how things stand."""

    def __init__(
        self,
        store: Store,
        inbox: InboxService,
        rounds: RoundService,
        jobs: RoundJobs,
    ) -> None:
        self._store = store
        self._inbox = inbox
        self._rounds = rounds
        self._jobs = jobs

    def look(self, *, caller: Caller) -> Overview:
        """How things stand."""
        require(caller, TokenScope.ORGANISE)
        return Overview(
            inboxes=self._inbox.waiting(caller=caller),
            calibrations=self._jobs.recent(JobKind.CALIBRATE)[:CALIBRATIONS],
            accounts=len(self._store.teams.accounts()),
            teams=len(self._store.teams.all()),
        )

    def rounds(self, *, caller: Caller) -> tuple[RoundProgress, ...]:
        """The rounds that are not published, retracted or cancelled, the newest first."""
        require(caller, TokenScope.ORGANISE)
        return tuple(
            RoundProgress(
                round=round_,
                counts=self._rounds.status(round_.name)[1],
                job=self._jobs.of_round(round_.id),
            )
            for round_ in self._rounds.rounds()
            if round_.state in UNDER_WAY
        )
