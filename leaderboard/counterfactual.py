"""What mending a kind of error would gain a system: rating points, estimated from its own battles.

Assumption: where a kind of error were mended, the system would fare as it fares now on the questions where
its answers do not have it, against opponents of the same strength. What else goes with the error goes with
the figure, and kinds that stand in the same answers share their gains: they do not add up.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack
from scipy.special import expit

from data.errors import NotFoundError, UnrankableError
from data.intervals import Interval
from leaderboard.battles import BattleTable
from leaderboard.ratings.rate import rate
from leaderboard.ratings.uncertainty import bounds
from leaderboard.ratings.uncertainty.paired_errors import FEW_QUESTIONS, freedom_of, t_quantile
from leaderboard.ratings.vocabulary import POINTS, IntervalKind

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

DRAWS = 1000
AT_ONCE = 100
FEWEST_CLEAN = 5
"""Questions without the error, below which they do not say how the system fares without it."""
PRIOR_SD = 400.0
"""Points: how far the rating without the error is held to the present one before any battle counts."""
WIDEST = 30.0
"""Log-odds within which a strength is sought."""
STEPS = 100
SETTLED = 1e-12
EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorQuestions:
    """The questions on which a system's answers have a kind of error, and those on which they do not.

    A question in neither set is left as it is: there the answer was not scored, or has another fault by which
    this one cannot be told.
    """

    present: Collection[str]
    absent: Collection[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterfactualGain:
    """What a system would gain if it no longer made a kind of error.

    Attributes:
        error: The kind of error.
        questions: Questions with judged battles on which its answers have it.
        absent: Those on which they do not.
        battles: Judged battles on the former.
        lost: Of those, how many it lost.
        share: Its mean share of the win there, 0–1; None without battles.
        absent_share: The same where its answers do not have the error.
        points: Rating points that it would gain; None where too few questions are without the error.
        interval: Their 95 % interval.
    """

    error: str
    questions: int
    absent: int
    battles: int
    lost: int
    share: float | None
    absent_share: float | None
    points: float | None
    interval: Interval | None

    @property
    def is_certain(self) -> bool:
        """Whether the interval lies above 0."""
        return self.interval is not None and self.interval.lower > 0


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class RatedRound:
    """What a system's gains need of the battles of all others.

    Attributes:
        systems: Their names.
        questions: The ids of the questions with judged battles.
        strength: (S,) ratings in log-odds; NaN for none.
        component: (S,) which systems are connected by battles; −1 for none.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    strength: Floats
    component: NDArray[np.int64]

    @classmethod
    def of(cls, table: BattleTable) -> RatedRound:
        """Rate every system.

        Args:
            table: The judged battles of all systems.

        Raises:
            StatisticsError: They cannot be rated.
        """
        ratings = rate(table, interval=IntervalKind.SANDWICH)
        of_name = dict(zip(ratings.systems, zip(ratings.points, ratings.component, strict=True), strict=True))
        found = [of_name.get(name, (np.nan, -1)) for name in table.systems]
        return cls(
            systems=table.systems,
            questions=table.questions,
            strength=np.array([points / POINTS for points, _ in found]),
            component=np.array([part for _, part in found], dtype=np.int64),
        )


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Record:
    """A system's battles with rated opponents.

    Attributes:
        questions: Their ids, in code order.
        question: (N,) codes.
        opponent: (N,) places among `strength`.
        strength: (O,) ratings of the opponents, in log-odds.
        share: (N,) what the system got of the win.
        weight: (N,) how often each battle counts.
    """

    questions: tuple[str, ...]
    question: NDArray[np.int32]
    opponent: NDArray[np.int64]
    strength: Floats
    share: Floats
    weight: Floats

    def rows(self, questions: Collection[str]) -> Mask:
        """(N,) the battles on some questions."""
        chosen = set(questions)
        codes = np.array([name in chosen for name in self.questions], dtype=bool)
        return np.asarray(codes[self.question])

    def counts(self, rows: Mask) -> csr_array:
        """(2 O, Q) battles by opponent and question, then the shares of the win that were taken in them."""
        weight, size = self.weight[rows], len(self.strength)
        shape = (2 * size, len(self.questions))
        opponent = np.concatenate([self.opponent[rows], self.opponent[rows] + size])
        values = np.concatenate([weight, weight * self.share[rows]])
        return coo_array((values, (opponent, np.tile(self.question[rows], 2))), shape=shape).tocsr()

    def mean_share(self, rows: Mask) -> float | None:
        """The mean share of the win in some battles; None without any."""
        total = float(self.weight[rows].sum())
        return float(self.weight[rows] @ self.share[rows]) / total if total else None


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class _Fault:
    """A kind of error with the battles of answers that have it, and of those that do not."""

    error: str
    present: Mask
    absent: Mask
    questions: int
    clean: int

    @classmethod
    def of(cls, record: _Record, error: str, questions: ErrorQuestions) -> _Fault:
        """Find the battles of a kind of error."""
        present, absent = record.rows(questions.present), record.rows(questions.absent)
        met = [len(np.unique(record.question[rows])) for rows in (present, absent)]
        return cls(error=error, present=present, absent=absent, questions=met[0], clean=met[1])

    def gain(self, record: _Record, points: float | None, interval: Interval | None) -> CounterfactualGain:
        """The gain with what it depends on."""
        return CounterfactualGain(
            error=self.error,
            questions=self.questions,
            absent=self.clean,
            battles=round(float(record.weight[self.present].sum())),
            lost=round(float(record.weight[self.present & (record.share < EVEN)].sum())),
            share=record.mean_share(self.present),
            absent_share=record.mean_share(self.absent),
            points=points,
            interval=interval,
        )


