"""Columns of a fit beside systems, and whether battles can tell what each of them is worth.

A count of an answer's text enters as the relative difference of the two answers, (a − b) / (a + b + 1), in
units of its root mean square over the battles; a mark that one answer has and the other has not, such as the
first place, enters as it is, between −1 and 1. Both change sign with the sides and are 0 where answers are
alike. Nothing is centred: in a fit without intercept, taking a mean away gives side a an advantage, which is
the term of position where it is wanted.

Sources: Li, Angelopoulos & Chiang, "Does style matter?", LMSYS blog, 28 August 2024 (the normalisation);
Belsley, Kuh & Welsch, Regression Diagnostics (1980), chapter 3 (condition number and its bound of 30);
Marquardt (1970), Technometrics 12(3) (variance inflation and its bound of 10).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from data.errors import InputError, RecordError
from data.records.plain import to_json
from leaderboard.ratings.counts import Floats
from leaderboard.ratings.result import RatingTable

RELATIVE = "rating points per root mean square of (a − b) / (a + b + 1)"
FIRST = "rating points that the answer shown first gains"
OWN_FAMILY = "rating points that an answer of the judge's own family gains"
INFLATED = 10.0
ILL_CONDITIONED = 30.0
ROWS_AT_ONCE = 1 << 20
NOTHING_LEFT = 1e-9
"""Share of a column's own spread below which nothing of it is left beside the other columns."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class CovariateColumn:
    """One term of a fit: what it is called, its (N,) values by battle, and what its coefficient counts."""

    name: str
    values: Floats
    scale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutCovariate:
    """A covariate that a fit has no coefficient for, and why, as a sentence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Collinearity:
    """How far the terms of a fit say the same.

    Attributes:
        condition: Condition number of the covariates, after what the systems explain of them; 1 is best.
        first: One of the two covariates that go together most; None where there are fewer than two.
        second: The other.
        correlation: Of the two, −1…1; None likewise.
        sentence: What a reader must know of it.
    """

    condition: float
    first: str | None
    second: str | None
    correlation: float | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleEffect:
    """What one covariate is worth.

    Attributes:
        covariate: Its name.
        points: Rating points that one unit of its column is worth: of a count, the root mean square
            of its relative difference.
        se: Standard error.
        lower: Lower end of the 95 % interval.
        upper: Upper end.
        scale: What the points are of, in words.
        vif: By how much its variance is inflated by the systems and the other covariates; 1 is best.
    """

    covariate: str
    points: float
    se: float
    lower: float
    upper: float
    scale: str = RELATIVE
    vif: float = 1.0

    def as_json(self) -> dict[str, object]:
        """One of the `coefficients` of `arena battles rate --method style --json`."""
        return {
            "name": self.covariate,
            "value": self.points,
            "se": self.se,
            "lower": self.lower,
            "upper": self.upper,
            "scale": self.scale,
            "vif": self.vif,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledRatings:
    """Ratings under control for covariates.

    Attributes:
        ratings: The ratings.
        effects: What each covariate is worth.
        left_out: Covariates that the battles say nothing of.
        collinearity: How far the terms say the same.
    """

    ratings: RatingTable
    effects: tuple[StyleEffect, ...]
    left_out: tuple[LeftOutCovariate, ...]
    collinearity: Collinearity

    def as_json(self) -> dict[str, object]:
        """What joins the fields of ratings under control."""
        return {
            "coefficients": [effect.as_json() for effect in self.effects],
            "left_out": [to_json(covariate) for covariate in self.left_out],
            "collinearity": to_json(self.collinearity),
        }


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Identified:
    """Which of the columns have a coefficient.

    Attributes:
        kept: Their places among the columns.
        vif: Variance inflation of each that is kept.
        left_out: The others.
        collinearity: Of those that are kept.
    """

    kept: tuple[int, ...]
    vif: tuple[float, ...]
    left_out: tuple[LeftOutCovariate, ...]
    collinearity: Collinearity


def relative_columns(
    covariates: Mapping[str, tuple[ArrayLike, ArrayLike]], rows: int
) -> tuple[tuple[CovariateColumn, ...], tuple[LeftOutCovariate, ...]]:
    """The columns of counts, and those that differ in no battle.

    Args:
        covariates: For each its (N,) values, counts of 0 or more, in the answers of `a` and of `b`.
        rows: How many battles there are.

    Raises:
        RecordError: A covariate of another length, or a value that is no count.
    """
    columns, left_out = [], []
    for name, ends in covariates.items():
        relative = _relative(name, ends, rows)
        # Sorted, so that the order of the battles changes no digit.
        size = math.sqrt(float(np.sort(relative**2).mean())) if rows else 0.0
        if size > 0:
            relative /= size
            columns.append(CovariateColumn(name=name, values=relative, scale=RELATIVE))
        else:
            reason = (
                f"The two answers of every battle are alike in {_words(name)}, so it has no effect to "
                "control for."
            )
            left_out.append(LeftOutCovariate(name=name, reason=reason))
    return tuple(columns), tuple(left_out)


def _relative(name: str, ends: tuple[ArrayLike, ArrayLike], rows: int) -> Floats:
    first, second = (np.asarray(end) for end in ends)
    for column in (first, second):
        if len(column) != rows:
            message = f"Covariate {name} has {len(column)} rows but there are {rows} battles."
            raise RecordError(message, advice="Give one value for each battle and answer.")
    relative = np.empty(rows)
    for start in range(0, rows, ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        one, other = (_counts(name, column[part], start) for column in (first, second))
        relative[part] = (one - other) / (one + other + 1)
    return relative


def _counts(name: str, values: NDArray[Any], start: int) -> Floats:
    counts = np.asarray(values, dtype=np.float64)
    bad = ~(np.isfinite(counts) & (counts >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        message = f"Row {start + row + 1}, column {name}: {counts[row]:g} is no count."
        raise RecordError(message, advice="Give a number of 0 or more.")
    return counts


def marked_column(name: str, values: ArrayLike, scale: str) -> CovariateColumn:
    """A column of marks: 1 where `a` has it alone, −1 where `b` has, 0 where both have or neither.

    Raises:
        RecordError: A value is not between −1 and 1.
    """
    column = np.asarray(values, dtype=np.float64)
    bad = ~(np.abs(column) <= 1)
    if bad.any():
        row = int(np.argmax(bad))
        message = f"Row {row + 1}, column {name}: {column[row]:g} is no mark."
        raise RecordError(message, advice="Give a number between -1 and 1.")
    return CovariateColumn(name=name, values=column, scale=scale)


def identify(
    columns: Sequence[CovariateColumn], systems: Floats, border: Floats, covariates: Floats
) -> Identified:
    """Which columns have a coefficient beside the systems and the columns before them.

    Args:
        columns: The columns.
        systems: (S, S) products of the systems' terms, made invertible.
        border: (S, K) products of the systems' terms with the columns.
        covariates: (K, K) products of the columns.

    Raises:
        InputError: None has.
    """
    own = np.diag(covariates)
    alone = np.asarray(covariates - border.T @ np.linalg.solve(systems, border))
    kept: list[int] = []
    left_out = []
    for place, column in enumerate(columns):
        reason = _why_not(columns, kept, place, alone, own)
        if reason:
            left_out.append(LeftOutCovariate(name=column.name, reason=reason))
        else:
            kept.append(place)
    if not kept:
        raise InputError(left_out[0].reason, advice="Leave it out.")
    rest = alone[np.ix_(kept, kept)]
    vif = own[kept] * np.diag(np.linalg.inv(rest))
    names = [columns[place].name for place in kept]
    return Identified(
        kept=tuple(kept),
        vif=tuple(float(value) for value in vif),
        left_out=tuple(left_out),
        collinearity=_collinearity(names, rest, vif, 1 - np.diag(rest) / own[kept]),
    )


def _why_not(
    columns: Sequence[CovariateColumn], kept: Sequence[int], place: int, alone: Floats, own: Floats
) -> str:
    """Why a column has no coefficient beside the systems and those that are kept; empty where it has."""
    name = _words(columns[place].name)
    if not own[place] > 0:
        return f"The term {name} is left out: in no battle does it tell the two answers apart."
    if alone[place, place] <= NOTHING_LEFT * own[place]:
        return (
            f"The term {name} is left out: all of its variation comes from which systems meet. So its effect "
            "cannot be told apart from how good the systems are."
        )
    if not kept:
        return ""
    shared = alone[kept, place]
    explained = float(shared @ np.linalg.solve(alone[np.ix_(kept, kept)], shared))
    if alone[place, place] - explained > NOTHING_LEFT * own[place]:
        return ""
    nearest = max(kept, key=lambda other: abs(alone[other, place]) / np.sqrt(alone[other, other]))
    other = _words(columns[nearest].name)
    return f"The term {name} is left out: {other} and the terms before it determine it wholly."


def _words(name: str) -> str:
    return name.replace("_", " ")


def _collinearity(names: Sequence[str], rest: Floats, vif: Floats, by_systems: Floats) -> Collinearity:
    """Of columns whose products, after what the systems explain, are `rest`."""
    spread = np.sqrt(np.diag(rest))
    correlations = rest / np.outer(spread, spread)
    sizes = np.linalg.eigvalsh(correlations)
    condition = float(np.sqrt(sizes[-1] / sizes[0]))
    first = second = correlation = None
    if len(names) > 1:
        apart = np.abs(np.triu(correlations, 1))
        row, column = divmod(int(apart.argmax()), len(names))
        first, second, correlation = names[row], names[column], float(correlations[row, column])
    worst = int(np.argmax(vif))
    sentences = []
    closeness = f"correlation {correlation or 0.0:.2f}".replace("-", "−")
    if condition > ILL_CONDITIONED or (vif[worst] > INFLATED and by_systems[worst] < 1 - 1 / INFLATED):
        sentences.append(
            f"The terms {_words(str(first))} and {_words(str(second))} go together ({closeness}): the "
            "battles hardly tell what each of them is worth, so read their coefficients together."
        )
    sentences += [
        f"{math.floor(1000 * share) / 10:.1f} % of the variation in {_words(name)} comes from which systems "
        f"meet, so what {_words(name)} is worth can hardly be told apart from how good the systems are."
        for name, share in zip(names, by_systems, strict=True)
        if share >= 1 - 1 / INFLATED
    ]
    if not sentences:
        sentences.append("The terms can be told apart.")
    largest = f"largest variance inflation {vif[worst]:.1f} ({_words(names[worst])})"
    sentences.append(f"Condition number {condition:.1f}, {largest}.")
    return Collinearity(
        condition=condition,
        first=first,
        second=second,
        correlation=correlation,
        sentence=" ".join(sentences),
    )
