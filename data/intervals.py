"""Confidence intervals, and that of a share; importing them loads no arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from data.errors import InputError

LEVEL = 0.95
NORMAL = 1.959963984540054
"""Standard errors that an interval of that level reaches."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Two bounds, in the unit of what they bound."""

    lower: float
    upper: float

    def __contains__(self, value: float) -> bool:
        """Return whether a value lies between the bounds, the bounds included."""
        return self.lower <= value <= self.upper

    @property
    def width(self) -> float:
        """Distance of the bounds."""
        return self.upper - self.lower

    def as_json(self) -> list[float]:
        """Return the bounds as a pair."""
        return [self.lower, self.upper]


def bounds_json(interval: Interval | None, prefix: str = "") -> dict[str, float | None]:
    """Both bounds by name; null without an interval."""
    lower, upper = (None, None) if interval is None else interval.as_json()
    return {f"{prefix}lower": lower, f"{prefix}upper": upper}


def normal_quantile(level: float) -> float:
    """Return the number of standard errors that a two-sided interval reaches.

    Raises:
        InputError: The level is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise InputError(f"The confidence level {level} is not between 0 and 1.", advice="0.95 is usual.")
    if level == LEVEL:
        return NORMAL
    from scipy.special import ndtri  # noqa: PLC0415 - slow to import, and few ask for another level

    return float(ndtri((1 + level) / 2))


def wilson(share: float, count: float, level: float = LEVEL) -> Interval | None:
    """Wilson's score interval of a share of `count` independent trials; None without trials.

    Source: Wilson (1927), equation for the limits; Brown, Cai & DasGupta (2001), section 3.1.1.
    """
    if count <= 0:
        return None
    z2 = normal_quantile(level) ** 2
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = math.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count**2))) / (1 + z2 / count)
    # At the ends the exact bounds are 0 and 1; subtracting would leave rounding dust.
    lower = 0.0 if share <= 0 else max(0.0, centre - half)
    upper = 1.0 if share >= 1 else min(1.0, centre + half)
    return Interval(lower, upper)


Floats = NDArray[np.float64]


def bca_level(bias: Floats, acceleration: Floats, tail: Floats) -> Floats:
    """Return the share of draws below the bias-corrected and accelerated end for a tail; all broadcast.

    Source: Efron (1987), equation 2.3.
    """
    shifted = bias + ndtri(tail)
    level: Floats = ndtr(bias + shifted / (1 - acceleration * shifted))
    return level


def bca_levels(drawn: Floats, left_out: Floats, value: float, level: float = LEVEL) -> Floats:
    """Return the two shares of a statistic's draws that bound its interval.

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
