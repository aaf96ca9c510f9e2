"""Intervals that every room may use: the one BCa, and what an interval is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

LEVEL = 0.95

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """Two bounds, in the unit of what they bound."""

    lower: float
    upper: float

    def __contains__(self, value: float) -> bool:
        """Whether a value lies between the bounds, the bounds included."""
        return self.lower <= value <= self.upper

    @property
    def width(self) -> float:
        """Distance of the bounds."""
        return self.upper - self.lower

    def as_json(self) -> list[float]:
        """The bounds as a pair."""
        return [self.lower, self.upper]


def bounds_json(interval: Interval | None, prefix: str = "") -> dict[str, float | None]:
    """Both bounds by name; null without an interval."""
    lower, upper = (None, None) if interval is None else interval.as_json()
    return {f"{prefix}lower": lower, f"{prefix}upper": upper}


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
