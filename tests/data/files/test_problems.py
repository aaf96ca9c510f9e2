"""Many problems, told in few lines."""

from __future__ import annotations

from data.models import Problem, Severity
from data.models.words import few_of_each


def _line(problem: Problem) -> str:
    return f"{problem.line} {problem.code}"


def test_like_problems_stand_in_a_few_lines() -> None:
    """E10: of 2,000 like warnings three are told, with how many more there are and where the last one is."""
    warnings = [Problem(line, "long", "Long.", Severity.WARNING) for line in range(1, 2_001)]
    other = [Problem(7, "odd", "Odd."), Problem(9, "odd", "Odd.")]
    assert list(few_of_each([*other, *warnings], _line)) == [
        "7 odd",
        "9 odd",
        "1 long",
        "2 long",
        "3 long",
        "warning long: 1,997 more of this kind, the last in line 2,000.",
    ]


def test_few_problems_stand_one_by_one() -> None:
    """E10: up to five of a kind are told, whatever stands between them."""
    five = [Problem(line, "odd", "Odd.") for line in range(1, 6)]
    assert list(few_of_each(five, _line)) == [f"{line} odd" for line in range(1, 6)]
    assert len(list(few_of_each([*five, Problem(0, "odd", "Odd.")], _line))) == 4