def counterfactual_gains(
    table: BattleTable,
    system: str,
    errors: Mapping[str, ErrorQuestions],
    *,
    rated: RatedRound | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[CounterfactualGain, ...]:
    """Kinds of error by the rating points that a system would gain without them, the most first.

    The opponents keep their ratings. The system's battles on the questions with an error are counted at the
    share of the win that its strength on the questions without it gives against the same opponents; then it
    is rated again. That strength has a normal prior around the present one, so that few battles say little.
    Intervals are percentiles over resampled questions, which weigh the same before and after.

    Args:
        table: The judged battles of the system; others do not count.
        system: Whose errors they are.
        errors: By kind: on which questions its answers have it, and on which they do not.
        rated: All systems of the round; by default `table` has the battles of all. Battles with systems or on
            questions that it does not have do not count.
        draws: Resamples.
        seed: Of the resamples.

    Returns:
        The kinds that stand on a judged question; last those whose gain cannot be told.

    Raises:
        NotFoundError: No battle names the system.
        UnrankableError: It has no rating.
    """
    record = _record(table, system, rated or RatedRound.of(table))
    faults = [_Fault.of(record, error, questions) for error, questions in errors.items()]
    standing = [fault for fault in faults if fault.questions]
    told = [fault for fault in standing if fault.clean >= FEWEST_CLEAN]
    gains = [fault.gain(record, None, None) for fault in standing if fault.clean < FEWEST_CLEAN]
    if told:
        points, intervals = _drawn(record, told, draws=draws, seed=seed)
        found = zip(told, points, intervals, strict=True)
        gains += [fault.gain(record, gained, interval) for fault, gained, interval in found]
    return tuple(sorted(gains, key=lambda gain: (gain.points is None, -(gain.points or 0.0), gain.error)))


def _record(table: BattleTable, system: str, rated: RatedRound) -> _Record:
    if system not in rated.systems:
        raise NotFoundError(f"No battle names the system {system}.", advice="The leaderboard names those.")
    code = rated.systems.index(system)
    if np.isnan(rated.strength[code]):
        raise UnrankableError(
            f"{system} has no rating, so nothing can be told of its gains.",
            advice="Judge it against systems that it wins and loses against.",
        )
    strength = np.where(rated.component == rated.component[code], rated.strength, np.nan)
    a, b = (_places(table.systems, rated.systems)[side] for side in (table.a, table.b))
    is_a = a == code
    opponent = np.where(is_a, b, a)
    question = _places(table.questions, rated.questions)[table.question]
    known = (opponent >= 0) & (question >= 0)
    mine = (is_a | (b == code)) & known & ~np.isnan(strength[opponent])
    weight = np.ones(len(table)) if table.weight is None else table.weight
    met, places = np.unique(opponent[mine], return_inverse=True)
    return _Record(
        questions=rated.questions,
        question=question[mine],
        opponent=places,
        strength=strength[met],
        share=np.where(is_a, table.share, 1 - table.share)[mine],
        weight=weight[mine],
    )


def _places(names: Sequence[str], among: Sequence[str]) -> NDArray[np.int32]:
    """The place of each name among others, −1 where it is not there."""
    place = {name: at for at, name in enumerate(among)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int32)


def _drawn(
    record: _Record, faults: Sequence[_Fault], *, draws: int, seed: int
) -> tuple[list[float], list[Interval]]:
    """The points that each kind of error would gain, and their intervals."""
    masks = [np.ones(len(record.share), dtype=bool)]
    masks += [mask for fault in faults for mask in (fault.present, fault.absent)]
    counts = vstack([record.counts(mask) for mask in masks]).tocsr()
    parts = (len(masks), 2, len(record.strength), -1)

    def gained(weights: Floats) -> Floats:
        """(kinds, B) points under (Q, B) weights of questions."""
        return _points(record, (counts @ weights).reshape(parts))

    size = len(record.questions)
    point = gained(np.ones((size, 1)))[:, 0]
    batches = [
        # Gamma weights: Rubin (1981).
        gained(np.random.default_rng([seed, start]).standard_exponential((size, min(AT_ONCE, draws - start))))
        for start in range(0, draws, AT_ONCE)
    ]
    drawn, questions = np.concatenate(batches, axis=1).T, len(np.unique(record.question))
    lower, upper = bounds.percentile(drawn, questions)
    if questions < FEW_QUESTIONS:
        reach = float(t_quantile(freedom_of(questions))) * drawn.std(axis=0, ddof=1)
        lower, upper = point - reach, point + reach
    ends = zip(lower.tolist(), upper.tolist(), strict=True)
    return point.tolist(), [Interval(low, high) for low, high in ends]


def _points(record: _Record, totals: Floats) -> Floats:
    """(kinds, B) points gained; `totals` are of all battles, then of those with and without each kind."""
    opponents = record.strength[:, None]
    battles, taken = totals[0]
    now = _strength(battles, taken, opponents)
    gains = []
    for (faulty, taken_there), (clean, taken_clean) in zip(totals[1::2], totals[2::2], strict=True):
        mended = _strength(clean, taken_clean, opponents, prior=now)
        expected = faulty * expit(mended - opponents)
        gains.append((_strength(battles, taken - taken_there + expected, opponents) - now) * POINTS)
    return np.array(gains)


def _strength(battles: Floats, taken: Floats, opponents: Floats, prior: Floats | None = None) -> Floats:
    """(B,) log-odds at which (O, B) expected shares of the win add up to those taken.

    With a prior, its centre pulls: the mode of the posterior. Newton's steps, halved intervals where one of
    them leaves the bounds found so far.
    """
    precision = 0.0 if prior is None else (POINTS / PRIOR_SD) ** 2
    centre = np.full(battles.shape[1], opponents.mean()) if prior is None else prior
    low, high, found = centre - WIDEST, centre + WIDEST, centre
    total = taken.sum(axis=0)
    for _ in range(STEPS):
        chance = expit(found - opponents)
        excess = total - (battles * chance).sum(axis=0) - precision * (found - centre)
        low, high = np.where(excess > 0, found, low), np.where(excess > 0, high, found)
        slope = (battles * chance * (1 - chance)).sum(axis=0) + precision
        step = found + np.divide(excess, slope, out=np.full_like(excess, np.inf), where=slope > 0)
        after = np.where((step > low) & (step < high), step, (low + high) / 2)
        if np.abs(after - found).max() < SETTLED:
            return after
        found = after
    return found
