"""Standard errors where systems are too many for anything of size systems × systems.

Each draw multiplies every question's (or battle's) score by an independent standard normal number and
solves one sparse system; the spread of the solutions is the sandwich standard error, to about 5 %.

Source: the multiplier (wild) bootstrap of scores; Kline & Santos (2012).
"""

from __future__ import annotations

import numpy as np

from leaderboard.battles import BattleTable
from leaderboard.ratings.counts import Floats, Ints, PairCounts
from leaderboard.ratings.models.likelihoods import PairModel
from leaderboard.ratings.models.newton import Fit, laplacian_solver
from leaderboard.ratings.result import Settings
from leaderboard.ratings.uncertainty.sandwich import row_scores
from leaderboard.ratings.vocabulary import Cluster

DRAWS = 200


def multiplier_errors(
    model: PairModel,
    fit: Fit,
    pairs: PairCounts,
    table: BattleTable,
    settings: Settings,
    anchor: Ints | None,
) -> Floats:
    """(S,) standard errors in log-odds, in the gauge of the anchor or the mean."""
    solve = laplacian_solver(pairs, fit.curvature)
    scores, ties = row_scores(model, fit, pairs, table)
    border = pairs.sum_ends(fit.gap_tie, -fit.gap_tie)
    edge = solve(border) if fit.has_tie else border
    clustered = settings.cluster is Cluster.QUESTION
    units = len(table.questions) if clustered else len(table)
    total = np.zeros(pairs.systems)
    for number in range(DRAWS):
        noise = np.random.default_rng([settings.seed, number]).standard_normal(units)
        weighted = (noise[table.question] if clustered else noise) * scores
        right = np.bincount(table.a, weighted, pairs.systems).astype(np.float64)
        right -= np.bincount(table.b, weighted, pairs.systems)
        moved = solve(right)
        if fit.has_tie and ties is not None:
            noisy = float(((noise[table.question] if clustered else noise) * ties).sum())
            moved -= edge * (noisy - border @ moved) / (fit.tie_tie - border @ edge)
        total += (moved - (moved.mean() if anchor is None else moved[anchor].mean())) ** 2
    factor = units / (units - 1) if clustered else 1.0
    return np.sqrt(total / DRAWS * factor)
