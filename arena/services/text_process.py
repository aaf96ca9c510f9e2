"""Work on untrusted texts in child processes with limits on CPU time and memory."""

import asyncio
import atexit
import contextlib
import gc
import json
import math
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TypeVar, cast

from data.errors import ArenaError, JudgeError, StoppedError, TimeLimitError, WorkError
from data.plugins import plugin_files, use_plugin_files

Value = TypeVar("Value")
Poll = Callable[[], object]
POLL_EVERY, STARTING, LAST_SECONDS = 0.2, 120.0, 1.0
"""Seconds between polls, for a child to start, and to finish after a stop request."""
WAITING_FACTOR, TRIES = 6.0, 2
MAX_LOCAL = 2**18
"""Bytes of texts that are processed without a child."""
MEMORY = "Check for causes such as too little memory, and lower ARENA_PROCESSES."
BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {} import serve; serve(int(sys.argv[2]))"
)


class Child:
    """Process that calls functions; unlike `multiprocessing`, it does not import the main module."""

    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        self._grace = STARTING
        with theirs:
            arguments = (BEGIN.format(__name__), json.dumps(sys.path), str(theirs.fileno()))
            command = [sys.executable, "-c", *arguments]
            # In a new session it does not receive Ctrl-C.
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), start_new_session=True
            )

    def call(self, task: bytes, seconds: float, memory: int, poll: Poll | None) -> object:
        """Call a function, and return its result or exception."""
        self._pipe.send((plugin_files(), task, seconds, memory))
        until, self._grace = time.monotonic() + self._grace + WAITING_FACTOR * seconds, 0.0
        while not self._pipe.poll(POLL_EVERY):
            if poll is not None:
                poll()
            if time.monotonic() > until:
                raise _too_long(seconds)
        return self._pipe.recv()

    def end(self) -> int:
        """Kill the process, and return its exit code."""
        self._pipe.close()
        self._process.kill()
        return self._process.wait()


IDLE: list[Child] = []
os.register_at_fork(after_in_child=IDLE.clear)


@atexit.register
def end_idle() -> None:
    """End unused children."""
    while IDLE:
        IDLE.pop().end()


def _child() -> Child:
    try:
        return IDLE.pop()
    except IndexError:
        return Child()


def _too_long(seconds: float) -> TimeLimitError:
    advice = "Check the text; ARENA_WORK_SECONDS sets the limit."
    return TimeLimitError(f"Work on this text took longer than {seconds:g} seconds.", advice=advice)


def within(
    seconds: float, call: Callable[..., Value], *arguments: object, poll: Poll | None = None, memory: int = 0
) -> Value:
    """Call a module's function in a child; an exception from `poll` ends the work.

    It may take `seconds` of CPU time, `WAITING_FACTOR` times as much wall-clock time, and `memory` additional
    bytes (0: no limit).

    Raises:
        TimeLimitError: It takes longer.
        WorkError: It raises an unexpected error, or its process dies.
    """
    task = pickle.dumps((call, arguments))
    for _ in range(TRIES):
        child = _child()
        try:
            value = child.call(task, seconds, memory, poll)
        except BaseException as error:
            out_of_time = child.end() == -signal.SIGXCPU
            if not isinstance(error, EOFError | ConnectionError):
                raise
            if out_of_time:
                raise _too_long(seconds) from None
        else:
            IDLE.append(child)
            if isinstance(value, Exception):
                raise value
            return cast("Value", value)
    raise WorkError("The process that worked on this text died.", advice=MEMORY)


class TextWork(contextlib.AbstractContextManager["TextWork"]):
    """Work on texts for event loops in up to `processes` children; leaving the context ends it.

    With 0 `processes`, texts of usual length are processed here without a limit.
    """

    def __init__(self, seconds: float, processes: int = 1) -> None:
        self._seconds, self._ends, self._here = seconds, math.inf, not processes
        self._threads = ThreadPoolExecutor(max(1, processes), thread_name_prefix="text-work")

    def __exit__(self, *_error: object) -> None:
        self._ends = 0.0
        self._threads.shutdown(cancel_futures=True)

    def here(self, *arguments: object) -> bool:
        """Return whether these texts are processed in this process."""
        return self._here and len(pickle.dumps(arguments)) <= MAX_LOCAL

    async def do(self, function: Callable[..., Value], *arguments: object) -> Value:
        """Call a module's function; errors are those of `within`, or StoppedError after a stop."""
        if self.here(*arguments):
            self._poll(time.monotonic())
            return _unbroken(function, arguments)
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._call, function, arguments)
        except asyncio.CancelledError:
            if not self._ends:
                self._poll(0.0)
            raise

    def stop(self) -> None:
        """Request a stop, which limits the time of current work."""
        self._ends = min(self._ends, time.monotonic())

    def _poll(self, since: float) -> None:
        if time.monotonic() > max(since, self._ends) + (LAST_SECONDS if self._ends else 0.0):
            raise StoppedError("Work on a text was stopped before it finished.", advice="Run it again.")

    def _call(self, function: Callable[..., Value], arguments: tuple[object, ...]) -> Value:
        since = time.monotonic()
        try:
            return within(self._seconds, function, *arguments, poll=lambda: self._poll(since))
        except OSError as error:
            raise JudgeError(f"Processes cannot be started: {error.strerror}.", advice=MEMORY) from error


def _broken(error: Exception) -> WorkError:
    return WorkError(f"Work on this text failed ({type(error).__name__}: {error}).")


def _unbroken(function: Callable[..., Value], arguments: tuple[object, ...]) -> Value:
    try:
        return function(*arguments)
    except ArenaError:
        raise
    except Exception as error:
        raise _broken(error) from error


def serve(file: int) -> None:
    """Call functions from the parent until it is gone."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
    # Texts create many small objects with hardly any cycles; collection took a third of the time.
    gc.set_threshold(50_000, *gc.get_threshold()[1:])
    pipe = Connection(file)
    with contextlib.suppress(EOFError, OSError):
        while True:
            plugins, task, seconds, memory = pipe.recv()
            try:
                use_plugin_files(plugins)
                function, arguments = pickle.loads(task)  # noqa: S301 - bytes of the parent, over a pipe that only it can write
                with _limited(seconds, memory):
                    outcome = pickle.dumps(_unbroken(function, arguments))
            except ArenaError as error:
                outcome = pickle.dumps(error)
            except Exception as error:  # noqa: BLE001 - sent to the parent
                outcome = pickle.dumps(_broken(error))
            pipe.send_bytes(outcome)


@contextlib.contextmanager
def _limited(seconds: float, memory: int) -> Iterator[None]:
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: math.ceil(time.process_time() + seconds)}
    if memory and sys.platform == "linux":
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        used = next(int(line.split()[1]) for line in lines if line.startswith("VmData:"))
        limits[resource.RLIMIT_DATA] = 1024 * used + memory
    before = {kind: resource.getrlimit(kind) for kind in limits}
    for kind, (soft, hard) in before.items():
        resource.setrlimit(kind, (min(limit for limit in (limits[kind], soft, hard) if limit >= 0), hard))
    try:
        yield
    finally:
        for kind, pair in before.items():
            resource.setrlimit(kind, pair)
