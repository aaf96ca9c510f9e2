"""Paired differences of two systems, from joint draws or the joint covariance.

Common factors such as the difficulty of questions cancel, so a difference is more certain than the two
intervals suggest.
"""

import math
from dataclasses import dataclass

import numpy as np

from data.errors import NotFoundError, StatisticsError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.rate import rate
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.uncertainty import intervals
from leaderboard.ratings.uncertainty.intervals import FEW_QUESTIONS
from leaderboard.ratings.vocabulary import Cluster, IntervalKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Difference between two systems' ratings.

    Attributes:
        prob_better: Probability that the first is better, by Student's t.
        questions: Effective number of questions.
        interval: Source of the interval: percentiles of resamples, or Student's t for few questions.
    """

    first: str
    second: str
    points: float
    se: float
    lower: float
    upper: float
    prob_better: float
    questions: int
    interval: IntervalKind


def difference(table: RatingTable, first: str, second: str) -> Difference:
    """Return the paired difference of two systems, with its interval.

    Raises:
        NotFoundError: A system is not in the table.
        UnrankableError: A system has no rating, or no battles link the two.
        StatisticsError: The table has no standard errors.
    """
    first_code, second_code = _comparable(table, first, second)
    points = float(table.points[first_code] - table.points[second_code])
    if table.errors is None:
        message = "Intervals of differences are not computed for this many systems."
        raise StatisticsError(message, advice="Rate the battles of fewer systems.")
    # Only this pair: the errors of all pairs take long for hundreds of systems.
    errors = table.errors.among(np.array([first_code, second_code]))
    se, units = float(errors.se[0, 1]), float(errors.units[0, 1])
    if not math.isfinite(se):
        message = f"There are too few battles for an interval of the difference between {first} and {second}."
        raise StatisticsError(message, advice="Judge the two systems on more questions.")
    reach = float(errors.reach[0, 1])
    lower, upper, kind = points - reach, points + reach, IntervalKind.SANDWICH
    gap = np.full((2, 2), points)
    if table.draws is not None and units >= FEW_QUESTIONS and not errors.agreed(gap)[0, 1]:
        draws = table.draws[:, first_code] - table.draws[:, second_code]
        draws = draws[~np.isnan(draws)]
        clustered = table.settings.cluster is Cluster.QUESTION
        ends = intervals.percentile(draws, units if clustered else None)
        kind, se = IntervalKind.BOOTSTRAP, float(draws.std(ddof=1))
        lower, upper = _consistent_with_test((float(ends[0]), float(ends[1])), (lower, upper))
    return Difference(
        first=first,
        second=second,
        points=points,
        se=se,
        lower=lower,
        upper=upper,
        prob_better=float(errors.prob_above(gap)[0, 1]),
        questions=_questions(table, units),
        interval=kind,
    )


def _questions(table: RatingTable, units: float) -> int:
    if table.settings.cluster is Cluster.QUESTION:
        return max(round(units), 1)
    return table.questions


def _consistent_with_test(ends: tuple[float, float], tested: tuple[float, float]) -> tuple[float, float]:
    """Return the percentile ends, replacing one that contradicts the test by the test's."""
    above, below = tested[0] > 0, tested[1] < 0
    lower = tested[0] if above is not (ends[0] > 0) else ends[0]
    upper = tested[1] if below is not (ends[1] < 0) else ends[1]
    return lower, upper


def rate_as(battles: BattleTable, settings: Settings) -> RatingTable:
    """Rate battles with the given settings."""
    return rate(
        battles,
        method=settings.method,
        interval=settings.interval,
        bootstrap=settings.bootstrap or Settings().bootstrap or 0,
        cluster=settings.cluster,
        anchor=settings.anchor,
        seed=settings.seed,
        bounds=settings.bounds,
    )


def _comparable(table: RatingTable, first: str, second: str) -> tuple[int, int]:
    first_code, second_code = table.code(first), table.code(second)
    for name, code in ((first, first_code), (second, second_code)):
        if np.isnan(table.points[code]):
            message = (
                f"{name} has no rating: it never wins, never loses, or has no battle with a rated system."
            )
            raise UnrankableError(message, advice="Judge more of its battles.")
    if table.component[first_code] != table.component[second_code]:
        message = f"No chain of battles links {first} and {second}."
        raise UnrankableError(message, advice="Judge battles between their groups.")
    return first_code, second_code


def star_battles(battles: BattleTable, reference: str) -> BattleTable:
    """Return the battles against the reference."""
    if reference not in battles.systems:
        message = f"No battle is against {reference}."
        raise NotFoundError(message, advice="Use its name in the battle file.")
    code = battles.systems.index(reference)
    return battles.select((battles.a == code) | (battles.b == code))
