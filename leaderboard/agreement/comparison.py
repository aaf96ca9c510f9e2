"""Boards of the same battles by several judges, two at a time: how alike they rank, and who moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from data.errors import UnrankableError
from data.intervals import LEVEL, Interval
from leaderboard.agreement.boards import (
    Overstatement,
    RankingAgreement,
    compare_rankings,
    overstatement,
    ranking_agreement,
)
from leaderboard.agreement.coefficients import Estimate, Resampling, bounds_of, estimate
from leaderboard.battles import BattleTable
from leaderboard.ratings import RatingTable, rate
from leaderboard.ratings.uncertainty.paired_errors import FEW_QUESTIONS, freedom_of, t_quantile
from leaderboard.stats.intervals import percentile_interval

Floats = NDArray[np.float64]


class ComparedBy(StrEnum):
    """What two boards are compared by."""

    RATINGS = "ratings"
    SCORES = "mean scores"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One system on two boards of the same battles.

    Attributes:
        system: Its name.
        rank_before: Its place by the first board's ratings; None without ratings.
        rank_after: Likewise, by the second's.
        shift: Rating on the second less rating on the first, in points, paired by question.
        moved: Whether the shift is more than chance, at 95 % for all systems together.
        score: The same difference of its mean scores (a tie being half a win).
        win_rate: The same of its win rates.
    """

    system: str
    rank_before: int | None
    rank_after: int | None
    shift: Estimate
    moved: bool
    score: Estimate
    win_rate: Estimate

    def as_json(self) -> dict[str, object]:
        """Values and bounds by name."""
        estimates = {"shift": self.shift, "score": self.score, "win_rate": self.win_rate}
        return {
            "system": self.system,
            "rank_before": self.rank_before,
            "rank_after": self.rank_after,
            "moved": self.moved,
            **{name: part.value for name, part in estimates.items()},
            "intervals": {name: bounds_of(part) for name, part in estimates.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPair:
    """Two boards of the same battles.

    Attributes:
        first: The one.
        second: The other.
        by: Ratings; mean scores where a rating does not exist on one of them.
        agreement: How alike they rank.
        moves: The systems, those that move most first.
    """

    first: str
    second: str
    by: ComparedBy
    agreement: RankingAgreement
    moves: tuple[Move, ...]

    def as_json(self) -> dict[str, object]:
        """An entry of `pairs` in `arena rounds status --compare --json`."""
        return {
            "first": self.first,
            "second": self.second,
            "by": self.by.value,
            **self.agreement.as_json(),
            "moves": [move.as_json() for move in self.moves],
        }


def compare_boards(tables: Mapping[str, BattleTable], *, seed: int = 0) -> tuple[BoardPair, ...]:
    """Compare every two boards of the same battles; the questions are resampled jointly.

    Args:
        tables: By board, as `in_common` makes them.
        seed: Of the resamples.

    Raises:
        StatisticsError: Fewer than two systems, or no battles, are on all of them.
    """
    rated = {name: _rated(table, seed) for name, table in tables.items()}
    return tuple(
        _compared((first, tables[first], rated[first]), (second, tables[second], rated[second]), seed)
        for first, second in combinations(tables, 2)
    )


_Side = tuple[str, BattleTable, RatingTable | None]


def _rated(table: BattleTable, seed: int) -> RatingTable | None:
    """The ratings, where every system of the table has one."""
    try:
        ratings = rate(table, seed=seed)
    except UnrankableError:
        return None
    complete = ratings.draws is not None and np.isfinite(ratings.points).all() and not ratings.component.any()
    return ratings if complete else None


def _compared(before: _Side, after: _Side, seed: int) -> BoardPair:
    scores = {row.system: row for row in overstatement(after[1], before[1])}
    old, new = before[2], after[2]
    if old is None or new is None or old.draws is None or new.draws is None:
        agreement = compare_rankings(before[1], after[1], Resampling(seed=seed))
        moves = [_move(name, scores[name], None, None, (Estimate(None), False)) for name in scores]
    else:
        agreement = ranking_agreement(old.points, new.points, first_draws=old.draws, second_draws=new.draws)
        shifts = zip(new.points - old.points, (new.draws - old.draws).T, strict=True)
        moves = [
            _move(
                name,
                scores[name],
                old,
                new,
                _shift(float(shift), draws, len(old.systems), min(old.questions, new.questions)),
            )
            for name, (shift, draws) in zip(old.systems, shifts, strict=True)
        ]
    moves.sort(key=lambda move: (-abs(move.score.value or 0.0), move.system))
    moves.sort(key=lambda move: -abs(move.shift.value or 0.0))
    return BoardPair(
        first=before[0],
        second=after[0],
        by=ComparedBy.SCORES if old is None or new is None else ComparedBy.RATINGS,
        agreement=agreement,
        moves=tuple(moves),
    )


def _shift(value: float, draws: Floats, systems: int, questions: int) -> tuple[Estimate, bool]:
    """A change of a rating, by t over questions, and whether it stands for all systems at once."""
    spread = draws[np.isfinite(draws)]
    error = float(spread.std(ddof=1)) if len(spread) > 1 else float("inf")
    freedom = freedom_of(questions)
    half, least = (float(t_quantile(freedom, level)) * error for level in (LEVEL, 1 - (1 - LEVEL) / systems))
    ends = Interval(value - half, value + half) if np.isfinite(half) else None
    if questions >= FEW_QUESTIONS:
        ends = percentile_interval(draws)
    return estimate(value, ends), abs(value) > least > 0


def _move(
    name: str,
    scores: Overstatement,
    old: RatingTable | None,
    new: RatingTable | None,
    shift: tuple[Estimate, bool],
) -> Move:
    return Move(
        system=name,
        rank_before=None if old is None else old.of(name).rank,
        rank_after=None if new is None else new.of(name).rank,
        shift=shift[0],
        moved=shift[1],
        score=scores.score,
        win_rate=scores.win_rate,
    )
