"""Engine on a Ray cluster.

Ray spreads tasks over the nodes and restarts those of lost nodes. Judging tasks are workers of the queue.
Every node reads its own environment, which must have the same database.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

from arena.container import Arena, open_arena
from arena.services.jobs.queue import this_worker
from arena.settings import EngineKind, read_settings
from arena.workers.local import guarded
from arena.workers.worker import Worker
from data.errors import ArenaError, JudgeError, WorkError
from data.models import Job, JobKind, JobState, RoundCounts
from data.parallel import Spread, Task, in_parallel
from data.progress import Progress, Report, Stopwatch
from data.store.jobs import ACTIVE

Value = TypeVar("Value")
AHEAD = 4
"""Tasks per processor that are submitted ahead."""
TRIES = 3
"""Maximum restarts of a task whose process or node was lost."""
MAX_TASKS = 64
POLL_EVERY = 0.5
PATIENCE = 60.0


class RayEngine:
    """Engine on the cluster of `RAY_ADDRESS`, else on a local one; see `Engine`."""

    kind = EngineKind.RAY

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    @contextmanager
    def parallel(self) -> Iterator[Spread]:
        """Run parallel work as tasks of the cluster."""
        with connected() as ray:
            spread = RaySpread(ray)
            with in_parallel(spread):
                yield spread

    def judge(
        self,
        name: str,
        *,
        concurrency: int,
        report: Report,
        workers: int | None = None,
        reaching: Mapping[str, Any] | None = None,
    ) -> RoundCounts:
        """Judge the pending battles of a round by workers on the nodes."""
        arena, watch = self._arena, Stopwatch()
        rounds = arena.store.rounds
        arena.rounds.spec_of(rounds.get(name))
        with connected() as ray:
            count = workers or max(1, min(MAX_TASKS, concurrency, _processors(ray)))
            options = {**(reaching or {}), "concurrency": max(1, concurrency // count)}
            job = self._queued(name) or arena.jobs.judge(name, options=options, workers=count)
            call = ray.remote(num_cpus=1, max_retries=TRIES, scheduling_strategy="SPREAD")(_work)
            tasks = [call.remote(job.id, name, f"ray-{job.id}-{number}") for number in range(count)]
            total = rounds.counts(name).pending
            try:
                while tasks:
                    ended, tasks = ray.wait(tasks, timeout=POLL_EVERY)
                    for reference in ended:
                        _result(ray, reference)
                    report(Progress(total - rounds.counts(name).pending, total, watch.seconds))
            except BaseException as error:
                with suppress(ArenaError):
                    arena.rounds.pause(name)
                if not isinstance(error, KeyboardInterrupt):
                    raise
                ray.wait(tasks, num_returns=len(tasks), timeout=PATIENCE)
        job = arena.store.jobs.get(job.id)
        if job.state is JobState.FAILED:
            raise JudgeError(f"On a node of the cluster: {job.error}")
        return rounds.counts(name)

    def _queued(self, name: str) -> Job | None:
        store = self._arena.store
        self._arena.job_leases.give_up_dead()
        job = store.jobs.of_round(store.rounds.get(name).id)
        joinable = job is not None and job.kind is JobKind.JUDGE and not job.owner and job.state in ACTIVE
        return job if joinable else None


class RaySpread:
    """Map over tasks of a cluster."""

    def __init__(self, ray: ModuleType) -> None:
        self._ray = ray

    def map(
        self, function: Callable[..., Value], tasks: Iterable[Task], shared: tuple[object, ...] = ()
    ) -> Iterator[Value]:
        """Yield `function(*shared, *task)` for each task in order; see `Spread`."""
        call = self._ray.remote(num_cpus=1, max_retries=TRIES, scheduling_strategy="SPREAD")(_called)
        common = self._ray.put(shared)
        begun: deque[object] = deque()
        limit = AHEAD * max(1, _processors(self._ray))
        try:
            for task in tasks:
                begun.append(call.remote(function, common, task))
                if len(begun) >= limit:
                    yield _result(self._ray, begun.popleft())
            while begun:
                yield _result(self._ray, begun.popleft())
        finally:
            for reference in begun:
                self._ray.cancel(reference, force=True)


@contextmanager
def connected() -> Iterator[ModuleType]:
    """Connect to the running cluster, else to a local one until the end of the block."""
    try:
        ray = import_module("ray")
    except ModuleNotFoundError as error:
        advice = "Install answer-arena[ray] here and on every node."
        raise JudgeError("Ray is not installed.", advice=advice) from error
    if ray.is_initialized():
        yield ray
        return
    try:
        try:
            ray.init(address="auto", log_to_driver=False, configure_logging=False)
        except ConnectionError:
            ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False)
    except (OSError, RuntimeError, ValueError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise JudgeError(
            f"No Ray cluster can be reached or started: {reason}.",
            advice="Check RAY_ADDRESS and `ray status`; without that variable, a cluster is started here.",
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _work(job_id: int, round_name: str, name: str) -> None:
    # A task has one processor.
    arena = open_arena(replace(read_settings(), engine=EngineKind.LOCAL, processes=1))
    try:
        if arena.store.jobs.get(job_id).round_name != round_name:
            advice = "Set the same ARENA_DATABASE_URL on every node."
            raise JudgeError("A node of the cluster uses another database.", advice=advice)
        # A lost run of this task left its lease.
        arena.store.leases.give_up(lambda worker: worker.name == name)
        Worker(arena, this_worker(name), job_id=job_id).run(once=True)
    finally:
        arena.close()


def _result(ray: ModuleType, reference: object) -> Any:  # noqa: ANN401 - as above
    try:
        return ray.get(reference)
    except (ray.exceptions.RayTaskError, ray.exceptions.RuntimeEnvSetupError) as failure:
        cause = getattr(failure, "cause", None)
        if isinstance(cause, ArenaError):
            raise cause from None
        message = str(failure).strip().splitlines()[-1]
        raise JudgeError(f"A Ray task failed: {message}.", advice="See the node's log.") from failure
    except ray.exceptions.RayError as failure:
        raise WorkError(
            f"A task was lost with its node {TRIES + 1} times ({type(failure).__name__}).",
            advice="Check the nodes (`ray status`), then start it again.",
        ) from failure


def _called(function: Callable[..., Value], shared: tuple[object, ...], task: Task) -> Value:
    return guarded(function, (*shared, *task))


def _processors(ray: ModuleType) -> int:
    return int(ray.cluster_resources().get("CPU", 1))


open_engine = RayEngine
