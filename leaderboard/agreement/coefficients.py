"""Coefficients of agreement and correlation as functions of sums, vectorised over resamples."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.stats import Interval, percentile_interval

Codes = NDArray[np.int64]

BATCH_CELLS = 4_000_000
"""Maximum number of weights in memory: resamples of a batch times questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """Settings of resampling; equal settings give equal bytes. 0 resamples give no intervals."""

    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Value with its interval; None if undefined."""

    value: float | None
    interval: Interval | None = None


def weight_batches(questions: int, resampling: Resampling) -> "Iterator[Floats]":
    """Yield batches of (batch, questions) numbers of draws of each question."""
    random = np.random.default_rng(resampling.seed)
    size = max(1, BATCH_CELLS // max(1, questions))
    chance = np.full(questions, 1 / questions)
    for start in range(0, resampling.resamples, size):
        batch = min(size, resampling.resamples - start)
        yield random.multinomial(questions, chance, size=batch).astype(np.float64)


def clustered(
    statistic: "Callable[[Floats], Floats]", sums: "Floats", questions: Codes, resampling: Resampling
) -> Estimate:
    """Estimate a statistic of (items, columns) sums, with a question-clustered percentile interval.

    The statistic maps (…, columns) sums to (…) values, NaN if undefined.
    """
    value = float(statistic(sums.sum(axis=0)))
    by_question = per_question(sums, questions)
    if len(by_question) < 2 or not resampling.resamples:  # noqa: PLR2004 - one question has no spread
        return estimate(value, None)
    batches = [statistic(weights @ by_question) for weights in weight_batches(len(by_question), resampling)]
    return estimate(value, percentile_interval(np.concatenate(batches)))


def estimate(value: float, interval: Interval | None) -> Estimate:
    """Return an estimate; None without an interval if the value is NaN."""
    return Estimate(value, interval) if np.isfinite(value) else Estimate(None)


def bounds_of(coefficient: Estimate) -> list[float] | None:
    """Return the interval of an estimate as JSON."""
    return None if coefficient.interval is None else coefficient.interval.as_json()


def per_question(sums: "Floats", questions: Codes) -> "Floats":
    """(questions, columns) totals of the items of each question."""
    present, codes = np.unique(questions, return_inverse=True)
    totals = np.zeros((len(present), sums.shape[1]))
    np.add.at(totals, codes, sums)
    return totals


Floats = NDArray[np.float64]

CLASSES = 3
TIE = 1
"""Classes in order: a is better, tie, b is better."""

NOMINAL = 1.0 - np.eye(CLASSES)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotient, NaN for a zero denominator."""
    top, bottom = np.broadcast_arrays(numerator, denominator)
    quotient: Floats = np.divide(
        top,
        bottom,
        out=np.full(np.shape(top), np.nan),
        where=np.abs(bottom) > 1e-12,  # noqa: PLR2004 - rounding error
    )
    return quotient


def confusion(sums: Floats) -> Floats:
    """Reshape (…, 9) sums to (…, 3, 3): rows are the judge's classes, columns the people's."""
    return sums.reshape(*sums.shape[:-1], CLASSES, CLASSES)


