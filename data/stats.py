"""The one BCa interval, which every room may use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from data.intervals import LEVEL

Floats = NDArray[np.float64]


def bca_level(bias: Floats, acceleration: Floats, tail: Floats) -> Floats:
    """The share of draws below the bias-corrected and accelerated end for a tail; all broadcast.

    Source: Efron (1987), equation 2.3.
    """
    shifted = bias + ndtri(tail)
    level: Floats = ndtr(bias + shifted / (1 - acceleration * shifted))
    return level


def bca_levels(drawn: Floats, left_out: Floats, value: float, level: float = LEVEL) -> Floats:
    """The two shares of a statistic's draws that bound its interval.

    Args:
        drawn: The statistic of each resample.
        left_out: The statistic without each unit in turn.
        value: The statistic itself.
        level: Of confidence.

    Returns:
        The plain tails where bias or acceleration do not exist.
    """
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    below = float(np.mean((drawn < value) + (drawn == value) / 2))
    spread = left_out.mean() - left_out
    scale = float((spread**2).sum())
    if not 0 < below < 1 or scale == 0:
        return tails
    acceleration = float((spread**3).sum()) / (6 * scale**1.5)
    return bca_level(ndtri(np.array([below])), np.array([acceleration]), tails)
