"""Engine with local processes."""

import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from arena.container import Arena
from arena.settings import EngineKind, LlmOverrides
from data.errors import ArenaError, WorkError
from data.models import RoundCounts
from data.parallel import Spread, Task, in_parallel
from data.progress import Report

Value = TypeVar("Value")
AHEAD = 2
"""Tasks per process that are submitted ahead."""
PATIENCE = 5.0
LOST = "A worker process died."
MEMORY = "It probably ran out of memory: lower ARENA_PROCESSES, or free memory."


class LocalEngine:
    """Engine with processes of this machine; see `Engine`."""

    kind = EngineKind.LOCAL

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    @contextmanager
    def parallel(self) -> Iterator[Spread]:
        """Run parallel work in processes."""
        spread = LocalSpread(self._arena.settings.processes)
        with in_parallel(spread):
            yield spread

    def judge(
        self,
        name: str,
        *,
        concurrency: int,
        report: Report,
        workers: int | None = None,  # noqa: ARG002 - calls wait, so one process is enough
        reaching: Mapping[str, Any] | None = None,
    ) -> RoundCounts:
        """Judge the pending battles of a round in this process."""
        arena = self._arena.reaching(LlmOverrides.from_json(reaching)) if reaching else self._arena
        return arena.rounds.run(name, concurrency=concurrency, report=report)


class LocalSpread:
    """Map over processes of this machine."""

    def __init__(self, processes: int | None) -> None:
        self._requested = processes

    def map(
        self, function: Callable[..., Value], tasks: Iterable[Task], shared: tuple[object, ...] = ()
    ) -> Iterator[Value]:
        """Yield `function(*shared, *task)` for each task in order; see `Spread`."""
        from joblib import cpu_count, dump  # noqa: PLC0415 - short work does without

        processes = self._requested or cpu_count()
        if processes == 1:
            yield from (function(*shared, *task) for task in tasks)
            return
        # Unlike the standard library's, joblib's processes do not import the main module.
        from joblib.externals.loky import ProcessPoolExecutor  # noqa: PLC0415 - as above
        from joblib.externals.loky.process_executor import BrokenProcessPool  # noqa: PLC0415 - as above

        pool = ProcessPoolExecutor(processes, initializer=_ignore_interrupts)
        begun: deque[Future[Value]] = deque()
        with tempfile.TemporaryDirectory(prefix="arena-") as folder:
            path = str(Path(folder) / "shared")
            dump(shared, path)
            try:
                for task in tasks:
                    begun.append(pool.submit(_part, function, path, task))
                    if len(begun) == AHEAD * processes:
                        yield begun.popleft().result()
                while begun:
                    yield begun.popleft().result()
            except BrokenProcessPool as error:
                raise WorkError(LOST, advice=MEMORY) from error
            finally:
                _settle(begun)
                pool.shutdown(kill_workers=True)


def _settle(futures: Iterable[Future[Any]]) -> None:
    """Wait until every task is handed to a process, since an earlier shutdown breaks the pool's thread."""
    ends = time.monotonic() + PATIENCE
    while not all(future.running() or future.done() for future in futures) and time.monotonic() < ends:
        time.sleep(PATIENCE / 500)


def guarded(function: Callable[..., Value], arguments: tuple[object, ...]) -> Value:
    """Call a function, and turn unexpected errors into WorkError."""
    try:
        return function(*arguments)
    except ArenaError:
        raise
    except Exception as error:
        name = f"{function.__module__}.{function.__qualname__}"
        raise WorkError(
            f"{name} failed ({type(error).__name__}: {error}).", advice="This is a bug: please report it."
        ) from error


def _part(function: Callable[..., Value], path: str, task: Task) -> Value:
    return guarded(function, (*_loaded(path), *task))


@lru_cache(maxsize=1)
def _loaded(path: str) -> tuple[object, ...]:
    """Load the shared arguments; processes share arrays until one writes to them."""
    from joblib import load  # noqa: PLC0415 - as above

    shared: tuple[object, ...] = load(path, mmap_mode="c")
    return shared


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


open_engine = LocalEngine
