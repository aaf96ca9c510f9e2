"""Uploaded files: written, waited for in turn, and checked in a process that can be ended."""

import contextlib
import math
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from arena.services.accounts.auth import Caller
from arena.services.text_process import Poll, within
from data.errors import FileFormatError, StoreError, TimeLimitError, UnavailableError
from data.files.text_files import MEBIBYTE, file_name
from data.models import Problem, Question, QuestionSet, Severity, SubmissionKind
from data.progress import working
from submissions.card import CardCheck, check_card
from submissions.check import CheckReport, check_answers, refused_for_time
from submissions.context_files import check_contexts
from submissions.formats.reading import cites_passages, size_of
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code

Result = TypeVar("Result")
AT_ONCE = 2
MAX_OF_ONE = 8
MAX_IN_ALL = 24


def party_of(caller: Caller, client: str = "") -> str:
    """Return the team that a file is counted for, else the account, else the address."""
    return ", ".join(sorted(caller.teams)) or caller.account or client or caller.name


class Turns:
    """Limits on work at once, and on work that waits, by party and in all."""

    def __init__(self, at_once: int = AT_ONCE, of_one: int = MAX_OF_ONE, in_all: int = MAX_IN_ALL) -> None:
        self._free, self._of_one, self._in_all = threading.Semaphore(at_once), of_one, in_all
        self._waiting: Counter[str] = Counter()
        self._own: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def run(self, party: str, work: Callable[[], Result]) -> Result:
        """Do work in this thread when there is a place; errors as `taken`."""
        with self.taken(party):
            return work()

    @contextmanager
    def taken(self, party: str) -> Iterator[None]:
        """Wait for a place in this thread, of a party for one, and hold it until the end of the block."""
        with self._lock:
            if self._waiting[party] >= self._of_one or self._waiting.total() >= self._in_all:
                raise UnavailableError("Too many files wait to be checked.", advice="Try again.")
            self._waiting[party] += 1
            own = self._own.setdefault(party, threading.Lock())
        try:
            with own, self._free:
                yield
        finally:
            with self._lock:
                self._waiting[party] -= 1
                if not self._waiting[party]:
                    del self._waiting[party], self._own[party]


UNIT = 5 * MEBIBYTE
"""So many bytes of a file may take as long as one text."""
MIN_MEMORY, MEMORY_FACTOR = 512 * MEBIBYTE, 4
"""Memory of a check beyond that of its process: bytes, and bytes for each that the file may hold."""


@dataclass(frozen=True, slots=True)
class FileChecks:
    """Checks files of answers and system cards; `seconds` is how long 5 MiB of one may take.

    Without a limit, as of files that were read here already, they are checked in this process.
    """

    seconds: float

    def file(
        self,
        path: Path,
        kind: SubmissionKind,
        questions: QuestionSet,
        limits: IntakeLimits,
        poll: Poll | None = None,
    ) -> CheckReport:
        """Check a file; one that takes too long is refused, with that as its one problem.

        `poll` is called at intervals meanwhile; what it raises ends the check.
        """
        asked = questions
        if not cites_passages(path, limits):
            # Passages are most of a set, and few files need them.
            asked = questions.with_questions(map(_without_passages, questions.questions))
        check = check_contexts if kind is SubmissionKind.CONTEXTS else check_answers
        if math.isinf(self.seconds):
            return check(path, asked, limits=limits)
        seconds, memory = self.seconds, MIN_MEMORY + MEMORY_FACTOR * limits.file_bytes
        try:
            size = within(seconds, size_of, path, limits, poll=poll)
            seconds *= max(1.0, size / UNIT)
            # The process may be ended, which removes nothing that it unpacked.
            with working(f"checking {path.name}"), tempfile.TemporaryDirectory() as folder:
                return within(seconds, _check, check, path, asked, limits, folder, poll=poll, memory=memory)
        except TimeLimitError:
            return refused_for_time(questions, seconds)

    def card(self, text: str) -> CardCheck:
        """Check the text of a system card; one that takes too long is refused."""
        try:
            return within(self.seconds, check_card, text)
        except TimeLimitError as error:
            advice = "Write a line for each field, such as model: name."
            return None, (Problem(0, Code.TIME_LIMIT, error.message, Severity.ERROR, advice),)


def _without_passages(question: Question) -> Question:
    return replace(question, passages=()) if question.passages else question


def _check(
    check: Callable[..., CheckReport], path: Path, asked: QuestionSet, limits: IntakeLimits, folder: str
) -> CheckReport:
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        return check(path, asked, limits=limits)
    finally:
        tempfile.tempdir = before


LEFT_BEHIND = 24 * 3_600
"""Seconds after which a folder is abandoned: its process was ended."""


class UploadWriter:
    """Writes one file, in order."""

    def __init__(self, path: Path, most: int) -> None:
        self._file, self._left, self._most = path.open("xb"), most, most

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes."""
        self._left -= len(content)
        if self._left < 0:
            message = f"The file is longer than {self._most:,} bytes."
            raise FileFormatError(message, advice="Bring a smaller file.", code="too-large")
        with _writing():
            self._file.write(content)

    def close(self) -> None:
        """Let everything be on the disk."""
        with _writing():
            self._file.close()


class UploadService:
    """Puts files of at most `most_bytes` into `folder` while they are read."""

    def __init__(self, folder: Path, *, most_bytes: int) -> None:
        self._folder = folder / "checks"
        self._most_bytes = most_bytes

    @contextmanager
    def scratch(self, name: str = "") -> Iterator[tuple[Path, UploadWriter]]:
        """Give a file that is removed at the end of the block, and its writer.

        Messages about it use the name that its sender calls it by.
        """
        with _writing():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._remove_left_behind()
            folder = tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True)
        with folder:
            with _writing():
                path = Path(folder.name, file_name(name))
                writer = UploadWriter(path, self._most_bytes)
            try:
                yield path, writer
            finally:
                writer.close()

    def _remove_left_behind(self) -> None:
        for folder in self._folder.iterdir():
            # Another process may remove it first.
            with contextlib.suppress(OSError):
                if folder.stat().st_mtime < time.time() - LEFT_BEHIND:
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"Uploads cannot be written: {error.strerror}."
        raise StoreError(message, advice="Free some space.") from error
