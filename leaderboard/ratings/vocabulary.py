"""Enumerations and constants of ratings."""

import math
from dataclasses import dataclass
from enum import StrEnum

from data.errors import InputError
from leaderboard.vocabulary import Cluster, IntervalKind, Method

# Rating points of one unit of log-odds: 400 points are a factor of ten.
POINTS: float = 400 / math.log(10)


MEAN: float = 1000.0
MAX_POINTS = 1e6
"""Maximum rating of an anchor; larger ones lose the digits that separate systems."""

__all__ = ["MEAN", "POINTS", "Anchor", "Bounds", "Cluster", "Flag", "IntervalKind", "Method"]


class Bounds(StrEnum):
    """Kind of bootstrap interval."""

    PERCENTILE = "percentile"
    BCA = "bca"


class Flag(StrEnum):
    """Warning on one rating.

    `NEVER_WINS`, `NEVER_LOSES`: no ties either; the rating is null, with one bound if the system has battles
    against rated ones.
    `UNBOUNDED`: null, since no chain of wins leads back to or from the rated systems.
    `SEPARATE`: rated within its own group of systems, on a separate scale; only its rank may be comparable.
    `ANCHOR`: fixed by definition.
    `NO_INTERVAL`: too few questions or battles, or no variation among them, for an interval.
    `FEW_QUESTIONS`: fewer than twelve effective questions, so the interval is always Student's t.
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
    """A system with a fixed rating.

    With `additional` anchors no rating is fixed: all are shifted by one constant, so that the ratings of the
    anchors have the mean of the values set here.
    """

    system: str
    rating: float = MEAN
    additional: "tuple[Anchor, ...]" = ()

    def __post_init__(self) -> None:
        if not abs(self.rating) <= MAX_POINTS:  # also true for NaN
            message = f"The anchor {self.system} cannot be fixed at {self.rating:g} points."
            raise InputError(
                message, advice=f"Use a rating between {-MAX_POINTS:,.0f} and {MAX_POINTS:,.0f}."
            )
        names = [anchor.system for anchor in self.all]
        if len(set(names)) < len(names):
            raise InputError("Two anchors are for the same system.", advice="Set one rating per system.")

    @property
    def all(self) -> "tuple[Anchor, ...]":
        """This anchor and the additional ones."""
        return (self, *self.additional)

    @property
    def zero(self) -> float:
        """Mean rating of the anchors."""
        return sum(anchor.rating for anchor in self.all) / len(self.all)

    def single(self) -> "Anchor":
        """Return this anchor, or raise if there are several."""
        if self.additional:
            message = f"These ratings support one anchor, not {len(self.all)}."
            raise InputError(message, advice="Use --anchor once.")
        return self

    def as_json(self) -> object:
        """Return `system` and `rating`, or a list of them for several anchors."""
        rows = [{"system": anchor.system, "rating": anchor.rating} for anchor in self.all]
        return rows if self.additional else rows[0]
