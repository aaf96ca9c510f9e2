"""Jobs in the store: put in, looked at, taken out. How workers take them stands in `leases`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, true, update
from sqlalchemy.exc import IntegrityError

from data.errors import ConflictError, NotFoundError
from data.records import Job, JobKind, JobState, NewJob, RoundState
from data.store.base import StorePart, to_record, to_row
from data.store.engine import new_id
from data.tables.columns import now
from data.tables.jobs import jobs
from data.tables.rounds import rounds

JUDGING = (JobKind.JUDGE, JobKind.RETRY)
ACTIVE = (JobState.QUEUED, JobState.RUNNING)
SHOWN = 200


class JobStore(StorePart):
    """What there is to do, and what became of it."""

    def put(self, new: NewJob) -> Job:
        """Put a job into the queue.

        Raises:
            ConflictError: The round has a job that is queued or running.
        """
        row = to_row(jobs, new, state=JobState.QUEUED, payload=dict(new.payload))
        try:
            # Within a larger transaction only this part is undone, so that the reason can be looked up.
            with self._database.begin() as connection, connection.begin_nested():
                number = new_id(connection.execute(insert(jobs).values(row)))
        except IntegrityError as error:
            raise self._conflict(new) from error
        return self.get(number)

    def get(self, number: int) -> Job:
        """One job.

        Raises:
            NotFoundError: No job has this number.
        """
        row = self._first(select_jobs().where(jobs.c.id == number))
        if row is None:
            raise NotFoundError(f"There is no job {number}.", advice="`arena jobs list` names them.")
        return to_record(Job, row)

    def all(self, limit: int = SHOWN, *, kind: JobKind | None = None) -> tuple[Job, ...]:
        """The newest jobs, of one kind where it is given, newest first."""
        query = select_jobs().where(true() if kind is None else jobs.c.kind == kind)
        rows = self._all(query.order_by(jobs.c.id.desc()).limit(limit))
        return tuple(to_record(Job, row) for row in rows)

    def since(self, moment: datetime, *, kind: JobKind) -> tuple[Job, ...]:
        """The jobs of a kind that were put since a moment, oldest first."""
        query = select_jobs().where(jobs.c.kind == kind, jobs.c.created_at >= moment).order_by(jobs.c.id)
        return tuple(to_record(Job, row) for row in self._all(query))

    def active(self, round_id: int) -> Job | None:
        """The job of a round that is queued or running; there is one at most."""
        row = self._first(select_jobs().where(jobs.c.round_id == round_id, jobs.c.state.in_(ACTIVE)))
        return None if row is None else to_record(Job, row)

    def latest(self, round_id: int) -> Job | None:
        """The newest job of a round, whatever became of it."""
        row = self._first(
            select_jobs().where(jobs.c.round_id == round_id).order_by(jobs.c.id.desc()).limit(1)
        )
        return None if row is None else to_record(Job, row)

    def position(self, job: Job) -> int | None:
        """The place of a queued job in the queue, 1 being the next; None where it does not wait."""
        before = (jobs.c.priority > job.priority) | ((jobs.c.priority == job.priority) & (jobs.c.id < job.id))
        query = select(func.count()).where(jobs.c.state == JobState.QUEUED, jobs.c.owner == "", before)
        if job.state is not JobState.QUEUED:
            return None
        (ahead,) = self._values(query)
        return 1 + int(ahead)

    def withdraw(self, round_id: int, reason: str) -> None:
        """Take the active job of a round out of the queue; its workers see that within seconds."""
        self._change(
            update(jobs)
            .where(jobs.c.round_id == round_id, jobs.c.state.in_(ACTIVE))
            .values(state=JobState.CANCELLED, error=reason, finished_at=now())
        )

    def cancel(self, number: int, reason: str) -> Job:
        """Take a job out of the queue, pausing the round that it judges.

        Raises:
            ConflictError: It has ended.
            NotFoundError: No job has this number.
        """
        with self._database.begin() as connection:
            changed = connection.execute(
                update(jobs)
                .where(jobs.c.id == number, jobs.c.state.in_(ACTIVE))
                .values(state=JobState.CANCELLED, error=reason, finished_at=now())
            ).rowcount
            if changed:
                pause_round(connection, number)
        job = self.get(number)
        if not changed:
            raise ConflictError(f"Job {number} is {job.state} already.", advice="There is nothing to do.")
        return job

    def mark(self, number: int, word: str) -> bool:
        """Write a word into a job's payload; False where it stood there already."""
        with self._database.together() as connection:
            query = select(jobs.c.payload).where(jobs.c.id == number).with_for_update()
            payload = dict(connection.execute(query).scalar_one())
            if payload.get(word):
                return False
            changed = {**payload, word: True}
            connection.execute(update(jobs).where(jobs.c.id == number).values(payload=changed))
            return True

    def _conflict(self, new: NewJob) -> ConflictError:
        job = None if new.round_id is None else self.active(new.round_id)
        if job is None:
            return ConflictError("The job's round is busy, or gone.", advice="Look at `arena jobs list`.")
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
