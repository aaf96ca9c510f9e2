"""How a worker leaves its seat, and what becomes of the job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, exists, select, update

from data.records import JobState, RoundState
from data.store.holds import has_pending
from data.store.jobs import JUDGING, pause_round
from data.store.moments import database_now, now
from data.tables import jobs, rounds, seats

GIVEN_UP = "{reason} It was given up after {attempts} attempts that settled nothing."
STOPPED = "The process that ran it was stopped."


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """How a worker leaves its seat.

    Attributes:
        error: What went wrong, empty where nothing did.
        final: Whether trying again is of no use.
        retry_in: Seconds until it may be tried again.
        finished: Whether a job that judges no battles is done; for the others, pending battles say so.
        result: What it brought.
    """

    error: str = ""
    final: bool = False
    retry_in: float = 0.0
    finished: bool = False
    result: dict[str, Any] | None = None


def conclude(connection: Connection, job: Row[*tuple[Any, ...]], leaving: Leaving, *, progress: bool) -> None:
    """Decide what becomes of a job after somebody left; called with the job locked."""
    current = connection.execute(select(jobs.c.state, jobs.c.attempts).where(jobs.c.id == job.id)).one()
    if current.state != JobState.RUNNING:
        return
    attempts = 0 if progress else current.attempts
    if leaving.error:
        attempts += 1
    values: dict[str, Any] = {"attempts": attempts, "error": leaving.error}
    others = connection.execute(select(exists().where(seats.c.job_id == job.id))).scalar()
    if leaving.error and (leaving.final or attempts >= job.most_attempts or (job.owner and not others)):
        values |= {"state": JobState.FAILED, "finished_at": now(), "error": _last_word(leaving, attempts)}
        pause_round(connection, job.id)
    elif others:
        pass
    elif _is_done(connection, job, leaving):
        values |= {"state": JobState.DONE, "finished_at": now(), "result": leaving.result, "error": ""}
    elif job.owner:
        values |= {"state": JobState.CANCELLED, "finished_at": now(), "error": STOPPED}
        pause_round(connection, job.id)
    else:
        moment = database_now(connection)
        values |= {"state": JobState.QUEUED, "not_before": moment + leaving.retry_in}
    connection.execute(update(jobs).where(jobs.c.id == job.id).values(values))


def _last_word(leaving: Leaving, attempts: int) -> str:
    if leaving.final or attempts == 1:
        return leaving.error
    return GIVEN_UP.format(reason=leaving.error, attempts=attempts)


def _is_done(connection: Connection, job: Row[*tuple[Any, ...]], leaving: Leaving) -> bool:
    if job.kind not in JUDGING:
        return leaving.finished
    if has_pending(connection, job.round_id):
        return False
    connection.execute(
        update(rounds)
        .where(rounds.c.id == job.round_id, rounds.c.state == RoundState.RUNNING)
        .values(state=RoundState.FINISHED, finished_at=now())
    )
    return True
