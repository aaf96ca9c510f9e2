"""Agreement on systems: do two judges, or a judge and people, rank them alike, and who moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from data.errors import StatisticsError
from data.intervals import LEVEL
from leaderboard.agreement import coefficients
from leaderboard.agreement.coefficients import Estimate, Resampling, bounds_of, estimate, weight_batches
from leaderboard.battles import BattleTable, Winner
from leaderboard.stats.intervals import DIFFERENCES, cluster_variance, mean_interval, percentile_interval

Floats = NDArray[np.float64]

LEAST_SYSTEMS = 2
"""A ranking of fewer says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingAgreement:
    """How alike two rankings of the same systems are.

    Attributes:
        systems: How many both rank.
        pearson: Correlation of the systems' scores.
        spearman: Correlation of their ranks.
        kendall: Kendall's tau-b: ordered pairs of systems less swapped ones.
    """

    systems: int
    pearson: Estimate
    spearman: Estimate
    kendall: Estimate

    def as_json(self) -> dict[str, object]:
        """Values and intervals by name."""
        estimates = {"pearson": self.pearson, "spearman": self.spearman, "kendall": self.kendall}
        return {
            "systems": self.systems,
            **{name: coefficient.value for name, coefficient in estimates.items()},
            "intervals": {name: bounds_of(coefficient) for name, coefficient in estimates.items()},
        }


def ranking_agreement(
    first: Floats,
    second: Floats,
    *,
    first_draws: Floats | None = None,
    second_draws: Floats | None = None,
    level: float = LEVEL,
) -> RankingAgreement:
    """Compare two rankings by their systems' ratings or scores.

    Args:
        first: (S,) ratings or scores, NaN where there is none; such systems are left out.
        second: (S,) the other ranking's, in the same order of systems.
        first_draws: (B, S) joint bootstrap draws of the first; None for no intervals.
        second_draws: (B, S) draws of the second on the same resampled questions.
        level: Of the percentile intervals.

    Raises:
        StatisticsError: Fewer than two systems have both.
    """
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < LEAST_SYSTEMS:
        message = f"{int(both.sum())} systems are ranked by both; a comparison needs two."
        raise StatisticsError(message, advice="Compare rankings of the same systems.")
    values = _correlations(first[both], second[both])
    draws = np.full((0, 3), np.nan)
    if first_draws is not None and second_draws is not None:
        pairs = zip(first_draws[:, both], second_draws[:, both], strict=True)
        draws = np.array([_correlations(x, y) for x, y in pairs]).reshape(-1, 3)
    bounds = [percentile_interval(column, level) if len(column) else None for column in draws.T]
    pearson, spearman, kendall = (estimate(value, bound) for value, bound in zip(values, bounds, strict=True))
    return RankingAgreement(systems=int(both.sum()), pearson=pearson, spearman=spearman, kendall=kendall)


