"""Bounds of means that hold at every look: confidence sequences by betting, and a test that may stop.

Somebody bets, question after question, against the claim that the mean is at most m. Were the claim true,
the wealth could not be expected to grow, so it ever exceeds 1/e with a probability of at most e, however
often one looks (Ville's inequality). The lower bound is the least m against which the wealth never got that
far. Stakes are predictable plug-in ones, cut at c/m, which makes wealth fall as m rises, so that the bound is
found by halving.

Units are questions, in an order that is random and has nothing to do with their verdicts. The mean is that of
the questions these are a sample of, as with every other interval of a board.

Sources: Waudby-Smith & Ramdas (2024), "Estimating means of bounded random variables by betting", section 4,
equations 23 to 26 (hedged capital, its two sides taken apart here); Ville (1939).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ERROR = 0.05
"""The chance that anything said at any look is wrong."""
CUT = 0.5
"""At most this share of the wealth may be lost on one question (c, in the paper)."""
HALVINGS = 20
FIRST_MEAN, FIRST_VARIANCE = 0.5, 0.25
"""What is taken for mean and variance before the first question; any values keep the guarantee."""


def mean_bounds(
    values: Floats, *, error: float, low: float = -1.0, high: float = 1.0
) -> tuple[Floats, Floats]:
    """Bounds of the means of some columns after all of their rows, each valid at every look.

    Args:
        values: (T, S) values between `low` and `high` in the order in which they came; NaN is no value.
        error: The chance that one bound is ever wrong; half of it a side makes an interval.
        low: Least possible value.
        high: Greatest possible value.

    Returns:
        (S,) lower and (S,) upper bounds; `low` and `high` where nothing is known yet.
    """
    units = (values - low) / (high - low)
    stakes = _stakes(units, math.log(1 / error))
    lower = _least(units, stakes, math.log(1 / error))
    upper = 1 - _least(1 - units, stakes, math.log(1 / error))
    return low + (high - low) * lower, low + (high - low) * upper


def _stakes(units: Floats, goal: float) -> Floats:
    """(T, S) stakes before each value, from those before it (equation 26)."""
    known = np.isfinite(units)
    count = np.cumsum(known, axis=0)
    filled = np.where(known, units, 0.0)
    mean = (FIRST_MEAN + np.cumsum(filled, axis=0)) / (1 + count)
    square = np.where(known, (filled - mean) ** 2, 0.0)
    variance = (FIRST_VARIANCE + np.cumsum(square, axis=0)) / (1 + count)
    before = np.concatenate([np.full((1, units.shape[1]), FIRST_VARIANCE), variance[:-1]])[: len(units)]
    place = np.maximum(count, 1)
    return np.asarray(np.sqrt(2 * goal / (before * place * np.log1p(place))))


def _least(units: Floats, stakes: Floats, goal: float) -> Floats:
    """(S,) the least m in 0–1 that the bets have not ruled out, to 2⁻²⁰ and never above."""
    low, high = np.zeros(units.shape[1]), np.ones(units.shape[1])
    if not len(units):
        return low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        factor = np.minimum(stakes, CUT / middle) * (units - middle)
        wealth = np.cumsum(np.log1p(np.where(np.isnan(factor), 0.0, factor)), axis=0)
        ruled_out = wealth.max(axis=0) >= goal
        low, high = np.where(ruled_out, middle, low), np.where(ruled_out, high, middle)
    return low


@dataclass(slots=True)
class SeparationTest:
    """Bets that one system is better than another, for every two, which may be looked at after any question.

    It says the same as `mean_bounds` of the differences of scores, whether 0 is ruled out, but forgets the
    questions. A leader is called separated from all others once it has won its bet against each at S/0.05:
    whoever is truly best, that is wrong only where one of at most S bets against the truth was won (of S
    systems; a tie at the top included), so the chance that it is ever wrong is at most 5 %. For two systems
    named beforehand the bets are at 2/0.05.

    Attributes:
        goal: Logarithm of the wealth that settles a bet.
        count: (S, S) questions with a score of both.
        mean: (S, S) sums of the differences, scaled to 0–1.
        square: (S, S) sums of squares around the running means.
        wealth: (S, S) logarithm of the wealth of the bet that the row is better than the column.
        best: (S, S) the greatest it ever was.
    """

    goal: float
    count: Ints
    mean: Floats
    square: Floats
    wealth: Floats
    best: Floats

    @classmethod
    def of(cls, systems: int, *, error: float) -> SeparationTest:
        """A test before the first question.

        Args:
            systems: S.
            error: The chance that a single bet is ever won against the truth.
        """
        shape = (systems, systems)
        return cls(
            goal=math.log(1 / error),
            count=np.zeros(shape, dtype=np.int64),
            mean=np.zeros(shape),
            square=np.zeros(shape),
            wealth=np.zeros(shape),
            best=np.zeros(shape),
        )

    def add(self, scores: Floats) -> None:
        """Take the scores of one question.

        Args:
            scores: (S,) from 0 to 1; NaN where a system has none.
        """
        units = (scores[:, None] - scores[None, :] + 1) / 2
        known = np.isfinite(units)
        units = np.where(known, units, 0.5)
        variance = (FIRST_VARIANCE + self.square) / (1 + self.count)
        self.count += known
        place = np.maximum(self.count, 1)
        stake = np.minimum(np.sqrt(2 * self.goal / (variance * place * np.log1p(place))), CUT / 0.5)
        self.wealth += np.where(known, np.log1p(stake * (units - 0.5)), 0.0)
        self.mean += np.where(known, units, 0.0)
        running = (FIRST_MEAN + self.mean) / (1 + self.count)
        self.square += np.where(known, (units - running) ** 2, 0.0)
        np.maximum(self.best, self.wealth, out=self.best)

    @property
    def won(self) -> NDArray[np.bool_]:
        """(S, S) whether the row was ever shown to be better than the column."""
        return np.asarray(self.best >= self.goal)

    def leader(self) -> int | None:
        """The system that was shown to be better than every other one; None as long as there is none."""
        others = ~np.eye(len(self.best), dtype=bool)
        ahead = np.flatnonzero((self.won | ~others).all(axis=1))
        return int(ahead[0]) if len(ahead) else None


def question_scores(
    question: Ints,
    sides: tuple[Ints, Ints],
    share: Floats,
    blocked: NDArray[np.bool_],
    shape: tuple[int, int],
) -> Floats:
    """(Q, S) mean share of the win of each system on each question.

    Args:
        question: (N,) codes of the battles' questions.
        sides: Two (N,) codes of the systems; −1 for one that is not compared, such as the reference.
        share: (N,) share of the win of the first side; not used where blocked.
        blocked: (N,) battles that ended without a verdict: on that question neither side has a score, so that
            no system is compared by easier opponents than another.
        shape: Questions and systems.

    Returns:
        The means; NaN where a system has no battle on a question, or one without a verdict.
    """
    size = shape[0] * shape[1]
    total, count = np.zeros(size), np.zeros(size)
    won = np.where(blocked, np.nan, share)
    for side, part in ((sides[0], won), (sides[1], 1 - won)):
        known = side >= 0
        place = question[known] * shape[1] + side[known]
        total += np.bincount(place, part[known], size)
        count += np.bincount(place, minlength=size)
    means = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return np.asarray(means.reshape(shape))
