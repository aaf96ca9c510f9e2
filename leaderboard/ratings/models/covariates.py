"""Covariates of a fit, and whether the battles identify their coefficients.

A count enters as the relative difference of the two answers, (a − b) / (a + b + 1), in units of its root mean
square over the battles; a mark such as the position enters unchanged, between −1 and 1. Both change sign with
the sides and are 0 for equal answers. Nothing is centred: without an intercept, subtracting a mean would give
side a an advantage, which is the effect of position.

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
"""Unexplained share of a column's variation below which the other columns explain all of it."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class CovariateColumn:
    """Term of a fit: name, (N,) values by battle, and scale of the coefficient."""

    name: str
    values: Floats
    scale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutCovariate:
    """Covariate without a coefficient, with the reason as a sentence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleEffect:
    """Coefficient of a covariate in rating points per unit of its column, with its 95 % interval.

    `vif` is the variance inflation by the systems and the other covariates; 1 is best.
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
        """Return the JSON fields in addition to those of the ratings."""
        return {
            "coefficients": [to_json(effect) for effect in self.effects],
            "left_out": [to_json(covariate) for covariate in self.left_out],
        }


def relative_columns(
    covariates: Mapping[str, tuple[ArrayLike, ArrayLike]], rows: int
) -> tuple[tuple[CovariateColumn, ...], tuple[LeftOutCovariate, ...]]:
    """Return the columns of counts, and the counts that are equal in every battle.

    `covariates` maps names to the (N,) counts in the answers of `a` and of `b`.
    """
    columns, left_out = [], []
    for name, ends in covariates.items():
        of_a, of_b = (_counts(name, np.asarray(end, dtype=np.float64), rows) for end in ends)
        relative = (of_a - of_b) / (of_a + of_b + 1)
        # Sorted, because the last digits of a sum depend on its order.
        size = math.sqrt(float(np.sort(relative**2).mean())) if rows else 0.0
        if size > 0:
            columns.append(CovariateColumn(name=name, values=relative / size, scale=RELATIVE))
        else:
            reason = f"The two answers of every battle are equal in {name}, so it has no effect."
            left_out.append(LeftOutCovariate(name=name, reason=reason))
    return tuple(columns), tuple(left_out)


def _counts(name: str, counts: Floats, rows: int) -> Floats:
    if len(counts) != rows:
        message = f"Covariate {name} has {len(counts)} rows but there are {rows} battles."
        raise RecordError(message, advice="Provide one value for each battle and answer.")
    _require(np.isfinite(counts) & (counts >= 0), name, counts, "a count: a number of 0 or more")
    return counts


def _require(good: NDArray[np.bool_], name: str, values: Floats, expected: str) -> None:
    if not good.all():
        row = int(np.argmin(good))
        message = f"Row {row + 1}, column {name}: {values[row]:g} is not {expected}."
        raise RecordError(message, advice="Correct the value.")


def marked_column(name: str, values: ArrayLike, scale: str) -> CovariateColumn:
    """Return a column of marks: 1 if only `a` has it, −1 if only `b` has it, else 0."""
    column = np.asarray(values, dtype=np.float64)
    _require(np.abs(column) <= 1, name, column, "a mark: a number between -1 and 1")
    return CovariateColumn(name=name, values=column, scale=scale)


def identify(
    columns: Sequence[CovariateColumn], products: Floats
) -> tuple[list[int], Floats, tuple[LeftOutCovariate, ...]]:
    """Find the columns whose coefficients are identified given the systems and the earlier columns.

    Returns:
        Their indices, the variance inflation of each, and the columns left out.
    """
    size = len(products) - len(columns)
    border, covariates = products[:size, size:], products[size:, size:]
    total = np.diag(covariates)
    partial = np.asarray(covariates - border.T @ np.linalg.solve(products[:size, :size], border))
    places: list[int] = []
    left_out = []
    for place, column in enumerate(columns):
        if reason := _reason_left_out(columns, places, place, partial, total):
            left_out.append(LeftOutCovariate(name=column.name, reason=reason))
        else:
            places.append(place)
    if not places:
        raise InputError(left_out[0].reason, advice="Leave it out.")
    return places, total[places] * np.diag(np.linalg.inv(partial[np.ix_(places, places)])), tuple(left_out)


def _reason_left_out(
    columns: Sequence[CovariateColumn], earlier: Sequence[int], place: int, partial: Floats, total: Floats
) -> str:
    left_out = f"The term {columns[place].name.replace('_', ' ')} is left out:"
    if not total[place] > 0:
        return f"{left_out} it is equal for both answers of every battle."
    if partial[place, place] <= NOTHING_LEFT * total[place]:
        return (
            f"{left_out} all of its variation comes from which systems meet, so its effect cannot be "
            "separated from the quality of the systems."
        )
    if not earlier:
        return ""
    shared = partial[earlier, place]
    explained = float(shared @ np.linalg.solve(partial[np.ix_(earlier, earlier)], shared))
    if partial[place, place] - explained > NOTHING_LEFT * total[place]:
        return ""
    nearest = max(earlier, key=lambda other: abs(partial[other, place]) / np.sqrt(partial[other, other]))
    name = columns[nearest].name.replace("_", " ")
    return f"{left_out} it is determined by {name} and the terms before it."
