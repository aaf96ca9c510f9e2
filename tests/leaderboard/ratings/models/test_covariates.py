"""Coefficients of covariates, and covariates whose effect is not identified."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from data.errors import InputError, RecordError
from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings import (
    CovariateColumn,
    IntervalKind,
    Settings,
    marked_column,
    rate_under_control,
    relative_columns,
)
from leaderboard.ratings.models.covariates import FIRST, RELATIVE
from leaderboard.ratings.vocabulary import POINTS
from tests.battle_tables import coded
from tests.narrow import known

SANDWICH = Settings(interval=IntervalKind.SANDWICH, bootstrap=None)
STRENGTH = np.array([0.5, 0.2, -0.1, -0.6])
Numbers = NDArray[np.float64]


def simulated(
    seed: int, terms: Numbers, worth: Numbers, rows: int = 4000, *, ties: float = 0.0
) -> BattleTable:
    rng = np.random.default_rng(seed)
    a, b = pairs_of(rows, seed)
    won = rng.random(rows) < 1 / (1 + np.exp(-(STRENGTH[a] - STRENGTH[b] + terms @ worth)))
    winner = np.where(rng.random(rows) < ties, Winner.TIE, np.where(won, Winner.A, Winner.B))
    return coded(("w", "x", "y", "z"), 400, a, b, winner, rng.integers(0, 400, rows))


def pairs_of(rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed + 1)
    a = rng.integers(0, 4, rows)
    return a, (a + rng.integers(1, 4, rows)) % 4


def terms_of(seed: int, rows: int = 4000) -> tuple[CovariateColumn, ...]:
    rng = np.random.default_rng(seed + 2)
    counts = {
        "length": (rng.poisson(200, rows), rng.poisson(150, rows)),
        "headings": (rng.poisson(2, rows), rng.poisson(2, rows)),
    }
    columns, constant = relative_columns(counts, rows)
    assert not constant
    return (
        *columns,
        marked_column("position", rng.choice([-1.0, 0.0, 1.0], rows), FIRST),
        marked_column("other_mark", rng.choice([-1.0, 0.0, 1.0], rows), FIRST),
    )


def design_of(battles: BattleTable) -> Numbers:
    return np.eye(4)[battles.a] - np.eye(4)[battles.b]


WORTH = np.array([0.4, 0.2, 0.3, 0.0])


def test_coefficients_agree_with_logistic_regression() -> None:
    columns = terms_of(7)
    terms = np.stack([column.values for column in columns], axis=1)
    battles = simulated(7, terms, WORTH, ties=0.15)
    result = rate_under_control(battles, columns, SANDWICH)
    design = np.hstack([design_of(battles)[:, 1:], terms])
    # A tie is half a win for each system.
    other = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=1000).fit(
        np.vstack([design, design]),
        np.repeat([1, 0], len(battles)),
        sample_weight=np.concatenate([battles.share, 1 - battles.share]),
    )
    assert [effect.value for effect in result.effects] == pytest.approx(other.coef_[0, 3:] * POINTS, abs=0.01)
    gaps = [known(result.ratings.of(name).rating) - known(result.ratings.of("w").rating) for name in "xyz"]
    assert gaps == pytest.approx(other.coef_[0, :3] * POINTS, abs=0.01)


def test_variance_inflation_agrees_with_least_squares() -> None:
    columns = terms_of(3)
    terms = np.stack([column.values for column in columns], axis=1)
    battles = simulated(3, terms, WORTH)
    result = rate_under_control(battles, columns, SANDWICH)
    systems = design_of(battles)
    for place, effect in enumerate(result.effects):
        design = np.hstack([systems, np.delete(terms, place, axis=1)])
        rest = terms[:, place] - design @ np.linalg.lstsq(design, terms[:, place], rcond=None)[0]
        assert effect.vif == pytest.approx((terms[:, place] ** 2).sum() / (rest**2).sum(), rel=1e-6)


def test_unidentified_terms_are_left_out_with_reason() -> None:
    columns = terms_of(2)
    terms = np.stack([column.values for column in columns], axis=1)
    battles = simulated(2, terms, WORTH)
    family = np.array([1.0, 0.0, 0.0, 0.0])
    more = (
        *columns,
        CovariateColumn(name="words", values=3 * columns[0].values, scale=RELATIVE),
        marked_column("constant", np.zeros(len(battles)), FIRST),
        marked_column("own", family[battles.a] - family[battles.b], FIRST),
    )
    plain, result = (
        rate_under_control(battles, columns, SANDWICH),
        rate_under_control(battles, more, SANDWICH),
    )
    assert result.effects == plain.effects
    assert result.ratings.as_json() == plain.ratings.as_json()
    reasons = {covariate.name: covariate.reason for covariate in result.left_out}
    assert list(reasons) == ["words", "constant", "own"]
    assert "length" in reasons["words"]
    assert "equal for both answers" in reasons["constant"]
    assert "quality of the systems" in reasons["own"]
    with pytest.raises(InputError, match="quality of the systems"):
        rate_under_control(battles, more[-1:], SANDWICH)


@pytest.mark.parametrize("value", [2.0, -1.5, float("nan")])
def test_marks_out_of_range_are_refused(value: float) -> None:
    with pytest.raises(RecordError, match="Row 2, column position"):
        marked_column("position", [0.0, value], FIRST)
