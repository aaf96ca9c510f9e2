"""What people would say: votes corrected by the judge's verdicts on every battle.

With y a battle's vote share, w one over its probability of a human label (0 where it has none), x the
judge's share, and r = x − σ(θ_J) what the judge says beyond its own Bradley-Terry ratings θ_J, θ solves

    Σ w (y − σ(θ)) e  =  λ Σ (w − 1) r e,      e = e_low − e_high

The left side is that of votes alone. The right side has mean 0 whatever the judge is worth: it is how far
the judge's word on the labelled battles is off its word on all of them, and takes the luck of the draw
out where judge and people agree. λ is chosen so that the result varies least (0: votes alone). A bias of
the judge for or against a system is in θ_J, and so in no r.

Sources: Robins, Rotnitzky & Zhao (1994); Chen & Chen (2000) for the same with two regressions;
Angelopoulos et al. (2024), "PPI++", for λ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from data.parallel import parallel_map
from leaderboard.people import clusters
from leaderboard.people.clusters import JudgeWeight
from leaderboard.people.labelled import Floats, Ints, Labelled
from leaderboard.people.pairing import Pairing, climb, climb_draws
from leaderboard.ratings.threads import one_thread

RIDGE = 0.05
"""Precision of the prior on θ_J, by which it exists even for a judge that lets a system win always."""
CHUNK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Frame:
    """The battles among the systems to be rated, by pair and question.

    Attributes:
        pairing: The pairs that meet.
        pair: (N,) pair of each battle.
        question: (N,) question of each.
        questions: Q.
        judge: (N,) the judge's share for the pair's first system.
        rows: (L,) labelled battles.
        people: (L,) people's share.
        weight: (L,) inverse chances.
    """

    pairing: Pairing
    pair: Ints
    question: Ints
    questions: int
    judge: Floats
    rows: Ints
    people: Floats
    weight: Floats

    def by_pair(self, values: Floats, rows: Ints | None = None) -> Floats:
        """(P,) sums of battles' values."""
        pair = self.pair if rows is None else self.pair[rows]
        return np.bincount(pair, values, len(self.pairing.low)).astype(np.float64)

    def by_question(self, values: Floats, rows: Ints | None = None) -> Floats:
        """(Q, S) sums of battles' values towards their first system and away from the second."""
        pair = self.pair if rows is None else self.pair[rows]
        question = self.question if rows is None else self.question[rows]
        size = self.pairing.systems
        cells = self.questions * size
        to_low = np.bincount(question * size + self.pairing.low[pair], values, cells)
        to_high = np.bincount(question * size + self.pairing.high[pair], values, cells)
        return np.asarray(to_low - to_high, dtype=np.float64).reshape(self.questions, size)

    def at_battles(self, theta: Floats, rows: Ints | None = None) -> Floats:
        """The share of the win that ratings expect in each battle."""
        expected = expit(theta[self.pairing.low] - theta[self.pairing.high])
        return np.asarray(expected[self.pair if rows is None else self.pair[rows]])


