"""Uploaded files, checked within limits of time and memory, in a process that can be ended."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from arena.services.system.memory import memory_capped
from arena.services.system.text_process import PROCESSES
from arena.services.system.text_work import Poll, within
from data.errors import TimeLimitError
from data.files.text_files import MEBIBYTE
from data.progress import working
from data.records import Passage, Problem, Question, QuestionSet, Severity
from submissions.card import CardCheck, check_card
from submissions.check import CheckResult, check_answers, refused_for_time
from submissions.context_files import check_contexts
from submissions.formats.reading import cites_passages, size_of
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code

UNIT = 5 * MEBIBYTE
"""So many bytes of a file may take as long as one text."""
LEAST_MEMORY, MEMORY_FACTOR = 512 * MEBIBYTE, 4
"""What a check may take beyond what its process has: bytes, and bytes for each that the file may hold."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a check needs of a question set."""

    name: str
    questions: tuple[Question, ...]

    @classmethod
    def of(cls, name: str, rows: Iterable[tuple[str, str, str, str | None, tuple[Passage, ...]]]) -> _Asked:
        """What arrives of `__reduce__`."""
        return cls(
            name,
            tuple(
                Question(id=key, domain=domain, question=text, reference=reference, passages=passages)
                for key, domain, text, reference, passages in rows
            ),
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Travel as plain values, which takes a third of the time."""
        return _Asked.of, (self.name, list(map(_NEEDED, self.questions)))


_NEEDED = attrgetter("id", "domain", "question", "reference", "passages")
Check = Callable[[Path, _Asked, IntakeLimits, str], CheckResult]


@dataclass(frozen=True, slots=True)
class FileChecks:
    """Checks files of answers and system cards; `seconds` is how long 5 MiB of one may take."""

    seconds: float

    def prepare(self) -> None:
        """Start the process of a check, while whoever asks for it reads the questions."""
        PROCESSES.prepare(__name__)

    def answers(
        self, path: Path, questions: QuestionSet, limits: IntakeLimits, poll: Poll | None = None
    ) -> CheckResult:
        """Check a file of answers; one that takes too long is refused, with that as its one problem (A4).

        `poll` is called at intervals meanwhile; what it raises ends the check.
        """
        return self._checked(_check_answers, path, questions, limits, poll)

    def contexts(
        self, path: Path, questions: QuestionSet, limits: IntakeLimits, poll: Poll | None = None
    ) -> CheckResult:
        """Check a file of contexts without answers, in the same way."""
        return self._checked(_check_contexts, path, questions, limits, poll)

    def _checked(
        self, check: Check, path: Path, questions: QuestionSet, limits: IntakeLimits, poll: Poll | None
    ) -> CheckResult:
        asked = _Asked(questions.name, questions.questions)
        if not cites_passages(path, limits):
            # Passages are most of a set, and few files need them.
            asked = _Asked(questions.name, tuple(map(_without_passages, questions.questions)))
        seconds = self.seconds
        try:
            size = within(seconds, size_of, path, limits, poll=poll)
            seconds *= max(1.0, size / UNIT)
            stored = path.stat().st_size if path.is_file() else 0
            with (
                working(f"checking {path.name}", stored, in_bytes=True) as work,
                # The process may be ended, which removes nothing.
                tempfile.TemporaryDirectory() as folder,
            ):
                return within(seconds, check, path, asked, limits, folder, poll=poll, work=work)
        except TimeLimitError:
            return refused_for_time(questions, seconds)

    def card(self, text: str) -> CardCheck:
        """Check the text of a system card; one that takes too long is refused (A4)."""
        try:
            return within(self.seconds, check_card, text)
        except TimeLimitError as error:
            advice = "Write a line for each field, such as model: name."
            return None, (Problem(0, Code.TIME_LIMIT, error.message, Severity.ERROR, advice),)


def _without_passages(question: Question) -> Question:
    return replace(question, passages=()) if question.passages else question


def _check_answers(path: Path, asked: _Asked, limits: IntakeLimits, folder: str) -> CheckResult:
    with _confined(limits, folder):
        return check_answers(path, asked, limits=limits)


def _check_contexts(path: Path, asked: _Asked, limits: IntakeLimits, folder: str) -> CheckResult:
    with _confined(limits, folder):
        return check_contexts(path, asked, limits=limits)


@contextmanager
def _confined(limits: IntakeLimits, folder: str) -> Iterator[None]:
    """Cap the memory of this process, and let it unpack into a folder that whoever asked removes."""
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        with memory_capped(LEAST_MEMORY + MEMORY_FACTOR * limits.file_bytes):
            yield
    finally:
        tempfile.tempdir = before
