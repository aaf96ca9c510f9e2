"""Reported cost of a row's answer: tokens, money, time."""

from __future__ import annotations

import math
from operator import attrgetter

from data.errors import FileFormatError
from data.models import Answer
from submissions.problem_codes import Code, shown

FIGURES = ("tokens", "usd", "milliseconds")
_figures = attrgetter(*FIGURES)
MOST = 1e9


def figure_of(name: str, value: object, *, from_csv: bool) -> float | None:
    """One of `FIGURES` as a row has it; None where it says nothing, which in CSV is an empty cell.

    Raises:
        FileFormatError: It is no number from 0 to a billion, or tokens are no whole one.
    """
    if value is None or (from_csv and value == ""):
        return None
    number = _number(value, from_csv=from_csv)
    if number is None or not 0 <= number <= MOST or (name == "tokens" and not number.is_integer()):
        what = "whole number" if name == "tokens" else "number"
        message = f"{name} is {shown(value)}, no {what} from 0 to a billion."
        raise FileFormatError(message, advice="Write a number, or leave it out.", code=Code.BAD_FIGURE)
    return number


def figures_in(answer: Answer) -> list[str]:
    """Return the reported costs of an answer as parts of its hash; none where it reports nothing."""
    said = zip(FIGURES, _figures(answer), strict=True)
    return [f"{name} {value!r}" for name, value in said if value is not None]


def _number(value: object, *, from_csv: bool) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str if from_csv else int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
