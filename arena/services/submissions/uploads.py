"""Uploaded files: write, queue fairly, check in a process with a time limit."""

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
MAX_OF_PARTY = 8
MAX_TOTAL = 24


def party_of(caller: Caller, client: str = "") -> str:
    """Return the key for fair queuing: teams, else account, else address."""
    return ", ".join(sorted(caller.teams)) or caller.account or client or caller.name


class FairQueue:
    """Limits on concurrent and waiting work, per party and in total."""

    def __init__(self, at_once: int = AT_ONCE, per_party: int = MAX_OF_PARTY, total: int = MAX_TOTAL) -> None:
        self._free, self._per_party, self._total = threading.Semaphore(at_once), per_party, total
        self._waiting: Counter[str] = Counter()
        self._own: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def run(self, party: str, work: Callable[[], Result]) -> Result:
        """Run work in this thread once a slot is free; errors are those of `slot`."""
        with self.slot(party):
            return work()

    @contextmanager
    def slot(self, party: str) -> Iterator[None]:
        """Wait for a slot; a party has at most one at a time."""
        with self._lock:
            if self._waiting[party] >= self._per_party or self._waiting.total() >= self._total:
                raise UnavailableError(
                    "Too many files are waiting to be checked.", advice="Try again in a moment."
                )
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
"""Size of a file, in bytes, that may take as long as one text; larger files may take longer."""
MIN_MEMORY, MEMORY_FACTOR = 512 * MEBIBYTE, 4
"""Extra memory of a check: a number of bytes, plus bytes per byte of the limit on the file."""


@dataclass(frozen=True, slots=True)
class FileChecks:
    """Checks answer files and system cards; `seconds` is the time limit per 5 MiB.

    With an infinite limit, files are checked in this process.
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
        """Check a file; a timeout is reported as its only problem."""
        visible = questions
        if not cites_passages(path, limits):
            # Passages take most of a set's memory, and few files need them.
            visible = questions.with_questions(map(_without_passages, questions.questions))
        check = check_contexts if kind is SubmissionKind.CONTEXTS else check_answers
        if math.isinf(self.seconds):
            return check(path, visible, limits=limits)
        seconds, memory = self.seconds, MIN_MEMORY + MEMORY_FACTOR * limits.file_bytes
        path = path.absolute()  # an idle child may have started in another folder
        try:
            size = within(seconds, size_of, path, limits, poll=poll)
            seconds *= max(1.0, size / UNIT)
            # A killed process leaves its unpacked files behind.
            with working(f"checking {path.name}"), tempfile.TemporaryDirectory() as folder:
                return within(seconds, _check, check, path, visible, limits, folder, poll=poll, memory=memory)
        except TimeLimitError:
            return refused_for_time(questions, seconds)

    def card(self, text: str) -> CardCheck:
        """Check the text of a system card, within the time limit."""
        try:
            return within(self.seconds, check_card, text)
        except TimeLimitError as error:
            advice = "Write one line per field, such as model: name."
            return None, (Problem(0, Code.TIME_LIMIT, error.message, Severity.ERROR, advice),)


def _without_passages(question: Question) -> Question:
    return replace(question, passages=()) if question.passages else question


def _check(
    check: Callable[..., CheckReport], path: Path, questions: QuestionSet, limits: IntakeLimits, folder: str
) -> CheckReport:
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        return check(path, questions, limits=limits)
    finally:
        tempfile.tempdir = before


MAX_AGE = 24 * 3_600
"""Age in seconds after which a folder is regarded as left by a killed process."""


class UploadWriter:
    """Writer of one file with a size limit."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._file, self._left, self._max = path.open("xb"), max_bytes, max_bytes

    def write(self, content: bytes | memoryview) -> None:
        """Append bytes."""
        self._left -= len(content)
        if self._left < 0:
            message = f"The file is longer than {self._max:,} bytes."
            raise FileFormatError(message, advice="Upload a smaller file.", code="too-large")
        with _writing():
            self._file.write(content)

    def close(self) -> None:
        """Flush and close the file."""
        with _writing():
            self._file.close()


class UploadService:
    """Writes uploads of at most `max_bytes` to `folder`."""

    def __init__(self, folder: Path, *, max_bytes: int) -> None:
        self._folder = folder / "checks"
        self._max_bytes = max_bytes

    @contextmanager
    def scratch(self, name: str = "") -> Iterator[tuple[Path, UploadWriter]]:
        """Yield a temporary file and its writer; messages use the uploaded `name`."""
        with _writing():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._remove_left_behind()
            folder = tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True)
        with folder:
            with _writing():
                path = Path(folder.name, file_name(name))
                writer = UploadWriter(path, self._max_bytes)
            try:
                yield path, writer
            finally:
                writer.close()

    def _remove_left_behind(self) -> None:
        for folder in self._folder.iterdir():
            # Another process may remove it first.
            with contextlib.suppress(OSError):
                if folder.stat().st_mtime < time.time() - MAX_AGE:
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"Uploads cannot be written: {error.strerror}."
        raise StoreError(message, advice="Free some space.") from error
