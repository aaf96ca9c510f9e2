"""Progress of long commands on stderr: a bar on a terminal, else a line every few seconds."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from arena.formats import span
from data.progress import Progress, Work, listening
from data.text import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

SHOW_AFTER_SECONDS = 2.0
LINE_SECONDS = 5.0
RESULT_SECONDS = 30.0
REDRAW_EVERY = 0.25
MEGABYTE = 1_000_000
MINUTE = 60


@contextmanager
def showing_progress() -> Iterator[None]:
    """Show the progress of long tasks on stderr."""
    # A notebook's stderr is not a terminal but can be redrawn.
    redraws = sys.stderr.isatty() or "ipykernel" in sys.modules
    display = Display(BarView() if redraws else LineView(sys.stderr))
    try:
        with listening(display):
            yield
    finally:
        display.close()


class Display:
    """Redraw all running tasks at intervals, in its own thread."""

    def __init__(self, view: "LineView | BarView") -> None:
        self._view = view
        self._works: list[Work] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, work: Work) -> None:
        """Start showing a task."""
        with self._lock:
            self._works.append(work)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)
                self._thread.start()

    def end(self, work: Work) -> None:
        """Stop showing the task."""
        with self._lock:
            if work in self._works:
                self._works.remove(work)
                self._view.end(work)

    def close(self) -> None:
        """Stop redrawing."""
        self._closed.set()
        thread = self._thread
        if thread is not None:
            thread.join()
        self._view.close()

    def _watch(self) -> None:
        while not self._closed.wait(REDRAW_EVERY):
            with self._lock:
                if not self._works:
                    self._thread = None
                    return
                self._view.show([work for work in self._works if work.watch.seconds >= SHOW_AFTER_SECONDS])


class LineView:
    """A line per task every few seconds, and one at its end."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._last_line: dict[Work, float] = {}
        self._last_lines: dict[Work, float] = {}

    def show(self, works: list[Work]) -> None:
        """Write a line for each task whose last line is a few seconds old."""
        for work in works:
            now = work.watch.seconds
            if now - self._last_line.get(work, -LINE_SECONDS) >= LINE_SECONDS:
                self._last_line[work] = now
                self._write(line_of(work))
            if work.lines and now - self._last_lines.get(work, 0.0) >= RESULT_SECONDS:
                self._last_lines[work] = now
                for line in work.lines:
                    self._write(line)

    def end(self, work: Work) -> None:
        """Write a final line for a task that already has lines."""
        self._last_lines.pop(work, None)
        if self._last_line.pop(work, None) is not None:
            self._write(f"{work.what}: {_amount(work)} in {span(work.watch.seconds)}")

    def close(self) -> None:
        """Do nothing: lines need no cleanup."""

    def _write(self, line: str) -> None:
        print(line, file=self._out, flush=True)


class BarView:
    """Bars on a terminal."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._lines: list[str] = []
        self._tasks: dict[Work, TaskID] = {}

    def show(self, works: list[Work]) -> None:
        """Draw a bar for each task."""
        if works and self._bar is None:
            self._bar = _bar(lambda: self._lines)
            self._bar.start()
        for work in works:
            self._draw(work)
        self._lines = [line for work in works for line in work.lines]

    def end(self, work: Work) -> None:
        """Draw its bar for the last time."""
        if work in self._tasks:
            self._draw(work)
            del self._tasks[work]

    def close(self) -> None:
        """Restore the terminal."""
        if self._bar is not None:
            self._bar.stop()

    def _draw(self, work: Work) -> None:
        if self._bar is None:
            return
        if work not in self._tasks:
            self._tasks[work] = self._bar.add_task(work.what, total=work.total, state="")
        state = state_of(work)
        self._bar.update(self._tasks[work], total=work.total, completed=work.done, state=state)


def _bar(lines: Callable[[], Sequence[str]]) -> "Bar":
    from rich.console import Console, Group, RenderableType
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    class LinedBar(Bar):
        def get_renderable(self) -> RenderableType:
            return Group(super().get_renderable(), *map(Text, lines()))

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
    )
    # Results go to stdout unchanged, to a terminal or a pipe.
    return LinedBar(*columns, console=Console(file=sys.stderr), redirect_stdout=False)


def line_of(work: Work) -> str:
    """Describe the progress of work in a line."""
    return f"{work.what}: {state_of(work)}"


def state_of(work: Work) -> str:
    """Describe the progress of work: done and total, pace, and time left."""
    progress = work.progress
    requests = [f"{work.requests:,} requests"] if work.requests else []
    note = f"; {visible(work.note)}" if work.note else ""
    if not work.done:
        return ", ".join([*requests, f"{span(progress.seconds)} so far"]) + note
    spent = [f"{work.cost_usd:,.2f} USD spent"] if work.cost_usd else []
    parts = [_amount(work), *requests, _rate(work, progress), *spent]
    # All items may be done some time before the task ends.
    if progress.seconds_left is not None and round(progress.seconds_left):
        parts.append(f"{span(progress.seconds_left)} left")
    return ", ".join(parts) + note


def _amount(work: Work) -> str:
    if not work.done:
        return "done"
    done = _number(work.done, work)
    return f"{done} so far" if work.total is None else f"{done} of {_number(work.total, work)}"


def _rate(work: Work, progress: Progress) -> str:
    if work.in_bytes:
        return f"{progress.rate / MEGABYTE:,.1f} MB/s"
    return f"{progress.rate:,.0f}/s" if progress.rate >= 1 else f"{progress.rate * MINUTE:,.0f}/min"


def _number(amount: int, work: Work) -> str:
    return f"{amount / MEGABYTE:,.1f} MB" if work.in_bytes else f"{amount:,}"
