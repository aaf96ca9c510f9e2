"""Bounds that hold at every look, and tests that may stop: formulas, agreement, and simulated guarantees."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaderboard.trust.sequences import ERROR, SeparationTest, mean_bounds, question_scores

Floats = NDArray[np.float64]
GOLDEN = Path(__file__).parents[2] / "golden" / "ratings" / "sequences.json"


def wealth(values: list[float], mean: float, error: float) -> float:
    """The greatest wealth of a bet that the mean of values in 0–1 is above `mean`, value by value."""
    capital = best = 1.0
    total, square = 0.5, 0.25
    for place, value in enumerate(values, 1):
        stake = math.sqrt(2 * math.log(1 / error) / (square / place * place * math.log(1 + place)))
        capital *= 1 + min(stake, 0.5 / mean) * (value - mean)
        best = max(best, capital)
        total += value
        square += (value - total / (place + 1)) ** 2
    return best


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=40))
def test_bounds_are_where_a_bettor_who_counts_by_hand_wins(values: list[float]) -> None:
    """The lower bound is the least mean against which the plain loop's wealth stays below 1/error."""
    lower, upper = mean_bounds(np.array(values)[:, None], error=0.05, low=0.0, high=1.0)
    bound = float(lower[0])
    assert bound <= float(upper[0])
    if bound > 0:
        assert wealth(values, bound, 0.05) >= 20 * (1 - 1e-6)
    if bound < 1 - 1e-5:
        assert wealth(values, bound + 1e-5, 0.05) < 20
    mirrored = mean_bounds(1 - np.array(values)[:, None], error=0.05, low=0.0, high=1.0)
    assert float(mirrored[1][0]) == pytest.approx(1 - bound)


def test_nothing_is_known_before_the_first_value() -> None:
    """Without values, and with none but missing ones, the bounds are the ends of the scale."""
    for values in (np.zeros((0, 2)), np.full((5, 2), np.nan)):
        lower, upper = mean_bounds(values, error=0.025)
        assert lower.tolist() == [-1.0, -1.0]
        assert upper.tolist() == [1.0, 1.0]


@given(st.integers(0, 2**31))
@settings(max_examples=20)
def test_missing_values_count_for_nothing_and_bounds_never_widen(seed: int) -> None:
    """A column with gaps gives the bounds of the column without; more values never loosen a bound."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, 60)
    gaps = np.insert(values, [0, 10, 10, 50], np.nan)
    for one, two in zip(
        mean_bounds(values[:, None], error=0.025), mean_bounds(gaps[:, None], error=0.025), strict=True
    ):
        assert one == pytest.approx(two)
    looks = [mean_bounds(values[:count, None], error=0.025) for count in (10, 30, 60)]
    assert sorted(float(lower[0]) for lower, _ in looks) == [float(lower[0]) for lower, _ in looks]
    assert sorted(-float(upper[0]) for _, upper in looks) == [-float(upper[0]) for _, upper in looks]


@settings(max_examples=20)
@given(st.integers(0, 2**31))
def test_the_test_that_forgets_says_what_the_bounds_say(seed: int) -> None:
    """Question by question, a bet is won exactly where the bounds of the differences rule out 0."""
    rng = np.random.default_rng(seed)
    scores = np.clip(rng.random((120, 4)) * 0.6 + np.array([0.4, 0.2, 0.1, 0.0]), 0, 1)
    scores[rng.random(scores.shape) < 0.1] = np.nan
    test = SeparationTest.of(4, error=ERROR / 4)
    for row in scores:
        test.add(row)
    gaps = (scores[:, :, None] - scores[:, None, :]).reshape(len(scores), -1)
    lower, _ = mean_bounds(gaps, error=ERROR / 4)
    assert test.won.tolist() == (lower.reshape(4, 4) > 0).tolist()


def test_scores_are_mean_shares_and_a_battle_without_a_verdict_takes_both_sides_out() -> None:
    """A system's score is the mean of its shares; the side −1 (the reference) has none."""
    scores = question_scores(
        np.array([0, 0, 1, 1]),
        (np.array([0, 0, 0, 1]), np.array([1, -1, 1, -1])),
        np.array([1.0, 0.5, 0.0, 1.0]),
        np.array([False, False, False, True]),
        (3, 2),
    )
    assert scores[0].tolist() == [0.75, 0.0]
    assert scores[1, 0] == 0.0
    assert np.isnan(scores[1, 1])
    assert np.isnan(scores[2]).all()


