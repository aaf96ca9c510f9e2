"""Question-clustered bootstrap of anything that is a function of sums over questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.intervals import LEVEL, Interval, percentile_interval

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

BATCH_CELLS = 4_000_000
"""Weights held at once: resamples of a batch times questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How intervals are drawn; the same settings give the same bytes.

    Attributes:
        resamples: How often the questions are drawn with replacement; 0 for no intervals.
        seed: Of the draws.
        level: Of the percentile intervals.
    """

    resamples: int = 1000
    seed: int = 0
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval; None where it does not exist for these data."""

    value: float | None
    interval: Interval | None = None


def weight_batches(questions: int, resampling: Resampling) -> Iterator[Floats]:
    """How often each question was drawn, (batch, questions), batch by batch."""
    random = np.random.default_rng(resampling.seed)
    size = max(1, BATCH_CELLS // max(1, questions))
    chance = np.full(questions, 1 / questions)
    for start in range(0, resampling.resamples, size):
        batch = min(size, resampling.resamples - start)
        yield random.multinomial(questions, chance, size=batch).astype(np.float64)


def clustered(
    statistic: Callable[[Floats], Floats], sums: Floats, questions: Codes, resampling: Resampling
) -> Estimate:
    """Estimate a statistic of summed columns, with a question-clustered percentile interval.

    Args:
        statistic: Takes (…, columns) sums, gives (…) values, NaN where undefined.
        sums: (items, columns) contributions of each item.
        questions: (items,) codes of the question of each item.
        resampling: Draws, seed and level.
    """
    value = float(statistic(sums.sum(axis=0)))
    by_question = per_question(sums, questions)
    if len(by_question) < 2 or not resampling.resamples:  # noqa: PLR2004 - one question has no spread
        return estimate(value, None)
    batches = [statistic(weights @ by_question) for weights in weight_batches(len(by_question), resampling)]
    return estimate(value, percentile_interval(np.concatenate(batches), resampling.level))


def estimate(value: float, interval: Interval | None) -> Estimate:
    """An estimate whose undefined value is None, without an interval then."""
    return Estimate(value, interval) if np.isfinite(value) else Estimate(None)


def bounds_of(one: Estimate) -> list[float] | None:
    """The interval of an estimate as JSON."""
    return None if one.interval is None else one.interval.as_json()


def per_question(sums: Floats, questions: Codes) -> Floats:
    """(questions, columns) totals of the items of each question that has any."""
    present, codes = np.unique(questions, return_inverse=True)
    totals = np.zeros((len(present), sums.shape[1]))
    np.add.at(totals, codes, sums)
    return totals
