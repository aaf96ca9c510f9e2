"""The closed sets of words and the few settings of a rating."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from data.errors import InputError
from leaderboard.vocabulary import Cluster, IntervalKind, Method

# Rating points of one unit of log-odds: 400 points are a factor of ten.
POINTS: float = 400 / math.log(10)


def expected_share(gap: float) -> float:
    """The share of the win, 0–1, that ratings promise to the one that is `gap` points above the other."""
    return 1 / (1 + math.exp(-gap / POINTS))


MEAN: float = 1000.0

__all__ = [
    "MEAN",
    "POINTS",
    "Anchor",
    "Bounds",
    "Cluster",
    "Flag",
    "IntervalKind",
    "Method",
    "Prior",
    "Weighting",
]


class Weighting(StrEnum):
    """How a bootstrap resample weighs its units.

    `GAMMA`: independent standard exponential weights (the Bayesian bootstrap), under which nothing
    observed ever vanishes. `MULTINOMIAL`: drawn with replacement, the classical bootstrap.
    """

    GAMMA = "gamma"
    MULTINOMIAL = "multinomial"


class Bounds(StrEnum):
    """How bootstrap draws become an interval."""

    PERCENTILE = "percentile"
    BCA = "bca"


class Flag(StrEnum):
    """What a reader must know about one rating.

    `NEVER_WINS`, `NEVER_LOSES`: not even a tie against it; the rating is null, one bound is given where
    the system met rated ones.
    `UNBOUNDED`: null, since its wins and losses never lead back to the rated systems.
    `SEPARATE`: rated within its own group of systems and not comparable with the others.
    `PRIOR`: finite only thanks to the prior that was asked for.
    `ANCHOR`: fixed by definition.
    `NO_INTERVAL`: too few questions or battles, or no variation among them, to say how sure the rating is.
    `BORROWED`: no battle in this domain; the overall rating stands in.
    """

    NEVER_WINS = "never_wins"
    NEVER_LOSES = "never_loses"
    UNBOUNDED = "unbounded"
    SEPARATE = "separate"
    PRIOR = "prior"
    ANCHOR = "anchor"
    NO_INTERVAL = "no_interval"
    BORROWED = "borrowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The system whose rating is fixed, and at what."""

    system: str
    rating: float = MEAN

    def __post_init__(self) -> None:
        if not math.isfinite(self.rating):
            message = f"The anchor {self.system} has no finite rating ({self.rating})."
            raise InputError(message, advice="Write SYSTEM=RATING with a finite number.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """A normal prior on each rating around the mean; what it lends is flagged `PRIOR`.

    Attributes:
        sd: Its standard deviation in rating points.
    """

    sd: float = 400.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.sd) and self.sd > 0):
            message = f"A prior's standard deviation of {self.sd} points cannot be used."
            raise InputError(message, advice="Give a positive number of rating points.")
