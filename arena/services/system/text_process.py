"""One process that works on strangers' texts and can be ended, whatever it is doing (A4).

A thread cannot be ended, and neither a thread nor a signal's handler interrupts what runs within one call
of C. The process is spawned, not forked, so that it shares neither locks nor database connections with this
one. It ignores Ctrl-C and SIGTERM, and ends when this one ends, whatever ends it.
"""

from __future__ import annotations

import atexit
import contextlib
import copyreg
import gc
import importlib
import json
import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import MappingProxyType
from typing import Any

from data.errors import ArenaError, WorkError
from data.plugins import plugin_files, use_plugin_files
from data.progress import Latest, listening

COUNTED_EVERY = 0.2
SEND_EVERY = 0.05
"""Seconds after which results are sent, though more are to come."""
PREPARING = -1
MOST_IDLE = max(2, os.cpu_count() or 1)
WAITING_FACTOR = 6.0
"""So many times its limit a task may take by the clock, on a machine that is busy with others."""
ORPHAN_FACTOR = 2.0
LEAST_ALARM = 5.0
NUMBER_BYTES = 8
GARBAGE_FROM = 50_000
"""Objects made and not released, after which a process looks for cycles among the youngest."""
BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    f"from {__name__} import serve; serve(*map(int, sys.argv[2:4]), *sys.argv[4:])"
)


def _frozen(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)


# Frozen records hold such mappings, which travel as their content.
copyreg.pickle(MappingProxyType, lambda shown: (_frozen, (dict(shown),)))

Task = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Result:
    """What a function returned, or the error that it raised."""

    value: Any = None
    error: Exception | None = None


class SharedNumber:
    """A number that two processes share, in a file that only they have."""

    def __init__(self, file: int, index: int) -> None:
        self._bytes = mmap.mmap(file, 0)
        self._at = slice(index * NUMBER_BYTES, (index + 1) * NUMBER_BYTES)

    def get(self) -> int:
        """The number."""
        return int.from_bytes(self._bytes[self._at], "little", signed=True)

    def set(self, number: int) -> None:
        """Let it be another one."""
        self._bytes[self._at] = number.to_bytes(NUMBER_BYTES, "little", signed=True)


