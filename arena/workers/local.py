"""Long work in processes of this machine."""

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
"""Parts a process that are begun before the first of them is done."""
PATIENCE = 5.0
LOST = "A process that did a part of the work ended by itself."
MEMORY = "Probably memory ran out: set ARENA_PROCESSES to fewer processes, or free memory."


class LocalEngine:
    """Do long work on this machine; see `Engine`."""

    kind = EngineKind.LOCAL

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    @contextmanager
    def parallel(self) -> Iterator[Spread]:
        """Do the parts of long work in processes."""
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
        """Judge what is pending in a round, in this process."""
        arena = self._arena.reaching(LlmOverrides.from_json(reaching)) if reaching else self._arena
        return arena.rounds.run(name, concurrency=concurrency, report=report)


class LocalSpread:
    """Call functions in processes of this machine."""

    def __init__(self, processes: int | None) -> None:
        self._wanted = processes

    def map(
        self, function: Callable[..., Value], tasks: Iterable[Task], shared: tuple[object, ...] = ()
    ) -> Iterator[Value]:
        """Yield `function(*shared, *task)` for each task, in their order; see `Spread`."""
        from joblib import cpu_count, dump  # noqa: PLC0415 - short work does without

        processes = self._wanted or cpu_count()
        if processes == 1:
            yield from (function(*shared, *task) for task in tasks)
            return
        # Unlike the standard library's, joblib's processes do not load the main module again.
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
    """Wait until every part was handed to a process: to end the pool before that breaks its thread."""
    ends = time.monotonic() + PATIENCE
    while not all(each.running() or each.done() for each in futures) and time.monotonic() < ends:
        time.sleep(PATIENCE / 500)


def guarded(function: Callable[..., Value], arguments: tuple[object, ...]) -> Value:
    """Call a function."""
    try:
        return function(*arguments)
    except ArenaError:
        raise
    except Exception as error:
        named = f"{function.__module__}.{function.__qualname__}"
        raise WorkError(
            f"A part of the work broke in {named} ({type(error).__name__}: {error}).",
            advice="It is a fault of the program: report it.",
        ) from error


def _part(function: Callable[..., Value], path: str, task: Task) -> Value:
    return guarded(function, (*_loaded(path), *task))


@lru_cache(maxsize=1)
def _loaded(path: str) -> tuple[object, ...]:
    """Arguments that tasks share; processes share the bytes of arrays until one writes to them."""
    from joblib import load  # noqa: PLC0415 - as above

    shared: tuple[object, ...] = load(path, mmap_mode="c")
    return shared


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


open_engine = LocalEngine
