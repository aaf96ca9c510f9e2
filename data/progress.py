"""Progress of long tasks, counted by workers and displayed by listeners.

The listener is a context variable, so that it need not be passed through every caller. Without a listener,
counting is cheap.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Stopwatch that starts on creation."""

    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.started


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress at a time; `total` is None if unknown.

    `requests` and `cost_usd` are those so far. `left` is the remaining time in seconds if it is estimated
    independently of `done`, and `note` is the reason for a delay. `first` is the time and number of the first
    finished items, since loading before them does not affect the rate of the rest.
    """

    done: int
    total: int | None
    seconds: float
    requests: int = 0
    left: float | None = None
    note: str = ""
    cost_usd: float = 0.0
    first: tuple[float, int] = (0.0, 0)

    @property
    def rate(self) -> float:
        """Items per second so far."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated remaining time in seconds; None if it cannot be estimated yet."""
        if self.left is not None:
            return self.left
        since = (0.0, 0) if self.done == self.first[1] else self.first
        seconds, done = self.seconds - since[0], self.done - since[1]
        if self.total is None or seconds <= 0 or done <= 0 or self.done < MIN_SHARE_DONE * self.total:
            return None
        return max(0, self.total - self.done) * seconds / done

    @property
    def share(self) -> float | None:
        """Finished share, 0–1; None if the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None


MIN_SHARE_DONE = 0.05
"""Finished share from which the remaining time is estimated."""
Report = Callable[[Progress], None]


_PLAIN = ("what", "total", "done", "in_bytes", "requests", "left", "note", "cost_usd", "first")


@dataclass(slots=True, eq=False)
class Work:
    """Long task whose worker sets `done`, which other threads may read.

    Attributes:
        what: Description, such as `scoring by answer-crux`.
        total: Number of items; None if unknown.
        done: Number of finished items; 0 if they cannot be counted.
        left: Remaining time in seconds, if estimated independently of `done`.
        note: Reason for a delay, if any.
        cost_usd: Cost of its requests so far, as far as prices are known.
        lines: Preliminary results.
        first: Time and number of the first finished items.
    """

    what: str
    total: int | None = None
    done: int = 0
    in_bytes: bool = False
    requests: int = 0
    left: float | None = None
    note: str = ""
    cost_usd: float = 0.0
    lines: tuple[str, ...] = ()
    first: tuple[float, int] = (0.0, 0)
    watch: Stopwatch = field(default_factory=Stopwatch)

    @property
    def progress(self) -> Progress:
        """Current progress."""
        seconds, done = self.watch.seconds, self.done
        if done and not self.first[1]:
            self.first = (seconds, done)
        details = (self.requests, self.left, self.note, self.cost_usd)
        return Progress(done, self.total, seconds, *details, first=self.first)

    def follow(self, progress: Progress) -> None:
        """Copy reported progress."""
        self.done, self.total = progress.done, progress.total
        self.requests, self.left, self.note = progress.requests, progress.left, progress.note
        self.cost_usd = progress.cost_usd

    def as_json(self) -> dict[str, Any]:
        """Return the progress as JSON, for another process."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {**plain, "seconds": self.watch.seconds, "lines": list(self.lines)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Work":
        """Restore the output of `as_json`."""
        watch = Stopwatch(time.monotonic() - fields["seconds"])
        plain = {name: fields[name] for name in _PLAIN if name in fields}
        return cls(**plain, lines=tuple(fields.get("lines", ())), watch=watch)


class Listener(Protocol):
    """Listener for the start and the end of work."""

    def begin(self, work: Work) -> None:
        """Handle the start of work."""

    def end(self, work: Work) -> None:
        """Handle the end of work, finished or not."""


class Latest:
    """Listener that returns the work started last, in any thread."""

    def __init__(self) -> None:
        self._works: list[Work] = []

    @property
    def work(self) -> Work | None:
        """Current work, if any."""
        return next(reversed(self._works), None)

    def begin(self, work: Work) -> None:
        """Handle the start of work."""
        self._works.append(work)

    def end(self, work: Work) -> None:
        """Handle the end of work."""
        self._works = [other for other in self._works if other is not work]


_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Notify this listener about the work of the block."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def begin(what: str, total: int | None = None, *, in_bytes: bool = False) -> Work:
    """Notify the listener of new work; `end` must follow."""
    work = Work(what, total, in_bytes=in_bytes)
    listener = _LISTENER.get()
    if listener is not None:
        listener.begin(work)
    return work


def end(work: Work) -> None:
    """Notify the listener of the end of work."""
    listener = _LISTENER.get()
    if listener is not None:
        listener.end(work)


@contextmanager
def working(what: str, total: int | None = None, *, in_bytes: bool = False) -> Iterator[Work]:
    """Report the block as work whose `done` it counts."""
    work = begin(what, total, in_bytes=in_bytes)
    try:
        yield work
    finally:
        end(work)


@contextmanager
def reporting(what: str) -> Iterator[Report]:
    """Report the block as work with a callback for its progress."""
    with working(what) as work:
        yield work.follow


def counted(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Yield items and count the processed ones."""
    with working(what, total) as work:
        for item in items:
            yield item
            work.done += 1
