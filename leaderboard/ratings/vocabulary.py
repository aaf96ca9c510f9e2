"""Enumerations and settings of ratings."""

import math
from dataclasses import dataclass
from enum import StrEnum

from data.errors import InputError
from leaderboard.vocabulary import Cluster, IntervalKind, Method

# Rating points of one unit of log-odds: 400 points are a factor of ten.
POINTS: float = 400 / math.log(10)


MEAN: float = 1000.0
MOST_POINTS = 1e6
"""Largest rating of an anchor; beyond it points lose the digits that separate systems."""

__all__ = ["MEAN", "POINTS", "Anchor", "Bounds", "Cluster", "Flag", "IntervalKind", "Method"]


class Bounds(StrEnum):
    """Method by which bootstrap draws become an interval."""

    PERCENTILE = "percentile"
    BCA = "bca"


class Flag(StrEnum):
    """Warning on one rating.

    `NEVER_WINS`, `NEVER_LOSES`: not even a tie against it; the rating is null, one bound is given where
    the system met rated ones.
    `UNBOUNDED`: null, since its wins and losses never lead back to the rated systems.
    `SEPARATE`: rated within its own group of systems, on a scale of its own; at most its place compares.
    `ANCHOR`: fixed by definition.
    `NO_INTERVAL`: too few questions or battles, or no variation among them, to say how sure the rating is.
    `FEW_QUESTIONS`: fewer than twelve questions carry the rating, so that its interval is Student's t
    whatever the settings.
    `BORROWED`: no battle in this domain; the overall rating is used.
    """

    NEVER_WINS = "never_wins"
    NEVER_LOSES = "never_loses"
    UNBOUNDED = "unbounded"
    SEPARATE = "separate"
    ANCHOR = "anchor"
    NO_INTERVAL = "no_interval"
    FEW_QUESTIONS = "few_questions"
    BORROWED = "borrowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The system with a fixed rating, and that rating.

    With `others` the ratings are shifted so that those of all anchors deviate from what is given by 0 on
    average; none of them is then fixed, and the distances stay those of the battles.
    """

    system: str
    rating: float = MEAN
    others: "tuple[Anchor, ...]" = ()

    def __post_init__(self) -> None:
        # Not a number is refused too.
        if not abs(self.rating) <= MOST_POINTS:
            message = f"The anchor {self.system} cannot be fixed at {self.rating:g} points."
            raise InputError(
                message, advice=f"Give a rating between {-MOST_POINTS:,.0f} and {MOST_POINTS:,.0f}."
            )
        names = [anchor.system for anchor in self.all]
        if len(set(names)) < len(names):
            raise InputError("An anchor is given twice.", advice="Give each system one rating.")

    @property
    def all(self) -> "tuple[Anchor, ...]":
        """This anchor and the others."""
        return (self, *self.others)

    @property
    def zero(self) -> float:
        """Mean rating of the anchors."""
        return sum(anchor.rating for anchor in self.all) / len(self.all)

    def alone(self) -> "Anchor":
        """Return this anchor only, for values measured from one."""
        if self.others:
            message = f"Such ratings are measured from one anchor, and {len(self.all)} are given."
            raise InputError(message, advice="Give --anchor once.")
        return self

    def as_json(self) -> object:
        """`system` and `rating`; a list of such objects of several anchors."""
        rows = [{"system": anchor.system, "rating": anchor.rating} for anchor in self.all]
        return rows if self.others else rows[0]