def accuracy(sums: Floats) -> Floats:
    """Return the share of pairs in the same class."""
    table = confusion(sums)
    return ratio(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def decisive_accuracy(sums: Floats) -> Floats:
    """Return the share of pairs decided by people on which the judge agrees; its tie is a miss."""
    table = confusion(sums)
    right = table[..., 0, 0] + table[..., 2, 2]
    return ratio(right, table[..., 0].sum(axis=-1) + table[..., 2].sum(axis=-1))


def tie_rate(sums: Floats) -> Floats:
    """Return the share of pairs that the judge calls a tie."""
    table = confusion(sums)
    return ratio(table[..., TIE, :].sum(axis=-1), table.sum(axis=(-2, -1)))


def kappa(sums: Floats) -> Floats:
    """Return Cohen's kappa: 1 − observed over expected disagreement; NaN if both always name one class.

    Source: Cohen (1960).
    """
    table = confusion(sums)
    total = table.sum(axis=(-2, -1))
    judge, people = table.sum(axis=-1), table.sum(axis=-2)
    expected = np.einsum("...i,...j,ij->...", judge, people, NOMINAL)
    return 1 - ratio((table * NOMINAL).sum(axis=(-2, -1)) * total, expected)


def pearson(sums: Floats) -> Floats:
    """Return Pearson's correlation from (…, 6) sums of 1, x, y, xx, yy, xy; NaN for a constant."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread_x, spread_y = n * xx - x * x, n * yy - y * y
    # The computed spread of a constant is a rounding error, not exactly zero.
    varied = (spread_x > 1e-10 * np.abs(n * xx)) & (spread_y > 1e-10 * np.abs(n * yy))
    product = np.where(varied, np.abs(spread_x * spread_y), 0.0)
    return np.clip(ratio(n * xy - x * y, np.sqrt(product)), -1.0, 1.0)


def moments(x: Floats, y: Floats) -> Floats:
    """(items, 6) terms of the sums of `pearson`."""
    return np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])


def midranks(values: Floats, weights: Floats) -> Floats:
    """Return ranks of (items,) values with (…, items) weights; equal values share the middle rank."""
    _, starts, codes = np.unique(np.sort(values), return_index=True, return_inverse=True)
    order = np.argsort(values, kind="stable")
    group = np.add.reduceat(weights[..., order], starts, axis=-1)
    ranks: Floats = np.empty_like(weights, dtype=np.float64)
    ranks[..., order] = (np.cumsum(group, axis=-1) - group / 2)[..., codes]
    return ranks


def spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return Spearman's rank correlations (…) of (items,) pairs with (…, items) weights."""
    first, second = midranks(x, weights), midranks(y, weights)
    powers = (np.ones_like(first), first, second, first * first, second * second, first * second)
    return pearson(np.stack([np.einsum("...i,...i->...", weights, power) for power in powers], axis=-1))


def kendall(x: Floats, y: Floats) -> float:
    """Return Kendall's tau-b: concordant less discordant pairs over the mean of the untied ones; NaN if none.

    Source: Kendall (1945).
    """
    upper = np.triu_indices(len(x), 1)
    first, second = (np.sign(np.subtract.outer(v, v))[upper] for v in (x, y))
    untied = np.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / untied if untied else float("nan")


def krippendorff_alpha(
    values: Floats, *, questions: Codes | None = None, resampling: Resampling | None = None
) -> Estimate:
    """Return nominal alpha: 1 − observed over expected disagreement of judges on the same pairs.

    `values` are (pairs, judges), NaN for unjudged pairs; `questions` are the units of resampling, by default
    each pair. The value is None if all values are equal.

    Source: Krippendorff (2011), "Computing Krippendorff's alpha-reliability".
    """
    names = np.unique(values[np.isfinite(values)])
    counts = (
        np.stack([(values == name).sum(axis=1) for name in names], axis=1, dtype=np.float64)
        if len(names)
        else np.zeros((len(values), 0))
    )
    judged = counts.sum(axis=1)
    pairable = judged > 1
    counts, judged = counts[pairable], judged[pairable]
    codes = np.arange(len(values)) if questions is None else questions
    if not len(counts):
        return Estimate(None)
    same = counts[:, :, None] * np.eye(len(names))
    coincidences = (counts[:, :, None] * counts[:, None, :] - same) / (judged - 1)[:, None, None]
    return clustered(
        _alpha, coincidences.reshape(len(counts), -1), codes[pairable], resampling or Resampling()
    )


def _alpha(sums: Floats) -> Floats:
    size = math.isqrt(sums.shape[-1])
    table = sums.reshape(*sums.shape[:-1], size, size)
    distance = 1.0 - np.eye(size)
    totals = table.sum(axis=-1)
    observed = (table * distance).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * distance).sum(axis=(-2, -1))
    return 1 - ratio(observed * (totals.sum(axis=-1) - 1), expected)
