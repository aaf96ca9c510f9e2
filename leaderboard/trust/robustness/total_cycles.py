"""Cycles in what all questions together say: A wins over B, B over C and C over A in total."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from data.records.plain import to_json
from data.stats import Interval, bounds_json
from leaderboard.ratings.counts import Cells, Floats, Ints
from leaderboard.ratings.uncertainty.bounds import bca
from leaderboard.trust.robustness.tournaments import TIED, Stack, Verdicts

COIN_FLIPS = 1 / 4
"""Share of cycles among strict triples where each verdict is a fair coin: two of eight."""
MOST_LISTED = 10
DRAWS = 500
LEAST_QUESTIONS = 5
"""Below this resamples of questions give no interval."""
RESAMPLED_SYSTEMS = 60
"""Beyond so many systems triples are counted without resamples, which would take minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A share of triples, 0–1, with its 95 % interval; None where nothing was counted."""

    share: float | None
    interval: Interval | None

    def as_json(self) -> dict[str, object]:
        """Share and bounds."""
        return {"share": self.share, **bounds_json(self.interval)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalCycle:
    """A cycle in what all questions together say.

    Attributes:
        systems: Each wins against the next over the questions, and the last against the first.
        shares: Each one's mean share of the win against the next, ties half.
        draws: Share of the resamples of questions in which the cycle holds; None without resamples.
    """

    systems: tuple[str, str, str]
    shares: tuple[float, float, float]
    draws: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverQuestions:
    """Cycles in what all questions with a judged triple together say of each pair.

    Attributes:
        triples: Triples of systems of which all three pairs were judged, none of them exactly even.
        cycles: Those that form a cycle.
        share: Of all triples, with an interval from resampled questions.
        listed: The cycles that hold in most resamples.
    """

    triples: int
    cycles: int
    share: Shared
    listed: tuple[TotalCycle, ...]

    def as_json(self) -> dict[str, object]:
        """Counts, share with bounds, cycles."""
        return {
            "triples": self.triples,
            "cycles": self.cycles,
            **self.share.as_json(),
            "coin_flips": COIN_FLIPS,
            "listed": [to_json(cycle) for cycle in self.listed],
        }


def cycles_over_questions(verdicts: Verdicts, systems: tuple[str, ...], seed: int) -> OverQuestions:
    """Count the cycles of the pairs' mean shares over questions.

    Args:
        verdicts: Of the questions that count.
        systems: Names by code.
        seed: Of the resamples of questions, by exponential weights.
    """
    totals = _Totals.of(verdicts, len(systems))
    shares = totals.shares(np.ones((totals.questions, 1)))[0]
    triples, cycles = _counts(totals.beats(shares))
    draws = None
    if len(systems) <= RESAMPLED_SYSTEMS and triples:
        weights = np.random.default_rng(seed).standard_exponential((totals.questions, DRAWS))
        draws = totals.shares(weights)
    share = cycles / triples if triples else None
    interval = None if draws is None or share is None else _interval(totals, draws, share)
    return OverQuestions(
        triples=triples,
        cycles=cycles,
        share=Shared(share=share, interval=interval),
        listed=_listed(totals, shares, draws, systems),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Totals:
    """(Q, P) margins of each pair on each question; pairs that were judged on none are left out.

    They are a full matrix where every pair was judged on every question.
    """

    low: Ints
    high: Ints
    margins: csr_array | Floats
    systems: int

    @classmethod
    def of(cls, verdicts: Verdicts, systems: int) -> _Totals:
        low, high, cells = verdicts.low, verdicts.high, verdicts.margins
        if isinstance(cells, Cells) and cells.full:
            full = cells.doubled / 2
            full -= 1 / 2
            return cls(low=low, high=high, margins=full, systems=systems)
        margins: csr_array = verdicts.sparse
        met = np.bincount(margins.indices, minlength=len(low)) > 0
        if not met.all():
            margins = margins[:, np.flatnonzero(met)]
        is_full = margins.nnz == margins.shape[0] * margins.shape[1]
        numbers = margins.data.reshape(margins.shape) if is_full else margins
        return cls(low=low[met], high=high[met], margins=numbers, systems=systems)

    @property
    def questions(self) -> int:
        return int(self.margins.shape[0])

    def shares(self, weights: Floats) -> Floats:
        """(B, P) mean share of the win of each pair's lower code, from (Q, B) weights of questions."""
        margins = self.margins
        if not isinstance(margins, csr_array):
            return np.asarray(1 / 2 + weights.T @ margins / weights.sum(axis=0)[:, None])
        judged = csr_array((np.ones(margins.nnz), margins.indices, margins.indptr), shape=margins.shape)
        return np.asarray(1 / 2 + (margins.T @ weights).T / (judged.T @ weights).T)

    def win(self, shares: Floats, first: int, second: int) -> Floats:
        """(…) shares of the win of the first system against the second, from (…, P)."""
        key = min(first, second) * self.systems + max(first, second)
        share = shares[..., np.searchsorted(self.low * self.systems + self.high, key)]
        return np.asarray(share if first < second else 1 - share)

    def held(self, draws: Floats, cycle: tuple[int, int, int]) -> float:
        """Share of the draws in which each system of a cycle wins against the next."""
        ways = zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        wins = [self.win(draws, first, second) > 1 / 2 for first, second in ways]
        return float(np.logical_and.reduce(wins).mean())

    def beats(self, shares: Floats) -> NDArray[np.bool_]:
        """(S, S) whether the row's system wins against the column's."""
        beats = np.zeros((self.systems, self.systems), dtype=bool)
        beats[self.low, self.high] = shares > 1 / 2 + TIED
        beats[self.high, self.low] = shares < 1 / 2 - TIED
        return beats