class TextProcess:
    """A process to which functions are sent with their arguments, in batches.

    It is no process of `multiprocessing`: those load the main module again, which for a page of the site
    is the page.

    Args:
        modules: What it loads before it is sent anything.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._pipe, theirs = Pipe()
        with theirs, tempfile.TemporaryFile() as file:
            file.truncate(2 * NUMBER_BYTES)
            self._place, self._done = SharedNumber(file.fileno(), 0), SharedNumber(file.fileno(), 1)
            shared = (theirs.fileno(), file.fileno())
            command = [sys.executable, "-c", BEGIN, json.dumps(sys.path), *map(str, shared), *modules]
            # What it reads never comes: it ends where this process ends. A group of its own has no Ctrl-C.
            self._process = subprocess.Popen(  # noqa: S603 - one of our own
                command, stdin=subprocess.PIPE, pass_fds=shared, start_new_session=True
            )

    @property
    def place(self) -> int:
        """Which task of the batch it is at; before the first, while modules are loaded, -1."""
        return self._place.get()

    @property
    def done(self) -> int:
        """How much of the work begun last in its task is done, in that work's own unit."""
        return self._done.get()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def processor_seconds(self) -> float:
        """How long processors have worked for it, from some moment on; by the clock where no system tells."""
        try:
            # A name in brackets, which may hold spaces, then fields 3 and on: 14 and 15 are user and system.
            fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def pipe(self) -> Connection:
        """By which results come, for whoever waits for several processes at once."""
        return self._pipe

    def begin(self, tasks: Sequence[Task], seconds: float) -> None:
        """Send a batch of tasks, each of which may take some seconds of a processor.

        Raises:
            OSError: The process has ended.
        """
        self._place.set(PREPARING)
        self._done.set(0)
        self._pipe.send(plugin_files())
        self._pipe.send((list(tasks), seconds))

    def results(self, seconds: float) -> list[Result]:
        """The next results, in the order of the tasks; none where none come within some seconds.

        Raises:
            EOFError: The process has ended.
            OSError: Likewise.
        """
        if not self._pipe.poll(seconds):
            return []
        results: list[Result] = self._pipe.recv()
        return results

    def end(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.communicate()
        self._pipe.close()


def usable_processors() -> int:
    """Processors that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


class Processes:
    """Processes of this one that are started when needed, and used again."""

    def __init__(self) -> None:
        self._all: set[TextProcess] = set()
        self._idle: list[TextProcess] = []
        self._lock = threading.Lock()
        self._owner = 0

    @property
    def idle(self) -> int:
        """How many there are that nobody uses."""
        self._begin()
        return len(self._idle)

    def take(self, modules: Sequence[str] = ()) -> TextProcess:
        """One that nobody uses; where it is a new one, it begins with loading some modules."""
        self._begin()
        with self._lock:
            if self._idle:
                return self._idle.pop()
        process = TextProcess(modules)
        with self._lock:
            self._all.add(process)
        return process

    def prepare(self, module: str) -> None:
        """Have one that nobody uses, which loads a module meanwhile where it is a new one."""
        self.give_back(self.take((module,)))

    def give_back(self, process: TextProcess) -> None:
        """Let others use one that has done what it was sent."""
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append(process)
                return
        self.end(process)

    def end(self, process: TextProcess) -> None:
        """End one, whatever it is doing."""
        with self._lock:
            self._all.discard(process)
        process.end()

    def end_all(self) -> None:
        """End every one."""
        for process in tuple(self._all):
            self.end(process)
        self._idle.clear()

    def _begin(self) -> None:
        """After a fork, leave the existing processes to the parent."""
        if self._owner != os.getpid():
            self._all, self._idle, self._lock = set(), [], threading.Lock()
            self._owner = os.getpid()


PROCESSES = Processes()


@atexit.register
def _end_with_this_one() -> None:
    """End every process where this one has done its work: a late Ctrl-C has nothing left to break off."""
    with contextlib.suppress(ValueError):  # not in the main thread, which alone receives signals
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    PROCESSES.end_all()


def serve(pipe_file: int, place_file: int, *modules: str) -> None:
    """Load modules, then work on what is sent until nobody is left to send; what a new process does."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
    latest = Latest()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pipe = Connection(pipe_file)
    current, done, latest = SharedNumber(place_file, 0), SharedNumber(place_file, 1), Latest()
    threading.Thread(target=_count, args=(latest, done), daemon=True).start()
    # What reads texts makes many small objects and keeps them in caches, hardly any in cycles: looking for
    # those as often as Python does took a third of the time.
    gc.set_threshold(GARBAGE_FROM, *gc.get_threshold()[1:])
    for module in modules:
        importlib.import_module(module)
    with listening(latest):
        while True:
            try:
                use_plugin_files(pipe.recv())
                tasks, seconds = pipe.recv()
            except EOFError:
                return
            _work(pipe, current, tasks, seconds)


def _count(latest: Latest, done: SharedNumber) -> None:
    """Let the other process see how far the work at hand is."""
    while True:
        time.sleep(COUNTED_EVERY)
        work = latest.work
        done.set(0 if work is None else work.done)


def _work(pipe: Connection, current: SharedNumber, tasks: Sequence[Task], seconds: float) -> None:
    results: list[Result] = []
    sent_at = time.monotonic()
    for number, (function, arguments) in enumerate(tasks):
        current.set(number)
        _set_alarm(max(LEAST_ALARM, ORPHAN_FACTOR * WAITING_FACTOR * seconds))
        results.append(attempted(function, arguments))
        if time.monotonic() - sent_at > SEND_EVERY:
            _send(pipe, results)
            results, sent_at = [], time.monotonic()
    _set_alarm(0)
    _send(pipe, results)


def _send(pipe: Connection, results: Sequence[Result]) -> None:
    try:
        pipe.send(list(results))
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        pipe.send(
            [Result(error=WorkError(f"What came of this text cannot be sent: {error}."))] * len(results)
        )


def attempted(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Result:
    """Call a function; what it raises is part of the result, in a form that another process can read."""
    try:
        return Result(function(*arguments))
    except Exception as error:  # noqa: BLE001 - sent to the caller
        return Result(error=_sendable(error))


def _sendable(error: Exception) -> Exception:
    """An error that can be pickled: our own as it is where possible, else its message."""
    if isinstance(error, ArenaError):
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - made a line before
        except Exception:  # noqa: BLE001 - errors with arguments of their own
            return WorkError(error.message, advice=error.advice)
        return error
    return WorkError(f"It broke on this text ({type(error).__name__}: {error}).")


def _set_alarm(seconds: float) -> None:
    """Let the kernel end this process where nobody is left to do it in time; 0 for never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _end_with_parent() -> None:
    # Not by a reader with a lock, on which Python's own ending would stumble.
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)
