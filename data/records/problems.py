"""What is wrong with a file, problem by problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from data.records.vocabulary import Severity

FEW = 5
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file.

    `line` counts from 1 and is 0 where the file as a whole is meant; `code` is a short, stable word
    that scripts can rely on; `advice` says what to do.
    """

    line: int
    code: str
    message: str
    severity: Severity = Severity.ERROR
    advice: str = ""


@dataclass(slots=True)
class ProblemList:
    """Collects problems, keeps the first `limit` errors and `warning_limit` warnings, counts the rest.

    The limits are apart so that no flood of warnings hides an error.
    """

    limit: int = 10_000
    warning_limit: int = 10_000
    kept: list[Problem] = field(default_factory=list)
    errors: int = 0
    warnings: int = 0
    dropped: int = 0

    def add(
        self, line: int, code: str, message: str, *, severity: Severity = Severity.ERROR, advice: str = ""
    ) -> None:
        """Note one problem."""
        if severity is Severity.ERROR:
            self.errors += 1
            fits = self.errors <= self.limit
        else:
            self.warnings += 1
            fits = self.warnings <= self.warning_limit
        if fits:
            self.kept.append(Problem(line, code, message, severity, advice))
        else:
            self.dropped += 1

    def result(self) -> tuple[Problem, ...]:
        """The problems by line; a last one tells how many more there were."""
        ordered = sorted(self.kept, key=lambda problem: problem.line)
        if self.dropped:
            message = f"{self.dropped:,} more problems are not listed."
            ordered.append(Problem(0, "more-problems", message, Severity.WARNING))
        return tuple(ordered)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.result())


def few_of_each(problems: Iterable[Problem], line: Callable[[Problem], str]) -> Iterator[str]:
    """Problems as lines, in their order; of more than five of one kind the first three and a count.

    Args:
        problems: All of them.
        line: Formats one problem as a line.
    """
    listed = tuple(problems)
    counts = Counter((problem.severity, problem.code) for problem in listed)
    last = {(problem.severity, problem.code): problem.line for problem in listed}
    written: Counter[tuple[Severity, str]] = Counter()
    for problem in listed:
        kind = problem.severity, problem.code
        written[kind] += 1
        if counts[kind] <= FEW or written[kind] <= EXAMPLES:
            yield line(problem)
        if counts[kind] > FEW and written[kind] == EXAMPLES:
            where = f", the last in line {last[kind]:,}" if last[kind] else ""
            yield f"{problem.severity} {problem.code}: {counts[kind] - EXAMPLES:,} more of this kind{where}."
