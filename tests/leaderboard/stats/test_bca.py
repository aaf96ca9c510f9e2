"""Intervals of mean scores: bias-corrected and accelerated, over questions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from leaderboard.standings.answer_stats import AnswerFact, mean_score
from leaderboard.stats import bca_mean

SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_is_that_of_another_implementation(seed: int) -> None:
    values = np.random.default_rng(seed).beta(1, 4, 60)
    ours = bca_mean(values, np.ones(60))
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="BCa", rng=np.random.default_rng(seed)
    ).confidence_interval
    assert ours is not None
    width = theirs.high - theirs.low
    assert ours.lower == pytest.approx(theirs.low, abs=0.04 * width)
    assert ours.upper == pytest.approx(theirs.high, abs=0.04 * width)


@given(SHARES)
def test_the_interval_holds_the_bounds_of_the_scores(shares: list[float]) -> None:
    found = bca_mean(np.array(shares), np.ones(len(shares)))
    assert found is not None
    low, high = (0.0, 1.0) if len(set(shares)) == 1 else (min(shares), max(shares))
    assert low <= found.lower <= found.upper <= high


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_equal_scores_are_as_sure_as_a_share_of_so_many_questions(value: float) -> None:
    facts = [AnswerFact(question=f"q{n}", domain="d", words=1, scores={"m": value}) for n in range(9)]
    found = mean_score(facts, "m")
    lower, upper = proportion_confint(value * 9, 9, method="wilson")
    assert found.interval is not None
    assert found.interval.as_json() == pytest.approx([lower, upper])
    assert bca_mean(np.full(9, 70.0), np.ones(9)) is None


def test_answers_to_one_question_are_resampled_together() -> None:
    once = [AnswerFact(question=f"q{n}", domain="d", words=1, scores={"m": n % 4 / 3}) for n in range(20)]
    assert mean_score(once * 2, "m").interval == mean_score(once, "m").interval
    assert mean_score(once[:1], "m").interval is None


@pytest.mark.long
def test_equal_scores_give_equal_intervals_whatever_the_order() -> None:
    values = np.random.default_rng(5).random(6_000)
    assert bca_mean(values, np.ones(6_000)) == bca_mean(values.copy(), np.ones(6_000))
