"""Ratings controlled for style: invariance to sides, and perfect separation."""

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
    decided = np.where(rng.random(len(a)) < chance, Winner.A, Winner.B)
    table = coded(
        ("s0", "s1", "s2", "ref"),
        questions,
        a,
        b,
        np.where(rng.random(len(a)) < ties, Winner.TIE, decided),
        question,
        score=rng.integers(0, 5, len(a)) / 4 if scored else None,
    )
    return table, sides


def relative(sides: Counts) -> Numbers:
    return np.asarray((sides[0] - sides[1]) / (sides[0] + sides[1] + 1))


def columns_of(sides: Counts) -> tuple[CovariateColumn, ...]:
    return relative_columns({"length": sides}, len(sides[0]))[0]


def swap(table: BattleTable, sides: Counts, rows: NDArray[np.bool_]) -> tuple[BattleTable, Counts]:
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
def test_ratings_do_not_depend_on_sides_or_order(design: str, seed: int, *, scored: bool) -> None:
    table, sides = battles_of(design, seed, questions=30, ties=0.1, scored=scored)
    rng = np.random.default_rng(seed)
    other, swapped = swap(table, sides, rng.random(len(table)) < rng.random())
    order = rng.permutation(len(table))
    plain = rate_under_control(table, columns_of(sides), SANDWICH)
    shuffled = rate_under_control(
        other.select(order), columns_of((swapped[0][order], swapped[1][order])), SANDWICH
    )
    assert shuffled.ratings.as_json() == plain.ratings.as_json()
    assert shuffled.as_json() == plain.as_json()


def design_of(table: BattleTable, columns: list[Numbers]) -> Numbers:
    systems = np.eye(len(table.systems))
    return np.column_stack([(systems[table.a] - systems[table.b])[:, 1:], *columns])


def glm(table: BattleTable, columns: list[Numbers]) -> Numbers:
    design = design_of(table, columns)
    result = np.asarray(GLM(table.share, design, family=Binomial()).fit(tol=1e-12, maxiter=200).params)
    systems = np.concatenate([[0.0], result[: len(table.systems) - 1]])
    return np.concatenate([systems - systems.mean(), result[len(table.systems) - 1 :]])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ties", [0.0, 0.2])
@pytest.mark.parametrize("design", DESIGNS)
def test_ratings_agree_with_binomial_glm(design: str, ties: float, seed: int) -> None:
    table, sides = battles_of(design, seed, ties=ties)
    (column,) = columns_of(sides)
    result = rate_under_control(table, [column], SANDWICH)
    size = np.sqrt((relative(sides) ** 2).mean())
    expected = glm(table, [relative(sides) / size]) * POINTS
    points = [known(result.ratings.of(name).rating) for name in table.systems]
    assert points == pytest.approx(expected[:4] + MEAN, abs=0.5)
    assert result.effects[0].value == pytest.approx(expected[4], abs=0.5)


def test_longer_answers_do_not_raise_controlled_ratings() -> None:
    covered = [
        row.lower is not None and row.upper is not None and row.lower <= MEAN <= row.upper
        for seed in range(40)
        for table, sides in [battles_of("star", seed)]
        for row in rate_under_control(table, columns_of(sides), SANDWICH).ratings.ratings
    ]
    assert np.mean(covered) >= 0.9


@pytest.mark.parametrize("design", ["star", "round robin"])
def test_perfectly_separating_covariate_is_refused(design: str) -> None:
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
        UnrankableError, match=r"controlled for length have no finite values.*perfect separation"
    ):
        rate_under_control(always, [noise, column], SANDWICH)
    assert rate_under_control(always, [noise], SANDWICH).effects


def test_jointly_separating_covariates_are_named_together() -> None:
    table, _ = battles_of("round robin", 3)
    rng = np.random.default_rng(3)
    first, second = rng.standard_normal((2, len(table)))
    both = replace(table, winner=np.where(first > second, Winner.A, Winner.B).astype(np.int8))
    assert separating(both, [first]) == separating(both, [second]) == ()
    assert separating(both, [rng.standard_normal(len(table)), first, second]) == (1, 2)


def separated_by_all_battles(table: BattleTable, columns: list[Numbers]) -> bool:
    design = design_of(table, columns)
    won, lost, tied = table.share == 1, table.share == 0, (table.share > 0) & (table.share < 1)
    rows = np.vstack([design[won], -design[lost], design[tied], -design[tied]])
    result = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    return known(result.fun) < -1e-6


@given(seed=st.integers(0, 100_000), noise=st.sampled_from([0.0, 0.02, 0.1]))
@settings(max_examples=20, deadline=None)
def test_separation_agrees_with_one_linear_program(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    table, _ = battles_of("round robin", seed, questions=6)
    columns = [np.round(rng.standard_normal(len(table)), 1) for _ in range(2)]
    drive = columns[0] + noise * 10 * rng.standard_normal(len(table))
    winner = np.where(drive > 0, Winner.A, np.where(drive < 0, Winner.B, Winner.TIE))
    judged = replace(table, winner=winner.astype(np.int8))
    result = separating(judged, columns)
    # If the systems are already separated, there is no group to fit.
    if not separated_by_all_battles(judged, []):
        assert bool(result) == separated_by_all_battles(judged, columns)
