"""Cascades keep the agreement that they promise, and say when they cannot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from data.errors import InputError
from leaderboard.sampling.cascade import (
    Cascade,
    confidence_of_margins,
    confidence_of_orders,
    confidence_of_shares,
    confidence_of_votes,
    set_cascade,
)

# How often judges agree at a confidence of 0 … 1: rising, flat below the level, and best in the middle.
WORLDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rising": lambda sure: 0.6 + 0.39 * sure,
    "just below": lambda sure: np.full(len(sure), 0.895),
    "overconfident": lambda sure: 0.97 - 0.35 * np.abs(sure - 0.5),
    "steps": lambda sure: np.where(sure > 0.8, 0.97, np.where(sure > 0.4, 0.91, 0.55)),
}


def set_on(seed: int, world: str, labels: int, cluster: int = 1) -> tuple[Cascade, float]:
    """A threshold set on a random sample, and how often the judges truly agree above it."""
    random = np.random.default_rng(seed)
    population = random.random(3000)
    rate = WORLDS[world](population)
    chosen = random.permutation(3000)[:labels]
    # Pairs on one question share luck: the same uniform number decides half of them.
    question = np.arange(labels) // cluster
    shared = random.random(labels)[question]
    luck = np.where(random.random(labels) < (0.5 if cluster > 1 else 0.0), shared, random.random(labels))
    agrees = (luck < rate[chosen]).astype(float)
    names = [f"q{n}" for n in question] if cluster > 1 else None
    cascade = set_cascade(population, population[chosen], agrees, level=0.9, questions=names)
    above = ~cascade.escalates(population)
    return cascade, float(rate[above].mean()) if above.any() else 1.0


def test_a_promise_is_kept_where_confidences_are_few() -> None:
    """Votes and orders know few confidences, and many abstentions; the promise holds among these too."""
    rates, broken = {0.0: 0.6, 0.5: 0.87, 1.0: 0.96}, 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        population = random.choice([0.0, 0.5, 1.0, np.nan], 2000, p=[0.2, 0.3, 0.3, 0.2])
        rate = np.array([rates.get(sure, 0.5) for sure in population])
        chosen = random.permutation(2000)[:250]
        agrees = (random.random(250) < rate[chosen]).astype(float)
        cascade = set_cascade(population, population[chosen], agrees, level=0.9)
        above = ~cascade.escalates(population)
        broken += bool(above.any() and rate[above].mean() < 0.9)
    assert broken / 200 <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)


def violations(world: str, labels: int, repeats: int, cluster: int = 1) -> float:
    """Part of the samples whose threshold agrees less often than promised."""
    return float(np.mean([set_on(seed, world, labels, cluster)[1] < 0.9 for seed in range(repeats)]))


@pytest.mark.parametrize("world", list(WORLDS))
def test_a_cascade_keeps_its_promise(world: str) -> None:
    """In at most 5 % of samples (and noise) the judges agree less often than promised."""
    assert violations(world, 300, 200) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)


@pytest.mark.slow
@pytest.mark.parametrize("world", list(WORLDS))
def test_a_cascade_keeps_its_promise_over_many_samples(world: str) -> None:
    """The same with independent pairs, closely, and with five pairs on each question."""
    assert violations(world, 300, 4000) <= 0.057
    assert violations(world, 500, 2000, cluster=5) <= 0.06


def test_a_good_cheap_judge_decides_a_part() -> None:
    """Where judges agree more the surer the cheap one is, it decides some battles, and not all."""
    cascade, truth = set_on(1, "steps", 1500)
    assert cascade.threshold is not None
    assert truth >= 0.9
    assert 0.2 < cascade.escalated < 0.7
    assert cascade.lower is not None
    assert cascade.lower >= 0.9
    assert "go to the expensive judge" in str(cascade)


def test_a_level_out_of_reach_sends_everything_on() -> None:
    """With judges that agree in half the cases no threshold is set, and it is said so."""
    random = np.random.default_rng(3)
    sure = random.random(500)
    cascade = set_cascade(sure, sure, (random.random(500) < 0.5).astype(float), level=0.9)
    assert (cascade.threshold, cascade.escalated) == (None, 1.0)
    assert cascade.escalates(sure).all()
    assert str(cascade).startswith("No threshold promises 90% agreement")


def test_too_few_labels_promise_nothing() -> None:
    """Ten pairs cannot confirm 95 % agreement, even where all agree."""
    cascade = set_cascade(np.linspace(0, 1, 99), np.ones(10), np.ones(10), level=0.95)
    assert (cascade.threshold, cascade.agreement) == (None, None)
    assert "10 pairs that both judged are too few" in str(cascade)


def test_abstentions_go_on_and_are_counted() -> None:
    """A battle without a confidence is never the cheap judge's; pairs without a label are left out."""
    sure = np.where(np.arange(400) % 4 == 0, np.nan, np.linspace(0.5, 1, 400))
    agrees = np.where(np.arange(400) % 40 == 1, np.nan, 1.0)
    cascade = set_cascade(sure, sure, agrees, level=0.9)
    assert cascade.threshold is not None
    assert (cascade.abstained, cascade.unreadable, cascade.labelled) == (100, 10, 290)
    assert cascade.escalates(sure)[::4].all()
    assert cascade.escalated == pytest.approx(0.25)


