"""Intervals and rank sets of corrected ratings hold what they should, however biased the judge."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import expit

from leaderboard.battles import BattleTable
from leaderboard.people import CorrectedTable, Votes, correct
from leaderboard.people.pairing import Pairing, climb
from leaderboard.ratings import IntervalKind
from leaderboard.ratings.vocabulary import POINTS

STRENGTH = np.array([0.6, 0.2, -0.2, -0.6])
FAVOURED = np.array([-1.5, 0.0, 0.5, 1.0])
PAIRS = np.array(list(combinations(range(4), 2)))
QUESTIONS, SHARE, PEOPLE, SUITS = 84, 0.1, 3, 0.7


def truth() -> dict[str, float]:
    """Bradley-Terry ratings of mean vote shares over very many questions."""
    suits = np.random.default_rng(1).normal(0, SUITS, (400_000, 4))
    gap = (STRENGTH + suits)[:, PAIRS]
    share = expit(gap[..., 0] - gap[..., 1]).mean(axis=0)
    theta = climb(Pairing(low=PAIRS[:, 0], high=PAIRS[:, 1], systems=4), share, np.ones(len(PAIRS)))
    assert theta is not None
    return {f"s{code}": 1000 + POINTS * float(value) for code, value in enumerate(theta - theta.mean())}


def simulated(seed: int, draw: str, kind: IntervalKind) -> CorrectedTable:
    """A strongly biased judge on 504 battles, and three votes on about 50 of them."""
    random = np.random.default_rng(seed)
    gap = (STRENGTH + random.normal(0, SUITS, (QUESTIONS, 4)))[:, PAIRS]
    people = random.binomial(PEOPLE, expit(gap[..., 0] - gap[..., 1])) / PEOPLE
    biased = gap + FAVOURED[PAIRS]
    verdict = random.binomial(2, expit(2 * (biased[..., 0] - biased[..., 1]))) / 2
    doubt = np.where(verdict == 0.5, 2.0, 0.6) if draw == "doubt" else np.ones(verdict.shape)
    chance = np.minimum(SHARE * doubt / doubt.mean(), 1.0)
    question, pair = np.indices(verdict.shape).reshape(2, -1)
    drawn = np.flatnonzero((random.random(verdict.shape) < chance).reshape(-1))
    first, second = ([f"s{code}" for code in PAIRS[pair, end]] for end in (0, 1))
    questions = [f"q{code}" for code in question]
    plan = BattleTable.from_columns(
        questions, ["all"] * len(pair), first, second, ["tie"] * len(pair), verdict.reshape(-1)
    )
    votes = Votes.from_columns(
        [questions[row] for row in drawn],
        [first[row] for row in drawn],
        [second[row] for row in drawn],
        score=people.reshape(-1)[drawn].tolist(),
        sampling_prob=chance.reshape(-1)[drawn].tolist() if draw == "doubt" else None,
    )
    return correct(plan, votes, interval=kind, bootstrap=300)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(IntervalKind))
@pytest.mark.parametrize("draw", ["uniform", "doubt"])
def test_intervals_and_rank_sets_cover_people_s_ratings(draw: str, kind: IntervalKind) -> None:
    """With 50 labelled battles 95 % intervals hold people's ratings in 92.5–97.5 %, the judge's in few."""
    wanted = truth()
    order = sorted(wanted, key=lambda name: -wanted[name])
    held, judged, ranked, errors = [], [], [], []
    for seed in range(300):
        rows = simulated(seed, draw, kind).ratings
        ranked.append(all(row.rank_lower <= order.index(row.system) + 1 <= row.rank_upper for row in rows))
        for row in sorted(rows, key=lambda row: row.system):
            value, lower, upper = row.corrected.value, row.corrected.lower, row.corrected.upper
            assert value is not None
            assert lower is not None
            assert upper is not None
            held.append(lower <= wanted[row.system] <= upper)
            errors.append((value - wanted[row.system]) / (upper - lower))
            judged.append((row.judge.lower or -np.inf) <= wanted[row.system] <= (row.judge.upper or np.inf))
    assert 0.925 < np.mean(held) < 0.975
    assert np.mean(ranked) > 0.93
    assert np.mean(judged) < 0.3
    assert abs(np.mean(np.reshape(errors, (-1, 4)), axis=0)).max() < 0.1
