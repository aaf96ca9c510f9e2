"""What an interval is, and that of a share; importing them loads no arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

from data.errors import InputError

LEVEL = 0.95
NORMAL = 1.959963984540054
"""How many standard errors an interval of that level reaches."""


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


def normal_quantile(level: float) -> float:
    """How many standard errors a two-sided interval reaches.

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
