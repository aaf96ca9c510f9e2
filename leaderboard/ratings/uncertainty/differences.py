"""Who is better, how sure, and how much more judging would settle it.

A difference of two systems is always taken from joint draws (or the joint covariance): what both share,
the question's difficulty above all, cancels, so it is far surer than their two intervals suggest.

The estimate of the star alone beside that of all battles.

Bradley-Terry is a model, and no model is quite right; what it estimates then depends on the mix of
battles. A round that adds complete pairs to the star against the reference changes the mix, so both
estimates are reported and their difference is shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from data.errors import InputError, NotFoundError, StatisticsError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Floats
from leaderboard.ratings.models.likelihoods import sigmoid
from leaderboard.ratings.rate import rate
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.uncertainty import bounds
from leaderboard.ratings.vocabulary import POINTS, Cluster, Method


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far one system is above another.

    Attributes:
        first: The one system.
        second: The other.
        points: Rating of the first minus rating of the second.
        se: Its standard error, paired.
        lower: Lower end of the 95 % interval.
        upper: Upper end.
        chance: How sure it is that the first is the better: the share of joint draws (or the normal
            probability) in which it is rated higher.
        questions: How many questions that rests on.
    """

    first: str
    second: str
    points: float
    se: float
    lower: float
    upper: float
    chance: float
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainDifference:
    """A difference within one domain.

    Attributes:
        domain: The domain.
        difference: None where the domain's battles cannot compare the two.
        reason: Why not; empty where they can.
    """

    domain: str
    difference: Difference | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """How many questions would tell two systems apart.

    Attributes:
        first: The one system.
        second: The other.
        questions: Questions so far.
        needed: Questions in all, judged as so far, at which a difference as large as the present estimate
            is found (95 % interval without 0) with probability `power`; None for equal ratings.
        power: That probability.
    """

    first: str
    second: str
    questions: int
    needed: int | None
    power: float

    @property
    def further(self) -> int | None:
        """How many questions more."""
        return None if self.needed is None else max(self.needed - self.questions, 0)


def difference(table: RatingTable, first: str, second: str) -> Difference:
    """The paired difference of two systems, with its interval.

    Raises:
        NotFoundError: A system that the table does not have.
        UnrankableError: One has no rating, or no battles link the two.
        StatisticsError: The table says nothing on how sure its ratings are.
    """
    first_code, second_code = _comparable(table, first, second)
    points = float(table.points[first_code] - table.points[second_code])
    if table.covariance is None:
        message = "Joint intervals are not kept for so many systems."
        raise StatisticsError(message, advice="Rate the battles of fewer systems.")
    units = table.questions if table.settings.cluster is Cluster.QUESTION else None
    if table.draws is None:
        joint = table.covariance
        variance = float(
            joint[first_code, first_code]
            + joint[second_code, second_code]
            - 2 * joint[first_code, second_code]
        )
        se = math.sqrt(max(variance, 0.0))
        reach = bounds.quantile_of(units)
        lower, upper = points - reach * se, points + reach * se
        chance = float(ndtr(points / se)) if se > 0 else 0.5
    else:
        drawn = table.draws[:, first_code] - table.draws[:, second_code]
        drawn = drawn[~np.isnan(drawn)]
        se = float(drawn.std(ddof=1))
        lower, upper = (float(end) for end in bounds.percentile(drawn, units))
        chance = float((drawn > 0).mean() + (drawn == 0).mean() / 2)
    if not math.isfinite(se):
        message = f"The battles do not say how sure the difference of {first} and {second} is."
        raise StatisticsError(message, advice="Judge them on more questions.")
    return Difference(
        first=first,
        second=second,
        points=points,
        se=se,
        lower=lower,
        upper=upper,
        chance=chance,
        questions=table.questions,
    )


def differences_by_domain(
    battles: BattleTable, first: str, second: str, settings: Settings | None = None
) -> tuple[DomainDifference, ...]:
    """The paired difference of two systems within each domain, from that domain's battles alone."""
    chosen = Settings() if settings is None else settings
    return tuple(
        _domain_difference(battles.select(battles.domain == code), domain, first, second, chosen)
        for code, domain in enumerate(battles.domains)
    )


def _domain_difference(
    battles: BattleTable, domain: str, first: str, second: str, settings: Settings
) -> DomainDifference:
    for name in (first, second):
        code = battles.systems.index(name) if name in battles.systems else -1
        if not ((battles.a == code) | (battles.b == code)).any():
            return DomainDifference(domain=domain, difference=None, reason=f"{name} has no battle here.")
    try:
        gap = difference(rate_as(battles, replace(settings, anchor=None)), first, second)
    except StatisticsError as error:
        return DomainDifference(domain=domain, difference=None, reason=error.message)
    return DomainDifference(domain=domain, difference=gap)


def rate_as(battles: BattleTable, settings: Settings) -> RatingTable:
    """Rate battles by ready settings."""
    return rate(
        battles,
        method=settings.method,
        interval=settings.interval,
        bootstrap=settings.bootstrap or Settings().bootstrap or 0,
        cluster=settings.cluster,
        anchor=settings.anchor,
        seed=settings.seed,
        weighting=settings.weighting,
        bounds=settings.bounds,
        prior=settings.prior,
    )


