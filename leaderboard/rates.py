"""Win and win+tie rates, overall and per domain, with intervals that know which battles share questions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from data.errors import NotFoundError
from leaderboard.battles import BattleTable, Winner
from leaderboard.intervals import LEVEL, Interval, effective_count, mean_interval, wilson

OVERALL = "overall"

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One system's record in one domain, or overall; rates are shares, 0–1.

    Attributes:
        system: Its name.
        domain: A domain's id, or `overall`: the micro-average over battles.
        battles: How many; `wins`, `ties` and `losses` add up to it.
        wins: Battles won.
        ties: Battles tied.
        losses: Battles lost.
        questions: On how many questions.
        win_rate: Wins by battles.
        win_tie_rate: Wins and ties by battles.
        win_interval: Of the win rate: Wilson's on the effective number of battles.
        win_tie_interval: Of the win+tie rate.
        mean_score: Mean share of the win that the system got: `score`, or 1, ½, 0.
        standard_error: Of `mean_score` if battles were independent (the sample's, n−1); None for one.
        clustered_error: Of `mean_score`, clustered by question; None for one question.
        score_interval: Of `mean_score`, from the clustered error.
    """

    system: str
    domain: str
    battles: float
    wins: float
    ties: float
    losses: float
    questions: int
    win_rate: float
    win_tie_rate: float
    win_interval: Interval | None
    win_tie_interval: Interval | None
    mean_score: float
    standard_error: float | None
    clustered_error: float | None
    score_interval: Interval | None

    def as_json(self) -> dict[str, object]:
        """The fields of `arena battles winrates` (docs/design.md, section 5), then the further ones."""
        win, win_tie, score = self.win_interval, self.win_tie_interval, self.score_interval
        return {
            "system": self.system,
            "domain": self.domain,
            "battles": whole(self.battles),
            "wins": whole(self.wins),
            "ties": whole(self.ties),
            "losses": whole(self.losses),
            "win_rate": self.win_rate,
            "win_tie_rate": self.win_tie_rate,
            "lower": None if win is None else win.lower,
            "upper": None if win is None else win.upper,
            "mean_score": self.mean_score,
            "standard_error": self.standard_error,
            "win_tie_lower": None if win_tie is None else win_tie.lower,
            "win_tie_upper": None if win_tie is None else win_tie.upper,
            "clustered_error": self.clustered_error,
            "score_lower": None if score is None else score.lower,
            "score_upper": None if score is None else score.upper,
            "questions": self.questions,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTable:
    """Rates of every system.

    Attributes:
        rows: Systems best first by overall win rate, each with `overall` and then its domains.
        reference: The one opponent; None where every opponent counts.
        clustered: Whether intervals take battles on one question together.
        level: Confidence level of the intervals.
        unused: Battles of the table that the reference took no part in.
    """

    rows: tuple[Rate, ...]
    reference: str | None
    clustered: bool
    level: float
    unused: float

    def of(self, system: str, domain: str = OVERALL) -> Rate:
        """The rate of a system in a domain.

        Raises:
            NotFoundError: There is no such row.
        """
        for row in self.rows:
            if row.system == system and row.domain == domain:
                return row
        message = f"There is no rate of {system} in {domain}."
        raise NotFoundError(message, advice="Spell system and domain as in the battle file.")

    def as_json(self) -> dict[str, object]:
        """The object that `arena battles winrates --json` prints."""
        return {
            "rows": [row.as_json() for row in self.rows],
            "reference": self.reference,
            "interval": "wilson on effective battles" if self.clustered else "wilson",
            "level": self.level,
            "unused": whole(self.unused),
        }


def win_rates(
    table: BattleTable,
    *,
    reference: str | None = None,
    by_domain: bool = True,
    clustered: bool = True,
    level: float = LEVEL,
) -> RateTable:
    """Count wins, ties and losses of each system and bound their rates.

    With one battle a question both kinds of interval are Wilson's. Where battles share questions,
    the clustered one is Wilson's on fewer, effective, battles.

    Args:
        table: Judged battles; weights are counts of battles.
        reference: Only battles against this opponent count; None for all battles.
        by_domain: Add a row for each domain with battles, beside `overall`.
        clustered: Take battles on one question together. Turn it off where the table does not know
            its questions.
        level: Of the intervals.

    Raises:
        NotFoundError: No battle names the reference.

    Source: Han et al. (2024), section 6.3 (rates); docs/method/rates.md (intervals).
    """
    sides = _Sides.of(table, reference)
    args = (table, clustered, level)
    rows = _rows(sides, np.zeros_like(sides.domain), (OVERALL,), *args)
    best = {row.system: (-row.win_rate, -row.win_tie_rate, row.system) for row in rows}
    if by_domain and table.domains != ("",):
        rows += _rows(sides, sides.domain, table.domains, *args)
    order = {domain: index for index, domain in enumerate((OVERALL, *table.domains))}
    rows.sort(key=lambda row: (best[row.system], order[row.domain]))
    return RateTable(
        rows=tuple(rows), reference=reference, clustered=clustered, level=level, unused=sides.unused
    )


def whole(value: float) -> int | float:
    """A count as a whole number where it is one."""
    return int(value) if float(value).is_integer() else value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    """Each battle seen from the sides that count, one row a side."""

    system: NDArray[np.int32]
    won: Floats
    tied: Floats
    share: Floats
    weight: Floats
    question: NDArray[np.int32]
    domain: NDArray[np.int32]
    unused: float

    @classmethod
    def of(cls, table: BattleTable, reference: str | None) -> _Sides:
        weight = np.ones(len(table)) if table.weight is None else table.weight
        from_a, from_b = _counting(table, reference)
        share, tied = table.share, table.winner == Winner.TIE

        def both(of_a: NDArray[np.generic], of_b: NDArray[np.generic]) -> NDArray[np.generic]:
            return np.concatenate([of_a[from_a], of_b[from_b]])

        return cls(
            system=both(table.a, table.b).astype(np.int32),
            won=both(table.winner == Winner.A, table.winner == Winner.B).astype(float),
            tied=both(tied, tied).astype(float),
            share=both(share, 1 - share).astype(float),
            weight=both(weight, weight).astype(float),
            question=both(table.question, table.question).astype(np.int32),
            domain=both(table.domain, table.domain).astype(np.int32),
            unused=float(weight[~(from_a | from_b)].sum()),
        )


def _counting(table: BattleTable, reference: str | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows count from side a, and which from side b."""
    if reference is None:
        every = np.ones(len(table), dtype=bool)
        return every, every
    if reference not in table.systems:
        message = f"No battle names the reference {reference}."
        raise NotFoundError(message, advice=f"The systems are {', '.join(sorted(table.systems)[:20])}.")
    code = table.systems.index(reference)
    return table.b == code, table.a == code


def _rows(
    sides: _Sides,
    codes: NDArray[np.int32],
    names: tuple[str, ...],
    table: BattleTable,
    clustered: bool,
    level: float,
) -> list[Rate]:
    """The rates of every system in every group of battles."""
    cells = len(table.systems) * len(names)
    key = sides.system.astype(np.int64) * len(names) + codes
    battles = _sums(key, sides.weight, cells)
    means = [
        np.divide(_sums(key, sides.weight * x, cells), battles, out=np.zeros(cells), where=battles > 0)
        for x in (sides.won, sides.won + sides.tied, sides.share)
    ]
    variances, questions = [], np.zeros(cells, dtype=np.int64)
    for x, mean in zip((sides.won, sides.won + sides.tied, sides.share), means, strict=True):
        variance, questions = _clustered(key, sides, x - mean[key], battles, len(table.questions))
        variances.append(variance)
    square = _sums(key, sides.weight * (sides.share - means[2][key]) ** 2, cells)
    found = []
    for cell in np.flatnonzero(battles > 0).tolist():
        n, q = float(battles[cell]), int(questions[cell])
        win, win_tie, score = (float(mean[cell]) for mean in means)
        bounds = [
            wilson(p, effective_count(p, n, q, float(v[cell]), level) if clustered else n, level)
            for p, v in ((win, variances[0]), (win_tie, variances[1]))
        ]
        plain = math.sqrt(square[cell] / (n - 1) / n) if n > 1 else None
        error = math.sqrt(variances[2][cell]) if q > 1 else None
        wins, not_lost = round(win * n, 9), round(win_tie * n, 9)
        found.append(
            Rate(
                system=table.systems[cell // len(names)],
                domain=names[cell % len(names)],
                battles=n,
                wins=wins,
                ties=round(not_lost - wins, 9),
                losses=round(n - not_lost, 9),
                questions=q,
                win_rate=win,
                win_tie_rate=win_tie,
                win_interval=bounds[0],
                win_tie_interval=bounds[1],
                mean_score=score,
                standard_error=plain,
                clustered_error=error if clustered else None,
                score_interval=mean_interval(score, error if clustered else plain, q, level),
            )
        )
    return found


def _sums(key: NDArray[np.int64], values: Floats, cells: int) -> Floats:
    return np.bincount(key, weights=values, minlength=cells).astype(np.float64)


def _clustered(
    key: NDArray[np.int64], sides: _Sides, residual: Floats, battles: Floats, questions: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Cluster-robust variance of a mean in every cell, and the number of questions behind it."""
    shape = (len(battles), questions)
    sums = coo_array((sides.weight * residual, (key, sides.question)), shape=shape).tocsr()
    counts = np.diff(sums.indptr).astype(np.int64)
    squares = np.add.reduceat(np.append(sums.data**2, 0.0), sums.indptr[:-1]) * (counts > 0)
    factor = np.divide(counts, counts - 1, out=np.zeros(len(battles)), where=counts > 1)
    scale = np.divide(1.0, battles**2, out=np.zeros(len(battles)), where=battles > 0)
    return squares * scale * factor, counts
