"""Coefficients of agreement and correlation as functions of sums, for one or many resamples at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CLASSES = 3
TIE = 1
"""Classes in order: a is better, tie, b is better."""

LINEAR = np.abs(np.subtract.outer(np.arange(CLASSES), np.arange(CLASSES))) / (CLASSES - 1)
QUADRATIC = LINEAR**2
NOMINAL = 1.0 - np.eye(CLASSES)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """A quotient that is NaN where the denominator is zero."""
    top, bottom = np.broadcast_arrays(numerator, denominator)
    found: Floats = np.divide(
        top,
        bottom,
        out=np.full(np.shape(top), np.nan),
        where=np.abs(bottom) > 1e-12,  # noqa: PLR2004 - rounding dust
    )
    return found


def confusion(sums: Floats) -> Floats:
    """(…, 9) sums as (…, 3, 3): rows are the judge's classes, columns the people's."""
    return sums.reshape(*sums.shape[:-1], CLASSES, CLASSES)


def accuracy(sums: Floats) -> Floats:
    """Share of pairs on which both say a, tie or b alike."""
    table = confusion(sums)
    return ratio(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def decisive_accuracy(sums: Floats) -> Floats:
    """Share of the pairs that people decided on which the judge says the same; its tie is a miss."""
    table = confusion(sums)
    right = table[..., 0, 0] + table[..., 2, 2]
    return ratio(right, table[..., 0].sum(axis=-1) + table[..., 2].sum(axis=-1))


def tie_rate(sums: Floats) -> Floats:
    """Share of pairs that the judge calls a tie."""
    table = confusion(sums)
    return ratio(table[..., TIE, :].sum(axis=-1), table.sum(axis=(-2, -1)))


def kappa(sums: Floats, distance: Floats = NOMINAL) -> Floats:
    """Cohen's kappa: 1 − observed over expected disagreement, weighted by a distance of classes.

    Undefined where both always name the same one class.

    Source: Cohen (1960), and (1968) for weights.
    """
    table = confusion(sums)
    total = table.sum(axis=(-2, -1))
    judge, people = table.sum(axis=-1), table.sum(axis=-2)
    expected = np.einsum("...i,...j,ij->...", judge, people, distance)
    return 1 - ratio((table * distance).sum(axis=(-2, -1)) * total, expected)


def pearson(sums: Floats) -> Floats:
    """Pearson's correlation from (…, 6) sums of 1, x, y, xx, yy, xy; undefined for a constant."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    # A constant's spread is rounding dust of its square, not exactly zero.
    varied = (spread_x > 1e-10 * np.abs(n * xx)) & (spread_y > 1e-10 * np.abs(n * yy))
    product = np.where(varied, np.abs(spread_x * spread_y), 0.0)
    return np.clip(ratio(n * xy - x * y, np.sqrt(product)), -1.0, 1.0)


def moments(x: Floats, y: Floats) -> Floats:
    """(items, 6) contributions that `pearson` sums up."""
    return np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])


def midranks(values: Floats, weights: Floats) -> Floats:
    """Ranks of values that count `weights` times each, equal values sharing the middle one."""
    _, codes = np.unique(values, return_inverse=True)
    group = np.bincount(codes, weights)
    ranks: Floats = (np.cumsum(group) - group / 2)[codes]
    return ranks


def spearman(x: Floats, y: Floats, weights: Floats) -> float:
    """Spearman's rank correlation of pairs that count `weights` times each."""
    ranks = moments(midranks(x, weights), midranks(y, weights))
    return float(pearson(weights @ ranks))


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b: concordant less discordant pairs over the mean of the untied ones; NaN if none.

    Source: Kendall (1945).
    """
    upper = np.triu_indices(len(x), 1)
    first, second = (np.sign(np.subtract.outer(v, v))[upper] for v in (x, y))
    untied = np.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / untied if untied else float("nan")
