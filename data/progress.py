"""Progress of long work: the worker counts, listeners show it.

The listener is a context variable rather than an argument, so that a file that is read or a table that is
written can be followed without every caller between handing it down. Where nobody
listens, counting costs next to nothing.
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
    """Seconds since it was made."""

    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.started


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress at a moment; `total` is None where it is unknown.

    `requests` were sent for it so far, and cost `cost_usd`. `left` is the time left in seconds where it was
    measured otherwise than by what is done, and `note` says what holds the work up. `first` is when the first
    items were seen to be done, and how many: what was loaded before them says nothing of the rest.
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
        """Items a second so far."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The estimated time to the end in seconds; None where it cannot be estimated yet."""
        if self.left is not None:
            return self.left
        since = (0.0, 0) if self.done == self.first[1] else self.first
        seconds, done = self.seconds - since[0], self.done - since[1]
        if self.total is None or seconds <= 0 or done <= 0 or self.done < LEAST_DONE * self.total:
            return None
        return max(0, self.total - self.done) * seconds / done

    @property
    def share(self) -> float | None:
        """Finished share, 0–1; None where the total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None


LEAST_DONE = 0.05
"""Share of the work before which nothing is said of the time left."""
Report = Callable[[Progress], None]


_PLAIN = ("what", "total", "done", "in_bytes", "requests", "left", "note", "cost_usd", "first")


@dataclass(slots=True, eq=False)
class Work:
    """Something that takes a while. Whoever does it sets `done`, which others may read at any time.

    Attributes:
        what: What is being done, as in `scoring by answer-crux`.
        total: Amount of work; None where unknown.
        done: How much of it is done; stays 0 where it cannot be counted.
        left: The time left in seconds, where it was measured otherwise than by what is done.
        note: What holds it up; empty where nothing does.
        cost_usd: What its requests cost so far, as far as prices are known.
        lines: What is known of its result so far.
        first: When the first items were seen to be done, and how many.
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
        """Be as far as reported."""
        self.done, self.total = progress.done, progress.total
        self.requests, self.left, self.note = progress.requests, progress.left, progress.note
        self.cost_usd = progress.cost_usd

    def as_json(self) -> dict[str, Any]:
        """Return the progress as JSON, for another process."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {**plain, "seconds": self.watch.seconds, "lines": list(self.lines)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Work":
        """Read the output of `as_json` back."""
        watch = Stopwatch(time.monotonic() - fields["seconds"])
        plain = {name: fields[name] for name in _PLAIN if name in fields}
        return cls(**plain, lines=tuple(fields.get("lines", ())), watch=watch)


class Listener(Protocol):
    """Is notified when work begins and ends, and reads its progress meanwhile."""

    def begin(self, work: Work) -> None:
        """Note that some work begins."""

    def end(self, work: Work) -> None:
        """Note its end, done or not."""


class Latest:
    """A listener that knows the work begun last; others may look from their own threads."""

    def __init__(self) -> None:
        self._works: list[Work] = []

    @property
    def work(self) -> Work | None:
        """Current work; None without one."""
        return next(reversed(self._works), None)

    def begin(self, work: Work) -> None:
        """Note that some work begins."""
        self._works.append(work)

    def end(self, work: Work) -> None:
        """Note its end."""
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
    """Tell the listener that work begins; `end` must follow."""
    work = Work(what, total, in_bytes=in_bytes)
    listener = _LISTENER.get()
    if listener is not None:
        listener.begin(work)
    return work


def end(work: Work) -> None:
    """Tell the listener that work has ended."""
    listener = _LISTENER.get()
    if listener is not None:
        listener.end(work)


@contextmanager
def working(what: str, total: int | None = None, *, in_bytes: bool = False) -> Iterator[Work]:
    """Report the block as work; its steps are counted in the `done` of the given object."""
    work = begin(what, total, in_bytes=in_bytes)
    try:
        yield work
    finally:
        end(work)


@contextmanager
def reporting(what: str) -> Iterator[Report]:
    """Do the same for work that reports its progress."""
    with working(what) as work:
        yield work.follow


def counted(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Yield items, counting those that were dealt with."""
    with working(what, total) as work:
        for item in items:
            yield item
            work.done += 1