def _counts(beats: NDArray[np.bool_]) -> tuple[int, int]:
    """Triples without an even pair, and cycles among them."""
    wins = beats.astype(np.float64)
    judged = wins + wins.T
    triples, cycles = ((judged @ judged) * judged).sum() / 6, ((wins @ wins) * wins.T).sum() / 3
    return round(float(triples)), round(float(cycles))


def _interval(totals: _Totals, draws: Floats, share: float) -> Interval | None:
    """Bias-corrected: nearly even pairs make more cycles in resamples than in the battles themselves.

    None where all resamples say the same, so that no spread can be seen.
    """
    counts = [_counts(totals.beats(shares)) for shares in draws]
    drawn = np.array([[cycles / triples] for triples, cycles in counts if triples])
    if totals.questions < LEAST_QUESTIONS or len(np.unique(drawn)) <= 1:
        return None
    lower, upper = bca(drawn, np.array([share]), np.zeros(1), totals.questions)
    return Interval(float(lower[0]), float(upper[0]))


def _listed(
    totals: _Totals, shares: Floats, draws: Floats | None, systems: tuple[str, ...]
) -> tuple[TotalCycle, ...]:
    """The cycles, those first that hold in most resamples."""
    beats = totals.beats(shares).astype(np.float32)[None]
    names = np.arange(len(systems))[None]
    stack = Stack(question=np.zeros(1, dtype=np.int64), names=names, beats=beats, tied=np.zeros_like(beats))
    cycles = [
        TotalCycle(
            systems=(systems[first], systems[second], systems[third]),
            shares=(
                float(totals.win(shares, first, second)),
                float(totals.win(shares, second, third)),
                float(totals.win(shares, third, first)),
            ),
            draws=None if draws is None else totals.held(draws, (first, second, third)),
        )
        for part in stack.cycles()
        for first, second, third in part.tolist()
    ]
    ordered = sorted(cycles, key=lambda cycle: (-(cycle.draws or 0.0), -min(cycle.shares), cycle.systems))
    return tuple(ordered[:MOST_LISTED])
