"""Work on untrusted texts in child processes, within limits of processor time and memory."""

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
from typing import Any, TypeVar, cast

from data.errors import ArenaError, JudgeError, StoppedError, TimeLimitError, WorkError
from data.plugins import plugin_files, use_plugin_files

Value = TypeVar("Value")
Poll = Callable[[], object]
POLL_EVERY, STARTING, LAST_SECONDS = 0.2, 120.0, 1.0
"""Seconds between looks, in which a child loads modules, and that are left after a request to stop."""
WAITING_FACTOR, TRIES = 6.0, 2
MAX_HERE = 2**18
"""Bytes of texts that are worked on without a child."""
MEMORY = "Look for what ends processes here, such as too little memory, and set ARENA_PROCESSES lower."
BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {} import serve; serve(int(sys.argv[2]))"
)


class Child:
    """A process that calls one function after another.

    Those of `multiprocessing` load the main module again, which for a page of the site is the page.
    """

    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        self._grace = STARTING
        with theirs:
            arguments = (BEGIN.format(__name__), json.dumps(sys.path), str(theirs.fileno()))
            command = [sys.executable, "-c", *arguments]
            # A session of its own has no Ctrl-C.
            self._process = subprocess.Popen(  # noqa: S603 - one of our own
                command, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), start_new_session=True
            )

    def call(self, task: bytes, seconds: float, memory: int, poll: Poll | None) -> Any:  # noqa: ANN401 - any result
        """Call a function; its result, or the error that it raised."""
        self._pipe.send((plugin_files(), task, seconds, memory))
        until, self._grace = time.monotonic() + self._grace + WAITING_FACTOR * seconds, 0.0
        while not self._pipe.poll(POLL_EVERY):
            if poll is not None:
                poll()
            if time.monotonic() > until:
                raise _too_long(seconds)
        return self._pipe.recv()

    def end(self) -> int:
        """End it, whatever it is doing; its exit code."""
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
    advice = "Look at the text; ARENA_WORK_SECONDS sets the limit."
    return TimeLimitError(f"Work on this text took longer than {seconds:g} seconds.", advice=advice)


def within(
    seconds: float, call: Callable[..., Value], *arguments: object, poll: Poll | None = None, memory: int = 0
) -> Value:
    """Call a function of a module in a child; what `poll` raises meanwhile ends the work.

    It may take so many `seconds` of a processor, `WAITING_FACTOR` times as many by the clock, and `memory`
    bytes more than its process has (0: any number). Raises TimeLimitError where it takes longer, WorkError
    where it breaks or its process ends by itself.
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
    raise WorkError("The process that worked on this text ended by itself.", advice=MEMORY)


class TextWork(contextlib.AbstractContextManager["TextWork"]):
    """Work on texts for event loops, in so many children; a context that ends what is unfinished.

    With 0 `processes`, texts of a usual length are worked on in this one, without a limit.
    """

    def __init__(self, seconds: float, processes: int = 1) -> None:
        self._seconds, self._ends, self._here = seconds, math.inf, not processes
        self._threads = ThreadPoolExecutor(max(1, processes), thread_name_prefix="text-work")

    def __exit__(self, *_error: object) -> None:
        self._ends = 0.0
        self._threads.shutdown(cancel_futures=True)

    def here(self, *arguments: object) -> bool:
        """Return whether these texts are worked on in this process."""
        return self._here and len(pickle.dumps(arguments)) <= MAX_HERE

    async def do(self, function: Callable[..., Value], *arguments: object) -> Value:
        """Call a function of a module; errors as `within`, and StoppedError where work was stopped before."""
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
        """Limit the time of what is being worked on: a stop was requested."""
        self._ends = min(self._ends, time.monotonic())

    def _poll(self, since: float) -> None:
        if time.monotonic() > max(since, self._ends) + (LAST_SECONDS if self._ends else 0.0):
            raise StoppedError("Work on a text was stopped before it was done.", advice="Run it again.")

    def _call(self, function: Callable[..., Value], arguments: tuple[object, ...]) -> Value:
        since = time.monotonic()
        try:
            return within(self._seconds, function, *arguments, poll=lambda: self._poll(since))
        except OSError as error:
            raise JudgeError(f"Processes cannot be started: {error.strerror}.", advice=MEMORY) from error


def _broken(error: Exception) -> WorkError:
    return WorkError(f"It broke on this text ({type(error).__name__}: {error}).")


def _unbroken(function: Callable[..., Value], arguments: tuple[object, ...]) -> Value:
    try:
        return function(*arguments)
    except ArenaError:
        raise
    except Exception as error:
        raise _broken(error) from error


def serve(file: int) -> None:
    """Call what the parent sends until it is gone; the life of a child."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
    # Texts make many small objects, hardly any in cycles: to look for those took a third of the time.
    gc.set_threshold(50_000, *gc.get_threshold()[1:])
    pipe = Connection(file)
    with contextlib.suppress(EOFError, OSError):
        while True:
            plugins, task, seconds, memory = pipe.recv()
            try:
                use_plugin_files(plugins)
                function, arguments = pickle.loads(task)  # noqa: S301 - of the parent
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
        resource.setrlimit(kind, (min(each for each in (limits[kind], soft, hard) if each >= 0), hard))
    try:
        yield
    finally:
        for kind, pair in before.items():
            resource.setrlimit(kind, pair)
