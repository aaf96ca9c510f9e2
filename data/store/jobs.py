"""Stores for jobs and leases."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, case, delete, exists, func, insert, select, true, update

from data.errors import ConflictError, NotFoundError
from data.models import Job, JobKind, JobState, Lease, RoundState, WorkerId
from data.models.base import now
from data.models.jobs import jobs, lease_rows
from data.models.rounds import ledgers, rounds
from data.progress import Work
from data.store.base import AnyRow, StorePart, to_record, unique
from data.store.battles import has_pending, has_work, lease_lost
from data.store.engine import db_now, new_id

ACTIVE = (JobState.QUEUED, JobState.RUNNING)
MAX_LISTED = 200
MAX_ATTEMPTS = 3
"""Consecutive failures without a verdict after which a job fails."""


class JobStore(StorePart):
    """Store for the queue of jobs."""

    def put(
        self,
        kind: JobKind,
        *,
        round_id: int | None = None,
        payload: Mapping[str, Any] | None = None,
        workers: int = 1,
        owner: str = "",
    ) -> Job:
        """Add a job to the queue unless its round has an active one; see `Job` for the arguments."""
        row: dict[str, Any] = {"kind": kind, "state": JobState.QUEUED, "round_id": round_id}
        row |= {"payload": dict(payload or {}), "workers": workers, "owner": owner}
        # A savepoint, so that the conflicting job can be read within a larger transaction.
        with (
            unique(jobs.c.round_id, conflict=lambda: self._conflict(round_id)),
            self._database.begin() as connection,
            connection.begin_nested(),
        ):
            number = new_id(connection.execute(insert(jobs).values(row)))
        return self.get(number)

    def get(self, number: int) -> Job:
        """Return a job."""
        row = self._first(select_jobs().where(jobs.c.id == number))
        if row is None:
            raise NotFoundError(f"There is no job {number}.", advice="`arena jobs` lists them.")
        return to_record(Job, row)

    def all(self, limit: int = MAX_LISTED, *, kind: JobKind | None = None) -> tuple[Job, ...]:
        """Return the newest jobs, optionally of one kind, newest first."""
        query = select_jobs().where(true() if kind is None else jobs.c.kind == kind)
        rows = self._all(query.order_by(jobs.c.id.desc()).limit(limit))
        return tuple(to_record(Job, row) for row in rows)

    def of_round(self, round_id: int) -> Job | None:
        """Return the queued or running job of a round, else its newest job, else None."""
        active = jobs.c.state.in_(ACTIVE)
        query = select_jobs().where(jobs.c.round_id == round_id)
        row = self._first(query.order_by(active.desc(), jobs.c.id.desc()).limit(1))
        return None if row is None else to_record(Job, row)

    def position(self, job: Job) -> int | None:
        """Return the position of a job in the queue, from 1; None if it is not queued."""
        if job.state is not JobState.QUEUED:
            return None
        waiting = (jobs.c.state == JobState.QUEUED) & (jobs.c.owner == "")
        query = select(func.count()).where(waiting, jobs.c.id < job.id)
        (ahead,) = self._values(query)
        return 1 + int(ahead)

    def withdraw(self, reason: str, *, number: int | None = None, round_id: int | None = None) -> bool:
        """Cancel a job by number, which pauses its round, or the active job of a round.

        Workers notice it within seconds. Returns False if the job has ended.
        """
        selected = jobs.c.round_id == round_id if number is None else jobs.c.id == number
        with self._database.begin() as connection:
            changed = connection.execute(
                update(jobs)
                .where(selected, jobs.c.state.in_(ACTIVE))
                .values(state=JobState.CANCELLED, error=reason, finished_at=now())
            ).rowcount
            if changed and number is not None:
                pause_round(connection, number)
        return changed > 0

    def _conflict(self, round_id: int | None) -> ConflictError:
        job = None if round_id is None else self.of_round(round_id)
        if job is None or job.state not in ACTIVE:
            return ConflictError("The job's round is busy.", advice="See `arena jobs`.")
        return ConflictError(
            f"Round {job.round_name} already has job {job.id}, which is {job.state}.",
            advice=f"See `arena rounds status {job.round_name}`, or stop it with "
            f"`arena rounds pause {job.round_name}`.",
        )


def select_jobs() -> Select[*tuple[Any, ...]]:
    """Select jobs with the names of their rounds."""
    return select(jobs, rounds.c.name.label("round_name")).outerjoin(rounds, rounds.c.id == jobs.c.round_id)


def pause_round(connection: Connection, job_id: int) -> None:
    """Pause the round of a job if it is running."""
    judged = connection.execute(select(jobs.c.round_id).where(jobs.c.id == job_id)).scalar()
    connection.execute(
        update(rounds)
        .where(rounds.c.id == judged, rounds.c.state == RoundState.RUNNING)
        .values(state=RoundState.PAUSED)
    )


FAILED = "{reason} The job failed after {attempts} attempts without a verdict."
STOPPED = "Its process was stopped."
WORKER_LOST = "Worker {name} was lost."
RUNNABLE = (RoundState.RUNNING, RoundState.FINISHED)
IsGone = Callable[[WorkerId], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Result of a worker: `final` errors are not retried, others after `retry_in` seconds.

    `finished` is for jobs without battles; the others are finished when no battle is pending.
    """

    error: str = ""
    final: bool = False
    retry_in: float = 0.0
    finished: bool = False
    result: dict[str, Any] | None = None


