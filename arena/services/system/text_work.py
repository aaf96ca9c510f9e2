"""Work on strangers' texts within a limit of time, in processes that are ended where they exceed it (A4).

The limit is one of processor time, so that a busy machine refuses nobody's text; by the clock work may take
several times as long. What a text does to a pattern or a parser is that text's outcome: the process is ended,
the text has its error, and all other texts go on in another process. Small pieces of work travel in batches,
so that what takes microseconds is not held up by its journey.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from arena.services.system.text_process import (
    PREPARING,
    PROCESSES,
    WAITING_FACTOR,
    Result,
    Task,
    TextProcess,
    usable_processors,
)
from data.errors import JudgeError, StoppedError, TimeLimitError, WorkError
from data.progress import Work

if TYPE_CHECKING:
    # Whoever waits in an event loop has it; processes that check files do without.
    import asyncio

Value = TypeVar("Value")

BATCH = 64
POLL_EVERY = 0.2
Poll = Callable[[], object]
"""Called at intervals while work is waited for; what it raises ends the work."""
STARTING = 120.0
"""Seconds that a new process may take until it has loaded what it needs."""
TRIES = 2
"""Processes that may end by themselves over one text."""
MOST_LOST = 3
"""Processes that may end by themselves one after the other before that is nobody's text's fault."""
LAST_SECONDS = 1.0
"""Seconds that work on a text may still take once somebody asked to stop."""
LEAST_TEXTS = 500
"""Fewer texts are worked on before a second process has started."""
MEMORY = "Look for what ends processes here, such as too little memory, and set ARENA_PROCESSES lower."


def processes_for(texts: int, processes: int | None) -> int:
    """How many processes are worth their start for so many texts, of those that may be used.

    Few texts are worth no start, and are worked on by those that are there already.
    """
    allowed = processes or usable_processors()
    return allowed if texts >= LEAST_TEXTS else min(allowed, max(1, PROCESSES.idle))


def too_long(seconds: float) -> TimeLimitError:
    """The error of a text that took longer than it may."""
    return TimeLimitError(
        f"Work on this text took longer than {seconds:g} seconds and was ended.",
        advice="Look at the text; ARENA_WORK_SECONDS sets the limit.",
    )


def within(
    seconds: float,
    function: Callable[..., Value],
    *arguments: object,
    poll: Poll | None = None,
    work: Work | None = None,
) -> Value:
    """Do one piece of work, and wait for it.

    `seconds` are those of a processor; by the clock it may take `WAITING_FACTOR` times as many. The function
    is one of a module, and its arguments are copied. `poll` is called at intervals meanwhile; what it raises
    ends the work. The `done` of `work` follows what the function counts.

    Raises:
        TimeLimitError: It took longer.
        WorkError: It broke, or its process ended by itself.
    """
    results: list[Result] = []

    def stop_error(_since: float) -> None:
        if poll is not None:
            poll()

    for _ in range(TRIES):
        attempt = _Attempt([(function, arguments)], seconds, work)
        attempt.run(results.extend, stop_error)
        if not attempt.lost:
            break
    result = results[0] if results else Result(error=attempt.error)
    if result.error is not None:
        raise result.error
    value: Value = result.value
    return value


class _Attempt:
    """A batch in one process, as far as it comes.

    Attributes:
        done: How many tasks have their results.
        place: The number of the task at which it ended early; below 0 where it had not begun.
        error: Why it ended early; None where every task is done.
        lost: Whether the process ended by itself.
    """

    def __init__(self, tasks: Sequence[Task], seconds: float, work: Work | None = None) -> None:
        self._tasks = tasks
        self._seconds = seconds
        self._work = work
        self.done = 0
        self.place = PREPARING
        self.error: Exception | None = None
        self.lost = False

    def run(
        self, take_results: Callable[[list[Result]], object], stop_error: Callable[[float], Exception | None]
    ) -> None:
        """Work, handing out results as they come.

        `take_results` gets the next results. `stop_error` gets since when a task has been worked on; the
        error that it returns ends that.
        """
        process = PROCESSES.take()
        try:
            process.begin(self._tasks, self._seconds)
            self._follow(process, take_results, stop_error)
        except (EOFError, OSError):
            self.lost = True
            self.place = process.place
            self.error = WorkError("The process that worked on this text ended by itself.", advice=MEMORY)
        except BaseException:
            PROCESSES.end(process)
            raise
        (PROCESSES.give_back if self.error is None else PROCESSES.end)(process)

    def _follow(
        self,
        process: TextProcess,
        take_results: Callable[[list[Result]], object],
        stop_error: Callable[[float], Exception | None],
    ) -> None:
        since, worked = time.monotonic(), process.processor_seconds
        while self.done < len(self._tasks) and self.error is None:
            results = process.results(min(POLL_EVERY, self._seconds / 4))
            if self._work is not None:
                self._work.done = process.done
            if results:
                self.done += len(results)
                take_results(results)
            elif process.place == self.place:
                exceeded = self._exceeds(time.monotonic() - since, process, worked)
                self.error = too_long(self._seconds) if exceeded else stop_error(since)
                continue
            self.place, since, worked = process.place, time.monotonic(), process.processor_seconds

    def _exceeds(self, passed: float, process: TextProcess, worked: float) -> bool:
        """Whether the task at hand, begun when its process had `worked` so long, takes longer than it may.

        Several threads of a task work at once, so that the clock decides before their processor time does.
        """
        longest = WAITING_FACTOR * self._seconds
        if self.place < 0:
            return passed > max(STARTING, longest)
        if passed <= self._seconds:
            return False
        return passed > longest or process.processor_seconds - worked > self._seconds


@dataclass(slots=True, eq=False)
class _Piece:
    """A task of the queue, who waits for it, and how many processes ended by themselves over it."""

    task: Task
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    lost: int = 0


class TextWork:
    """Does small pieces of work for event loops in a few processes; a context that ends what is unfinished.

    One piece may take `seconds` of a processor; so many `processes` work at once.
    """

    def __init__(self, seconds: float, processes: int = 1) -> None:
        self._seconds = seconds
        self._processes = processes
        self._pieces: deque[_Piece] = deque()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._stopped: float | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        _settle([(piece, Result(error=_stopped())) for piece in self._pieces])

    async def do(self, function: Callable[..., Value], *arguments: object) -> Value:
        """Do one piece of work.

        Raises:
            TimeLimitError: It took longer than it may.
            WorkError: It broke, or processes ended by themselves over it.
            StoppedError: Work was stopped before it was done.
            JudgeError: No process can be started.
        """
        from asyncio import get_running_loop  # noqa: PLC0415 - see above

        loop = get_running_loop()
        piece = _Piece((function, arguments), loop, loop.create_future())
        with self._changed:
            self._pieces.append(piece)
            if not self._idle and len(self._threads) < self._processes:
                self._threads.append(threading.Thread(target=self._work, name="text-work", daemon=True))
                self._threads[-1].start()
            self._changed.notify()
        value: Value = await piece.future
        return value

    def stop(self) -> None:
        """Limit the time of what is being worked on: a stop was requested."""
        self._stopped = self._stopped or time.monotonic()

    def _work(self) -> None:
        losses = 0
        while batch := self._next():
            attempt = _Attempt([piece.task for piece in batch], self._seconds)
            try:
                attempt.run(partial(_settle_next, iter(batch)), self._stop_error)
            except Exception as error:  # noqa: BLE001 - raised to the caller: no process, or no such task
                _settle([(piece, Result(error=error)) for piece in batch[attempt.done :]])
                continue
            losses = losses + 1 if attempt.lost and not attempt.done else 0
            if attempt.error is not None:
                self._sort_out(attempt, batch, hopeless=losses >= MOST_LOST)

    def _sort_out(self, attempt: _Attempt, batch: Sequence[_Piece], *, hopeless: bool) -> None:
        """Fail the piece at which a batch ended, and queue the others again."""
        error, rest = attempt.error, list(batch[attempt.done :])
        if isinstance(error, StoppedError):
            _settle([(piece, Result(error=error)) for piece in rest])
            return
        if hopeless or (attempt.place < 0 and not attempt.lost):
            error = JudgeError("Processes for work on texts cannot be started or end at once.", advice=MEMORY)
            _settle([(piece, Result(error=error)) for piece in rest])
            return
        if attempt.place >= 0:
            piece = batch[max(attempt.place, attempt.done)]
            piece.lost += attempt.lost
            if not attempt.lost or piece.lost == TRIES:
                rest.remove(piece)
                _settle([(piece, Result(error=error))])
        with self._changed:
            self._pieces.extendleft(reversed(rest))
            self._changed.notify_all()

    def _next(self) -> list[_Piece]:
        """The next pieces for one process; none once it is over."""
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._pieces or self._closed)
            self._idle -= 1
            if self._closed:
                return []
            share = min(BATCH, -(-len(self._pieces) // self._processes))
            return [self._pieces.popleft() for _ in range(share)]

    def _stop_error(self, since: float) -> StoppedError | None:
        late = self._stopped is not None and time.monotonic() - max(since, self._stopped) > LAST_SECONDS
        return _stopped() if late or self._closed else None


def _stopped() -> StoppedError:
    return StoppedError("Work on a text was stopped before it was done.", advice="Run it again.")


def _settle_next(waiting: Iterator[_Piece], results: Sequence[Result]) -> None:
    """Give the next results to those who wait for them, in order."""
    _settle([(next(waiting), result) for result in results])


def _settle(results: Sequence[tuple[_Piece, Result]]) -> None:
    """Give results to those who wait, in one step for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Piece, Result]]] = {}
    for piece, result in results:
        by_loop.setdefault(piece.loop, []).append((piece, result))
    for loop, for_loop in by_loop.items():
        # A loop that has ended has nobody who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_set_results, for_loop)


def _set_results(results: Sequence[tuple[_Piece, Result]]) -> None:
    for piece, result in results:
        if piece.future.done():
            continue
        if result.error is None:
            piece.future.set_result(result.value)
        else:
            piece.future.set_exception(result.error)