def frame_of(labelled: Labelled, members: Ints) -> Frame:
    """The battles among some systems, given by rising code."""
    size = len(labelled.systems)
    place = np.full(size, -1, dtype=np.int64)
    place[members] = np.arange(len(members))
    low, high = place[labelled.low], place[labelled.high]
    kept = (low >= 0) & (high >= 0)
    number = np.cumsum(kept) - 1
    pairs, pair = np.unique(low[kept] * size + high[kept], return_inverse=True)
    among = kept[labelled.rows]
    return Frame(
        pairing=Pairing(low=pairs // size, high=pairs % size, systems=len(members)),
        pair=pair,
        question=labelled.question[kept],
        questions=len(labelled.questions),
        judge=labelled.judge[kept, 0],
        rows=number[labelled.rows[among]],
        people=labelled.people[among, 0],
        weight=labelled.weight[among],
    )


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Fitted:
    """Corrected ratings, in log-odds with mean 0.

    Attributes:
        theta: (S,) the corrected ratings; those of votes alone where `weight` is 0.
        weight: The judge's.
        influence: (Q, S) each question's part in the error.
        degrees: (S,) degrees of freedom of the variances.
        stretch: How many times a resample's errors are too small, since each question pulls the fit
            towards itself in resamples as well.
        of_judge: (S,) θ_J.
    """

    theta: Floats
    weight: JudgeWeight
    influence: Floats
    degrees: Floats
    stretch: float
    of_judge: Floats


def fit(frame: Frame, alone: Floats) -> tuple[Fitted, Fitted]:
    """The corrected ratings, and those of votes alone.

    Args:
        frame: The battles; the ratings of votes alone must exist.
        alone: (S,) those ratings, in log-odds.
    """
    pairing = frame.pairing
    counts = frame.by_pair(np.ones(len(frame.pair)))
    of_judge = climb(pairing, frame.by_pair(frame.judge), counts, precision=RIDGE)
    assert of_judge is not None  # noqa: S101 - a penalised likelihood always has its maximum
    beyond = frame.judge - frame.at_battles(of_judge)
    extra = np.full(len(frame.pair), -1.0)
    extra[frame.rows] += frame.weight
    weight = _weight(frame, alone, of_judge, beyond, extra)
    totals = frame.by_pair(frame.weight, frame.rows)
    wins = frame.by_pair(frame.weight * frame.people, frame.rows)
    moved = wins - weight.whole * frame.by_pair(extra * beyond)
    theta = climb(pairing, moved, totals, start=alone)
    nothing = JudgeWeight(0.0, np.zeros(frame.questions))
    if theta is None:
        theta, weight = alone, nothing
    return (
        _fitted(frame, theta, of_judge, beyond, extra, weight),
        _fitted(frame, alone, of_judge, beyond, extra, nothing),
    )


def _weight(frame: Frame, alone: Floats, of_judge: Floats, beyond: Floats, extra: Floats) -> JudgeWeight:
    inverse = _inverse(frame, alone)
    gap = frame.people - frame.at_battles(alone, frame.rows)
    votes = frame.by_question(frame.weight * gap, frame.rows) @ inverse
    return clusters.judge_weight(votes, _judge_part(frame, of_judge, beyond, extra) @ inverse)


def _inverse(frame: Frame, theta: Floats) -> Floats:
    share = frame.at_battles(theta, frame.rows)
    return frame.pairing.inverse(frame.by_pair(frame.weight * share * (1 - share), frame.rows))


def _judge_part(frame: Frame, of_judge: Floats, beyond: Floats, extra: Floats) -> Floats:
    """(Q, S) each question's part in Σ (w − 1) r e, with that of having estimated θ_J."""
    share = frame.at_battles(of_judge)
    curvature = share * (1 - share)
    inverse = frame.pairing.inverse(frame.by_pair(curvature), RIDGE)
    turned = frame.pairing.laplacian(frame.by_pair(extra * curvature)) @ inverse
    return frame.by_question(extra * beyond) - frame.by_question(beyond) @ turned.T


def _fitted(
    frame: Frame, theta: Floats, of_judge: Floats, beyond: Floats, extra: Floats, weight: JudgeWeight
) -> Fitted:
    inverse = _inverse(frame, theta)
    rows = frame.rows
    share = frame.at_battles(theta, rows)
    of_battle = weight.without[frame.question[rows]]
    residual = frame.people - share - of_battle * beyond[rows]
    moved = _levered(frame, inverse, share, residual) - residual
    votes = frame.by_question(frame.weight * (frame.people - share), rows) @ inverse
    judge = _judge_part(frame, of_judge, beyond, extra) @ inverse if weight.whole else np.zeros_like(votes)
    # Dirichlet weights of n questions vary by n/(n + 1) too little.
    plain = (votes - weight.whole * judge) * np.sqrt(1 - 1 / (len(np.unique(frame.question[rows])) + 1))
    influence = votes - weight.without[:, None] * judge
    influence += frame.by_question(frame.weight * moved, rows) @ inverse
    spread = float(np.average(residual**2, weights=frame.weight))
    rest = weight.whole**2 * float((beyond**2).mean())
    return Fitted(
        theta=theta - theta.mean(),
        weight=weight,
        influence=influence,
        degrees=_degrees(frame, inverse, spread, rest),
        stretch=max(float(np.sqrt((influence**2).sum() / (plain**2).sum())), 1.0) if plain.any() else 1.0,
        of_judge=of_judge,
    )


def _levered(frame: Frame, inverse: Floats, share: Floats, residual: Floats) -> Floats:
    """(L,) residuals with each question's own pull on the fit divided out."""
    pairing, pair = frame.pairing, frame.pair[frame.rows]
    values, vectors = np.linalg.eigh((inverse + inverse.T) / 2)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scale = np.sqrt(frame.weight * share * (1 - share))
    design = scale[:, None] * (root[pairing.low[pair]] - root[pairing.high[pair]])
    standard = residual * np.sqrt(frame.weight) / np.sqrt(np.maximum(share * (1 - share), 1e-12))
    question = frame.question[frame.rows]
    order = np.argsort(question, kind="stable")
    edges = np.flatnonzero(np.diff(question[order])) + 1
    found = np.empty(len(order))
    for part in np.split(order, edges):
        found[part] = clusters.unlevered(design[part], standard[part])
    return np.asarray(found * np.sqrt(np.maximum(share * (1 - share), 1e-12) / frame.weight))


def _degrees(frame: Frame, inverse: Floats, spread: float, rest: float) -> Floats:
    pairing, pair = frame.pairing, frame.pair[frame.rows]
    towards = inverse[pairing.low[pair]] - inverse[pairing.high[pair]]
    parts = frame.weight[:, None] ** 2 * towards**2 * spread
    _, code = np.unique(frame.question[frame.rows], return_inverse=True)
    sums = np.column_stack([np.bincount(code, column) for column in parts.T]).astype(np.float64)
    unlabelled = frame.by_pair(np.ones(len(frame.pair))) - frame.by_pair(np.ones(len(pair)), frame.rows)
    others = np.diag(inverse @ pairing.laplacian(unlabelled) @ inverse)
    return clusters.freedom(sums, rest * np.maximum(others, 0.0))


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Sums:
    """(P, Q) sums of each pair's battles on each question, over labelled battles and over all."""

    weights: csr_array
    people: csr_array
    judge: csr_array
    battles: csr_array
    all_judge: csr_array

    @classmethod
    def of(cls, frame: Frame) -> _Sums:
        """The sums of a frame."""
        shape = (len(frame.pairing.low), frame.questions)
        every = (frame.pair, frame.question)
        some = (frame.pair[frame.rows], frame.question[frame.rows])
        return cls(
            weights=csr_array((frame.weight, some), shape=shape),
            people=csr_array((frame.weight * frame.people, some), shape=shape),
            judge=csr_array((frame.weight * frame.judge[frame.rows], some), shape=shape),
            battles=csr_array((np.ones(len(frame.pair)), every), shape=shape),
            all_judge=csr_array((frame.judge, every), shape=shape),
        )


def resample(frame: Frame, fitted: tuple[Fitted, Fitted], draws: int, seed: int) -> tuple[Floats, Floats]:
    """(B, S) joint bootstrap draws of corrected ratings and of votes alone, by questions.

    Each question gets an independent standard exponential weight (the Bayesian bootstrap), which judge
    and votes share; λ stays. Draws are stretched about the estimate to the spread that CR2 finds. A row of
    NaN is a resample without an estimate.
    """
    sums = _Sums.of(frame)
    chunk = max(CHUNK_CELLS // max(len(frame.pairing.low), frame.questions), 1)
    parts = [(seed, number, chunk, draws - first) for number, first in enumerate(range(0, draws, chunk))]
    drawn = list(parallel_map(_resampled_chunk, parts, (frame, fitted, sums), total=len(parts)))
    both, votes = [part[0] for part in drawn], [part[1] for part in drawn]
    return _stretched(fitted[0], both), _stretched(fitted[1], votes)


def _resampled_chunk(
    frame: Frame, fitted: tuple[Fitted, Fitted], sums: _Sums, seed: int, number: int, chunk: int, most: int
) -> tuple[Floats, Floats]:
    """One chunk of draws, of its own random stream; on one thread, wherever it is called."""
    rng = np.random.default_rng([seed, number])
    omega = rng.standard_exponential((frame.questions, chunk))[:, :most]
    with one_thread():
        both, votes = _resampled(frame, fitted, sums, omega)
    # In one layout, also after their journey, since sums follow it.
    return np.ascontiguousarray(both), np.ascontiguousarray(votes)


def _stretched(fitted: Fitted, draws: list[Floats]) -> Floats:
    middle = fitted.theta[:, None]
    return np.asarray((middle + fitted.stretch * (np.concatenate(draws, axis=1) - middle)).T)


def _resampled(
    frame: Frame, fitted: tuple[Fitted, Fitted], sums: _Sums, omega: Floats
) -> tuple[Floats, Floats]:
    corrected, alone = fitted
    pairing, weight = frame.pairing, corrected.weight.whole
    totals, wins = sums.weights @ omega, sums.people @ omega
    votes = climb_draws(pairing, wins, totals, alone.theta, _inverse(frame, alone.theta))
    if not weight:
        return votes, votes
    share = frame.at_battles(corrected.of_judge)
    inverse = pairing.inverse(frame.by_pair(share * (1 - share)), RIDGE)
    battles, verdicts = sums.battles @ omega, sums.all_judge @ omega
    judge = climb_draws(pairing, verdicts, battles, corrected.of_judge, inverse, precision=RIDGE)
    expected = expit(judge[pairing.low] - judge[pairing.high])
    off = (sums.judge @ omega - totals * expected) - (verdicts - battles * expected)
    both = climb_draws(
        pairing, wins - weight * off, totals, corrected.theta, _inverse(frame, corrected.theta)
    )
    return both, votes