def test_golden_bounds() -> None:
    """The bounds of fixed values stay as they were checked."""
    values = np.random.default_rng(1).choice(
        [-1.0, -0.5, 0.0, 0.5, 1.0], (200, 3), p=[0.1, 0.2, 0.2, 0.3, 0.2]
    )
    lower, upper = mean_bounds(values, error=0.025)
    expected = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert lower.tolist() == pytest.approx(expected["lower"], abs=1e-6)
    assert upper.tolist() == pytest.approx(expected["upper"], abs=1e-6)


def differences(rng: np.random.Generator, runs: int, questions: int) -> tuple[Floats, list[float]]:
    """(questions, runs) differences of several shapes, with their true means."""
    shapes = [
        (np.array([-1.0, 0.0, 1.0]), np.array([0.3, 0.4, 0.3])),
        (np.array([-1.0, 1.0]), np.array([0.1, 0.9])),
        (np.array([-0.5, 0.0, 0.5]), np.array([0.05, 0.9, 0.05])),
        (np.array([-1.0, 0.1]), np.array([0.02, 0.98])),
    ]
    columns, means = [], []
    for run in range(runs):
        support, chance = shapes[run % len(shapes)]
        columns.append(rng.choice(support, questions, p=chance))
        means.append(float(support @ chance))
    return np.stack(columns, axis=1), means


@pytest.mark.slow
def test_sequences_cover_at_every_look() -> None:
    """Of 2,000 sequences of 1,000 questions at least 95 % cover at all looks, less the simulation's error."""
    values, means = differences(np.random.default_rng(7), 2000, 1000)
    lower, upper = mean_bounds(values, error=ERROR / 2)
    # The bounds after the last value are the tightest of all looks: who covers there has always covered.
    covered = (lower <= np.array(means)) & (np.array(means) <= upper)
    assert covered.mean() >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / len(means))


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.0, 0.03])
def test_a_leader_is_wrongly_called_separated_in_at_most_5_per_cent(gap: float) -> None:
    """Over 400 rounds with a tie at the top, or a truly best system, at most 5 % ever name a wrong leader."""
    rounds, questions, systems = 400, 800, 5
    strength = np.array([0.5 + gap, 0.5, 0.5, 0.45, 0.3])
    wrong = 0
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        easy = rng.normal(0, 0.1, (questions, 1))
        scores = (rng.random((questions, systems)) < np.clip(strength + easy, 0, 1)).astype(float)
        test = SeparationTest.of(systems, error=ERROR / systems)
        for row in scores:
            test.add(row)
            leader = test.leader()
            if leader is not None:
                wrong += gap == 0.0 or leader != 0
                break
    assert wrong / rounds <= ERROR + 3 * math.sqrt(ERROR * (1 - ERROR) / rounds)


@pytest.mark.slow
def test_a_fixed_interval_looked_at_every_time_errs_far_more_often() -> None:
    """What the sequences are for: looking at fixed 95 % intervals after every question errs in over 20 %."""
    values, _ = differences(np.random.default_rng(11), 400, 1000)
    values = values[:, ::4]
    count = np.arange(1, len(values) + 1)[:, None]
    mean = np.cumsum(values, axis=0) / count
    spread = np.sqrt(np.maximum(np.cumsum(values**2, axis=0) / count - mean**2, 1e-9) / count)
    erred = (np.abs(mean) > 1.96 * spread)[20:].any(axis=0)
    assert erred.mean() > 0.2
