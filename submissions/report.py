"""A check as others read it: JSON for scripts, lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from data.records import Problem, Severity
from submissions.check import CheckResult


def report_json(result: CheckResult) -> dict[str, Any]:
    """The report as JSON; `answers`, `coverage` and `problems` are the fields of the design."""
    return {
        "set": result.set_name,
        "accepted": result.accepted,
        "format": None if result.format is None else result.format.value,
        "rows": result.rows,
        "answers": result.answers,
        "questions": result.questions,
        "coverage": dict(result.coverage),
        "no_answers": result.no_answers,
        "with_contexts": result.with_contexts,
        "errors": result.errors,
        "warnings": result.warnings,
        "content_hash": result.content_hash,
        "problems": [problem_json(problem) for problem in result.problems],
    }


def problem_json(problem: Problem) -> dict[str, Any]:
    """A problem as JSON; `line` is 0 for the file as a whole."""
    return {
        "line": problem.line,
        "code": problem.code,
        "severity": problem.severity.value,
        "message": problem.message,
        "advice": problem.advice,
    }


def report_lines(result: CheckResult) -> Iterator[str]:
    """The report as lines of text: the errors first, then the warnings, then what there is."""
    for severity in (Severity.ERROR, Severity.WARNING):
        for problem in result.problems:
            if problem.severity is severity:
                where = f"line {problem.line}" if problem.line else "file"
                text = f"{where}: {severity.value} {problem.code}: {problem.message} {problem.advice}"
                yield _printable(text)
    yield _printable(
        f"{result.answers:,} answers to {result.questions:,} questions of {result.set_name}, "
        f"{result.with_contexts:,} with contexts, {result.no_answers:,} that found no answer."
    )
    for domain, share in result.coverage.items():
        yield _printable(f"  {domain}: {share:.1%}")
    verdict = "The file can be submitted" if result.accepted else "The file cannot be submitted"
    yield f"{verdict}: {_counted(result.errors, 'error')}, {_counted(result.warnings, 'warning')}."


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _printable(text: str) -> str:
    # A stranger's text must not move the cursor or colour a terminal.
    return "".join(character if character.isprintable() else " " for character in text).rstrip()
