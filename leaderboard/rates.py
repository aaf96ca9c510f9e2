"""Win and win+tie rates, overall and per domain, with intervals clustered by question."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.errors import NotFoundError
from leaderboard.battles import SWAPPED, BattleTable, Winner
from leaderboard.stats import LEVEL, UNIT, Interval, bounds_json, effective_count, kish, mean_interval, wilson
from leaderboard.vocabulary import OVERALL

__all__ = ["Rate", "RateTable", "win_rates"]

Floats = NDArray[np.float64]
MAX_CELLS = 8
"""Maximum cells per battle of a dense table of counts; sparser tables are sorted."""
ROWS_AT_ONCE = 1 << 20
"""Rows per batch, to bound memory."""
Codes = NDArray[np.int64]
_Column = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One system's record in one domain, or overall; rates are shares, 0–1.

    Attributes:
        domain: Domain id, or `overall`: the micro-average over battles.
        battles: Number of battles: `wins` + `ties` + `losses`.
        win_interval: Wilson's interval of the win rate, on the effective number of battles.
        mean_score: Mean win share: `score`, or 1, ½, 0.
        standard_error: Standard error of `mean_score` for independent battles; None for one battle.
        clustered_error: Standard error of `mean_score`, clustered by question; None for one question.
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
        """Return the fields of `arena battles winrates` (docs/json.md)."""
        counts = {name: whole(getattr(self, name)) for name in ("battles", "wins", "ties", "losses")}
        return {
            "system": self.system,
            "domain": self.domain,
            **counts,
            "win_rate": self.win_rate,
            "win_tie_rate": self.win_tie_rate,
            **bounds_json(self.win_interval),
            "mean_score": self.mean_score,
            "standard_error": self.standard_error,
            **bounds_json(self.win_tie_interval, "win_tie_"),
            "clustered_error": self.clustered_error,
            **bounds_json(self.score_interval, "score_"),
            "questions": self.questions,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTable:
    """Rates of every system.

    Attributes:
        rows: Systems, best overall win rate first, each with `overall` and then its domains.
        unused: Number of battles without the reference.
    """

    rows: tuple[Rate, ...]
    reference: str | None
    clustered: bool
    unused: float

    def of(self, system: str, domain: str = OVERALL) -> Rate:
        """Return the rate of a system in a domain."""
        for row in self.rows:
            if row.system == system and row.domain == domain:
                return row
        message = f"No rate for {system} in {domain}."
        raise NotFoundError(message, advice="Use the names of the battle file.")

    def as_json(self) -> dict[str, object]:
        """Return the object that `arena battles winrates --json` prints."""
        return {
            "rows": [row.as_json() for row in self.rows],
            "reference": self.reference,
            "interval": "wilson on effective battles" if self.clustered else "wilson",
            "level": LEVEL,
            "unused": whole(self.unused),
        }


def win_rates(
    table: BattleTable, *, reference: str | None = None, by_domain: bool = True, clustered: bool = True
) -> RateTable:
    """Count wins, ties and losses of each system and bound their rates.

    Intervals are Wilson's: on all battles, or if `clustered` on the effective number of battles, which is
    smaller if battles share questions.

    Args:
        table: Judged battles; weights are counts of battles.
        reference: Count only battles against this opponent; None for all battles.
        by_domain: Add a row for each domain with battles, after `overall`.
        clustered: Cluster by question. Turn it off if question ids are unknown.

    Source: Han et al. (2024), section 6.3 (rates); docs/method/rates.md (intervals).
    """
    if table.score is not None or table.weight is not None:
        table = table.select(table.canonical())  # the last digits of sums depend on the order
    tallies, unused = _tallies(table, reference)
    met = np.zeros((len(table.systems),) * 2, dtype=bool)
    met[table.a, table.b] = met[table.b, table.a] = True
    # Of a pair's battles on one question each after the first may be a copy.
    pairs = met.sum(axis=1) if reference is None else np.ones(len(met), dtype=np.int64)
    whole_round = _merged(tallies, np.zeros_like(tallies.domain))
    rows = _rows(whole_round, (OVERALL,), table.systems, pairs, clustered=clustered)
    best = {row.system: (-row.win_rate, -row.win_tie_rate, row.system) for row in rows}
    if by_domain and table.domains != ("",):
        rows += _rows(tallies, table.domains, table.systems, pairs, clustered=clustered)
    order = {domain: index for index, domain in enumerate((OVERALL, *table.domains))}
    rows.sort(key=lambda row: (best[row.system], order[row.domain]))
    return RateTable(rows=tuple(rows), reference=reference, clustered=clustered, unused=unused)


def whole(value: float) -> int | float:
    """Convert a whole number of battles to an int."""
    return int(value) if float(value).is_integer() else value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tallies:
    """Weighted sums over the battles of each system, domain and question.

    The columns of `sums`: weight, won, not lost, win share, its square, square of the weights.
    """

    system: Codes
    domain: Codes
    question: Codes
    sums: Floats


def _tallies(table: BattleTable, reference: str | None) -> tuple[_Tallies, float]:
    cells = len(table.systems) * len(table.domains) * len(table.questions)
    if table.score is None and table.weight is None and cells <= MAX_CELLS * len(table):
        return _counted_tallies(table, reference)
    weight = np.ones(len(table)) if table.weight is None else table.weight
    from_a, from_b = _counting(table, reference)
    tied = table.winner == Winner.TIE

    def both(of_a: _Column, of_b: _Column) -> Floats:
        return np.concatenate([of_a[from_a], of_b[from_b]]).astype(np.float64)

    won = both(table.winner == Winner.A, table.winner == Winner.B)
    share = both(table.share, 1 - table.share)
    sums = np.column_stack([np.ones_like(share), won, won + both(tied, tied), share, share**2])
    weights = both(weight, weight)
    single = _Tallies(
        system=both(table.a, table.b).astype(np.int64),
        domain=both(table.domain, table.domain).astype(np.int64),
        question=both(table.question, table.question).astype(np.int64),
        sums=np.column_stack([sums * weights[:, None], weights**2]),
    )
    return _merged(single, single.domain), float(weight[~(from_a | from_b)].sum())


def _counted_tallies(table: BattleTable, reference: str | None) -> tuple[_Tallies, float]:
    code, battles = None if reference is None else _code_of(table, reference), len(table)
    if code is not None:
        table = table.select((table.a == code) | (table.b == code))
    domains = len(table.domains)
    occurs = np.zeros((domains, len(table.questions)), dtype=bool)
    occurs[table.domain, table.question] = True
    place = (np.cumsum(occurs.reshape(-1), dtype=np.int64) - 1).reshape(occurs.shape)
    units = int(occurs.sum())
    cells = len(table.systems) * units
    counts = np.zeros(cells * len(Winner), dtype=np.int64)
    for first in range(0, len(table), ROWS_AT_ONCE):
        rows = slice(first, first + ROWS_AT_ONCE)
        a, b, winner = table.a[rows], table.b[rows], table.winner[rows].astype(np.int64)
        unit = place[table.domain[rows], table.question[rows]]
        from_a, from_b = (b == code, a == code) if code is not None else (slice(None), slice(None))
        for side, from_side, outcome in ((a, from_a, winner), (b, from_b, SWAPPED[winner])):
            keys = ((side.astype(np.int64) * units + unit) * len(Winner) + outcome)[from_side]
            counts += np.bincount(keys, minlength=len(counts))
    by_cell = counts.reshape(cells, len(Winner))
    met = np.flatnonzero(by_cell.any(axis=1))
    won, lost, tied = by_cell[met].T.astype(np.float64)
    system, unit = np.divmod(met, units)
    domain, question = np.divmod(np.flatnonzero(occurs)[unit], len(table.questions))
    met_there = won + lost + tied
    sums = np.column_stack([met_there, won, won + tied, won + tied / 2, won + tied / 4, met_there])
    return _Tallies(system=system, domain=domain, question=question, sums=sums), float(battles - len(table))


def _merged(tallies: _Tallies, domain: Codes) -> _Tallies:
    questions = int(tallies.question.max(initial=0)) + 1
    domains = int(domain.max(initial=0)) + 1
    key = (tallies.system * domains + domain) * questions + tallies.question
    present, codes = _numbered(key, len(key))
    cell, question = np.divmod(present, questions)
    columns = [_sums(codes, column, len(present)) for column in tallies.sums.T]
    return _Tallies(
        system=cell // domains, domain=cell % domains, question=question, sums=np.column_stack(columns)
    )


def _counting(table: BattleTable, reference: str | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if reference is None:
        all_rows = np.ones(len(table), dtype=bool)
        return all_rows, all_rows
    code = _code_of(table, reference)
    return table.b == code, table.a == code


def _code_of(table: BattleTable, reference: str) -> int:
    if reference not in table.systems:
        message = f"No battle involves the reference {reference}."
        raise NotFoundError(message, advice=f"The systems are {', '.join(sorted(table.systems)[:20])}.")
    return table.systems.index(reference)


def _rows(
    tallies: _Tallies, domains: tuple[str, ...], systems: tuple[str, ...], pairs: Codes, *, clustered: bool
) -> list[Rate]:
    size = len(systems) * len(domains)
    cell = tallies.system * len(domains) + tallies.domain
    totals = np.column_stack([_sums(cell, column, size) for column in tallies.sums.T])
    weight = tallies.sums[:, 0]
    means = np.divide(totals, totals[:, :1], out=np.zeros_like(totals), where=totals[:, :1] > 0)
    residuals = tallies.sums - means[cell] * weight[:, None]
    squares = np.column_stack([_sums(cell, column**2, size) for column in residuals.T])
    questions = np.bincount(cell[weight > 0], minlength=size)
    counts = kish(totals[:, 0], totals[:, 5])
    effective_questions = kish(totals[:, 0], _sums(cell, weight**2, size))
    rates = []
    for index in np.flatnonzero(totals[:, 0] > 0).tolist():
        n, q = float(totals[index, 0]), int(questions[index])
        # Clustered by question, with the Q/(Q−1) factor.
        variances = squares[index] / n**2 * (q / (q - 1) if q > 1 else 0.0)
        spread = max(0.0, float(means[index, 4] - means[index, 3] ** 2))
        _, wins, not_lost, score, _, _ = (float(total) for total in totals[index])
        # Without questions a weight is a count of battles; with questions its scale has no meaning.
        independent = float(counts[index]) if clustered else n
        units = float(effective_questions[index])
        most = min(independent, units * int(pairs[index // len(domains)]))
        intervals = [
            wilson(
                count / n,
                effective_count(count / n, most, q, float(variances[column]), effective_questions=units)
                if clustered
                else independent,
            )
            for column, count in ((1, wins), (2, not_lost))
        ]
        plain = math.sqrt(spread / (independent - 1)) if independent > 1 else None
        error = math.sqrt(variances[3]) if q > 1 and clustered else None
        rates.append(
            Rate(
                system=systems[index // len(domains)],
                domain=domains[index % len(domains)],
                battles=n,
                wins=wins,
                ties=not_lost - wins,
                losses=n - not_lost,
                questions=q,
                win_rate=wins / n,
                win_tie_rate=not_lost / n,
                win_interval=intervals[0],
                win_tie_interval=intervals[1],
                mean_score=score / n,
                standard_error=plain,
                clustered_error=error,
                score_interval=mean_interval(score / n, error if clustered else plain, q, within=UNIT),
            )
        )
    return rates


def _numbered(key: Codes, rows: int) -> tuple[Codes, Codes]:
    size = int(key.max(initial=-1)) + 1
    if size > MAX_CELLS * max(rows, 1):
        present, codes = np.unique(key, return_inverse=True)
        return present, codes
    # Counting is much faster than sorting if most keys occur.
    occurs = np.zeros(size, dtype=bool)
    occurs[key] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[key]


def _sums(key: Codes, values: Floats, cells: int) -> Floats:
    return np.bincount(key, weights=values, minlength=cells).astype(np.float64)