def questions_to_separate(table: RatingTable, first: str, second: str, power: float = 0.8) -> Separation:
    """How many questions would tell two systems apart.

    The standard error falls with the root of the number of questions, so Q questions at a standard error
    s become Q (s (z₀.₉₇₅ + z_power) / difference)².

    Raises:
        InputError: A power outside ½–1.
        UnrankableError: As `difference`.
    """
    if not 1 / 2 <= power < 1:
        message = f"A power of {power} cannot be used."
        raise InputError(message, advice="Give a probability from 0.5 to below 1.")
    gap = difference(table, first, second)
    needed = None
    if gap.points:
        ratio = gap.se * (bounds.NORMAL + float(ndtri(power))) / gap.points
        needed = math.ceil(table.questions * ratio**2)
    return Separation(first=first, second=second, questions=table.questions, needed=needed, power=power)


def chances_better(table: RatingTable) -> Floats:
    """(S, S) probability that the row's system has the higher rating; NaN where two cannot be compared."""
    size = len(table.systems)
    chances = np.full((size, size), np.nan)
    if table.draws is not None:
        draws = table.draws
        for row in range(size):
            gap = draws[:, row : row + 1] - draws
            counted = np.maximum((~np.isnan(gap)).sum(axis=0), 1)
            chances[row] = ((gap > 0).sum(axis=0) + (gap == 0).sum(axis=0) / 2) / counted
            chances[row, np.isnan(gap).all(axis=0)] = np.nan
    elif table.covariance is not None:
        variance = np.diag(table.covariance)
        spread = np.sqrt(np.maximum(variance[:, None] + variance - 2 * table.covariance, 0))
        gap = table.points[:, None] - table.points
        certain = np.where(gap > 0, 1.0, np.where(gap < 0, 0.0, 0.5))
        chances = np.where(spread > 0, ndtr(gap / np.where(spread > 0, spread, 1.0)), certain)
        chances[np.isnan(gap) | np.isnan(spread)] = np.nan
    apart = table.component[:, None] != table.component
    chances[apart] = np.nan
    return chances


def win_shares(table: RatingTable) -> Floats:
    """(S, S) share of wins (ties half) that the model expects of the row's system against the column's.

    NaN where two cannot be compared.
    """
    gap = (table.points[:, None] - table.points) / POINTS
    gap[table.component[:, None] != table.component] = np.nan
    if table.tie_parameter is None:
        return sigmoid(gap)
    tie = math.log(table.tie_parameter)
    even = 1 / 2
    if table.settings.method is Method.RAO_KUPPER:
        return np.asarray(even + (sigmoid(gap - tie) - sigmoid(-gap - tie)) / 2)
    win, loss, tied = np.exp(gap / 2), np.exp(-gap / 2), np.exp(tie)
    return np.asarray(even + (win - loss) / (win + loss + tied) / 2)


def _comparable(table: RatingTable, first: str, second: str) -> tuple[int, int]:
    first_code, second_code = table.code(first), table.code(second)
    for name, code in ((first, first_code), (second, second_code)):
        if np.isnan(table.points[code]):
            message = f"{name} has no rating: it never wins or never loses, or meets no rated system."
            raise UnrankableError(message, advice="Judge more of its battles, or rate with a prior.")
    if table.component[first_code] != table.component[second_code]:
        message = f"No chain of battles compares {first} with {second}."
        raise UnrankableError(message, advice="Judge battles between their groups.")
    return first_code, second_code


@dataclass(frozen=True, slots=True, kw_only=True)
class StarBeside:
    """Ratings from all battles and from those against the reference alone.

    Attributes:
        mixed: From all battles.
        star: From the battles against the reference.
        shifts: Star minus mixed, in points, of each system that both rate.
    """

    mixed: RatingTable
    star: RatingTable
    shifts: tuple[tuple[str, float], ...]


def star_battles(battles: BattleTable, reference: str) -> BattleTable:
    """The battles against the reference.

    Raises:
        NotFoundError: No battle names the reference.
    """
    if reference not in battles.systems:
        message = f"No battle is against {reference}."
        raise NotFoundError(message, advice="Name the reference as the battle file does.")
    code = battles.systems.index(reference)
    return battles.select((battles.a == code) | (battles.b == code))


def rate_beside_star(
    battles: BattleTable,
    reference: str,
    settings: Settings | None = None,
    *,
    mixed: RatingTable | None = None,
) -> StarBeside:
    """Rate all battles, and those against the reference alone, by the same settings.

    Args:
        battles: The battles.
        reference: The reference's name.
        settings: How to rate.
        mixed: The ratings of all battles by these settings, where somebody made them already.

    Raises:
        NotFoundError: No battle names the reference.
        UnrankableError: As `rate`.
    """
    chosen = Settings() if settings is None else settings
    mixed = rate_as(battles, chosen) if mixed is None else mixed
    star = rate_as(star_battles(battles, reference), chosen)
    points = dict(zip(mixed.systems, mixed.points.tolist(), strict=True))
    shifts = (
        (name, value - points[name]) for name, value in zip(star.systems, star.points.tolist(), strict=True)
    )
    return StarBeside(mixed=mixed, star=star, shifts=tuple(pair for pair in shifts if np.isfinite(pair[1])))
