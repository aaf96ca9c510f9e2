"""A judge that is asked in several wordings, simulated, and how often intervals hold what another round says.

It has an opinion of each system on each question; each wording favours systems on all questions and on single
ones. Every interval is held against another round: in a new wording, read once, on as many new questions
(`questions`, `all`), or on the same (`judge`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from leaderboard.battles import BattleTable, Winner
from leaderboard.rates import win_rates
from leaderboard.ratings import IntervalKind, RatingTable, Settings, rate
from leaderboard.trust.judge_error.rates import rates_of_readings
from leaderboard.trust.judge_error.ratings import rate_readings
from leaderboard.trust.judge_error.readings import Readings
from leaderboard.vocabulary import ErrorKind

Floats = NDArray[np.float64]
SANDWICH = Settings(interval=IntervalKind.SANDWICH, bootstrap=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A simulated judge; spreads are standard deviations in log-odds.

    Attributes:
        systems: How many, evenly 1.6 log-odds apart from first to last.
        by_question: How much systems suit questions.
        by_wording: How much a wording favours a system on every question.
        on_single: How much it does on single questions.
    """

    systems: int = 6
    by_question: float = 0.7
    by_wording: float = 0.2
    on_single: float = 0.3

    @property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Both systems of every pair."""
        return np.triu_indices(self.systems, k=1)

    def qualities(self, random: np.random.Generator, questions: int) -> Floats:
        """(Q, S) how good the answers are."""
        strength = np.linspace(-0.8, 0.8, self.systems)
        return np.asarray(strength + self.by_question * random.standard_normal((questions, self.systems)))

    def read(self, random: np.random.Generator, quality: Floats, *, wordings: int, repeats: int) -> Floats:
        """(repeats, wordings, Q, P) wins of the first system of each pair, in new wordings."""
        shape = (wordings, *quality.shape)
        favour = self.by_wording * random.standard_normal((wordings, 1, self.systems))
        seen = quality + favour + self.on_single * random.standard_normal(shape)
        low, high = self.pairs
        chance = expit(seen[..., low] - seen[..., high])
        return np.asarray((random.random((repeats, *chance.shape)) < chance).astype(np.float64))

    def table(self, wins: Floats) -> tuple[BattleTable, list[str], list[str]]:
        """The readings as rows, with the wording and the repeat of each."""
        repeat, wording, question, pair = (axis.ravel() for axis in np.indices(wins.shape))
        low, high = self.pairs
        table = BattleTable(
            systems=tuple(f"s{code:02d}" for code in range(self.systems)),
            questions=tuple(f"q{code:06d}" for code in range(wins.shape[2])),
            domains=("",),
            a=low[pair].astype(np.int32),
            b=high[pair].astype(np.int32),
            winner=np.where(wins.ravel() > 0, Winner.A, Winner.B).astype(np.int8),
            question=question.astype(np.int32),
            domain=np.zeros(len(pair), dtype=np.int32),
        )
        return table, [f"w{code}" for code in wording.tolist()], [str(code) for code in repeat.tolist()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One simulated round, retested or read several times, and two others that it is held against.

    Attributes:
        readings: Of the round.
        same: Another reading of its questions, in a new wording.
        other: One of as many new questions.
    """

    readings: Readings
    same: BattleTable
    other: BattleTable


def trials(
    judge: Judge,
    *,
    questions: int,
    wordings: int,
    repeats: int,
    count: int,
    seed: int = 0,
    share: float = 1.0,
) -> Iterator[Trial]:
    """Simulated rounds.

    With a `share` below 1 only that part of the battles was asked again, and the estimate depends on one
    wording.
    """
    for number in range(count):
        random = np.random.default_rng([seed, number])
        quality = judge.qualities(random, questions)
        wins = judge.read(random, quality, wordings=wordings, repeats=repeats)
        table, wording, repeat = judge.table(wins)
        own = np.ones(len(table), dtype=bool)
        kept = own
        if share < 1:
            own = (np.array(wording) == "w0") & (np.array(repeat) == "0")
            drawn = np.broadcast_to(random.random(wins.shape[2:]) < share, wins.shape).ravel()
            kept = own | drawn
        rows = np.flatnonzero(kept)
        readings = Readings.from_table(
            table.select(rows),
            [wording[row] for row in rows.tolist()],
            [repeat[row] for row in rows.tolist()],
            own=own[rows],
        )
        yield Trial(
            readings=readings,
            same=judge.table(judge.read(random, quality, wordings=1, repeats=1))[0],
            other=judge.table(judge.read(random, judge.qualities(random, questions), wordings=1, repeats=1))[
                0
            ],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How often intervals held what they were held against, and how wide they were on average.

    `error` is the standard error of `held`: intervals of one round stand or fall together.
    """

    held: float
    error: float
    width: float


def coverage(rounds: Iterator[Trial]) -> Mapping[ErrorKind, Coverage]:
    """Share of the intervals of ratings, by kind, that hold the rating of another round."""
    held: dict[ErrorKind, list[float]] = defaultdict(list)
    widths: dict[ErrorKind, list[float]] = defaultdict(list)
    for trial in rounds:
        same, other = (rate(table, interval=IntervalKind.SANDWICH) for table in (trial.same, trial.other))
        for kind in ErrorKind:
            target = same if kind is ErrorKind.JUDGE else other
            rows = [row for row in _rated(trial.readings, kind).ratings if row.flags == ()]
            ends = np.array([(row.lower, row.upper) for row in rows], dtype=np.float64)
            said = target.points[[target.code(row.system) for row in rows]]
            held[kind].append(float(((ends[:, 0] <= said) & (said <= ends[:, 1])).mean()))
            widths[kind].append(float(np.diff(ends).mean()))
    return _summed(held, widths)


def coverage_of_rates(rounds: Iterator[Trial], reference: str | None) -> Mapping[ErrorKind, Coverage]:
    """The same of win rates."""
    held: dict[ErrorKind, list[float]] = defaultdict(list)
    widths: dict[ErrorKind, list[float]] = defaultdict(list)
    for trial in rounds:
        same, other = (win_rates(table, reference=reference) for table in (trial.same, trial.other))
        for kind in (ErrorKind.JUDGE, ErrorKind.ALL):
            target = same if kind is ErrorKind.JUDGE else other
            rates = rates_of_readings(trial.readings, kind, reference=reference)
            intervals = {row.system: row.win_interval for row in rates.table.rows if row.win_interval}
            inside = [target.of(system).win_rate in interval for system, interval in intervals.items()]
            held[kind].append(float(np.mean(inside)))
            widths[kind].append(float(np.mean([interval.width for interval in intervals.values()])))
    return _summed(held, widths)


def _summed(
    held: Mapping[ErrorKind, list[float]], widths: Mapping[ErrorKind, list[float]]
) -> Mapping[ErrorKind, Coverage]:
    return {
        kind: Coverage(
            held=float(np.mean(shares)),
            error=float(np.std(shares, ddof=1) / np.sqrt(len(shares))),
            width=float(np.mean(widths[kind])),
        )
        for kind, shares in held.items()
    }


def _rated(readings: Readings, kind: ErrorKind) -> RatingTable:
    if kind is ErrorKind.QUESTIONS:
        return rate(readings.table(), interval=IntervalKind.SANDWICH)
    return rate_readings(readings, kind, SANDWICH).table


JUDGES = {
    "wordings weigh much": Judge(),
    "wordings weigh some": Judge(by_wording=0.1),
    "wordings weigh little": Judge(by_wording=0.05, by_question=1.0),
    "wordings weigh nothing": Judge(by_wording=0.0, on_single=0.0),
}
