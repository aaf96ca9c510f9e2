"""Ratings of systems from their battles, and differences between them."""

from leaderboard.ratings.domains import DomainTable, rate_domains
from leaderboard.ratings.models.covariates import (
    ControlledRatings,
    CovariateColumn,
    LeftOutCovariate,
    StyleEffect,
    marked_column,
    relative_columns,
)
from leaderboard.ratings.models.style import rate_under_control
from leaderboard.ratings.rate import rate
from leaderboard.ratings.result import Rating, RatingTable, Settings
from leaderboard.ratings.uncertainty.differences import Difference, difference, star_battles
from leaderboard.ratings.vocabulary import Anchor, Bounds, Cluster, Flag, IntervalKind, Method

__all__ = [
    "Anchor",
    "Bounds",
    "Cluster",
    "ControlledRatings",
    "CovariateColumn",
    "Difference",
    "DomainTable",
    "Flag",
    "IntervalKind",
    "LeftOutCovariate",
    "Method",
    "Rating",
    "RatingTable",
    "Settings",
    "StyleEffect",
    "difference",
    "marked_column",
    "rate",
    "rate_domains",
    "rate_under_control",
    "relative_columns",
    "star_battles",
]