class LeaseStore(StorePart):
    """Store for leases on jobs."""

    def take(
        self, worker: WorkerId, *, lease: float, gone: IsGone, owner: str = "", job_id: int | None = None
    ) -> tuple[Job, Lease] | None:
        """Take a lease of `lease` seconds on the first available job, or return None.

        `gone` returns whether a worker's process is known to have ended.
        """
        # Its own transaction: two workers that each held a lost job could wait for each other's.
        self.give_up(gone)
        with self._database.together() as connection:
            self._database.require_schema()
            row = connection.execute(_candidates(connection, owner, job_id)).first()
            if row is None:
                return None
            moment = db_now(connection)
            slots = select(lease_rows.c.slot).where(lease_rows.c.job_id == row.id)
            used_slots = set(connection.execute(slots).scalars())
            slot = next((number for number in range(row.workers) if number not in used_slots), None)
            if slot is None:  # Others took the last ones while this waited for the job.
                return None
            new = insert(lease_rows).values(
                job_id=row.id,
                slot=slot,
                worker=worker.name,
                place=worker.place,
                pid=worker.pid,
                born=worker.started,
                taken_at=moment,
                beat_at=moment,
                lease_until=moment + lease,
            )
            number = new_id(connection.execute(new))
            started = func.coalesce(jobs.c.started_at, now())
            connection.execute(
                update(jobs).where(jobs.c.id == row.id).values(state=JobState.RUNNING, started_at=started)
            )
            new_row = connection.execute(_select(connection).where(lease_rows.c.id == number)).one()
            job = connection.execute(select_jobs().where(jobs.c.id == row.id)).one()
            return to_record(Job, job), _lease(new_row)

    def beat(self, lease_id: int, *, lease: float, work: Work | None = None) -> bool:
        """Record a heartbeat and the progress, and return whether its job still runs."""
        with self._database.begin() as connection:
            self._database.require_schema()
            moment = db_now(connection)
            progress = None if work is None else work.as_json()
            changed = connection.execute(
                update(lease_rows)
                .where(lease_rows.c.id == lease_id)
                .values(beat_at=moment, lease_until=moment + lease, progress=progress)
            ).rowcount
            if not changed:
                raise lease_lost(lease_id)
            row = connection.execute(
                select(jobs.c.state, rounds.c.state.label("round_state"))
                .join(lease_rows, lease_rows.c.job_id == jobs.c.id)
                .outerjoin(rounds, rounds.c.id == jobs.c.round_id)
                .where(lease_rows.c.id == lease_id)
            ).one()
        return row.state == JobState.RUNNING and row.round_state in {None, *RUNNABLE}

    def release(self, lease_id: int, release: Release) -> None:
        """Release a lease if it still exists; the last lease of a job ends or requeues it."""
        with self._database.together() as connection:
            lease = select(lease_rows).where(lease_rows.c.id == lease_id)
            row = connection.execute(lease).first()
            if row is None:
                return
            job = connection.execute(select(jobs).where(jobs.c.id == row.job_id).with_for_update()).one()
            row = connection.execute(lease.with_for_update()).first()
            if row is not None:
                _delete_lease(connection, row, job.round_id)
                _conclude(connection, job, release, progress=row.done > 0)

    def give_up(self, gone: IsGone) -> int:
        """End the leases of stopped workers, requeue their jobs and return the number of leases."""
        with self._database.together() as connection:
            # Another process may have migrated the schema.
            self._database.require_schema()
            return _reap(connection, gone)

    def all(self, *, job_id: int | None = None, round_id: int | None = None) -> tuple[Lease, ...]:
        """Return all leases, or those of a job or of a round's jobs, including cancelled jobs."""
        with self._database.begin() as connection:
            query = _select(connection).order_by(lease_rows.c.id)
            if job_id is not None:
                query = query.where(lease_rows.c.job_id == job_id)
            if round_id is not None:
                query = query.where(
                    lease_rows.c.job_id.in_(select(jobs.c.id).where(jobs.c.round_id == round_id))
                )
            return tuple(_lease(row) for row in connection.execute(query))

    def count(self) -> int:
        """Count the leases, which share the rate limits."""
        (count,) = self._values(select(func.count()).select_from(lease_rows))
        return int(count)


