"""Krippendorff's alpha: agreement of any number of judges and annotators, gaps allowed."""

from __future__ import annotations

from enum import StrEnum
from functools import partial

import numpy as np
from numpy.typing import NDArray

from leaderboard.agreement.coefficients import ratio
from leaderboard.agreement.resampling import Codes, Estimate, Resampling, clustered

Floats = NDArray[np.float64]


class Scale(StrEnum):
    """What a difference of two values means."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


def krippendorff_alpha(
    values: Floats,
    *,
    scale: Scale = Scale.NOMINAL,
    questions: Codes | None = None,
    resampling: Resampling | None = None,
) -> Estimate:
    """Alpha: 1 − observed over expected disagreement of all who judged the same pairs.

    Args:
        values: (pairs, judges) values, NaN where one did not judge a pair. Pairs that fewer than two
            judged say nothing.
        scale: What a difference of two values means.
        questions: (pairs,) question of each pair, the unit of resampling; None: each its own.
        resampling: Draws, seed and level.

    Returns:
        The estimate; its value is None where everyone named one and the same value.

    Source: Krippendorff (2011), "Computing Krippendorff's alpha-reliability".
    """
    names = np.unique(values[np.isfinite(values)])
    counts = (
        np.stack([(values == name).sum(axis=1) for name in names], axis=1, dtype=np.float64)
        if len(names)
        else np.zeros((len(values), 0))
    )
    judged = counts.sum(axis=1)
    kept = judged > 1
    counts, judged = counts[kept], judged[kept]
    codes = np.arange(len(values)) if questions is None else questions
    if not len(counts):
        return Estimate(None)
    same = counts[:, :, None] * np.eye(len(names))
    coincidences = (counts[:, :, None] * counts[:, None, :] - same) / (judged - 1)[:, None, None]
    return clustered(
        partial(_alpha, names=names, scale=scale),
        coincidences.reshape(len(counts), -1),
        codes[kept],
        resampling or Resampling(),
    )


def _alpha(sums: Floats, names: Floats, scale: Scale) -> Floats:
    """Alpha from (…, V²) sums of coincidences."""
    size = len(names)
    table = sums.reshape(*sums.shape[:-1], size, size)
    totals = table.sum(axis=-1)
    distance = _distances(totals, names, scale)
    number = totals.sum(axis=-1)
    observed = (table * distance).sum(axis=(-2, -1))
    outer = totals[..., :, None] * totals[..., None, :]
    expected = (outer * distance).sum(axis=(-2, -1))
    return 1 - ratio(observed * (number - 1), expected)


def _distances(totals: Floats, names: Floats, scale: Scale) -> Floats:
    """(…, V, V) squared distances of values."""
    if scale is Scale.NOMINAL:
        return 1.0 - np.eye(len(names))
    if scale is Scale.INTERVAL:
        gaps: Floats = np.subtract.outer(names, names) ** 2
        return gaps
    # Ordinal: how many values lie between, with half of the two themselves.
    middle = np.cumsum(totals, axis=-1) - totals / 2
    return (middle[..., :, None] - middle[..., None, :]) ** 2
