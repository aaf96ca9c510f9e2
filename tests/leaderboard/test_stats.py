from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest, t
from statsmodels.stats.proportion import proportion_confint

from leaderboard.battles import BattleTable
from leaderboard.paired import paired_shares
from leaderboard.rates import Rate, win_rates
from leaderboard.standings.answer_stats import AnswerFact, mean_scores
from leaderboard.stats import Interval, bca_means, wilson
from tests.battle_tables import encoded


def table_of(questions: list[int], won: list[bool], weights: list[float] | None = None) -> BattleTable:
    rows = zip(questions, won, strict=True)
    table = encoded([(f"q{at}", "d", "a", "b", "model_a" if is_win else "model_b") for at, is_win in rows])
    return replace(table, weight=None if weights is None else np.array(weights))


def ends(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.lower, interval.upper


def rate_of(table: BattleTable) -> Rate:
    return win_rates(table).of("a")


@pytest.mark.parametrize("scale", [1e-6, 0.01, 0.1, 0.5, 7.0, 1e6])
def test_intervals_of_rates_do_not_depend_on_scale_of_weights(scale: float) -> None:
    rng = np.random.default_rng(2)
    questions = [at // 3 for at in range(180)]
    won = (rng.random(180) < 0.6).tolist()
    weights = rng.lognormal(0, 1, 180)
    plain = rate_of(table_of(questions, won, weights.tolist()))
    scaled = rate_of(table_of(questions, won, (weights * scale).tolist()))
    for name in ("win_interval", "win_tie_interval", "score_interval"):
        assert ends(getattr(plain, name)) == pytest.approx(ends(getattr(scaled, name)), rel=1e-6)
    assert plain.standard_error == pytest.approx(scaled.standard_error)


def test_skewed_weights_use_kishs_effective_size() -> None:
    rng = np.random.default_rng(4)
    weights = rng.lognormal(0, 2, 60)
    weights /= weights.mean()
    won = rng.random(60) < 0.55
    row = rate_of(table_of(list(range(60)), won.tolist(), weights.tolist()))
    mean = float(weights @ won / weights.sum())
    residuals = weights * (won - mean)
    variance = residuals @ residuals / weights.sum() ** 2 * 60 / 59
    half = t.ppf(0.975, 59) * np.sqrt(variance)
    assert ends(row.score_interval) == pytest.approx((max(0, mean - half), min(1, mean + half)), abs=1e-9)
    count = mean * (1 - mean) / variance * (1.959964 / t.ppf(0.975, 59)) ** 2
    kish = weights.sum() ** 2 / (weights @ weights)
    exact = wilson(mean, min(count, kish))
    assert ends(row.win_interval) == pytest.approx(ends(exact), abs=0.01)
    assert kish < 30


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), skew=st.floats(0, 2))
def test_score_interval_equals_brute_force_cluster_robust_interval(seed: int, skew: float) -> None:
    rng = np.random.default_rng(seed)
    questions = rng.integers(0, 12, 60)
    weights, won = rng.lognormal(0, skew, 60), rng.random(60) < 0.5
    row = rate_of(table_of(questions.tolist(), won.tolist(), weights.tolist()))
    mean = weights @ won / weights.sum()
    sums = [(weights * (won - mean))[questions == question].sum() for question in np.unique(questions)]
    count = len(sums)
    half = t.ppf(0.975, count - 1) * np.sqrt(np.square(sums).sum() * count / (count - 1)) / weights.sum()
    assert ends(row.score_interval) == pytest.approx((max(0, mean - half), min(1, mean + half)), abs=1e-9)


@pytest.mark.parametrize("questions", [2, 3, 5, 12])
def test_unanimous_questions_give_wilsons_interval(questions: int) -> None:
    numbers = [at % questions for at in range(20 * questions)]
    row = rate_of(table_of(numbers, [True] * len(numbers)))
    exact = ends(wilson(1.0, questions))
    assert ends(row.score_interval) == pytest.approx(exact)
    assert ends(row.win_interval) == pytest.approx(exact)


@pytest.mark.parametrize("questions", range(2, 12))
def test_unanimous_differences_use_sign_test(questions: int) -> None:
    share = paired_shares(table_of(list(range(questions)), [True] * questions), "a", "b")[0]
    lower, upper = ends(share.interval)
    assert share.difference == 1
    assert lower < 1 == upper
    assert share.significant is bool(binomtest(questions, questions).pvalue < 0.05)


SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@pytest.mark.parametrize("seed", range(3))
def test_bca_interval_agrees_with_scipy(seed: int) -> None:
    values = np.random.default_rng(seed).beta(1, 4, 60)
    (ours,) = bca_means([(values, np.ones(60))])
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="BCa", rng=np.random.default_rng(seed)
    ).confidence_interval
    assert ours is not None
    width = theirs.high - theirs.low
    assert ours.lower == pytest.approx(theirs.low, abs=0.04 * width)
    assert ours.upper == pytest.approx(theirs.high, abs=0.04 * width)


@given(SHARES)
def test_bca_interval_stays_within_scores(shares: list[float]) -> None:
    (result,) = bca_means([(np.array(shares), np.ones(len(shares)))])
    assert result is not None
    low, high = (0.0, 1.0) if len(set(shares)) == 1 else (min(shares), max(shares))
    assert low <= result.lower <= result.upper <= high


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_equal_scores_give_wilsons_interval(value: float) -> None:
    facts = [AnswerFact(question=f"q{n}", domain="d", words=1, scores={"m": value}) for n in range(9)]
    result = next(mean_scores([(facts, "m", ())]))
    lower, upper = proportion_confint(value * 9, 9, method="wilson")
    assert result.interval is not None
    assert result.interval.as_json() == pytest.approx([lower, upper])
    assert bca_means([(np.full(9, 70.0), np.ones(9))]) == [None]


def test_answers_to_one_question_are_resampled_together() -> None:
    once = [AnswerFact(question=f"q{n}", domain="d", words=1, scores={"m": n % 4 / 3}) for n in range(20)]
    assert next(mean_scores([(once * 2, "m", ())])).interval == next(mean_scores([(once, "m", ())])).interval
    assert next(mean_scores([(once[:1], "m", ())])).interval is None
