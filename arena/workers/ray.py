"""Long work on a Ray cluster.

Ray starts tasks, spreads them over the nodes, and starts those again whose node was lost. What a task does is
what a process of this machine would do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar

from arena.container import Arena
from arena.services.judging.llm_overrides import LlmOverrides
from arena.services.system.text_process import Result, attempted
from arena.settings import EngineKind
from arena.workers.local import guarded
from arena.workers.ray_cluster import connected, load_ray, open_on_node
from data.errors import JudgeError, WorkError
from data.parallel import Spread, Task, in_parallel
from data.progress import Report
from data.records import RoundCounts

Value = TypeVar("Value")
AHEAD = 4
"""Tasks a processor that are begun at most before the first of them is done."""
TRIES = 3
"""How many times a task is started again elsewhere after its process or node was lost."""
POLL_EVERY = 0.5


def open_engine(arena: Arena) -> RayEngine:
    """The engine of an application."""
    return RayEngine(arena)


class RayEngine:
    """Does long work on the cluster that Ray finds (`RAY_ADDRESS`), else on one of this machine."""

    kind = EngineKind.RAY

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    @contextmanager
    def parallel(self) -> Iterator[Spread]:
        """A context in which the parts of long work are tasks of the cluster; see `Engine`."""
        ray = load_ray()
        with connected(ray):
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
        """Judge what is pending in a round; see `Engine`."""
        from arena.workers.ray_rounds import judge_on_ray  # noqa: PLC0415 - what judges is heavy

        overrides = LlmOverrides.from_json(reaching or {})
        return judge_on_ray(
            self._arena, name, concurrency=concurrency, report=report, workers=workers, reaching=overrides
        )

    def over_database(
        self,
        function: Callable[..., Value],
        tasks: Callable[[int], Iterable[Task]],
        *,
        poll: Callable[[], None] = lambda: None,
    ) -> Iterator[Value]:
        """Yield `function(arena, *task)` for each task, done by a node; see `Engine`."""
        ray = load_ray()
        with connected(ray):
            spread = RaySpread(ray, poll)
            yield from spread.map(_opened, tasks(spread.width), (function,))


class RaySpread:
    """Calls functions as tasks of a cluster."""

    def __init__(self, ray: ModuleType, poll: Callable[[], None] = lambda: None) -> None:
        self._ray = ray
        self._poll = poll
        self.width = max(1, int(ray.cluster_resources().get("CPU", 1)))
        """How many tasks the cluster does at once."""

    def map(
        self, function: Callable[..., Value], tasks: Iterable[Task], shared: tuple[object, ...] = ()
    ) -> Iterator[Value]:
        """Yield `function(*shared, *task)` for each task, in their order; see `Spread`."""
        call = self._ray.remote(num_cpus=1, max_retries=TRIES, scheduling_strategy="SPREAD")(_called)
        common = self._ray.put(shared)
        begun: deque[object] = deque()
        try:
            for task in tasks:
                begun.append(call.remote(function, common, task))
                if len(begun) >= AHEAD * self.width:
                    yield self._value(begun.popleft())
            while begun:
                yield self._value(begun.popleft())
        finally:
            for reference in begun:
                self._ray.cancel(reference, force=True)

    def _value(self, reference: object) -> Any:  # noqa: ANN401 - what the function returns
        exceptions = self._ray.exceptions
        while not self._ray.wait([reference], timeout=POLL_EVERY)[0]:
            self._poll()
        try:
            result: Result = self._ray.get(reference)
        except (exceptions.RayTaskError, exceptions.RuntimeEnvSetupError) as failure:
            message = str(failure).strip().splitlines()[-1]
            raise JudgeError(f"A Ray task failed: {message}.", advice="See the node's log.") from failure
        except exceptions.RayError as failure:
            message = (
                f"A part of the work was lost with its node {TRIES + 1} times ({type(failure).__name__})."
            )
            raise WorkError(
                message, advice="Check the nodes (`ray status`), then start it again."
            ) from failure
        if result.error is not None:
            raise result.error
        return result.value


def _called(function: Callable[..., Any], shared: tuple[object, ...], task: Task) -> Result:
    """What a task does."""
    return attempted(guarded, (function, (*shared, *task)))


def _opened(function: Callable[..., Value], *task: object) -> Value:
    """Call a function with the application as this node's environment has it."""
    arena = open_on_node()
    try:
        return function(arena, *task)
    finally:
        arena.close()
