"""Compare how several judges rank the same systems."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from data.errors import StatisticsError
from data.text import counted
from leaderboard.agreement.coefficients import Estimate, Floats, bounds_of, estimate, kendall
from leaderboard.battles import BattleTable
from leaderboard.ratings import Flag, RatingTable, rate
from leaderboard.ratings.vocabulary import MAX_POINTS
from leaderboard.stats import percentile_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingComparison:
    """Mean of Kendall's tau-b over all pairs of rankings, and each system's ranks."""

    tau: Estimate
    systems: tuple[tuple[str, tuple[int | None, ...]], ...]

    def as_json(self) -> dict[str, object]:
        """Return tau with its 95 % interval, and the systems in the order of the first ranking."""
        lower, upper = bounds_of(self.tau) or (None, None)
        rows = [{"system": system, "ranks": list(ranks)} for system, ranks in self.systems]
        return {"tau": self.tau.value, "lower": lower, "upper": upper, "systems": rows}


def compare_rankings(tables: Sequence[BattleTable], *, seed: int = 0) -> RankingComparison:
    """Compare the ratings of common systems; equal questions are resampled jointly."""
    shared = sorted(set.intersection(*(set(table.systems) for table in tables)))
    if len(shared) < 2:  # noqa: PLR2004 - one system has no rank
        message = f"The rankings share {counted(len(shared), 'system')}; a comparison needs at least two."
        raise StatisticsError(message, advice="Compare verdicts on the same systems.")
    rated = [rate(table, seed=seed) for table in tables]
    points = [_of_systems(table, table.points, shared) for table in rated]
    draws = [_of_systems(table, table.draws, shared) for table in rated if table.draws is not None]
    taus = np.array([_mean_tau(draw) for draw in zip(*draws, strict=True)])
    bounds = percentile_interval(taus) if len(draws) == len(rated) else None
    ranks = [
        [1 + int((values > value).sum()) if np.isfinite(value) else None for value in values]
        for values in points
    ]
    rows = zip(shared, zip(*ranks, strict=True), strict=True)
    ordered = sorted(rows, key=lambda row: [rank or len(shared) + 1 for rank in row[1]])
    return RankingComparison(tau=estimate(_mean_tau(points), bounds), systems=tuple(ordered))


def _of_systems(table: RatingTable, values: Floats, systems: Sequence[str]) -> Floats:
    """Return ratings of systems, extreme for those that never lose or never win."""
    ends = {Flag.NEVER_LOSES: MAX_POINTS, Flag.NEVER_WINS: -MAX_POINTS}
    fill = [next((ends[flag] for flag in table.of(name).flags if flag in ends), np.nan) for name in systems]
    known = values[..., [table.systems.index(name) for name in systems]]
    return np.where(np.isfinite(known), known, fill)


def _mean_tau(rankings: Sequence[Floats]) -> float:
    taus = []
    for first, second in combinations(rankings, 2):
        both = np.isfinite(first) & np.isfinite(second)
        taus.append(kendall(first[both], second[both]))
    return float(np.mean(taus))