def compare_rankings(
    judge: BattleTable, people: BattleTable, resampling: Resampling | None = None
) -> RankingAgreement:
    """Compare how two judges rank systems by their mean scores on the questions that both judged.

    The questions are resampled jointly, so that what both owe to the questions does not blur the
    comparison. Against one opponent, or with every pair on every question, mean scores rank as
    Bradley-Terry ratings do.

    Raises:
        StatisticsError: Fewer than two systems, or no questions, are in both tables.
    """
    plan = resampling or Resampling()
    systems = tuple(name for name in judge.systems if name in people.systems)
    questions = tuple(name for name in judge.questions if name in people.questions)
    totals = [_totals(table, systems, questions) for table in (judge, people)]
    values = [_means(np.ones((1, len(questions))), pair)[0] for pair in totals]
    batches = list(weight_batches(len(questions), plan)) if len(questions) > 1 else []
    draws = [np.concatenate([_means(w, pair) for w in batches]) if batches else None for pair in totals]
    return ranking_agreement(
        values[0], values[1], first_draws=draws[0], second_draws=draws[1], level=plan.level
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Overstatement:
    """How much better a system fares with the judge than with people, on the same battles.

    Attributes:
        system: Its name.
        battles: Battles that both judged.
        judge_rate: Its win rate with the judge.
        people_rate: Its win rate with people.
        win_rate: The difference, judge less people, clustered by question.
        score: The same of mean scores, where a tie is half a win: a judge that merely ties less
            often does not overstate these.
    """

    system: str
    battles: int
    judge_rate: float
    people_rate: float
    win_rate: Estimate
    score: Estimate


def overstatement(judge: BattleTable, people: BattleTable, level: float = LEVEL) -> tuple[Overstatement, ...]:
    """Hold each system's win rate with the judge against that with people.

    Battles are the same where question and both systems are, whichever is named first; several
    verdicts of one battle are averaged on each side.

    Returns:
        One a system with common battles, most overstated first.

    Source: Zheng et al. (2023), section 4.2, on judges that favour their own answers.
    """
    ours, theirs = _verdicts(judge), _verdicts(people)
    rows: dict[str, list[tuple[str, Floats, Floats]]] = {}
    for battle in sorted(ours.keys() & theirs.keys()):
        question, first, second = battle
        mine, other = (np.mean(verdicts[battle], axis=0) for verdicts in (ours, theirs))
        rows.setdefault(first, []).append((question, mine[[0, 1]], other[[0, 1]]))
        rows.setdefault(second, []).append((question, mine[[2, 3]], other[[2, 3]]))
    overstatements = [_overstated(system, part, level) for system, part in rows.items()]
    return tuple(sorted(overstatements, key=lambda entry: (-(entry.win_rate.value or 0.0), entry.system)))


def _overstated(system: str, rows: list[tuple[str, Floats, Floats]], level: float) -> Overstatement:
    mine, other = (np.array([row[side] for row in rows]) for side in (1, 2))
    _, codes = np.unique([row[0] for row in rows], return_inverse=True)
    estimates = []
    for column in range(2):
        gap = mine[:, column] - other[:, column]
        mean = float(gap.mean())
        variance = cluster_variance(np.bincount(codes, gap - mean).astype(np.float64), len(gap))
        error = None if variance is None else float(np.sqrt(variance))
        estimates.append(
            Estimate(mean, mean_interval(mean, error, int(codes.max()) + 1, level, within=DIFFERENCES))
        )
    return Overstatement(
        system=system,
        battles=len(rows),
        judge_rate=float(mine[:, 0].mean()),
        people_rate=float(other[:, 0].mean()),
        win_rate=estimates[0],
        score=estimates[1],
    )


def _verdicts(table: BattleTable) -> dict[tuple[str, str, str], list[tuple[float, ...]]]:
    """Win and share of the lower-named system, then of the higher-named one, by battle."""
    verdicts: dict[tuple[str, str, str], list[tuple[float, ...]]] = {}
    share = table.share
    for row in range(len(table)):
        a, b = table.systems[table.a[row]], table.systems[table.b[row]]
        won, lost = float(table.winner[row] == Winner.A), float(table.winner[row] == Winner.B)
        sides = [(a, won, float(share[row])), (b, lost, 1 - float(share[row]))]
        (first, *of_first), (second, *of_second) = sorted(sides)
        key = (table.questions[table.question[row]], first, second)
        verdicts.setdefault(key, []).append((*of_first, *of_second))
    return verdicts


def _correlations(x: Floats, y: Floats) -> tuple[float, float, float]:
    ones = np.ones(len(x))
    pearson = float(coefficients.pearson(coefficients.moments(x, y).sum(axis=0)))
    return pearson, float(coefficients.spearman(x, y, ones)), coefficients.kendall(x, y)


def _totals(
    table: BattleTable, systems: tuple[str, ...], questions: tuple[str, ...]
) -> tuple[coo_array, coo_array]:
    """(questions, systems) sums of shares and of weights over the battles of known systems."""
    rows = {name: code for code, name in enumerate(questions)}
    columns = {name: code for code, name in enumerate(systems)}
    row = np.array([rows.get(name, -1) for name in table.questions])[table.question]
    a, b = (np.array([columns.get(name, -1) for name in table.systems])[side] for side in (table.a, table.b))
    in_both = (row >= 0) & (a >= 0) & (b >= 0)
    weight = (np.ones(len(table)) if table.weight is None else table.weight)[in_both]
    share = table.share[in_both]
    place = (np.concatenate([row[in_both]] * 2), np.concatenate([a[in_both], b[in_both]]))
    shape = (len(questions), len(systems))
    sums = coo_array((np.concatenate([weight * share, weight * (1 - share)]), place), shape=shape)
    return sums, coo_array((np.concatenate([weight] * 2), place), shape=shape)


def _means(weights: Floats, totals: tuple[coo_array, coo_array]) -> Floats:
    """(batch, systems) mean scores under weights of questions, NaN for a system without battles."""
    shares, battles = (np.asarray((total.T @ weights.T).T) for total in totals)
    return coefficients.ratio(shares, battles)
