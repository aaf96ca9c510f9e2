from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import StatisticsError
from judges.metrics.factuality.measures import (
    Counts,
    Label,
    count,
    entropy_measure,
    f1_at,
    label_of,
    median_claims,
    precision,
    recall_at,
    repaired_entropy_measure,
)

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_paper_example_is_reproduced() -> None:
    """Example 4: 6 of 14 claims supported give precision 0.4286 and F1@7 0.5714."""
    counts = Counts(supported=6, contradicted=8, undecided=0)
    assert precision(counts) == pytest.approx(0.4286, abs=5e-5)
    assert recall_at(counts, 7) == pytest.approx(6 / 7)
    assert f1_at(counts, 7) == pytest.approx(0.5714, abs=5e-5)


@pytest.mark.parametrize(
    ("p", "printed", "repaired"), [(1, 0, 0), (0.5, 0.150515, 0.150515), (0, 0, 0.30103)]
)
def test_entropy_measures_match_paper(p: float, printed: float, repaired: float) -> None:
    assert entropy_measure([p] * 7) == pytest.approx(printed, abs=5e-7)
    assert repaired_entropy_measure([p] * 7) == pytest.approx(repaired, abs=5e-7)


@given(posteriors=PROBABILITIES, raised=st.floats(0, 1))
def test_repaired_entropy_is_monotonic(posteriors: list[float], raised: float) -> None:
    before = repaired_entropy_measure(posteriors)
    after = repaired_entropy_measure([max(posteriors[0], raised), *posteriors[1:]])
    assert after <= before + 1e-12
    high = [max(p, 1 - p) for p in posteriors]
    assert repaired_entropy_measure(high) == pytest.approx(entropy_measure(high), abs=1e-12)


def test_label_follows_posterior() -> None:
    assert (label_of(0.51), label_of(0.49)) == (Label.SUPPORTED, Label.CONTRADICTED)
    assert label_of(0.5) is label_of(0.5 + 1e-12) is Label.UNDECIDED


@given(labels=st.lists(st.sampled_from(list(Label)), min_size=1), k=st.floats(0.5, 50))
def test_measures_stay_within_bounds(labels: list[Label], k: float) -> None:
    """Counts add up, and precision, recall and F1 lie between 0 and 1, F1 between the two."""
    counts = count(labels)
    assert counts.claims == len(labels)
    p, r, f1 = precision(counts), recall_at(counts, k), f1_at(counts, k)
    assert 0 <= min(p, r) <= f1 + 1e-12
    assert f1 <= max(p, r) + 1e-12 <= 1 + 1e-12


def test_k_is_median_number_of_claims() -> None:
    assert median_claims([3, 9, 5]) == 5
    assert median_claims([4, 2]) == 3


@pytest.mark.parametrize(
    "undefined",
    [
        lambda: precision(Counts(supported=0, contradicted=0, undecided=0)),
        lambda: recall_at(Counts(supported=1, contradicted=0, undecided=0), 0),
        lambda: entropy_measure([]),
        lambda: repaired_entropy_measure([]),
        lambda: median_claims([]),
    ],
)
def test_undefined_measures_are_errors(undefined: Callable[[], float]) -> None:
    with pytest.raises(StatisticsError) as caught:
        undefined()
    assert caught.value.advice
