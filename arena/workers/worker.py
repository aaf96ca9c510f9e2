"""Worker that runs jobs of the queue; it survives outages of the database and endpoints."""

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
from arena.services.jobs.cancellation import StopEvent, alongside, call_when_set, stopping_on_interrupt
from arena.services.jobs.queue import JobLeases, heartbeats, release_after
from arena.settings import LlmOverrides
from data.errors import ArenaError, LeaseLostError, StoppedError, StoreError
from data.models import Job, JobKind, Lease, WorkerId
from data.progress import Latest, Progress, listening
from data.store.jobs import Release

POLL_EVERY = 0.5
MAX_LOOK = 2.0
MAX_WAIT = 30.0
PARENT_EVERY = 1.0
DEFAULT_CONCURRENCY = 16


class Worker:
    """Runs one job at a time, only `job_id` if set, until the process `parent` ends."""

    def __init__(
        self, arena: Arena, worker: WorkerId, *, parent: int | None = None, job_id: int | None = None
    ) -> None:
        self._arena = arena
        self._worker = worker
        self._parent = parent
        self._job_id = job_id
        self._log = structlog.get_logger("arena.workers.worker").bind(worker=worker.name)

    @cached_property
    def _leases(self) -> JobLeases:
        return JobLeases(self._arena.store, self._worker, self._arena.settings.lease)

    def run(self, *, once: bool = False) -> int:
        """Work until Ctrl-C, SIGTERM or, with `once`, an empty queue; return the number of jobs."""
        return asyncio.run(self._work(once=once))

    async def _work(self, *, once: bool) -> int:
        stop, jobs_done, wait = asyncio.Event(), 0, POLL_EVERY
        with stopping_on_interrupt(stop):
            async with alongside(self._watch_parent(stop)):
                self._log.info("worker.started")
                while not stop.is_set():
                    try:
                        claimed = await asyncio.to_thread(self._take)
                    except StoreError as error:
                        if once:
                            raise
                        self._log.warning("worker.database_away", error=str(error), wait=wait)
                        await _sleep(stop, wait)
                        wait = min(MAX_WAIT, 2 * wait)
                        continue
                    if claimed is not None:
                        jobs_done, wait = jobs_done + 1, POLL_EVERY
                        if not await self._do(*claimed, stop):
                            await _sleep(stop, wait)
                    elif once:
                        break
                    else:
                        wait = min(MAX_LOOK, 2 * wait)
                        await _sleep(stop, wait)
            with suppress(StoreError):
                await asyncio.to_thread(self._leases.release_pending)
            self._log.info("worker.stopped", jobs=jobs_done)
        return jobs_done

    def _take(self) -> tuple[Job, Lease] | None:
        # This opens the database too, which may fail.
        return self._leases.take(job_id=self._job_id)

    async def _do(self, job: Job, lease: Lease, stop: asyncio.Event) -> bool:
        log = self._log.bind(job=job.id, kind=job.kind.value, round=job.round_name, lease=lease.id)
        log.info("job.taken")
        failure: Exception | None = None
        release = Release()
        try:
            if job.kind is JobKind.JUDGE:
                await self._judge(job, lease, stop)
            else:
                release = await self._run_in_thread(lease, job, stop)
        except ArenaError as error:
            failure, release = error, release_after(error, job.attempts)
            log.warning("job.broken_off", error=str(error), reason=type(error).__name__)
        except Exception as error:  # a bug fails one job, not the worker
            failure, release = error, release_after(error, job.attempts)
            log.exception("job.broken")
        try:
            if not isinstance(failure, LeaseLostError):
                await asyncio.to_thread(self._leases.release, lease, release)
            if job.round_name and job.kind is JobKind.JUDGE:
                await asyncio.to_thread(self._arena.notifier.round_ended, job.round_name)
        except StoreError as error:
            log.warning("job.left_later", error=str(error))
        log.info("job.left", finished=release.finished, again=bool(release.error) and not release.final)
        return failure is None

    async def _judge(self, job: Job, lease: Lease, stop: asyncio.Event) -> None:
        def report(progress: Progress) -> None:
            rate = round(progress.rate, 2)
            self._log.debug("job.progress", job=job.id, done=progress.done, total=progress.total, rate=rate)

        own_stop = asyncio.Event()
        # A cancelled job sets only its own event, and the worker continues.
        async with call_when_set(stop, own_stop.set):
            await self._arena.reaching(LlmOverrides.from_json(dict(job.payload))).rounds.judge(
                job.round_name or "",
                lease,
                concurrency=int(job.payload.get("concurrency") or DEFAULT_CONCURRENCY),
                report=report,
                stop=own_stop,
                shared=job.workers > 1,
            )

    async def _run_in_thread(self, lease: Lease, job: Job, stop: asyncio.Event) -> Release:
        kinds: dict[JobKind, Callable[[Job, StopEvent], dict[str, Any]]] = {
            JobKind.PUBLISH: partial(self._publish, lease),
            JobKind.CALIBRATE: self._calibrate,
            JobKind.JUDGE_TEST: self._test_judge,
        }
        stop_event, latest, lost = StopEvent(), Latest(), list[Exception]()

        def failed(error: Exception) -> None:
            if isinstance(error, LeaseLostError):
                lost.append(error)
                stop_event.set()

        beats = heartbeats(
            self._arena.store,
            lease.id,
            self._arena.settings.lease,
            unwanted=stop_event.set,
            failed=failed,
            work=lambda: latest.work,
        )
        with listening(latest), beats:
            async with call_when_set(stop, stop_event.set):
                result = await asyncio.to_thread(kinds[job.kind], job, stop_event)
        if lost:
            raise lost[0]
        return Release(finished=True, result=result)

    def _publish(self, lease: Lease, job: Job, stop_event: StopEvent) -> dict[str, Any]:
        from arena.services.boards.people import VoteSource  # noqa: PLC0415 - judging does not need tables

        payload = job.payload.get("people")
        people = None if payload is None else VoteSource.from_json(payload)

        def confirm() -> None:
            if not self._arena.store.leases.beat(lease.id, lease=self._arena.settings.lease):
                raise StoppedError("The job was cancelled.", advice="Nothing was published.")

        with self._arena.engine.parallel():
            board, created = self._arena.boards.publish(
                job.round_name or "",
                report=lambda text: self._log.info("job.note", job=job.id, note=text),
                score=None if job.payload.get("metrics", True) else False,
                partial=bool(job.payload.get("partial")),
                calibration=job.payload.get("calibration"),
                people=people,
                stop_event=stop_event,
                confirm=confirm,
                caller=on_behalf(job.payload.get("asked_by")),
            )
        return {"board": board.name, "content_hash": board.content_hash, "created": created}

    def _calibrate(self, job: Job, stop_event: StopEvent) -> dict[str, Any]:
        options: dict[str, Any] = {name: job.payload.get(name) for name in ("concurrency", "budget_usd")}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "labels.jsonl"
            path.write_text(job.payload["labels"], encoding="utf-8")
            judges = job.payload["judges"]
            reports = self._arena.calibrations.calibrate(judges, path, stop_event=stop_event, **options)
        return {"reports": [report.to_json() for report in reports]}

    def _test_judge(self, job: Job, stop_event: StopEvent) -> dict[str, Any]:
        return self._arena.judges.test(job.payload["judge"], stop_event=stop_event).as_json()

    async def _watch_parent(self, stop: asyncio.Event) -> None:
        while self._parent is not None and not stop.is_set():
            if os.getppid() != self._parent:
                self._log.info("worker.orphaned")
                stop.set()
            await asyncio.sleep(PARENT_EVERY)


async def _sleep(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
