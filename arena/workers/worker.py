"""A worker: takes jobs from the queue and does them, until it is stopped.

It survives temporary failures: a database that is away is waited for, an endpoint that fails is
tried again later, and a lost lease is given up without a word to the database.
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

from arena.container import Arena
from arena.services.accounts.auth import on_behalf
from arena.services.jobs.cancellation import StopEvent, stopping_on_interrupt, telling
from arena.services.jobs.job_leases import JobLeases, release_after
from arena.services.judging.llm_overrides import LlmOverrides
from data.errors import ArenaError, LeaseLostError, StoppedError, StoreError
from data.progress import Latest, Progress, listening
from data.progress import Work as Working
from data.records import Beat, Job, JobKind, Lease, WorkerId
from data.store.jobs.leases import Release

POLL_EVERY = 0.5
LONGEST_LOOK = 2.0
LONGEST_WAIT = 30.0
BEAT_EVERY = 1.0
PARENT_EVERY = 1.0
USUAL_CONCURRENCY = 16
Work = Callable[[Job, StopEvent], dict[str, Any]]


class Worker:
    """Takes one job at a time.

    It stops once `parent`, the number of the process that started it, has ended.
    """

    def __init__(self, arena: Arena, worker: WorkerId, *, parent: int | None = None) -> None:
        self._arena = arena
        self._worker = worker
        self._parent = parent
        self._log = structlog.get_logger("arena.workers.worker").bind(worker=worker.name)

    @cached_property
    def _leases(self) -> JobLeases:
        """Its dealings with the queue, once the database is there."""
        return JobLeases(self._arena.store, self._worker, self._arena.settings.lease)

    def run(self, *, once: bool = False) -> int:
        """Work until Ctrl-C or SIGTERM, or until there is nothing to do where `once` says so.

        Returns:
            How many jobs were taken.
        """
        return asyncio.run(self._work(once=once))

    async def _work(self, *, once: bool) -> int:
        stop, jobs_done, wait = asyncio.Event(), 0, POLL_EVERY
        with stopping_on_interrupt(stop):
            watch = asyncio.create_task(self._watch_parent(stop))
            self._log.info("worker.started")
            while not stop.is_set():
                try:
                    claimed = await asyncio.to_thread(self._take)
                except StoreError as error:
                    if once:
                        raise
                    self._log.warning("worker.database_away", error=str(error), wait=wait)
                    await _sleep(stop, wait)
                    wait = min(LONGEST_WAIT, 2 * wait)
                    continue
                if claimed is None and once:
                    break
                if claimed is None:
                    wait = min(LONGEST_LOOK, 2 * wait)
                    await _sleep(stop, wait)
                    continue
                jobs_done, wait = jobs_done + 1, POLL_EVERY
                if not await self._do(*claimed, stop):
                    await _sleep(stop, wait)
            watch.cancel()
            with suppress(StoreError):
                await asyncio.to_thread(self._leases.release_pending)
            self._log.info("worker.stopped", jobs=jobs_done)
        return jobs_done

    def _take(self) -> tuple[Job, Lease] | None:
        # Opening the database is a part of it, which may fail as well.
        return self._leases.take()

    async def _do(self, job: Job, lease: Lease, stop: asyncio.Event) -> bool:
        """Do a job and release its lease; False where something went wrong."""
        log = self._log.bind(job=job.id, kind=job.kind.value, round=job.round_name, lease=lease.id)
        log.info("job.taken")
        failure: Exception | None = None
        release = Release()
        try:
            release = await self._perform(job, lease, stop)
        except ArenaError as error:
            failure, release = error, release_after(error, job.attempts)
            log.warning("job.broken_off", error=str(error), reason=type(error).__name__)
        except Exception as error:  # a fault of ours ends one job, not the worker
            failure, release = error, release_after(error, job.attempts)
            log.exception("job.broken")
        try:
            if not isinstance(failure, LeaseLostError):
                await asyncio.to_thread(self._leases.release, lease, release)
            if job.round_name and job.kind in {JobKind.JUDGE, JobKind.RETRY}:
                await asyncio.to_thread(self._arena.notifier.round_ended, job.round_name)
        except StoreError as error:
            log.warning("job.left_later", error=str(error))
        log.info("job.left", finished=release.finished, again=bool(release.error) and not release.final)
        return failure is None

    async def _perform(self, job: Job, lease: Lease, stop: asyncio.Event) -> Release:
        work: Work
        match job.kind:
            case JobKind.JUDGE | JobKind.RETRY:
                await self._judge(job, lease, stop)
                return Release()
            case JobKind.PUBLISH:
                work = partial(self._publish, lease)
            case JobKind.CALIBRATE:
                work = self._calibrate
            case JobKind.JUDGE_TEST:
                work = self._test_judge
        return await self._attended(lease, work, job, stop)

    async def _judge(self, job: Job, lease: Lease, stop: asyncio.Event) -> None:
        name, payload = job.round_name or "", dict(job.payload)
        if job.kind is JobKind.RETRY and not payload.get("reopened"):
            await asyncio.to_thread(self._arena.rounds.reopen_for, job)
        concurrency = int(payload.get("concurrency") or USUAL_CONCURRENCY)
        arena = self._arena.reaching(LlmOverrides.from_json(payload))
        own_stop = asyncio.Event()
        # The run sets its own event where the job is no longer wanted; the worker goes on.
        async with telling(stop, own_stop.set):
            await arena.rounds.judge(
                name,
                lease,
                concurrency=concurrency,
                report=self._report(job),
                stop=own_stop,
                shared=job.workers > 1,
            )

    def _report(self, job: Job) -> Callable[[Progress], None]:
        def report(progress: Progress) -> None:
            rate = round(progress.rate, 2)
            self._log.debug("job.progress", job=job.id, done=progress.done, total=progress.total, rate=rate)

        return report

    async def _attended(self, lease: Lease, work: Work, job: Job, stop: asyncio.Event) -> Release:
        """Do what cannot be divided in a thread, with heartbeats meanwhile, until it is no longer wanted."""
        stop_event, latest = StopEvent(), Latest()
        with listening(latest):
            task = asyncio.create_task(asyncio.to_thread(work, job, stop_event))
        while not task.done():
            await asyncio.wait([task], timeout=BEAT_EVERY)
            try:
                still_wanted = (await asyncio.to_thread(self._beat, lease, latest.work)).wanted
            except StoreError:
                still_wanted = True
            except LeaseLostError:
                stop_event.set()
                await asyncio.wait([task])
                raise
            if stop.is_set() or not still_wanted:
                stop_event.set()
        return Release(finished=True, result=task.result())

    def _publish(self, lease: Lease, job: Job, stop_event: StopEvent) -> dict[str, Any]:
        def note(text: str) -> None:
            self._log.info("job.note", job=job.id, note=text)

        score = bool(job.payload.get("metrics", True))
        client = on_behalf(job.payload.get("asked_by"))
        from arena.services.boards.people import VoteSource  # noqa: PLC0415 - loads tables, which judging does without

        carried = job.payload.get("people")
        people = None if carried is None else VoteSource.from_json(carried)
        with self._arena.engine.parallel():
            board, created = self._arena.boards.publish(
                job.round_name or "",
                report=note,
                score=score,
                partial=bool(job.payload.get("partial")),
                calibration=job.payload.get("calibration"),
                people=people,
                stop_event=stop_event,
                confirm=partial(self._confirm, lease),
                caller=client,
            )
        return {"board": board.name, "content_hash": board.content_hash, "created": created}

    def _beat(self, lease: Lease, work: Working | None = None) -> Beat:
        return self._arena.store.leases.beat(lease.id, lease=self._leases.lease, work=work)

    def _confirm(self, lease: Lease) -> None:
        """Refuse to publish for a job that somebody cancelled, or that others may have."""
        if not self._beat(lease).wanted:
            raise StoppedError("The job was cancelled.", advice="Nothing was published.")

    def _calibrate(self, job: Job, stop_event: StopEvent) -> dict[str, Any]:
        payload = job.payload
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "labels.jsonl"
            path.write_text(payload["labels"], encoding="utf-8")
            reports = self._arena.calibration.calibrate(
                payload["judges"],
                path,
                concurrency=int(payload["concurrency"]),
                budget_usd=payload.get("budget_usd"),
                stop_event=stop_event,
            )
        return {"reports": [report.to_json() for report in reports]}

    def _test_judge(self, job: Job, stop_event: StopEvent) -> dict[str, Any]:
        return self._arena.judge_tester.test(job.payload["judge"], stop_event=stop_event).as_json()

    async def _watch_parent(self, stop: asyncio.Event) -> None:
        while self._parent is not None and not stop.is_set():
            if os.getppid() != self._parent:
                self._log.info("worker.orphaned")
                stop.set()
            await asyncio.sleep(PARENT_EVERY)


async def _sleep(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
