"""Rows of other tools that bring no answer: those that failed, and all but the first of a sample."""

from __future__ import annotations

from collections import Counter

from data.files.tables.rows import Row
from data.models import Severity
from data.text import are, counted, have
from submissions.formats.registry import AnswerFormat, NamedAnswer
from submissions.problem_codes import Code, Findings, shown, with_place


class LeftOut:
    """Counts what is left out of one file, and notes it once the file was read."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._samples: set[tuple[str, str, str]] = set()
        self._repeats: Counter[str] = Counter()
        self._failed: list[tuple[int, str]] = []
        self._further = 0

    def takes(self, row: Row, known: AnswerFormat, named: NamedAnswer) -> bool:
        """Return whether the row's answer counts."""
        if named.failed:
            self._failed.append((row.line, with_place(shown(named.failed), row.place)))
            return False
        sample = (named.system, named.variant, named.sample)
        if named.sample and sample in self._samples:
            self._repeats[known.repeats] += 1
            return False
        self._samples.add(sample)
        self._further += named.further
        return True

    def close(self, *, answers: bool) -> None:
        """Note what was left out; where there are no `answers`, that all rows failed is an error."""
        for repeats, count in self._repeats.items():
            rows = f"{counted(count, 'row')} {are(count)} left out"
            message = f"{rows}: further {repeats} of samples that have an answer."
            self._findings.add(0, Code.LEFT_OUT, message, "The first of each sample counts.")
        if self._further:
            message = f"{self._further:,} further turns or choices of answers are left out."
            self._findings.add(0, Code.LEFT_OUT, message, "The first turn answers the question.")
        if self._failed:
            line, error = self._failed[0]
            count = len(self._failed)
            rows = f"{counted(count, 'row')} ended in an error"
            message = f"{rows} and {have(count)} no answer; the first: {error}"
            advice = "Run them again, or submit without them." if answers else "Run them again."
            self._findings.add(
                line, Code.FAILED_ROWS, message, advice, Severity.WARNING if answers else Severity.ERROR
            )
