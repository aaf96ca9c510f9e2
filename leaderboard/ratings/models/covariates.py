"""Covariates of a fit, and whether the battles identify their coefficients.

A count of an answer's text enters as the relative difference of the two answers, (a − b) / (a + b + 1), in
units of its root mean square over the battles; a mark such as the first place enters as it is, between −1 and
1. Both change sign with the sides and are 0 where answers are alike. Nothing is centred: in a fit without
intercept, taking a mean away gives side a an advantage, which is the term of position where it is wanted.

Sources: Li, Angelopoulos & Chiang (2024), "Does style matter?"; Marquardt (1970), Technometrics 12(3).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from data.errors import InputError, RecordError
from data.models.words import to_json
from leaderboard.ratings.counts import Floats
from leaderboard.ratings.result import RatingTable

RELATIVE = "rating points per root mean square of (a − b) / (a + b + 1)"
FIRST = "rating points that the answer shown first gains"
NOTHING_LEFT = 1e-9
"""Share of a column's own spread below which nothing of it is left beside the other columns."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class CovariateColumn:
    """One term of a fit: its name, its (N,) values by battle, and the scale of its coefficient."""

    name: str
    values: Floats
    scale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutCovariate:
    """A covariate without a coefficient, with the reason as a sentence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleEffect:
    """Coefficient of one covariate, in rating points per unit of its column, with its 95 % interval.

    `vif` is the factor by which the systems and the other covariates inflate its variance; 1 is best.
    """

    name: str
    value: float
    se: float
    lower: float
    upper: float
    scale: str
    vif: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledRatings:
    """Ratings controlled for covariates, with coefficients and the covariates left out."""

    ratings: RatingTable
    effects: tuple[StyleEffect, ...]
    left_out: tuple[LeftOutCovariate, ...]

    def as_json(self) -> dict[str, object]:
        """Fields that join those of the ratings."""
        return {
            "coefficients": [to_json(effect) for effect in self.effects],
            "left_out": [to_json(covariate) for covariate in self.left_out],
        }


def relative_columns(
    covariates: Mapping[str, tuple[ArrayLike, ArrayLike]], rows: int
) -> tuple[tuple[CovariateColumn, ...], tuple[LeftOutCovariate, ...]]:
    """Return the columns of counts, and those that are equal in every battle.

    `covariates` has for each its (N,) counts in the answers of `a` and of `b`.
    """
    columns, left_out = [], []
    for name, ends in covariates.items():
        one, other = (_counts(name, np.asarray(end, dtype=np.float64), rows) for end in ends)
        relative = (one - other) / (one + other + 1)
        # Sorted, so that the order of the battles changes no digit.
        size = math.sqrt(float(np.sort(relative**2).mean())) if rows else 0.0
        if size > 0:
            columns.append(CovariateColumn(name=name, values=relative / size, scale=RELATIVE))
        else:
            reason = f"The two answers of every battle are alike in {name}, so it has no effect."
            left_out.append(LeftOutCovariate(name=name, reason=reason))
    return tuple(columns), tuple(left_out)


def _counts(name: str, counts: Floats, rows: int) -> Floats:
    if len(counts) != rows:
        message = f"Covariate {name} has {len(counts)} rows but there are {rows} battles."
        raise RecordError(message, advice="Give one value for each battle and answer.")
    _require(np.isfinite(counts) & (counts >= 0), name, counts, "a count: a number of 0 or more")
    return counts


def _require(good: NDArray[np.bool_], name: str, values: Floats, expected: str) -> None:
    if not good.all():
        row = int(np.argmin(good))
        message = f"Row {row + 1}, column {name}: {values[row]:g} is not {expected}."
        raise RecordError(message, advice="Correct the value.")


def marked_column(name: str, values: ArrayLike, scale: str) -> CovariateColumn:
    """Return a column of marks: 1 where `a` has it alone, −1 where `b` has, 0 where both have or neither."""
    column = np.asarray(values, dtype=np.float64)
    _require(np.abs(column) <= 1, name, column, "a mark: a number between -1 and 1")
    return CovariateColumn(name=name, values=column, scale=scale)


def identify(
    columns: Sequence[CovariateColumn], products: Floats
) -> tuple[list[int], Floats, tuple[LeftOutCovariate, ...]]:
    """Find the columns that have a coefficient beside the systems and the columns before them.

    Returns:
        Their places, the variance inflation of each, and the columns left out.
    """
    size = len(products) - len(columns)
    border, covariates = products[:size, size:], products[size:, size:]
    own = np.diag(covariates)
    alone = np.asarray(covariates - border.T @ np.linalg.solve(products[:size, :size], border))
    kept: list[int] = []
    left_out = []
    for place, column in enumerate(columns):
        if reason := _why_not(columns, kept, place, alone, own):
            left_out.append(LeftOutCovariate(name=column.name, reason=reason))
        else:
            kept.append(place)
    if not kept:
        raise InputError(left_out[0].reason, advice="Leave it out.")
    return kept, own[kept] * np.diag(np.linalg.inv(alone[np.ix_(kept, kept)])), tuple(left_out)


def _why_not(
    columns: Sequence[CovariateColumn], kept: Sequence[int], place: int, alone: Floats, own: Floats
) -> str:
    """Return the reason why a column has no coefficient besides the others; empty if it has one."""
    left_out = f"The term {columns[place].name.replace('_', ' ')} is left out:"
    if not own[place] > 0:
        return f"{left_out} in no battle does it tell the two answers apart."
    if alone[place, place] <= NOTHING_LEFT * own[place]:
        return (
            f"{left_out} all of its variation comes from which systems meet. So its effect cannot be told "
            "apart from how good the systems are."
        )
    if not kept:
        return ""
    shared = alone[kept, place]
    explained = float(shared @ np.linalg.solve(alone[np.ix_(kept, kept)], shared))
    if alone[place, place] - explained > NOTHING_LEFT * own[place]:
        return ""
    nearest = max(kept, key=lambda other: abs(alone[other, place]) / np.sqrt(alone[other, other]))
    other = columns[nearest].name.replace("_", " ")
    return f"{left_out} {other} and the terms before it determine it wholly."
