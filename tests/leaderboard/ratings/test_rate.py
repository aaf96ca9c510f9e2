"""Known numbers: the paper's Table 5 (A), a golden round, and invariants of ratings."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import ArenaError
from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings import Anchor, Bounds, Cluster, IntervalKind, Method, RatingTable, rate
from leaderboard.ratings.uncertainty.intervals import bca, holm, percentile
from leaderboard.standings.published import bundled_board
from tests.battle_tables import coded, encoded
from tests.narrow import known

LIKELIHOODS = (Method.BRADLEY_TERRY, Method.DAVIDSON, Method.RAO_KUPPER)
ROOT = Path(__file__).parents[3]
TABLES = ROOT / "../shared/data/rag_qa_arena_tables"
GOLDEN = ROOT / "tests/golden/ratings/round.json"


@pytest.mark.skipif(not TABLES.exists(), reason="the paper's tables are not next to the checkout")
def test_ratings_of_table_3_equal_table_5() -> None:
    table = rate(bundled_board().table, cluster=Cluster.NONE, bootstrap=2000)
    with (TABLES / "table5_elo.csv").open() as file:
        printed = {row["system"]: row for row in csv.DictReader(file) if row["column"] == "A"}
    off = []
    for rating in table.ratings:
        row = printed[rating.system]
        points, lower, upper = known(rating.rating), known(rating.lower), known(rating.upper)
        assert abs(points - float(row["rating"])) < 1
        off.append(upper - points - float(row["ci_up"]))
        off.append(points - lower - float(row["ci_down"]))
    assert np.abs(off).mean() < 1
    assert np.abs(off).max() < 2


def golden_battles() -> BattleTable:
    systems, questions = 5, 30
    low, high = np.triu_indices(systems, k=1)
    question = np.repeat(np.arange(questions), len(low))
    a, b = np.tile(low, questions), np.tile(high, questions)
    mixed = (question * 7 + a * 3 + b * 5 + question * a) % 10
    winner = np.where(mixed < 2, Winner.TIE, np.where(mixed < 4 + 2 * (b - a), Winner.A, Winner.B))
    return coded("abcde", questions, a, b, winner, question, domains=("one", "two"), domain=question % 2)


CASES: dict[str, Callable[[BattleTable], RatingTable]] = {
    "question-bootstrap": partial(rate, bootstrap=200, seed=1),
    "battle-bootstrap-bca": partial(rate, bootstrap=200, seed=1, cluster=Cluster.NONE, bounds=Bounds.BCA),
    "clustered-sandwich": partial(rate, interval=IntervalKind.SANDWICH),
    "plain-sandwich": partial(rate, interval=IntervalKind.SANDWICH, cluster=Cluster.NONE),
    "davidson": partial(rate, method=Method.DAVIDSON, interval=IntervalKind.SANDWICH),
    "rao-kupper": partial(rate, method=Method.RAO_KUPPER, interval=IntervalKind.SANDWICH),
    "anchored": partial(rate, interval=IntervalKind.SANDWICH, anchor=Anchor(system="c", rating=1200)),
    "elo": partial(rate, method=Method.ELO, bootstrap=20),
}


def rounded(table: RatingTable) -> list[dict[str, object]]:
    return [
        {
            key: round(value, 6) if isinstance(value, float) else value
            for key, value in rating.as_json().items()
        }
        for rating in table.ratings
    ]


AS_TEXT: dict[str, Any] = {
    "method": "elo",
    "interval": "bootstrap",
    "cluster": "none",
    "bounds": "bca",
    "anchor": "c",
}


def test_settings_as_text_equal_members() -> None:
    kinds = {"method": Method, "interval": IntervalKind, "cluster": Cluster, "bounds": Bounds}
    members: dict[str, Any] = {name: kind(AS_TEXT[name]) for name, kind in kinds.items()}
    expected = rate(golden_battles(), **members, anchor=Anchor(system="c"), bootstrap=30)
    assert rate(golden_battles(), **AS_TEXT, bootstrap=30).as_json() == expected.as_json()


@pytest.mark.parametrize("name", AS_TEXT)
def test_settings_as_unknown_text_are_refused(name: str) -> None:
    wrong: dict[str, Any] = {**AS_TEXT, name: "nonsense"}
    with pytest.raises(ArenaError, match="nonsense"):
        rate(golden_battles(), **wrong)


@pytest.mark.parametrize("case", list(CASES))
def test_ratings_equal_golden_ones(case: str) -> None:
    golden = json.loads(GOLDEN.read_text())[case]
    result = rounded(CASES[case](golden_battles()))
    assert [row["system"] for row in result] == [row["system"] for row in golden]
    for row, expected in zip(result, golden, strict=True):
        for key, value in expected.items():
            assert row[key] == (pytest.approx(value, abs=2e-6) if isinstance(value, float) else value), key


QUICK = settings(max_examples=15, deadline=None)
WORDS = ("model_a", "model_b", "tie")
FLIPPED = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}

Row = tuple[str, str, str, str, str]


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    systems = draw(st.integers(2, 5))
    code = st.integers(0, systems - 1)
    battle = st.tuples(st.integers(0, 6), code, code, st.sampled_from(WORDS))
    random = draw(st.lists(battle.filter(lambda b: b[1] != b[2]), min_size=1, max_size=40))
    ring = [(k, k, (k + 1) % systems, "tie") for k in range(systems)]
    decided = [(8, 0, 1, "model_a"), (8, 1, 0, "model_a")]
    return [(f"q{q}", "x", f"s{a}", f"s{b}", w) for q, a, b, w in [*random, *ring, *decided]]


def swapped(row: Row) -> Row:
    question, domain, first, second, winner = row
    return question, domain, second, first, FLIPPED[winner]


def sandwich(battles: list[Row], method: Method) -> RatingTable:
    return rate(encoded(battles), method=method, interval=IntervalKind.SANDWICH)


def close(table: RatingTable, other: RatingTable) -> bool:
    pairs = [(rating, other.of(rating.system)) for rating in table.ratings]
    return all(
        abs(known(left.rating) - known(right.rating)) < 1e-6
        and ((left.se is None) == (right.se is None))
        and (left.se is None or abs(left.se - known(right.se)) < 1e-6)
        for left, right in pairs
    )


@pytest.mark.parametrize("method", LIKELIHOODS)
@QUICK
@given(battles=rows(), seed=st.integers(0, 99))
def test_ratings_do_not_depend_on_sides_or_order(method: Method, battles: list[Row], seed: int) -> None:
    rng = np.random.default_rng(seed)
    other = [
        swapped(row) if rng.random() < 0.5 else row
        for row in (battles[at] for at in rng.permutation(len(battles)))
    ]
    assert close(sandwich(battles, method), sandwich(other, method))


@pytest.mark.parametrize("method", LIKELIHOODS)
@QUICK
@given(battles=rows(), times=st.integers(2, 4))
def test_repeated_battles_do_not_change_ratings(method: Method, battles: list[Row], times: int) -> None:
    plain = sandwich(battles, method)
    assert close(plain, sandwich(battles * times, method))
    table = encoded(battles)
    weighted = replace(table, weight=np.full(len(table), float(times)))
    assert close(plain, rate(weighted, method=method, interval=IntervalKind.SANDWICH))


@QUICK
@given(battles=rows(), method=st.sampled_from(LIKELIHOODS))
def test_results_are_reproducible_and_consistent(battles: list[Row], method: Method) -> None:
    made = [rate(encoded(battles), method=method, bootstrap=40, seed=5) for _ in range(2)]
    texts = [json.dumps(table.as_json(), allow_nan=False) for table in made]
    assert texts[0] == texts[1]
    for rating in made[0].ratings:
        assert 1 <= rating.rank_lower <= rating.rank <= rating.rank_upper <= len(made[0].ratings)
        if rating.se is not None:
            assert known(rating.lower) <= known(rating.upper)


def test_bca_is_percentile_interval_for_symmetric_draws() -> None:
    half = np.abs(np.random.default_rng(0).standard_normal((500, 3)))
    draws = np.concatenate([1000 + half, 1000 - half])
    plain, corrected = percentile(draws), bca(draws, np.full(3, 1000.0), np.zeros(3))
    assert np.abs(np.array(plain) - np.array(corrected)).max() < 1e-9


def test_holm_stops_at_first_failure() -> None:
    assert holm(np.array([0.01, 0.04, 0.03])).tolist() == [True, False, False]
    assert holm(np.array([0.01, 0.02, 0.04])).tolist() == [True, True, True]
    assert holm(np.array([])).tolist() == []


@pytest.mark.parametrize("cluster", list(Cluster))
def test_online_elo_does_not_depend_on_sides_and_keeps_mean(cluster: Cluster) -> None:
    rng = np.random.default_rng(3)
    battles = [(f"q{k}", "x", "a", "b", "model_a" if rng.random() < 0.7 else "model_b") for k in range(300)]
    tables = [
        rate(encoded(rows), method=Method.ELO, bootstrap=40, cluster=cluster)
        for rows in (battles, list(map(swapped, battles)))
    ]
    assert tables[0].as_json() == tables[1].as_json()
    assert [rating.system for rating in tables[0].ratings] == ["a", "b"]
    assert np.mean([rating.rating for rating in tables[0].ratings]) == pytest.approx(1000)