@given(st.integers(40, 200), st.integers(0, 30))
@settings(max_examples=30, deadline=None)
def test_the_bound_is_clopper_and_pearsons(pairs: int, wrong: int) -> None:
    """With one confidence for all, the bound is the exact one-sided one of a fifth of the 5 %."""
    agrees = np.ones(pairs)
    agrees[:wrong] = 0
    cascade = set_cascade(np.ones(pairs), np.ones(pairs), agrees, level=0.5)
    exact = binomtest(pairs - wrong, pairs, alternative="greater").proportion_ci(1 - 0.05 / 5, "exact").low
    assert cascade.lower == pytest.approx(exact)


def test_pairs_that_share_questions_count_for_less() -> None:
    """The same pairs promise less where ten at a time share a question and its luck."""
    agrees = np.repeat(np.arange(60) % 10 > 0, 10).astype(float)
    sure = np.ones(600)
    apart = set_cascade(sure, sure, agrees, level=0.8)
    shared = set_cascade(sure, sure, agrees, level=0.8, questions=[str(n // 10) for n in range(600)])
    assert apart.lower is not None
    assert shared.lower is not None
    assert shared.lower < apart.lower - 0.03


def test_confidences_are_alike_for_both_sides() -> None:
    """Naming the sides the other way round changes no confidence; a turned verdict has none."""
    shares = np.array([0.0, 0.3, 0.5, 1.0, np.nan])
    assert confidence_of_shares(shares) == pytest.approx([1.0, 0.4, 0.0, 1.0, np.nan], nan_ok=True)
    assert confidence_of_shares(1 - shares) == pytest.approx(confidence_of_shares(shares), nan_ok=True)
    assert confidence_of_margins(np.array([-2.0, 0.0, 2.0])) == pytest.approx([0.7616, 0.0, 0.7616], abs=1e-4)
    both = confidence_of_orders(np.array([0.9, 0.9, 0.5]), np.array([0.8, 0.2, 0.8]))
    assert both == pytest.approx([0.7, 0.0, 0.3])
    votes = confidence_of_votes(np.array([3.0, 1, 0]), np.array([0.0, 1, 0]), np.array([1.0, 0, 0]))
    assert votes == pytest.approx([0.5, 0.0, np.nan], nan_ok=True)


def test_impossible_levels_are_refused() -> None:
    """A promise of certainty, lost labels and empty rounds are errors."""
    with pytest.raises(InputError, match=r"agreement of 1\.0"):
        set_cascade(np.ones(3), np.ones(3), np.ones(3), level=1.0)
    with pytest.raises(InputError, match="2 labels"):
        set_cascade(np.ones(3), np.ones(3), np.ones(2), level=0.9)
    with pytest.raises(InputError, match="0 battles"):
        set_cascade(np.empty(0), np.ones(3), np.ones(3), level=0.9)
