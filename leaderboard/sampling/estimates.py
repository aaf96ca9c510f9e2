"""What a board says where a judge decided some battles and the rest is estimated: rates, ratings, gain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from data.intervals import Interval, bounds_json
from leaderboard.battles import BattleTable, Winner
from leaderboard.rates import Rate, RateTable, win_rates
from leaderboard.sampling.asks import Ask, widths_of
from leaderboard.sampling.powered import LEAST_GAIN, Powered
from leaderboard.sampling.waves import WaveState, scores_of
from leaderboard.stats.intervals import UNIT, cluster_variance, mean_interval
from leaderboard.vocabulary import OVERALL

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Estimates:
    """Every planned battle with unbiased scores, of which some were judged.

    Attributes:
        powered: Shares of the win: the table to rate; its gain is of what was asked.
        won: (N,) scores of "side a won".
        not_lost: (N,) scores of "side a won or tied".
        judged: The judged battles alone, as they ended.
    """

    powered: Powered
    won: Floats
    not_lost: Floats
    judged: BattleTable

    def rates(self, reference: str | None) -> RateTable:
        """Rates of every system, overall and by domain; counts are of judged battles alone.

        Wins, ties and losses count what was judged; rates and mean scores are estimates of all battles, with
        t intervals over questions, and kept within 0–1.
        """
        known = reference if reference in self.judged.systems else None
        counted = win_rates(self.judged, reference=known)
        counts = {(row.system, row.domain): row for row in counted.rows}
        table = self.powered.table
        rows = [
            row
            for domain in (OVERALL, *(table.domains if table.domains != ("",) else ()))
            for system in table.systems
            if (row := self._rate(system, domain, reference, counts.get((system, domain)))) is not None
        ]
        best = {
            row.system: (-row.win_rate, -row.win_tie_rate, row.system)
            for row in rows
            if row.domain == OVERALL
        }
        order = {domain: place for place, domain in enumerate((OVERALL, *table.domains))}
        rows.sort(key=lambda row: (best[row.system], order[row.domain]))
        return replace(counted, rows=tuple(rows), reference=reference)

    def _rate(self, system: str, domain: str, reference: str | None, counts: Rate | None) -> Rate | None:
        table = self.powered.table
        code = table.systems.index(system)
        at_a, at_b = table.a == code, table.b == code
        if reference is not None:
            opponent = table.systems.index(reference)
            at_a, at_b = at_a & (table.b == opponent), at_b & (table.a == opponent)
        if domain != OVERALL:
            inside = table.domain == table.domains.index(domain)
            at_a, at_b = at_a & inside, at_b & inside
        if not (at_a.any() or at_b.any()):
            return None
        question = np.concatenate([table.question[at_a], table.question[at_b]])
        means = [
            _mean(np.concatenate([of_a[at_a], 1 - of_b[at_b]]), question)
            for of_a, of_b in (
                (self.won, self.not_lost),
                (self.not_lost, self.won),
                (table.share, table.share),
            )
        ]
        (won, _), (not_lost, _), (score, error) = means
        intervals = [_bounded(value, spread, question) for value, spread in means]
        return Rate(
            system=system,
            domain=domain,
            battles=0.0 if counts is None else counts.battles,
            wins=0.0 if counts is None else counts.wins,
            ties=0.0 if counts is None else counts.ties,
            losses=0.0 if counts is None else counts.losses,
            questions=len(np.unique(question)),
            win_rate=_within(won),
            win_tie_rate=_within(not_lost),
            win_interval=intervals[0],
            win_tie_interval=intervals[1],
            mean_score=_within(score),
            standard_error=None,
            clustered_error=error,
            score_interval=intervals[2],
        )


def estimated(state: WaveState, judged: BattleTable, winners: NDArray[np.int8], ask: Ask) -> Estimates:
    """Estimate every planned battle from proxy shares and a judged sample.

    Args:
        state: The round so far.
        judged: The judged battles as they ended.
        winners: (N,) codes of `Winner`, of judged battles.
        ask: What the round is asked, by which the gain is taken.

    Raises:
        StatisticsError: Fewer than ten verdicts, or no two systems meet.
    """
    asked = widths_of(scores_of(state).table, ask).asked
    powered = scores_of(state, tuple(width.contrast for width in asked))

    def scored(value: NDArray[np.bool_]) -> Floats:
        said = np.where(state.judged, value.astype(np.float64), np.nan)
        return scores_of(replace(state, verdicts=said)).table.share

    return Estimates(
        powered=powered,
        won=scored(winners == Winner.A),
        not_lost=scored(winners != Winner.B),
        judged=judged,
    )


def section(estimates: Estimates, facts: Mapping[str, object]) -> dict[str, object]:
    """The part `estimated` of a board's JSON: what was judged, what proxy judges were worth, and facts."""
    powered = estimates.powered
    return {
        "judged": len(estimates.judged),
        "battles": len(powered.table),
        "gain": powered.gain,
        **bounds_json(powered.gain_interval, "gain_"),
        "pays": powered.gain >= LEAST_GAIN,
        **facts,
    }


def _mean(values: Floats, question: NDArray[np.int32]) -> tuple[float, float | None]:
    """A mean and its standard error, clustered by question."""
    mean = float(values.mean())
    _, codes = np.unique(question, return_inverse=True)
    sums = np.bincount(codes, values - mean).astype(np.float64)
    variance = cluster_variance(sums, len(values))
    return mean, None if variance is None else math.sqrt(variance)


def _bounded(value: float, error: float | None, question: NDArray[np.int32]) -> Interval | None:
    return mean_interval(value, error, len(np.unique(question)), within=UNIT)


def _within(value: float) -> float:
    return min(1.0, max(0.0, value))
