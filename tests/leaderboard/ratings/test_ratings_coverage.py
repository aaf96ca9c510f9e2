"""Do 95 % intervals hold the truth 95 times in a hundred? A simulation; its table is in docs/method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings import Cluster, IntervalKind, rate
from leaderboard.ratings.counts import PairCounts
from leaderboard.ratings.models.likelihoods import BradleyTerry
from leaderboard.ratings.models.newton import fit
from leaderboard.ratings.vocabulary import MEAN, POINTS
from tests.narrow import known

SYSTEMS = 8
THETA = np.linspace(-0.9, 0.9, SYSTEMS)
REFERENCE = SYSTEMS - 1
LOW, HIGH = 0.935, 0.965


@dataclass(frozen=True, kw_only=True)
class Design:
    """A simulated round: the star on all questions, every pair on a third of them.

    Attributes:
        questions: How many questions.
        spread: Deviation of the effect that a question has on each answer's quality, in log-odds.
        times: How often each battle is judged.
    """

    questions: int
    spread: float
    times: int

    def battles(self) -> tuple[NDArray[np.int64], ...]:
        low, high = np.triu_indices(SYSTEMS, k=1)
        star = np.flatnonzero(high == REFERENCE)
        complete = self.questions // 3
        pair = [np.tile(star, self.questions - complete), np.tile(np.arange(len(low)), complete)]
        question = [
            np.repeat(np.arange(complete, self.questions), len(star)),
            np.repeat(np.arange(complete), len(low)),
        ]
        pairs = np.concatenate(pair)
        return np.concatenate(question), low[pairs], high[pairs]

    def truth(self) -> NDArray[np.float64]:
        _, a, b = self.battles()
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        low, high = np.triu_indices(SYSTEMS, k=1)
        gap = (THETA[low] - THETA[high])[:, None] + np.sqrt(2) * self.spread * nodes
        share = (1 / (1 + np.exp(-gap))) @ weights / weights.sum()
        count = np.bincount(a * SYSTEMS + b, minlength=SYSTEMS**2)[low * SYSTEMS + high].astype(float)
        outcomes = np.stack([count * share, count * (1 - share), 0 * count])
        pairs = PairCounts(systems=SYSTEMS, low=low, high=high, outcomes=outcomes)
        theta = fit(BradleyTerry(), pairs).theta
        points: NDArray[np.float64] = MEAN + POINTS * (theta - theta.mean())
        return points

    def draw(self, rng: np.random.Generator) -> BattleTable:
        question, a, b = (np.tile(column, self.times) for column in self.battles())
        quality = THETA + self.spread * rng.standard_normal((self.questions, SYSTEMS))
        won = rng.random(len(a)) < 1 / (1 + np.exp(quality[question, b] - quality[question, a]))
        return BattleTable(
            systems=tuple(f"s{code}" for code in range(SYSTEMS)),
            questions=tuple(f"q{code}" for code in range(self.questions)),
            domains=("all",),
            a=a.astype(np.int32),
            b=b.astype(np.int32),
            winner=np.where(won, Winner.A, Winner.B).astype(np.int8),
            question=question.astype(np.int32),
            domain=np.zeros(len(a), dtype=np.int32),
        )


def coverage(
    design: Design,
    rounds: int,
    *,
    interval: IntervalKind = IntervalKind.BOOTSTRAP,
    bootstrap: int = 1000,
    cluster: Cluster = Cluster.QUESTION,
) -> float:
    truth = design.truth()
    held = 0
    for number in range(rounds):
        table = rate(
            design.draw(np.random.default_rng([7, number])),
            seed=number,
            interval=interval,
            bootstrap=bootstrap,
            cluster=cluster,
        )
        held += sum(known(r.lower) <= truth[int(r.system[1:])] <= known(r.upper) for r in table.ratings)
    return held / rounds / SYSTEMS


SPREADS = (0.0, 1.0, 2.0)
DESIGNS = [(spread, times) for spread in SPREADS for times in (1, 2)]
ROUNDS = 300


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "times"), DESIGNS)
def test_question_bootstrap_covers_as_it_says(spread: float, times: int) -> None:
    design = Design(questions=300, spread=spread, times=times)
    assert LOW <= coverage(design, ROUNDS, bootstrap=400) <= HIGH
    assert LOW <= coverage(design, ROUNDS, interval=IntervalKind.SANDWICH) <= HIGH


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "times"), DESIGNS)
def test_clustered_sandwich_covers_with_fifty_questions(spread: float, times: int) -> None:
    design = Design(questions=50, spread=spread, times=times)
    assert LOW <= coverage(design, ROUNDS, interval=IntervalKind.SANDWICH) <= HIGH


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "times"), [(1.0, 1), (2.0, 1)])
def test_battle_bootstrap_covers_too_little(spread: float, times: int) -> None:
    design = Design(questions=300, spread=spread, times=times)
    assert coverage(design, ROUNDS, bootstrap=400, cluster=Cluster.NONE) <= 0.91


def test_the_simulated_truth_is_the_limit_of_its_design() -> None:
    plain = Design(questions=300, spread=0.0, times=1).truth()
    assert plain == pytest.approx(MEAN + POINTS * THETA)
    assert np.ptp(Design(questions=300, spread=2.0, times=1).truth()) < 0.7 * np.ptp(plain)
