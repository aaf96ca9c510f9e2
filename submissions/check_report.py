"""Reports of a check: CSV for scripts, lines for people.

Texts of a file are untrusted: none becomes a command or a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from data.models import Problem, Severity, SubmissionKind
from data.models.words import few_of_each
from data.text import escape_formula, percent
from submissions.check import CheckResult

COLUMNS = ("line", "severity", "code", "message", "advice")


def report_lines(result: CheckResult) -> Iterator[str]:
    """Yield the report as lines of text: the errors first, then the warnings, then what there is.

    Like problems stand in a few lines with their number; the other forms list every one.
    """
    yield from _problem_lines(result)
    yield from summary_lines(result)


def summary_lines(result: CheckResult) -> Iterator[str]:
    """Yield the contents, and as the last line whether the file can be submitted."""
    yield _printable(_counts(result))
    for domain, share in result.coverage.items():
        yield _printable(f"  {domain}: {percent(share)}")
    verdict = "The file can be submitted" if result.accepted else "The file cannot be submitted"
    yield f"{verdict}: {_counted(result.errors, 'error')}, {_counted(result.warnings, 'warning')}."


def _counts(result: CheckResult) -> str:
    of_set = f"{result.questions:,} questions of {result.set_name}"
    if result.kind is SubmissionKind.CONTEXTS:
        return f"Passages for {result.answers:,} of {of_set}, {result.with_contexts:,} with texts."
    return (
        f"{result.answers:,} answers to {of_set}, {result.with_contexts:,} with contexts, "
        f"{result.no_answers:,} that found no answer."
    )


def _problem_lines(result: CheckResult) -> Iterator[str]:
    for severity in (Severity.ERROR, Severity.WARNING):
        chosen = [problem for problem in result.problems if problem.severity is severity]
        yield from few_of_each(chosen, _problem_line)


def _problem_line(problem: Problem) -> str:
    where = f"line {problem.line}" if problem.line else "file"
    text = f"{where}: {problem.severity.value} {problem.code}: {problem.message} {problem.advice}"
    return _printable(text)


def report_csv(result: CheckResult) -> str:
    """Return the problems as CSV rows in the order of the file; no cell is a spreadsheet formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for problem in result.problems:
        writer.writerow([escape_formula(getattr(problem, column)) for column in COLUMNS])
    return text.getvalue()


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _printable(text: str) -> str:
    # Untrusted text must not move the cursor or colour a terminal.
    return "".join(character if character.isprintable() else " " for character in text).rstrip()
