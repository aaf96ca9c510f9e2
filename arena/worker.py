"""A worker: takes jobs from the queue and does them, until it is told to stop.

It outlives whatever can mend itself: a database that is away is waited for, an endpoint that fails is
tried again later, and a lost seat is given up without a word to the database.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import structlog

from arena.bootstrap import Arena
from arena.reaching import Reaching
from arena.services.identity import on_behalf
from arena.services.interrupts import Halt, stopping_on_interrupt
from arena.services.round_requests import RoundRequest
from arena.services.running import Progress
from arena.services.seating import Seating, leaving_after
from data.errors import ArenaError, LeaseLostError, StoppedError, StoreError
from data.records import Beat, Job, JobKind, Seat, WorkerId
from data.store.leaving import Leaving

LOOK_EVERY = 0.5
LONGEST_LOOK = 2.0
LONGEST_WAIT = 30.0
BEAT_EVERY = 1.0
PARENT_EVERY = 1.0
USUAL_CONCURRENCY = 16
Work = Callable[[Job, Halt], dict[str, Any]]


class Worker:
    """Takes one job at a time.

    Args:
        arena: The application.
        worker: Which process it is.
        parent: Number of the process that started it and without which it stops; None for none.
    """

    def __init__(self, arena: Arena, worker: WorkerId, *, parent: int | None = None) -> None:
        self._arena = arena
        self._worker = worker
        self._parent = parent
        self._log = structlog.get_logger("arena.worker").bind(worker=worker.name)

    @cached_property
    def _seating(self) -> Seating:
        """Its dealings with the queue, once the database is there."""
        return Seating(self._arena.store, self._worker, self._arena.settings.lease)

    def run(self, *, once: bool = False) -> int:
        """Work until Ctrl-C or SIGTERM, or until there is nothing to do where `once` says so.

        Returns:
            How many jobs were taken.
        """
        return asyncio.run(self._work(once=once))

    async def _work(self, *, once: bool) -> int:
        stop, taken, wait = asyncio.Event(), 0, LOOK_EVERY
        with stopping_on_interrupt(stop):
            watch = asyncio.create_task(self._watch_parent(stop))
            self._log.info("worker.started")
            while not stop.is_set():
                try:
                    found = await asyncio.to_thread(self._take)
                except StoreError as error:
                    if once:
                        raise
                    self._log.warning("worker.database_away", error=str(error), wait=wait)
                    await _sleep(stop, wait)
                    wait = min(LONGEST_WAIT, 2 * wait)
                    continue
                if found is None and once:
                    break
                if found is None:
                    wait = min(LONGEST_LOOK, 2 * wait)
                    await _sleep(stop, wait)
                    continue
                taken, wait = taken + 1, LOOK_EVERY
                if not await self._do(*found, stop):
                    await _sleep(stop, wait)
            watch.cancel()
            with suppress(StoreError):
                await asyncio.to_thread(self._seating.pay_debts)
            self._log.info("worker.stopped", jobs=taken)
        return taken

    def _take(self) -> tuple[Job, Seat] | None:
        # Opening the database is a part of it, which may fail as well.
        return self._seating.take()

    async def _do(self, job: Job, seat: Seat, stop: asyncio.Event) -> bool:
        """Do a job and leave its seat; False where something went wrong."""
        log = self._log.bind(job=job.id, kind=job.kind.value, round=job.round_name, seat=seat.id)
        log.info("job.taken")
        failure: Exception | None = None
        leaving = Leaving()
        try:
            leaving = await self._perform(job, seat, stop)
        except ArenaError as error:
            failure, leaving = error, leaving_after(error, job.attempts)
            log.warning("job.broken_off", error=str(error), reason=type(error).__name__)
        except Exception as error:  # a fault of ours ends one job, not the worker
            failure, leaving = error, leaving_after(error, job.attempts)
            log.exception("job.broken")
        try:
            if not isinstance(failure, LeaseLostError):
                await asyncio.to_thread(self._seating.leave, seat, leaving)
        except StoreError as error:
            log.warning("job.left_later", error=str(error))
        log.info("job.left", finished=leaving.finished, again=bool(leaving.error) and not leaving.final)
        return failure is None

    async def _perform(self, job: Job, seat: Seat, stop: asyncio.Event) -> Leaving:
        match job.kind:
            case JobKind.JUDGE | JobKind.RETRY:
                await self._judge(job, seat, stop)
                return Leaving()
            case JobKind.PUBLISH:
                return await self._attended(seat, partial(self._publish, seat), job, stop)
            case JobKind.CALIBRATE:
                return await self._attended(seat, self._calibrate, job, stop)
            case JobKind.TRIAL:
                return await self._attended(seat, self._try, job, stop)

    async def _judge(self, job: Job, seat: Seat, stop: asyncio.Event) -> None:
        name, given = job.round_name or "", dict(job.payload)
        if job.kind is JobKind.RETRY and not given.get("reopened"):
            await asyncio.to_thread(self._arena.rounds.reopen_for, job)
        concurrency = int(given.get("concurrency") or USUAL_CONCURRENCY)
        arena = self._arena.reaching(Reaching.of_job(given))
        own = asyncio.Event()
        follow = asyncio.create_task(_follow(stop, own))
        try:
            # The run sets its own event where the job is no longer wanted; the worker goes on.
            await arena.rounds.judge(
                name,
                seat,
                concurrency=concurrency,
                report=self._report(job),
                stop=own,
                shared=job.workers > 1,
            )
        finally:
            follow.cancel()

    def _report(self, job: Job) -> Callable[[Progress], None]:
        def report(progress: Progress) -> None:
            rate = round(progress.rate, 2)
            self._log.debug("job.progress", job=job.id, done=progress.done, total=progress.total, rate=rate)

        return report

    async def _attended(self, seat: Seat, work: Work, job: Job, stop: asyncio.Event) -> Leaving:
        """Do what cannot be divided in a thread, with heartbeats meanwhile, until it is no longer wanted."""
        halt = Halt()
        task = asyncio.create_task(asyncio.to_thread(work, job, halt))
        while not task.done():
            await asyncio.wait([task], timeout=BEAT_EVERY)
            try:
                wanted = (await asyncio.to_thread(self._beat, seat)).wanted
            except StoreError:
                wanted = True
            except LeaseLostError:
                halt.set()
                await asyncio.wait([task])
                raise
            if stop.is_set() or not wanted:
                halt.set()
        return Leaving(finished=True, result=task.result())

    def _publish(self, seat: Seat, job: Job, halt: Halt) -> dict[str, Any]:
        def note(text: str) -> None:
            self._log.info("job.note", job=job.id, note=text)

        score = bool(job.payload.get("metrics", True))
        asker = on_behalf(job.payload.get("asked_by"))
        board, created = self._arena.boards.publish(
            job.round_name or "",
            report=note,
            score=score,
            halt=halt,
            confirm=partial(self._confirm, seat),
            caller=asker,
        )
        return {"board": board.name, "content_hash": board.content_hash, "created": created}

    def _beat(self, seat: Seat) -> Beat:
        return self._arena.store.seats.beat(seat.id, lease=self._seating.lease)

    def _confirm(self, seat: Seat) -> None:
        """Refuse to publish for a job that somebody cancelled, or that others may have."""
        if not self._beat(seat).wanted:
            raise StoppedError("The job was cancelled.", advice="Nothing was published.")

    def _calibrate(self, job: Job, halt: Halt) -> dict[str, Any]:
        given = job.payload
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "labels.jsonl"
            path.write_text(given["labels"], encoding="utf-8")
            reports = self._arena.calibration.calibrate(
                given["judges"],
                path,
                concurrency=int(given["concurrency"]),
                budget_usd=given.get("budget_usd"),
                halt=halt,
            )
        return {"reports": [report.to_json() for report in reports]}

    def _try(self, job: Job, halt: Halt) -> dict[str, Any]:
        return self._arena.trials.run(RoundRequest.from_json(job.payload["request"]), halt=halt)

    async def _watch_parent(self, stop: asyncio.Event) -> None:
        while self._parent is not None and not stop.is_set():
            if os.getppid() != self._parent:
                self._log.info("worker.orphaned")
                stop.set()
            await asyncio.sleep(PARENT_EVERY)


async def _sleep(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)


async def _follow(stop: asyncio.Event, own: asyncio.Event) -> None:
    await stop.wait()
    own.set()
