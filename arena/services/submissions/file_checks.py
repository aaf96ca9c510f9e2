"""Uploaded files, checked within limits of time and memory, in a process that can be ended."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from arena.services.system.text_process import Poll, within
from data.errors import TimeLimitError
from data.files.text_files import MEBIBYTE
from data.models import Problem, Question, QuestionSet, Severity, SubmissionKind
from data.progress import working
from submissions.card import CardCheck, check_card
from submissions.check import CheckResult, check_answers, refused_for_time
from submissions.context_files import check_contexts
from submissions.formats.reading import cites_passages, size_of
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code

UNIT = 5 * MEBIBYTE
"""So many bytes of a file may take as long as one text."""
MIN_MEMORY, MEMORY_FACTOR = 512 * MEBIBYTE, 4
"""What a check may take beyond what its process has: bytes, and bytes for each that the file may hold."""


@dataclass(frozen=True, slots=True)
class FileChecks:
    """Checks files of answers and system cards; `seconds` is how long 5 MiB of one may take."""

    seconds: float

    def file(
        self,
        path: Path,
        kind: SubmissionKind,
        questions: QuestionSet,
        limits: IntakeLimits,
        poll: Poll | None = None,
    ) -> CheckResult:
        """Check a file; one that takes too long is refused, with that as its one problem.

        `poll` is called at intervals meanwhile; what it raises ends the check.
        """
        asked = questions
        if not cites_passages(path, limits):
            # Passages are most of a set, and few files need them.
            asked = questions.with_questions(map(_without_passages, questions.questions))
        check = check_contexts if kind is SubmissionKind.CONTEXTS else check_answers
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
    check: Callable[..., CheckResult], path: Path, asked: QuestionSet, limits: IntakeLimits, folder: str
) -> CheckResult:
    """Check in a child, which unpacks into a folder that its parent removes."""
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        return check(path, asked, limits=limits)
    finally:
        tempfile.tempdir = before
