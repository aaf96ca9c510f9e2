"""Jobs of rounds: judging and publishing by workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arena.services.accounts.auth import OPERATOR, Caller, require
from arena.services.jobs.service import JobService
from data.errors import ConflictError, InputError
from data.models import Job, JobKind, RoundState, TokenScope
from data.models.rounds import require_resumable

if TYPE_CHECKING:
    # What checks a publication loads with `publish`: to list jobs takes none of it.
    from arena.services.boards.people import VoteSource

MOST_WORKERS = 1_000
PUBLISHABLE = (RoundState.FINISHED, RoundState.CANCELLED)


class RoundJobs(JobService):
    """The queue, with what organisers put into it for rounds."""

    def judge(
        self,
        round_name: str,
        *,
        options: Mapping[str, Any] | None = None,
        workers: int | None = None,
        caller: Caller = OPERATOR,
    ) -> Job:
        """Let workers judge what is pending in a round.

        Options are `concurrency` and what goes before a worker's settings (see `LlmOverrides`).
        """
        require(caller, TokenScope.ORGANISE)
        round_ = self.store.rounds.get(round_name)
        workers = MOST_WORKERS if workers is None else workers
        if not 0 < workers <= MOST_WORKERS:
            raise InputError(f"{workers} workers cannot share a round.", advice=f"Use 1 to {MOST_WORKERS}.")
        self.job_leases.give_up_dead()
        require_resumable(round_)
        return self.put(
            caller, JobKind.JUDGE, round_id=round_.id, payload=dict(options or {}), workers=workers
        )

    def publish(
        self,
        round_name: str,
        *,
        metrics: bool = True,
        partial: bool = False,
        calibration: int | None = None,
        people: VoteSource | None = None,
        caller: Caller = OPERATOR,
    ) -> Job:
        """Let a worker score, rate and publish a finished round.

        With `partial`, it may be one of which less than 90 % was judged. `calibration` is the number of the
        one that the board reports, `people` are votes that say what people would say.
        """
        from arena.services.boards.people import section_of_round  # noqa: PLC0415 - as above
        from arena.services.boards.standings import read_agreement, require_enough  # noqa: PLC0415 - loads statistics, see above

        require(caller, TokenScope.ORGANISE)
        round_ = self.store.rounds.get(round_name)
        if round_.state not in PUBLISHABLE:
            message = f"Round {round_.name} is {round_.state}, so it cannot be published."
            raise ConflictError(message, advice="Only finished and cancelled rounds can be.")
        require_enough(self.store, round_name, partial=partial)
        if calibration is not None:
            read_agreement(self.store.jobs.get(calibration), round_.judge_name)
        if people is not None:
            # A worker would say the same, but much later.
            section_of_round(self.store, round_, people)
        payload = {
            "metrics": metrics,
            "partial": partial,
            "calibration": calibration,
            "people": None if people is None else people.as_json(),
            "asked_by": caller.name,
        }
        return self.put(caller, JobKind.PUBLISH, round_id=round_.id, payload=payload)
