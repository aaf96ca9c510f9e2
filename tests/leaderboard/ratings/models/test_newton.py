"""The engine against a slow implementation, written battle by battle from the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings import Cluster, IntervalKind, Method, rate
from leaderboard.ratings.counts import count_by_cluster, count_pairs
from leaderboard.ratings.models.likelihoods import model_of
from leaderboard.ratings.models.newton import fit
from leaderboard.ratings.uncertainty.resample import Units, draw
from leaderboard.ratings.vocabulary import POINTS
from tests.battle_tables import coded
from tests.narrow import known

Floats = NDArray[np.float64]
LIKELIHOODS = (Method.BRADLEY_TERRY, Method.DAVIDSON, Method.RAO_KUPPER)


def make_table(
    seed: int, *, systems: int = 5, questions: int = 40, soft: bool = False, weighted: bool = False
) -> BattleTable:
    rng = np.random.default_rng(seed)
    rows = 7 * questions
    a = rng.integers(0, systems, rows)
    b = (a + rng.integers(1, systems, rows)) % systems
    chance = 1 / (1 + np.exp(2 * (b - a) / (systems - 1)))
    luck = rng.random(len(a))
    winner = np.where(luck < 0.2, Winner.TIE, np.where(luck < 0.2 + 0.8 * chance, Winner.A, Winner.B))
    return coded(
        tuple(f"s{k}" for k in range(systems)),
        questions,
        a,
        b,
        winner,
        rng.integers(0, questions, rows),
        score=np.clip(chance + rng.normal(0, 0.2, len(a)), 0, 1) if soft else None,
        weight=rng.random(len(a)) + 0.5 if weighted else None,
    )


def log_chances(method: Method, gap: float, tie: float) -> tuple[float, float, float]:
    if method is Method.BRADLEY_TERRY:
        win, loss = -math.log1p(math.exp(-gap)), -math.log1p(math.exp(gap))
        return win, loss, (win + loss) / 2
    low, high = math.exp(gap / 2), math.exp(-gap / 2)
    if method is Method.DAVIDSON:
        total = low + high + tie * math.sqrt(low * high)
        return math.log(low / total), math.log(high / total), math.log(tie / total)
    win, loss = low / (low + tie * high), high / (high + tie * low)
    return math.log(win), math.log(loss), math.log(1 - win - loss)


def slow_loss(method: Method, table: BattleTable, point: Floats) -> float:
    size = len(table.systems)
    theta, tie = point[:size], math.exp(point[-1]) if method is not Method.BRADLEY_TERRY else 1.0
    if method is Method.RAO_KUPPER:
        tie += 1
    total = 0.0
    shares = table.share
    for row in range(len(table)):
        win, loss, even = log_chances(method, float(theta[table.a[row]] - theta[table.b[row]]), tie)
        share = float(shares[row])
        tied = 1 - abs(2 * share - 1)
        value = max(2 * share - 1, 0) * win + max(1 - 2 * share, 0) * loss + tied * even
        weight = 1.0 if table.weight is None else float(table.weight[row])
        total -= weight * value
    return total


def slow_ratings(method: Method, table: BattleTable) -> Floats:
    size = len(table.systems)
    free = size + (method is not Method.BRADLEY_TERRY)

    def loss(point: Floats) -> float:
        return slow_loss(method, table, point) + 0.5 * float(point[:size].sum()) ** 2

    point = minimize(loss, np.zeros(free), jac="3-point", method="BFGS", options={"gtol": 1e-7}).x
    points: Floats = 1000 + POINTS * (point[:size] - point[:size].mean())
    return points


def slow_sandwich(table: BattleTable, theta: Floats, cluster: Cluster) -> Floats:
    size = len(table.systems)
    information = np.zeros((size, size))
    scores: dict[int, Floats] = {}
    for row in range(len(table)):
        a, b = table.a[row], table.b[row]
        ends = np.zeros(size)
        ends[a], ends[b] = 1, -1
        chance = 1 / (1 + math.exp(theta[b] - theta[a]))
        information += chance * (1 - chance) * np.outer(ends, ends)
        key = int(table.question[row]) if cluster is Cluster.QUESTION else row
        scores[key] = scores.get(key, np.zeros(size)) + (table.share[row] - chance) * ends
    bread = np.linalg.pinv(information)
    meat = sum(np.outer(score, score) for score in scores.values())
    factor = len(scores) / (len(scores) - 1) if cluster is Cluster.QUESTION else 1.0
    errors: Floats = POINTS * np.sqrt(factor * np.diag(bread @ meat @ bread))
    return errors


@pytest.mark.parametrize("method", LIKELIHOODS)
@pytest.mark.parametrize("soft", [False, True])
def test_every_model_maximises_its_own_likelihood(method: Method, soft: bool) -> None:
    table = make_table(5, systems=4, questions=12, soft=soft, weighted=soft)
    fast = rate(table, method=method, interval=IntervalKind.SANDWICH)
    assert np.abs(fast.points - slow_ratings(method, table)).max() < 0.01
    assert known(fast.gradient_norm) < 1e-10


@pytest.mark.parametrize("cluster", [Cluster.QUESTION, Cluster.NONE])
def test_sandwich_agrees_with_explicit_scores(cluster: Cluster) -> None:
    table = make_table(11)
    fast = rate(table, interval=IntervalKind.SANDWICH, cluster=cluster)
    slow = slow_sandwich(table, fast.points / POINTS, cluster)
    assert [fast.of(name).se for name in table.systems] == pytest.approx(slow.tolist(), rel=1e-9)


@pytest.mark.parametrize("method", LIKELIHOODS)
def test_joint_draws_equal_separate_fits(method: Method) -> None:
    table = make_table(23, questions=25)
    pairs = count_pairs(table)
    by_cluster = count_by_cluster(table, pairs, table.question, len(table.questions))
    units = Units(by_cluster=by_cluster.tocsc(), pairs=pairs)
    model = model_of(method)
    together = draw(model, fit(model, pairs), units, draws=12, seed=1)
    outcomes = units.outcomes(np.random.default_rng([1, 0]), units.chunk(12))
    for number in range(12):
        part = type(pairs)(
            systems=pairs.systems, low=pairs.low, high=pairs.high, outcomes=outcomes[..., number].copy()
        )
        separate = fit(model, part).theta
        assert np.abs(together[number] - together[number].mean() - separate).max() < 1e-8
