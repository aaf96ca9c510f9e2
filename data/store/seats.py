"""Seats: how workers share jobs, take battles, and are given up when they die.

A seat is a lease by the database's clock. Each battle that is being judged is held by one seat, which the
primary key of `battle_hold` sees to. A verdict is committed together with a look at its seat, so that a
worker that was given up, and whose battles others may have, commits nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, case, delete, func, insert, select, update

from data.records import Beat, Job, JobState, RoundState, Seat, WorkerId
from data.store.database import Database, new_id
from data.store.fencing import lost
from data.store.holds import has_work
from data.store.jobs import JUDGING, job_of, select_jobs
from data.store.leaving import Leaving, conclude
from data.store.moments import database_now, now
from data.tables import jobs, ledgers, rounds, seats

DIED = "Worker {name} was lost while on it."
Gone = Callable[[WorkerId], bool]


class SeatStore:
    """Hands out seats at jobs, and gives up workers that are dead."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(
        self, worker: WorkerId, *, lease: float, gone: Gone, owner: str = "", job_id: int | None = None
    ) -> tuple[Job, Seat] | None:
        """Take a seat at the first job that has one free; None where there is none.

        Args:
            worker: Who takes it.
            lease: Seconds without a heartbeat after which the worker counts as dead.
            gone: Says of a worker whether its process is known to have ended.
            owner: Takes only jobs of this owner.
            job_id: Takes only this job.
        """
        with self._database.together() as connection:
            _reap(connection, gone)
            row = connection.execute(_candidates(connection, owner, job_id)).first()
            if row is None:
                return None
            moment = database_now(connection)
            taken = set(connection.execute(select(seats.c.slot).where(seats.c.job_id == row.id)).scalars())
            slot = next(number for number in range(row.workers) if number not in taken)
            made = connection.execute(
                insert(seats).values(
                    job_id=row.id,
                    slot=slot,
                    worker=worker.name,
                    place=worker.place,
                    pid=worker.pid,
                    born=worker.born,
                    taken_at=moment,
                    beat_at=moment,
                    lease_until=moment + lease,
                    **dict.fromkeys(COUNTERS, 0),
                )
            )
            number = new_id(made)
            connection.execute(
                update(jobs)
                .where(jobs.c.id == row.id)
                .values(state=JobState.RUNNING, started_at=func.coalesce(jobs.c.started_at, now()))
            )
            found = connection.execute(_select(connection).where(seats.c.id == number)).one()
            job = connection.execute(select_jobs().where(jobs.c.id == row.id)).one()
            return job_of(job), _seat(found)

    def beat(self, seat_id: int, *, lease: float) -> Beat:
        """Say that a worker lives, and learn whether its job is still wanted.

        Raises:
            LeaseLostError: It was given up.
        """
        with self._database.begin() as connection:
            moment = database_now(connection)
            changed = connection.execute(
                update(seats).where(seats.c.id == seat_id).values(beat_at=moment, lease_until=moment + lease)
            ).rowcount
            if not changed:
                raise lost(seat_id)
            row = connection.execute(
                select(jobs.c.state, rounds.c.state.label("round_state"), _seat_count())
                .join(seats, seats.c.job_id == jobs.c.id)
                .outerjoin(rounds, rounds.c.id == jobs.c.round_id)
                .where(seats.c.id == seat_id)
            ).one()
        wanted = row.state == JobState.RUNNING and row.round_state in {None, *RUNNABLE}
        return Beat(wanted=wanted, seats=row.seat_count)

    def leave(self, seat_id: int, leaving: Leaving) -> None:
        """Give a seat back; the last one to leave decides what becomes of job and round.

        A seat that is gone already is no matter.
        """
        with self._database.together() as connection:
            job_id = connection.execute(select(seats.c.job_id).where(seats.c.id == seat_id)).scalar()
            if job_id is None:
                return
            job = connection.execute(select(jobs).where(jobs.c.id == job_id).with_for_update()).one()
            row = connection.execute(select(seats).where(seats.c.id == seat_id).with_for_update()).first()
            if row is None:
                return
            _vacate(connection, row, job.round_id)
            conclude(connection, job, leaving, progress=row.done > 0)

    def give_up(self, gone: Gone) -> int:
        """Give up the workers that are dead, and return how many; their jobs are queued again."""
        with self._database.together() as connection:
            return _reap(connection, gone)

    def of_job(self, job_id: int) -> tuple[Seat, ...]:
        """The seats taken at a job."""
        with self._database.begin() as connection:
            rows = connection.execute(
                _select(connection).where(seats.c.job_id == job_id).order_by(seats.c.slot)
            )
            return tuple(_seat(row) for row in rows)

    def of_round(self, round_id: int) -> tuple[Seat, ...]:
        """The seats taken at any job of a round, those of a job that was cancelled included."""
        query = select(jobs.c.id).where(jobs.c.round_id == round_id)
        with self._database.begin() as connection:
            rows = connection.execute(_select(connection).where(seats.c.job_id.in_(query)))
            return tuple(_seat(row) for row in rows)

    def callers(self) -> int:
        """How many seats share the limits a minute: all but those of processes that watch others judge.

        Who starts a job for itself and several others takes the first seat, and calls nobody from it.
        """
        watching = (jobs.c.owner != "") & (jobs.c.workers > 1) & (seats.c.slot == 0)
        query = select(func.count()).select_from(seats.join(jobs, jobs.c.id == seats.c.job_id))
        with self._database.begin() as connection:
            return int(connection.execute(query.where(~watching)).scalar_one())

    def all(self) -> tuple[Seat, ...]:
        """Every seat that is taken."""
        with self._database.begin() as connection:
            return tuple(_seat(row) for row in connection.execute(_select(connection).order_by(seats.c.id)))


