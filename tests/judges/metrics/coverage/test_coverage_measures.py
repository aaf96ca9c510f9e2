"""Shares, ICAT_β and correlations with intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from data.errors import RecordError, StatisticsError
from judges.metrics.coverage.correlation import Coefficient, coefficient, correlate, correlate_systems
from judges.metrics.coverage.measures import icat, share
from tests.narrow import known

SCORES = st.floats(0, 1)
DUC = """
44.4 35.8  52.1 41.7  49.0 41.0  45.6 36.4  42.7 33.8  44.2 36.5  49.0 38.4  49.3 39.9  49.4 39.2  50.7 37.9
53.2 40.7  52.8 41.1  51.5 40.6  51.1 40.6  50.4 41.2  52.0 43.9  53.8 44.6  53.6 44.3  49.6 42.5  56.6 44.4
51.9 43.3
"""


@pytest.mark.parametrize(
    ("factuality", "coverage", "beta", "expected"),
    [
        (0.8, 0.4, 1, 0.533333),
        (0.8, 0.4, 2, 0.444444),
        (0.8, 0.4, 0.5, 0.666667),
        (0, 0, 1, 0),
        (1, 1, 3, 1),
        (0, 1, 1, 0),
    ],
)
def test_icat_is_the_weighted_harmonic_mean(
    factuality: float, coverage: float, beta: float, expected: float
) -> None:
    """The numbers of the issue; β above 1 leans to coverage, below 1 to factuality."""
    assert icat(factuality, coverage, beta) == pytest.approx(expected, abs=5e-7)


@given(SCORES, SCORES, st.floats(0.01, 100))
def test_icat_lies_between_its_two_scores(factuality: float, coverage: float, beta: float) -> None:
    """A harmonic mean is never below the lesser nor above the greater of the two."""
    found = icat(factuality, coverage, beta)
    assert found is not None
    assert min(factuality, coverage) - 1e-9 <= found <= max(factuality, coverage) + 1e-9


def test_what_is_undefined_stays_undefined() -> None:
    """No claims or no aspects: no share and no mean, neither 0 nor 1."""
    assert share(0, 0) is None
    assert icat(None, 0.5) is None
    assert icat(None, 0.0) == 0.0
    assert icat(0.5, None) is None


@pytest.mark.parametrize("beta", [0, -1, float("nan"), float("inf")])
def test_a_beta_that_weighs_nothing_is_refused(beta: float) -> None:
    """β is a positive number."""
    with pytest.raises(RecordError, match="β"):
        icat(0.5, 0.5, beta)


def test_scores_off_the_scale_are_refused() -> None:
    """A share is a part of its whole and a score lies within 0 and 1."""
    with pytest.raises(RecordError):
        share(3, 2)
    with pytest.raises(RecordError):
        icat(1.2, 0.5)


def test_the_papers_table_gives_its_rank_correlation() -> None:
    """From the rounded columns of CRUX's Table 1 (DUC), tau is the printed 0.676 but for the rounding."""
    printed = [float(number) for number in DUC.split()]
    found = correlate(printed[::2], printed[1::2], resamples=200)[Coefficient.KENDALL]
    assert found.value == pytest.approx(0.676, abs=0.01)
    assert found.lower is not None
    assert found.upper is not None
    assert found.value is not None
    assert 0.3 < found.lower < found.value < found.upper <= 1


def test_monotone_scores_correlate_fully() -> None:
    """Rank correlations are 1 for any increasing relation, −1 for a decreasing one."""
    x = [1, 2, 3, 4, 5, 6]
    up, down = correlate(x, [value**3 for value in x]), correlate(x, [-value for value in x])
    assert up[Coefficient.SPEARMAN].value == pytest.approx(1)
    assert up[Coefficient.KENDALL].value == pytest.approx(1)
    assert known(up[Coefficient.PEARSON].value) < 1
    assert all(found.value == pytest.approx(-1) for found in down.values())


def test_constant_scores_have_no_correlation() -> None:
    """Where one side never varies the correlation is undefined, without a warning."""
    assert all(found.value is None for found in correlate([1, 1, 1, 1], [1, 2, 3, 4]).values())
    assert all(found.lower is None for found in correlate([1, 2], [1, 2]).values())
    assert correlate([], [])[Coefficient.PEARSON].things == 0


def test_answers_to_one_question_are_drawn_together() -> None:
    """Repeating every score five times within its question leaves the interval about as wide."""
    generator = np.random.default_rng(1)
    x = generator.random(40)
    y = x + generator.normal(0, 0.4, 40)
    alone = correlate(x.tolist(), y.tolist(), seed=3)[Coefficient.PEARSON]
    questions = np.repeat(np.arange(40), 5).tolist()
    many = correlate(np.repeat(x, 5).tolist(), np.repeat(y, 5).tolist(), questions=questions, seed=3)
    five = many[Coefficient.PEARSON]
    assert five.value == pytest.approx(alone.value)
    assert five.upper is not None
    assert five.lower is not None
    assert alone.upper is not None
    assert alone.lower is not None
    assert five.upper - five.lower == pytest.approx(alone.upper - alone.lower, rel=0.2)


def test_intervals_are_repeatable() -> None:
    """One seed gives one interval."""
    x, y = [0.1, 0.5, 0.3, 0.9, 0.7], [0.2, 0.4, 0.5, 0.8, 0.9]
    assert correlate(x, y, seed=5) == correlate(x, y, seed=5)


def test_systems_are_correlated_by_their_means() -> None:
    """Three systems whose contexts and answers stand in one order have tau 1."""
    context = [[0.2, 0.3, 0.1], [0.5, 0.6, 0.5], [0.9, 0.8, 0.9]]
    answer = [[0.1, 0.2, 0.2], [0.3, 0.5, 0.3], [0.6, 0.8, 0.5]]
    found = correlate_systems(context, answer, resamples=50)[Coefficient.KENDALL]
    assert (found.value, found.lower, found.upper, found.things) == pytest.approx((1, 1, 1, 3))


@pytest.mark.parametrize(
    ("x", "y"), [([1, 2, 3], [1, 2]), ([1, None, 3], [1, 2, 3]), ([1, float("nan"), 3], [1, 2, 3])]
)
def test_scores_that_are_missing_are_not_made_up(x: list[float], y: list[float]) -> None:
    """A score that is missing is an error, not a 0."""
    with pytest.raises(StatisticsError):
        correlate(x, y)


def test_tables_of_systems_have_one_shape() -> None:
    """Context and answer scores are for the same systems and questions."""
    with pytest.raises(StatisticsError):
        correlate_systems([[1, 2]], [[1, 2], [3, 4]])


def test_kendall_s_tau_of_few_is_that_of_many() -> None:
    """Of few things tau-b is computed by all pairs, of many by scipy; with ties both give the same."""
    generator = np.random.default_rng(4)
    for count in (3, 7, 40, 100):
        x, y = generator.integers(0, 5, (2, count)).astype(float)
        assert coefficient(Coefficient.KENDALL, x, y) == pytest.approx(kendalltau(x, y).statistic)
