"""Store for jobs; `leases` has how workers take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, true, update
from sqlalchemy.exc import IntegrityError

from data.errors import ConflictError, NotFoundError
from data.models import Job, JobKind, JobState, RoundState
from data.models.base import now
from data.models.jobs import jobs
from data.models.rounds import rounds
from data.store.base import StorePart, to_record
from data.store.engine import new_id

ACTIVE = (JobState.QUEUED, JobState.RUNNING)
SHOWN = 200


class JobStore(StorePart):
    """The queue."""

    def put(
        self,
        kind: JobKind,
        *,
        round_id: int | None = None,
        payload: Mapping[str, Any] | None = None,
        workers: int = 1,
        owner: str = "",
    ) -> Job:
        """Put a job into the queue, unless its round has another one; for the arguments see `Job`."""
        row: dict[str, Any] = {"kind": kind, "state": JobState.QUEUED, "round_id": round_id}
        row |= {"payload": dict(payload or {}), "workers": workers, "owner": owner}
        try:
            # Within a larger transaction only this part is undone, so that the reason can be looked up.
            with self._database.begin() as connection, connection.begin_nested():
                number = new_id(connection.execute(insert(jobs).values(row)))
        except IntegrityError as error:
            raise self._conflict(round_id) from error
        return self.get(number)

    def get(self, number: int) -> Job:
        """One job."""
        row = self._first(select_jobs().where(jobs.c.id == number))
        if row is None:
            raise NotFoundError(f"There is no job {number}.", advice="`arena jobs` lists them.")
        return to_record(Job, row)

    def all(self, limit: int = SHOWN, *, kind: JobKind | None = None) -> tuple[Job, ...]:
        """The newest jobs, of one kind where it is given, newest first."""
        query = select_jobs().where(true() if kind is None else jobs.c.kind == kind)
        rows = self._all(query.order_by(jobs.c.id.desc()).limit(limit))
        return tuple(to_record(Job, row) for row in rows)

    def of_round(self, round_id: int) -> Job | None:
        """The job of a round that is queued or running, else its newest one; None where it had none."""
        active = jobs.c.state.in_(ACTIVE)
        query = select_jobs().where(jobs.c.round_id == round_id)
        row = self._first(query.order_by(active.desc(), jobs.c.id.desc()).limit(1))
        return None if row is None else to_record(Job, row)

    def position(self, job: Job) -> int | None:
        """The place of a queued job in the queue, 1 being the next; None where it does not wait."""
        if job.state is not JobState.QUEUED:
            return None
        waiting = (jobs.c.state == JobState.QUEUED) & (jobs.c.owner == "")
        query = select(func.count()).where(waiting, jobs.c.id < job.id)
        (ahead,) = self._values(query)
        return 1 + int(ahead)

    def withdraw(self, reason: str, *, number: int | None = None, round_id: int | None = None) -> bool:
        """Take a job, or the active job of a round, out of the queue, unless it has ended.

        Its workers see that within seconds. Of a job the round is paused.
        """
        chosen = jobs.c.round_id == round_id if number is None else jobs.c.id == number
        with self._database.begin() as connection:
            changed = connection.execute(
                update(jobs)
                .where(chosen, jobs.c.state.in_(ACTIVE))
                .values(state=JobState.CANCELLED, error=reason, finished_at=now())
            ).rowcount
            if changed and number is not None:
                pause_round(connection, number)
        return changed > 0

    def _conflict(self, round_id: int | None) -> ConflictError:
        job = None if round_id is None else self.of_round(round_id)
        if job is None or job.state not in ACTIVE:
            return ConflictError("The job's round is busy, or gone.", advice="Look at `arena jobs`.")
        return ConflictError(
            f"Round {job.round_name} has job {job.id} already, which is {job.state}.",
            advice=f"See `arena rounds status {job.round_name}`, or end it by "
            f"`arena rounds pause {job.round_name}`.",
        )


def select_jobs() -> Select[*tuple[Any, ...]]:
    """Jobs with the names of their rounds."""
    return select(jobs, rounds.c.name.label("round_name")).outerjoin(rounds, rounds.c.id == jobs.c.round_id)


def pause_round(connection: Connection, job_id: int) -> None:
    """Let the round of a job be paused, where it runs."""
    judged = connection.execute(select(jobs.c.round_id).where(jobs.c.id == job_id)).scalar()
    connection.execute(
        update(rounds)
        .where(rounds.c.id == judged, rounds.c.state == RoundState.RUNNING)
        .values(state=RoundState.PAUSED)
    )
