"""Paths for very many systems, and independence of threads."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings import Cluster, IntervalKind, Settings, counts, rate
from leaderboard.ratings.counts import PairCounts, count_by_cluster, count_cells, count_pairs
from leaderboard.ratings.models.likelihoods import BradleyTerry
from leaderboard.ratings.models.newton import _sparse_solver, fit, laplacian_solver
from leaderboard.ratings.uncertainty.sandwich import multiplier_errors
from leaderboard.ratings.vocabulary import POINTS
from tests.battle_tables import coded

ROOT = Path(__file__).parents[3]

SCRIPT = """
import json
import numpy as np
from leaderboard.battles import BattleTable
from leaderboard.ratings import rate
rng = np.random.default_rng(0)
rows, systems = 20_000, 60
a = rng.integers(0, systems, rows)
b = (a + rng.integers(1, systems, rows)) % systems
table = BattleTable.from_columns(
    [f"q{k}" for k in rng.integers(0, 300, rows)], ["x"] * rows, [f"s{k}" for k in a], [f"s{k}" for k in b],
    [("model_a", "model_b", "tie")[k] for k in rng.integers(0, 3, rows)],
)
print(json.dumps(rate(table, bootstrap=60, seed=3).as_json()))
"""


def make_table(seed: int = 0, systems: int = 12, rows: int = 3000) -> BattleTable:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, systems, rows)
    return coded(
        tuple(f"s{k:02d}" for k in range(systems)),
        100,
        a,
        (a + rng.integers(1, systems, rows)) % systems,
        rng.integers(0, 3, rows),
        rng.integers(0, 100, rows),
    )


@pytest.mark.slow
def test_threads_do_not_change_results() -> None:
    texts = [
        subprocess.run(
            ["env", f"OPENBLAS_NUM_THREADS={threads}", sys.executable, "-c", SCRIPT],
            cwd=ROOT,
            check=True,
            capture_output=True,
        ).stdout
        for threads in (1, 4)
    ]
    assert texts[0] == texts[1]
    assert b'"rating"' in texts[0]


@pytest.mark.parametrize("cluster", [Cluster.QUESTION, Cluster.NONE])
def test_multiplier_errors_estimate_sandwich(cluster: Cluster) -> None:
    table = make_table()
    pairs = count_pairs(table)
    settings = Settings(cluster=cluster, seed=2)
    model = BradleyTerry()
    result = POINTS * multiplier_errors(model, fit(model, pairs), pairs, table, settings, None)
    exact = rate(table, interval=IntervalKind.SANDWICH, cluster=cluster)
    expected = np.array([exact.of(name).se for name in table.systems])
    assert np.abs(result / expected - 1).max() < 0.2
    assert abs(np.mean(result / expected) - 1) < 0.06


@pytest.mark.parametrize("shape", ["random", "chain"])
def test_sparse_and_dense_solves_agree(shape: str) -> None:
    rng = np.random.default_rng(1)
    systems = 1_500 if shape == "chain" else 60
    if shape == "chain":
        low, high = np.arange(systems - 1), np.arange(1, systems)
    else:
        low, high = np.triu_indices(systems, k=1)
    pairs = PairCounts(systems=systems, low=low, high=high, outcomes=np.ones((3, len(low))))
    curvature = rng.random(len(low)) + 0.1
    right = rng.standard_normal(systems)
    right -= right.mean()
    dense = laplacian_solver(pairs, curvature)(right)
    sparse = _sparse_solver(pairs, curvature, None)(right)
    assert np.abs(dense - dense.mean() - sparse).max() < 1e-7 * np.abs(dense).max()


def test_sparse_and_dense_pair_counts_agree() -> None:
    few = make_table()
    many = replace(few, systems=(*few.systems, *(f"t{k}" for k in range(2_500))))
    dense, sparse = count_pairs(few), count_pairs(many)
    for name in ("low", "high", "outcomes"):
        assert np.array_equal(getattr(dense, name), getattr(sparse, name))

    parts = [count_by_cluster(t, p, t.question, 100).toarray() for t, p in ((few, dense), (many, sparse))]
    assert np.array_equal(parts[0], parts[1])
    assert np.array_equal(parts[0].sum(axis=0).reshape(3, -1), dense.outcomes)


@given(
    outcomes=st.lists(st.sampled_from([*Winner, None]), min_size=30, max_size=30),
    swaps=st.lists(st.booleans(), min_size=30, max_size=30),
    draws=st.integers(1, 4),
)
def test_reweighted_cells_equal_counts_by_question(
    outcomes: list[Winner | None], swaps: list[bool], draws: int
) -> None:
    rows = [row for row, outcome in enumerate(outcomes) if outcome is not None]
    assume(rows)
    question, pair = np.divmod(np.array(rows), 6)
    low, high = (ends[pair] for ends in np.triu_indices(4, k=1))
    swapped = np.array(swaps)[rows]
    winner = [outcome for outcome in outcomes if outcome is not None]
    ends = np.where(swapped, high, low), np.where(swapped, low, high)
    table = coded("abcd", 5, *ends, winner, question)
    pairs = count_pairs(table)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counts, "LARGE", 0)
        patched.setattr(counts, "MIN_FILL", 0)
        patched.setattr(counts, "CELLS_AT_ONCE", 7)
        cells = count_cells(table, pairs)
        assert cells is not None
        weights = np.random.default_rng(len(rows)).standard_exponential((5, draws))
        low_won, high_won, tied = cells.reweighted(weights).reshape(3, -1, draws)
    plain = count_by_cluster(table, pairs, table.question, 5)
    assert cells.shape == plain.shape
    won, lost, even = (plain.T @ weights).reshape(3, -1, draws)
    np.testing.assert_allclose(low_won, won + even / 2, atol=1e-12)
    np.testing.assert_allclose(high_won, lost + even / 2, atol=1e-12)
    assert not tied.any()


@pytest.mark.parametrize("why", ["few", "twice", "sparse", "weighted", "soft"])
def test_only_large_tables_of_single_battles_have_cells(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    monkeypatch.setattr(counts, "LARGE", 10_000 if why == "few" else 0)
    full = complete_table()
    ones = np.ones(len(full))
    table = {
        "twice": full.select(np.arange(-1, len(full))),
        "sparse": full.select(np.arange(0, len(full), 4)),
        "weighted": replace(full, weight=ones),
        "soft": replace(full, score=ones),
    }.get(why, full)
    assert count_cells(table, count_pairs(table)) is None


def complete_table() -> BattleTable:
    low, high = np.triu_indices(6, k=1)
    question = np.repeat(np.arange(40), len(low))
    return coded("abcdef", 40, np.tile(low, 40), np.tile(high, 40), question % 3, question)
