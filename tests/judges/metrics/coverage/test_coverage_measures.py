from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.metrics.coverage.settings import icat, share

SCORES = st.floats(0, 1)


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
    assert icat(factuality, coverage, beta) == pytest.approx(expected, abs=5e-7)


@given(SCORES, SCORES, st.floats(0.01, 100))
def test_icat_lies_between_its_two_scores(factuality: float, coverage: float, beta: float) -> None:
    found = icat(factuality, coverage, beta)
    assert found is not None
    assert min(factuality, coverage) - 1e-9 <= found <= max(factuality, coverage) + 1e-9


def test_what_is_undefined_stays_undefined() -> None:
    assert share(0, 0) is None
    assert icat(None, 0.5) is None
    assert icat(None, 0.0) == 0.0
    assert icat(0.5, None) is None
