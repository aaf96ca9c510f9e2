"""Long work on this machine, in as many processes as it has processors.

The processes are those that work on strangers' texts (`text_process`): spawned, so that they neither share
locks and connections with this one nor load its main module again, and ended with it. No thread waits for
them, so that this is as safe in a worker and in the site as in a command.
"""

from __future__ import annotations

import io
import mmap
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, TypeVar

from arena.container import Arena
from arena.services.judging.llm_overrides import LlmOverrides
from arena.services.system.text_process import PROCESSES, Result, TextProcess, usable_processors
from arena.services.system.text_work import MEMORY
from arena.settings import EngineKind
from data.errors import ArenaError, WorkError
from data.parallel import Spread, Task, in_parallel
from data.progress import Report
from data.records import RoundCounts

Value = TypeVar("Value")
AHEAD = 4
"""Results a process that are kept at most until an earlier one is there."""
TRIES = 2
"""Processes that may end by themselves over one part."""
ALIGNED = 64
"""Bytes: arrays begin at multiples of it."""
NO_LIMIT = 1e8
"""Seconds that a part may take: years, since these texts are nobody's attack."""


def open_engine(arena: Arena) -> LocalEngine:
    """The engine of an application."""
    return LocalEngine(arena)


class LocalEngine:
    """Does long work on this machine."""

    kind = EngineKind.LOCAL

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    @contextmanager
    def parallel(self) -> Iterator[Spread]:
        """A context in which the parts of long work are done in processes."""
        spread = LocalSpread(self._arena.settings.processes or usable_processors())
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
        """Judge what is pending in a round, in this process; see `Engine`."""
        arena = self._arena.reaching(LlmOverrides.from_json(reaching)) if reaching else self._arena
        return arena.rounds.run(name, concurrency=concurrency, report=report)

    def over_database(
        self,
        function: Callable[..., Value],
        tasks: Callable[[int], Iterable[Task]],
        *,
        poll: Callable[[], None] = lambda: None,
    ) -> Iterator[Value]:
        """Yield `function(arena, *task)` for each task, done here one after another; see `Engine`."""
        for task in tasks(1):
            poll()
            yield function(self._arena, *task)


@dataclass(slots=True, eq=False)
class _Flight:
    """Parts by number: who is at which, what is done, what is to be done again."""

    busy: dict[TextProcess, int] = field(default_factory=dict)
    tasks: dict[int, Task] = field(default_factory=dict)
    done: dict[int, Result] = field(default_factory=dict)
    again: list[int] = field(default_factory=list)
    lost: dict[int, int] = field(default_factory=dict)


class LocalSpread:
    """Calls functions in processes of this machine, at most so many."""

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def map(
        self, function: Callable[..., Value], tasks: Iterable[Task], shared: tuple[object, ...] = ()
    ) -> Iterator[Value]:
        """Yield `function(*shared, *task)` for each task, in their order; see `Spread`."""
        if self._processes == 1:
            yield from (function(*shared, *task) for task in tasks)
            return
        with tempfile.TemporaryDirectory(prefix="arena-") as folder:
            path = Path(folder) / "shared"
            _store(shared, path)
            yield from self._mapped(function, enumerate(tasks), str(path))

    def _mapped(
        self, function: Callable[..., Value], waiting: Iterator[tuple[int, Task]], path: str
    ) -> Iterator[Value]:
        flight, next_number = _Flight(), 0
        try:
            while True:
                self._fill(flight, waiting, function, path)
                if next_number in flight.done:
                    result = flight.done.pop(next_number)
                    next_number += 1
                    if result.error is not None:
                        raise result.error
                    yield result.value
                elif flight.busy:
                    _receive(flight)
                else:
                    return
        except BaseException:
            for process in flight.busy:
                PROCESSES.end(process)
            raise

    def _fill(
        self,
        flight: _Flight,
        waiting: Iterator[tuple[int, Task]],
        function: Callable[..., Value],
        path: str,
    ) -> None:
        """Give work to processes without, as long as there is some and not too much waits to be yielded."""
        while len(flight.busy) < self._processes:
            if flight.again:
                number = flight.again.pop(0)
            elif len(flight.done) + len(flight.busy) >= AHEAD * self._processes:
                return
            else:
                found = next(waiting, None)
                if found is None:
                    return
                number, flight.tasks[found[0]] = found
            process = _process()
            flight.busy[process] = number
            try:
                process.begin([(part, (function, path, flight.tasks[number]))], NO_LIMIT)
            except OSError:
                _lose(flight, process)


def _process() -> TextProcess:
    try:
        return PROCESSES.take()
    except OSError as error:
        message = f"No process can be started for a part of the work: {error.strerror or error}."
        raise WorkError(message, advice=MEMORY) from error


def _receive(flight: _Flight) -> None:
    """Wait for results, and take them."""
    by_pipe = {process.pipe: process for process in flight.busy}
    for pipe in wait(list(by_pipe)):
        process = by_pipe[pipe]  # type: ignore[index]  # what was waited for
        try:
            results = process.results(0)
        except (EOFError, OSError):
            _lose(flight, process)
            continue
        if not results:
            # After a result that was sent early, the end of a batch is a message without one.
            continue
        number = flight.busy.pop(process)
        (flight.done[number],) = results
        del flight.tasks[number]
        PROCESSES.give_back(process)


def _lose(flight: _Flight, process: TextProcess) -> None:
    """A process ended by itself: what it was at is done again, unless that ended another one before."""
    number = flight.busy.pop(process)
    PROCESSES.end(process)
    flight.lost[number] = flight.lost.get(number, 0) + 1
    if flight.lost[number] < TRIES:
        flight.again.append(number)
        return
    error = WorkError("A process that did a part of the work ended by itself, twice.", advice=MEMORY)
    flight.done[number] = Result(error=error)


def part(function: Callable[..., Value], path: str, task: Task) -> Value:
    """Do one part in another process; what the parts have in common is in a file."""
    return guarded(function, (*_loaded(path), *task))


def guarded(function: Callable[..., Value], arguments: tuple[object, ...]) -> Value:
    """Call a function.

    Raises:
        WorkError: It broke by a fault of the program.
    """
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


def _store(shared: tuple[object, ...], path: Path) -> None:
    """Write what tasks have in common: the sizes of its arrays, all but their bytes, then these."""
    buffers: list[pickle.PickleBuffer] = []
    body = pickle.dumps(shared, protocol=5, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    with path.open("wb") as file:
        pickle.dump(([array.nbytes for array in arrays], body), file, protocol=5)
        for array in arrays:
            file.seek(-file.tell() % ALIGNED, io.SEEK_CUR)
            file.write(array)


@lru_cache(maxsize=1)
def _loaded(path: str) -> tuple[object, ...]:
    """What tasks have in common; processes hold the bytes of its arrays together until one writes to them."""
    with Path(path).open("rb") as file:
        sizes, body = pickle.load(file)  # noqa: S301 - written by the parent
        place, parts = file.tell(), list[memoryview]()
        if sizes:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
            for size in sizes:
                place += -place % ALIGNED
                parts.append(mapped[place : place + size])
                place += size
    shared: tuple[object, ...] = pickle.loads(body, buffers=parts)  # noqa: S301 - as above
    return shared
