"""Boards of rounds in waves: what is estimated of battles, what proxy judges are worth, expected widths."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from leaderboard.battles import BattleTable
from leaderboard.rates import win_rates
from leaderboard.sampling.adaptive import NextBattles
from leaderboard.sampling.asks import Ask, widths_of
from leaderboard.sampling.estimates import estimated
from leaderboard.sampling.forecast import correlation, verdict_counts, width_curve
from leaderboard.sampling.powered import LEAST_GAIN
from leaderboard.sampling.waves import WavePlan, WaveState, next_wave
from tests.sampled_rounds import after_wave, begin

Floats = NDArray[np.float64]
SYSTEMS, QUESTIONS = 4, 60


def _round(seed: int, likeness: float = 0.8) -> tuple[BattleTable, BattleTable, Floats]:
    """Every pair on every question: planned with proxy shares, as judged, and the verdicts."""
    random = np.random.default_rng(seed)
    pairs = list(combinations(range(SYSTEMS), 2))
    question = np.repeat(np.arange(QUESTIONS), len(pairs))
    a, b = (np.tile([pair[side] for pair in pairs], QUESTIONS) for side in (0, 1))
    quality = np.linspace(0.6, -0.6, SYSTEMS) + random.normal(0, 1, (QUESTIONS, SYSTEMS))
    margin = quality[question, a] - quality[question, b]
    cheap = 1 / (1 + np.exp(-likeness * margin - (1 - likeness) * random.normal(0, 2, len(a))))
    winner = np.where(np.abs(margin) < 0.3, 2, np.where(margin > 0, 0, 1))
    judged = BattleTable(
        systems=tuple(f"s{n}" for n in range(SYSTEMS)),
        questions=tuple(f"q{n:02}" for n in range(QUESTIONS)),
        domains=("x", "y"),
        a=a.astype(np.int32),
        b=b.astype(np.int32),
        winner=winner.astype(np.int8),
        question=question.astype(np.int32),
        domain=(question % 2).astype(np.int32),
    )
    return replace(judged, score=cheap), judged, judged.share


def _judged(planned: BattleTable, verdicts: Floats, seed: int, size: int, ask: str) -> WaveState:
    """A round with so many verdicts, drawn in waves for what is asked."""
    state = begin(planned)
    plan = WavePlan(ask=Ask.parse(ask), cap=size, seed=seed)
    while isinstance(following := next_wave(plan, state), NextBattles):
        state = after_wave(state, following, verdicts[following.chosen])
    return state


@pytest.mark.long
def test_estimates_are_right_on_average() -> None:
    """Over many draws of one round the estimated rates average to those of all verdicts."""
    planned, judged, verdicts = _round(3)
    truth = {row.system: row for row in win_rates(judged, by_domain=False).rows}
    gaps = []
    for seed in range(40):
        state = _judged(planned, verdicts, 100 * seed, 120, "leaders")
        estimates = estimated(state, judged.select(state.judged), judged.winner, Ask.parse("leaders"))
        rows = [row for row in estimates.rates(None).rows if row.domain == "overall"]
        gaps.append(
            [
                (row.win_rate - truth[row.system].win_rate, row.win_tie_rate - truth[row.system].win_tie_rate)
                for row in sorted(rows, key=lambda row: row.system)
            ]
        )
        assert sum(row.battles for row in rows) == 240
    errors = np.array(gaps)
    # Four standard errors of a mean of so many draws.
    assert (np.abs(errors.mean(axis=0)) < 4 * errors.std(axis=0) / np.sqrt(len(errors))).all()


def test_a_gain_below_the_threshold_does_not_pay() -> None:
    """A proxy judge of coin tosses is worth nothing, and one that agrees is worth something."""
    planned, judged, verdicts = _round(4, likeness=0.95)
    random = np.random.default_rng(0)
    coins = replace(planned, score=random.random(len(judged)))
    good, bad = (
        estimated(state, judged.select(state.judged), judged.winner, Ask.parse("ranking")).powered
        for state in (_judged(table, verdicts, 5, 200, "ranking") for table in (planned, coins))
    )
    assert good.gain > bad.gain
    assert good.gain >= LEAST_GAIN
    assert good.gain_interval.lower < good.gain < good.gain_interval.upper


def test_expected_widths_fall_with_verdicts_and_with_correlation() -> None:
    """More verdicts and better proxy judges make intervals narrower; with all verdicts they make no odds."""
    _, judged, _ = _round(7)
    curve = width_curve(
        Ask.parse("pair:s0,s3"),
        judged,
        battles=len(judged),
        counts=verdict_counts(len(judged), 120),
        correlations=(0.0, 0.5, 0.9),
        seed=0,
    )
    assert [point.verdicts for point in curve] == [50, 100, 120, 200, 360]
    plain = [point.plain for point in curve if point.plain is not None]
    assert len(plain) == 5
    assert plain[0] > plain[-1]
    for point in curve:
        none, some, much = (width for width in point.widths if width is not None)
        assert none == pytest.approx(point.plain)
        assert none >= some >= much
    assert curve[-1].widths[2] == pytest.approx(curve[-1].plain)
    assert curve[-1].plain == pytest.approx(widths_of(judged, Ask.parse("pair:s0,s3")).widest)
    assert correlation(judged.share, judged.share) == pytest.approx(1)
    assert correlation(judged.share[:5], judged.share[:5]) is None
