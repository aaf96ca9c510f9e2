"""Ratings under control for counts: no side has an advantage, and what has no finite fit is refused first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from data.errors import UnrankableError
from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings import CovariateColumn, IntervalKind, Settings, rate_under_control, relative_columns
from leaderboard.ratings.models.covariates import RELATIVE
from leaderboard.ratings.models.style import separating
from leaderboard.ratings.vocabulary import MEAN, POINTS
from tests.battle_tables import coded
from tests.narrow import known

SANDWICH = Settings(interval=IntervalKind.SANDWICH, bootstrap=None)
STAR = [(0, 3), (1, 3), (2, 3)]
ROBIN = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
MIXED = [*STAR, (0, 1), (2, 0)]
DESIGNS = {"star": STAR, "round robin": ROBIN, "mixed": MIXED}
Numbers = NDArray[np.float64]
Counts = tuple[NDArray[np.int64], NDArray[np.int64]]


def battles_of(
    design: str, seed: int, *, questions: int = 150, ties: float = 0.0, scored: bool = False
) -> tuple[BattleTable, Counts]:
    rng = np.random.default_rng(seed)
    pairs = np.array(DESIGNS[design])
    question = np.repeat(np.arange(questions), len(pairs))
    a, b = np.tile(pairs, (questions, 1)).T
    mean = np.array([200.0, 220.0, 180.0, 100.0])
    sides = rng.poisson(rng.gamma(4, mean[a] / 4)), rng.poisson(rng.gamma(4, mean[b] / 4))
    chance = 1 / (1 + np.exp(-3 * relative(sides)))
    drawn = np.where(rng.random(len(a)) < chance, Winner.A, Winner.B)
    table = coded(
        ("s0", "s1", "s2", "ref"),
        questions,
        a,
        b,
        np.where(rng.random(len(a)) < ties, Winner.TIE, drawn),
        question,
        score=rng.integers(0, 5, len(a)) / 4 if scored else None,
    )
    return table, sides


def relative(sides: Counts) -> Numbers:
    return np.asarray((sides[0] - sides[1]) / (sides[0] + sides[1] + 1))


def columns_of(sides: Counts) -> tuple[CovariateColumn, ...]:
    return relative_columns({"length": sides}, len(sides[0]))[0]


def turned(table: BattleTable, sides: Counts, rows: NDArray[np.bool_]) -> tuple[BattleTable, Counts]:
    winner = np.where(table.winner == Winner.TIE, table.winner, table.winner ^ rows)
    swapped = replace(
        table,
        a=np.where(rows, table.b, table.a),
        b=np.where(rows, table.a, table.b),
        winner=winner.astype(np.int8),
        score=None if table.score is None else np.where(rows, 1 - table.score, table.score),
    )
    return swapped, (np.where(rows, sides[1], sides[0]), np.where(rows, sides[0], sides[1]))


@pytest.mark.parametrize("design", DESIGNS)
@given(seed=st.integers(0, 10_000), scored=st.booleans())
@settings(max_examples=8, deadline=None)
def test_sides_and_order_of_rows_change_no_byte(design: str, seed: int, *, scored: bool) -> None:
    table, sides = battles_of(design, seed, questions=30, ties=0.1, scored=scored)
    rng = np.random.default_rng(seed)
    other, swapped = turned(table, sides, rng.random(len(table)) < rng.random())
    order = rng.permutation(len(table))
    one = rate_under_control(table, columns_of(sides), SANDWICH)
    two = rate_under_control(
        other.select(order), columns_of((swapped[0][order], swapped[1][order])), SANDWICH
    )
    assert two.ratings.as_json() == one.ratings.as_json()
    assert two.as_json() == one.as_json()


def design_of(table: BattleTable, columns: list[Numbers]) -> Numbers:
    systems = np.eye(len(table.systems))
    return np.column_stack([(systems[table.a] - systems[table.b])[:, 1:], *columns])


def glm(table: BattleTable, columns: list[Numbers]) -> Numbers:
    design = design_of(table, columns)
    found = np.asarray(GLM(table.share, design, family=Binomial()).fit(tol=1e-12, maxiter=200).params)
    systems = np.concatenate([[0.0], found[: len(table.systems) - 1]])
    return np.concatenate([systems - systems.mean(), found[len(table.systems) - 1 :]])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ties", [0.0, 0.2])
@pytest.mark.parametrize("design", DESIGNS)
def test_ratings_are_those_of_a_binomial_model(design: str, ties: float, seed: int) -> None:
    table, sides = battles_of(design, seed, ties=ties)
    (column,) = columns_of(sides)
    found = rate_under_control(table, [column], SANDWICH)
    size = np.sqrt((relative(sides) ** 2).mean())
    expected = glm(table, [relative(sides) / size]) * POINTS
    points = [known(found.ratings.of(name).rating) for name in table.systems]
    assert points == pytest.approx(expected[:4] + MEAN, abs=0.5)
    assert found.effects[0].value == pytest.approx(expected[4], abs=0.5)


def test_equal_systems_that_write_more_than_the_reference_are_rated_alike() -> None:
    held = [
        row.lower is not None and row.upper is not None and row.lower <= MEAN <= row.upper
        for seed in range(40)
        for table, sides in [battles_of("star", seed)]
        for row in rate_under_control(table, columns_of(sides), SANDWICH).ratings.ratings
    ]
    assert np.mean(held) >= 0.9


@pytest.mark.parametrize("design", ["star", "round robin"])
def test_a_covariate_that_settles_every_battle_is_refused_by_its_name(design: str) -> None:
    table, (first, _) = battles_of(design, 1)
    rng = np.random.default_rng(1)
    sides = first, rng.permutation(first)
    longer = np.sign(relative(sides))
    always = replace(
        table, winner=np.array([Winner.TIE, Winner.A, Winner.B])[longer.astype(int)].astype(np.int8)
    )
    (column,) = columns_of(sides)
    noise = CovariateColumn(name="bold_spans", values=rng.standard_normal(len(table)), scale=RELATIVE)
    with pytest.raises(
        UnrankableError, match=r"control for length have no finite values.*perfect separation"
    ):
        rate_under_control(always, [noise, column], SANDWICH)
    assert rate_under_control(always, [noise], SANDWICH).effects


def test_covariates_that_settle_all_only_together_are_named_together() -> None:
    table, _ = battles_of("round robin", 3)
    rng = np.random.default_rng(3)
    one, two = rng.standard_normal((2, len(table)))
    both = replace(table, winner=np.where(one > two, Winner.A, Winner.B).astype(np.int8))
    assert separating(both, [one]) == separating(both, [two]) == ()
    assert separating(both, [rng.standard_normal(len(table)), one, two]) == (1, 2)


def separated_by_all_battles(table: BattleTable, columns: list[Numbers]) -> bool:
    design = design_of(table, columns)
    won, lost, tied = table.share == 1, table.share == 0, (table.share > 0) & (table.share < 1)
    rows = np.vstack([design[won], -design[lost], design[tied], -design[tied]])
    found = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    return known(found.fun) < -1e-6


@given(seed=st.integers(0, 100_000), noise=st.sampled_from([0.0, 0.02, 0.1]))
@settings(max_examples=20, deadline=None)
def test_separation_is_that_of_one_linear_program(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    table, _ = battles_of("round robin", seed, questions=6)
    columns = [np.round(rng.standard_normal(len(table)), 1) for _ in range(2)]
    drive = columns[0] + noise * 10 * rng.standard_normal(len(table))
    winner = np.where(drive > 0, Winner.A, np.where(drive < 0, Winner.B, Winner.TIE))
    judged = replace(table, winner=winner.astype(np.int8))
    found = separating(judged, columns)
    # Where systems alone are separated there is no group to fit.
    if not separated_by_all_battles(judged, []):
        assert bool(found) == separated_by_all_battles(judged, columns)