COUNTERS = (
    "done",
    "drawn_usd",
    "paid_usd",
    "paid_input",
    "paid_output",
    "recorded_usd",
    "recorded_input",
    "recorded_output",
)
RUNNABLE = (RoundState.RUNNING, RoundState.FINISHED)


def _seat_count() -> ColumnElement[int]:
    return select(func.count()).select_from(seats).scalar_subquery().label("seat_count")


def _candidates(connection: Connection, owner: str, job_id: int | None) -> Select[*tuple[Any, ...]]:
    taken = select(func.count()).where(seats.c.job_id == jobs.c.id).scalar_subquery()
    waiting = (jobs.c.state == JobState.QUEUED) & (jobs.c.not_before <= database_now(connection))
    shared = (
        (jobs.c.state == JobState.RUNNING)
        & (taken < jobs.c.workers)
        & jobs.c.kind.in_(JUDGING)
        & has_work(jobs.c.round_id)
    )
    query = select(jobs).where(jobs.c.owner == owner, waiting | shared)
    if job_id is not None:
        query = query.where(jobs.c.id == job_id)
    return (
        query.order_by(jobs.c.priority.desc(), jobs.c.id).limit(1).with_for_update(skip_locked=True, of=jobs)
    )


def _reap(connection: Connection, gone: Gone) -> int:
    """Give up dead workers. Locks go from jobs to seats, as everywhere, so that none waits in a ring."""
    dead = [row for row in connection.execute(_select(connection)) if row.left < 0 or gone(_worker(row))]
    given_up = 0
    for job_id in sorted({row.job_id for row in dead}):
        job = connection.execute(select(jobs).where(jobs.c.id == job_id).with_for_update()).one()
        for old in (row for row in dead if row.job_id == job_id):
            row = connection.execute(
                select(seats)
                .where(seats.c.id == old.id, seats.c.beat_at == old.beat_at)
                .with_for_update(skip_locked=True)
            ).first()
            if row is not None:
                _vacate(connection, row, job.round_id)
                reason = Leaving(error=DIED.format(name=row.worker))
                conclude(connection, job, reason, progress=row.done > 0)
                given_up += 1
    return given_up


def _vacate(connection: Connection, row: Row[*tuple[Any, ...]], round_id: int | None) -> None:
    """Delete a seat with its holds, and bring the round's account up to what it is known to have used."""
    connection.execute(delete(seats).where(seats.c.id == row.id))
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
    moment = database_now(connection)
    return select(
        seats,
        (moment - seats.c.taken_at).label("seconds"),
        (moment - seats.c.beat_at).label("age"),
        (seats.c.lease_until - moment).label("left"),
    )


def _worker(row: Row[*tuple[Any, ...]]) -> WorkerId:
    return WorkerId(name=row.worker, place=row.place, pid=row.pid, born=row.born)


def _seat(row: Row[*tuple[Any, ...]]) -> Seat:
    return Seat(
        id=row.id,
        job_id=row.job_id,
        slot=row.slot,
        worker=_worker(row),
        seconds=float(row.seconds),
        beat_age=float(row.age),
        lease_left=float(row.left),
        done=row.done,
    )