def _conclude(
    connection: Connection, job: AnyRow, release: Release, *, progress: bool, lost: bool = False
) -> None:
    current = connection.execute(select(jobs.c.state, jobs.c.attempts).where(jobs.c.id == job.id)).one()
    if current.state != JobState.RUNNING:
        return
    attempts = (0 if progress else current.attempts) + bool(release.error)
    values: dict[str, Any] = {"attempts": attempts, "error": release.error}
    is_last = not connection.execute(select(exists().where(lease_rows.c.job_id == job.id))).scalar()
    fails = release.error and (release.final or attempts >= MAX_ATTEMPTS or (job.owner and is_last))
    # A worker may be lost after its last verdict.
    if is_last and (lost or not fails) and _is_done(connection, job, release):
        values |= {"state": JobState.DONE, "finished_at": now(), "result": release.result, "error": ""}
    elif fails:
        is_only = release.final or attempts == 1
        error = release.error if is_only else FAILED.format(reason=release.error, attempts=attempts)
        values |= {"state": JobState.FAILED, "finished_at": now(), "error": error}
        pause_round(connection, job.id)
    elif is_last and job.owner:
        values |= {"state": JobState.CANCELLED, "finished_at": now(), "error": STOPPED}
        pause_round(connection, job.id)
    elif is_last:
        values |= {"state": JobState.QUEUED, "not_before": db_now(connection) + release.retry_in}
    connection.execute(update(jobs).where(jobs.c.id == job.id).values(values))


def _is_done(connection: Connection, job: AnyRow, release: Release) -> bool:
    if job.kind != JobKind.JUDGE:
        return release.finished
    if has_pending(connection, job.round_id):
        return False
    connection.execute(
        update(rounds)
        .where(rounds.c.id == job.round_id, rounds.c.state == RoundState.RUNNING)
        .values(state=RoundState.FINISHED, finished_at=now())
    )
    return True


def _candidates(connection: Connection, owner: str, job_id: int | None) -> Select[*tuple[Any, ...]]:
    leased = select(func.count()).where(lease_rows.c.job_id == jobs.c.id).scalar_subquery()
    waiting = (jobs.c.state == JobState.QUEUED) & (jobs.c.not_before <= db_now(connection))
    shared = (
        (jobs.c.state == JobState.RUNNING)
        & (leased < jobs.c.workers)
        & (jobs.c.kind == JobKind.JUDGE)
        & has_work(jobs.c.round_id)
    )
    query = select(jobs).where(jobs.c.owner == owner, waiting | shared)
    if job_id is not None:
        query = query.where(jobs.c.id == job_id)
    # Workers that start together wait for each other; skipping locked jobs would end all but the first.
    return query.order_by(jobs.c.id).limit(1).with_for_update(of=jobs)


def _reap(connection: Connection, is_gone: IsGone) -> int:
    """End the leases of stopped workers; jobs are locked before leases, as everywhere, to avoid deadlocks."""
    expired = [
        row for row in connection.execute(_select(connection)) if row.left < 0 or is_gone(_worker(row))
    ]
    ended = 0
    for job_id in sorted({row.job_id for row in expired}):
        job = connection.execute(select(jobs).where(jobs.c.id == job_id).with_for_update()).one()
        for old in (row for row in expired if row.job_id == job_id):
            row = connection.execute(
                select(lease_rows)
                .where(lease_rows.c.id == old.id, lease_rows.c.beat_at == old.beat_at)
                .with_for_update(skip_locked=True)
            ).first()
            if row is not None:
                _delete_lease(connection, row, job.round_id)
                reason = Release(error=WORKER_LOST.format(name=row.worker))
                _conclude(connection, job, reason, progress=row.done > 0, lost=True)
                ended += 1
    return ended


def _delete_lease(connection: Connection, row: AnyRow, round_id: int | None) -> None:
    connection.execute(delete(lease_rows).where(lease_rows.c.id == row.id))
    if round_id is None:
        return
    connection.execute(
        update(ledgers)
        .where(ledgers.c.round_id == round_id)
        .values(
            reserved_usd=case(
                (ledgers.c.reserved_usd > row.drawn_usd, ledgers.c.reserved_usd - row.drawn_usd), else_=0.0
            ),
            spent_usd=ledgers.c.spent_usd + max(0.0, row.recorded_usd - row.paid_usd),
            input_tokens=ledgers.c.input_tokens + max(0, row.recorded_input - row.paid_input),
            output_tokens=ledgers.c.output_tokens + max(0, row.recorded_output - row.paid_output),
        )
    )


def _select(connection: Connection) -> Select[*tuple[Any, ...]]:
    moment = db_now(connection)
    return select(
        lease_rows,
        (moment - lease_rows.c.taken_at).label("seconds"),
        (moment - lease_rows.c.beat_at).label("beat_age"),
        (lease_rows.c.lease_until - moment).label("left"),
    )


def _worker(row: AnyRow) -> WorkerId:
    return WorkerId(name=row.worker, place=row.place, pid=row.pid, started=row.born)


def _lease(row: AnyRow) -> Lease:
    return to_record(
        Lease,
        row,
        worker=_worker(row),
        seconds=float(row.seconds),
        beat_age=float(row.beat_age),
        lease_left=float(row.left),
        work=None if row.progress is None else Work.from_json(row.progress),
    )
