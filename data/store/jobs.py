"""Jobs in the store, and the leases by which workers share them."""

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
SHOWN = 200
MAX_ATTEMPTS = 3
"""Failures without a verdict in between, after which a job is given up."""


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
        # Within a larger transaction only this part is undone, so that the reason can be looked up.
        with (
            unique(jobs.c.round_id, taken=lambda: self._conflict(round_id)),
            self._database.begin() as connection,
            connection.begin_nested(),
        ):
            number = new_id(connection.execute(insert(jobs).values(row)))
        return self.get(number)

    def get(self, number: int) -> Job:
        """One job."""
        row = self._first(select_jobs().where(jobs.c.id == number))
        if row is None:
            raise NotFoundError(f"There is no job {number}.", advice="`arena jobs` lists them.")
        return to_record(Job, row)

    def all(self, limit: int = SHOWN, *, kind: JobKind | None = None) -> tuple[Job, ...]:
        """Return the newest jobs, of one kind where it is given, newest first."""
        query = select_jobs().where(true() if kind is None else jobs.c.kind == kind)
        rows = self._all(query.order_by(jobs.c.id.desc()).limit(limit))
        return tuple(to_record(Job, row) for row in rows)

    def of_round(self, round_id: int) -> Job | None:
        """Return the queued or running job of a round, else its newest one; None without any."""
        active = jobs.c.state.in_(ACTIVE)
        query = select_jobs().where(jobs.c.round_id == round_id)
        row = self._first(query.order_by(active.desc(), jobs.c.id.desc()).limit(1))
        return None if row is None else to_record(Job, row)

    def position(self, job: Job) -> int | None:
        """Return the place of a queued job in the queue, 1 being the next; None where it does not wait."""
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
            return ConflictError("The job's round is busy.", advice="Look at `arena jobs`.")
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


GIVEN_UP = "{reason} It was given up after {attempts} attempts that settled nothing."
STOPPED = "The process that ran it was stopped."
WORKER_LOST = "Worker {name} was lost while on it."
RUNNABLE = (RoundState.RUNNING, RoundState.FINISHED)
IsGone = Callable[[WorkerId], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Way in which a worker leaves a job: `final` errors are not retried, others after `retry_in` seconds.

    `finished` is for jobs that judge no battles; for the others, pending battles say so.
    """

    error: str = ""
    final: bool = False
    retry_in: float = 0.0
    finished: bool = False
    result: dict[str, Any] | None = None


class LeaseStore(StorePart):
    """Hands out leases on jobs, and ends those of workers that stopped."""

    def take(
        self, worker: WorkerId, *, lease: float, gone: IsGone, owner: str = "", job_id: int | None = None
    ) -> tuple[Job, Lease] | None:
        """Take a lease of so many seconds on the first job that has one free; None without one.

        `gone` says of a worker whether its process is known to have ended.
        """
        with self._database.together() as connection:
            # It may have changed since this process opened the database.
            self._database.require_schema()
            _reap(connection, gone)
            row = connection.execute(_candidates(connection, owner, job_id)).first()
            if row is None:
                return None
            moment = db_now(connection)
            used = select(lease_rows.c.slot).where(lease_rows.c.job_id == row.id)
            used_slots = set(connection.execute(used).scalars())
            new = insert(lease_rows).values(
                job_id=row.id,
                slot=next(number for number in range(row.workers) if number not in used_slots),
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
            taken = connection.execute(_select(connection).where(lease_rows.c.id == number)).one()
            job = connection.execute(select_jobs().where(jobs.c.id == row.id)).one()
            return to_record(Job, job), _lease(taken)

    def beat(self, lease_id: int, *, lease: float, work: Work | None = None) -> bool:
        """Record a heartbeat and how far the work is, and return whether its job is still wanted."""
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
        """Release a lease, unless it is gone already; the last one decides what becomes of job and round."""
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
        """End the leases of stopped workers, and return how many; their jobs are queued again."""
        with self._database.together() as connection:
            return _reap(connection, gone)

    def all(self, *, job_id: int | None = None, round_id: int | None = None) -> tuple[Lease, ...]:
        """Every lease, or those on a job, or on any job of a round, also a cancelled one."""
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
        """Count the leases; workers share the limits a minute."""
        (count,) = self._values(select(func.count()).select_from(lease_rows))
        return int(count)


def _conclude(
    connection: Connection, job: AnyRow, release: Release, *, progress: bool, lost: bool = False
) -> None:
    """Decide what becomes of a job after a worker left, or was `lost`; the job is locked."""
    current = connection.execute(select(jobs.c.state, jobs.c.attempts).where(jobs.c.id == job.id)).one()
    if current.state != JobState.RUNNING:
        return
    attempts = (0 if progress else current.attempts) + bool(release.error)
    values: dict[str, Any] = {"attempts": attempts, "error": release.error}
    is_last = not connection.execute(select(exists().where(lease_rows.c.job_id == job.id))).scalar()
    fails = release.error and (release.final or attempts >= MAX_ATTEMPTS or (job.owner and is_last))
    # A worker that stalls after its last verdict is lost with nothing left to do.
    if is_last and (lost or not fails) and _is_done(connection, job, release):
        values |= {"state": JobState.DONE, "finished_at": now(), "result": release.result, "error": ""}
    elif fails:
        once = release.final or attempts == 1
        error = release.error if once else GIVEN_UP.format(reason=release.error, attempts=attempts)
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
    return query.order_by(jobs.c.id).limit(1).with_for_update(skip_locked=True, of=jobs)


def _reap(connection: Connection, is_gone: IsGone) -> int:
    """End the leases of stopped workers. Locks go from jobs to leases, as everywhere: no deadlock."""
    expired = [
        row for row in connection.execute(_select(connection)) if row.left < 0 or is_gone(_worker(row))
    ]
    given_up = 0
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
                given_up += 1
    return given_up


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
