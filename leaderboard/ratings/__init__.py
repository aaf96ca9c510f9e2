"""Ratings of systems from their battles."""

from leaderboard.ratings.rate import rate
from leaderboard.ratings.result import Rating, RatingTable, Settings
from leaderboard.ratings.vocabulary import (
    Anchor,
    Bounds,
    Cluster,
    Flag,
    IntervalKind,
    Method,
    Prior,
    Weighting,
)

__all__ = [
    "Anchor",
    "Bounds",
    "Cluster",
    "Flag",
    "IntervalKind",
    "Method",
    "Prior",
    "Rating",
    "RatingTable",
    "Settings",
    "Weighting",
    "rate",
]
