"""Degenerate data, on which public engines give infinities or a traceback."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from data.errors import InputError, NotFoundError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings import Anchor, Cluster, Flag, IntervalKind, Method, rate
from tests.battle_tables import coded, encoded
from tests.narrow import known

Row = tuple[str, str, str, str]
Expected = dict[str, tuple[float | None, tuple[Flag, ...]]]
A, B, TIE = "model_a", "model_b", "tie"
SANDWICH = IntervalKind.SANDWICH


def encode(battles: list[Row]) -> BattleTable:
    return encoded([(question, "x", a, b, winner) for question, a, b, winner in battles])


CORE: list[Row] = [(f"q{k}", "a", "b", A if k % 3 else B) for k in range(20)]
CORE += [(f"q{k}", "b", "c", A if k % 4 else B) for k in range(20)]
LOSSES: list[Row] = [(f"q{k}", "a", "z", A) for k in range(20)]


def test_rate_refuses_empty_table() -> None:
    with pytest.raises(UnrankableError, match="No battle has a positive weight"):
        rate(encode(CORE).select(np.arange(0)))


UNSURE = (1000.0, (Flag.NO_INTERVAL,))


@pytest.mark.parametrize(
    ("battles", "expected"),
    [
        (["1 a b model_a"], {"a": (None, (Flag.NEVER_LOSES,)), "b": (None, (Flag.NEVER_WINS,))}),
        ([f"{k} a b tie" for k in range(9)], {"a": UNSURE, "b": UNSURE}),
        (["1 a b model_a", "1 b a model_a"], {"a": UNSURE, "b": UNSURE}),
        (["1 a b model_a", "2 b c model_a"], {"b": (None, (Flag.UNBOUNDED,))}),
    ],
    ids=["one decided battle", "only ties", "one question", "one-way chain"],
)
def test_rating_without_estimate_is_null_and_flagged(battles: list[str], expected: Expected) -> None:
    table = rate(encoded([(q, "x", a, b, won) for q, a, b, won in map(str.split, battles)]))
    for system, (rating, flags) in expected.items():
        result = table.of(system)
        assert (result.rating, result.flags, result.lower) == (rating, flags, None)
    assert "NaN" not in json.dumps(table.as_json())


@pytest.mark.parametrize("method", [Method.DAVIDSON, Method.RAO_KUPPER])
def test_tie_models_need_identified_tie_parameter(method: Method) -> None:
    plain, other = rate(encode(CORE), interval=SANDWICH), rate(encode(CORE), interval=SANDWICH, method=method)
    assert np.abs(plain.points - other.points).max() < 1e-8
    with pytest.raises(UnrankableError, match="bradley-terry"):
        rate(encode([("q1", "a", "b", TIE), ("q2", "a", "b", TIE)]), method=method)
    with pytest.raises(UnrankableError, match="bradley-terry"):
        rate(encode([("q1", "a", "b", A), ("q2", "a", "b", TIE)]), method=method)


def test_system_that_never_wins_does_not_change_other_ratings() -> None:
    plain, table = rate(encode(CORE), bootstrap=200), rate(encode(CORE + LOSSES), bootstrap=200)
    loser = table.of("z")
    assert (loser.rating, loser.lower, loser.flags) == (None, None, (Flag.NEVER_WINS,))
    assert loser.upper is not None
    assert loser.rank == 4
    for name in "abc":
        before, after = plain.of(name), table.of(name)
        assert (before.rating, before.se) == (after.rating, after.se)
        assert (before.lower, before.upper) == (after.lower, after.upper)


def test_one_sided_bound_is_exact_and_counts_questions() -> None:
    table = rate(encode(CORE + LOSSES), interval=SANDWICH)
    gap = (known(table.of("a").rating) - known(table.of("z").upper)) / 400
    assert (1 / (1 + 10**-gap)) ** 20 == pytest.approx(0.05, rel=1e-9)
    doubled = rate(encode(CORE + LOSSES + LOSSES), interval=SANDWICH)
    assert doubled.of("z").upper == pytest.approx(table.of("z").upper)


@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0, 40.0])
def test_one_sided_bound_does_not_depend_on_scale_of_weights(scale: float) -> None:
    """Two questions of weights 1 and 3 are 1.6 by Kish's count."""
    losses = [("q1", "a", "z", A), ("q2", "a", "z", A)]
    weight = np.array([scale] * len(CORE) + [scale, 3 * scale])
    table = rate(replace(encode(CORE + losses), weight=weight), interval=SANDWICH)
    gap = (known(table.of("a").rating) - known(table.of("z").upper)) / 400
    assert (1 / (1 + 10**-gap)) ** (4**2 / (1 + 3**2)) == pytest.approx(0.05, rel=1e-9)


def test_system_that_never_loses_mirrors_one_that_never_wins() -> None:
    mirror = {A: B, B: A, TIE: TIE}
    table = rate(encode(CORE + LOSSES), interval=SANDWICH)
    other = rate(encode([(q, a, b, mirror[w]) for q, a, b, w in CORE + LOSSES]), interval=SANDWICH)
    assert known(other.of("z").lower) == pytest.approx(2000 - known(table.of("z").upper))
    assert other.of("z").flags == (Flag.NEVER_LOSES,)
    assert other.ratings[0].system == "z"


def test_unlinked_groups_are_rated_separately() -> None:
    battles = CORE + [(f"q{k}", "x", "y", A if k % 5 else B) for k in range(20)]
    table = rate(encode(battles), bootstrap=50)
    for group in ("abc", "xy"):
        assert np.mean([table.of(name).rating for name in group]) == pytest.approx(1000)
        assert sorted(table.of(name).rank for name in group) == list(range(1, len(group) + 1))
    assert table.of("x").flags == (Flag.SEPARATE,)
    assert table.of("x").component == 1


def test_chain_of_thirty_systems_is_exact() -> None:
    battles = [
        (f"q{k}", f"s{i:02d}", f"s{i + 1:02d}", A if k < 90 else B) for i in range(29) for k in range(100)
    ]
    table = rate(encode(battles), interval=SANDWICH)
    gaps = -np.diff([known(table.of(f"s{i:02d}").rating) for i in range(30)])
    assert gaps.tolist() == pytest.approx([400 * np.log10(9)] * 29, abs=1e-8)
    assert known(table.gradient_norm) < 1e-12


def test_resamples_without_wins_keep_intervals_finite() -> None:
    battles = [*CORE, *LOSSES, ("q7", "z", "b", A)]
    gamma = rate(encode(battles), bootstrap=500)
    assert gamma.draws_without_estimate == 0
    assert known(gamma.of("z").lower) > -1000


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
def test_invalid_weights_are_refused(weight: float) -> None:
    table = encode(CORE)
    with pytest.raises(UnrankableError, match="weight"):
        rate(replace(table, weight=np.full(len(table), weight)))


def test_zero_weight_battles_are_ignored() -> None:
    table = encode(CORE + LOSSES)
    weight = np.array([1.0] * len(CORE) + [0.0] * len(LOSSES))
    assert (
        rate(replace(table, weight=weight), bootstrap=50).as_json()
        == rate(encode(CORE), bootstrap=50).as_json()
    )


def test_invalid_options_are_refused() -> None:
    with pytest.raises(NotFoundError, match="unknown"):
        rate(encode(CORE), anchor=Anchor(system="unknown"))
    with pytest.raises(InputError, match="resamples"):
        rate(encode(CORE), bootstrap=1)
    with pytest.raises(InputError, match="sandwich"):
        rate(encode(CORE), method=Method.ELO, interval=SANDWICH)


def many(systems: int) -> BattleTable:
    rng = np.random.default_rng(0)
    rest = np.arange(1, systems, dtype=np.int32)
    a = np.concatenate([rest] * 4 + [np.arange(systems, dtype=np.int32)] * 2)
    b = np.concatenate([np.zeros(4 * len(rest), dtype=np.int32)] + [np.roll(np.arange(systems), 1)] * 2)
    winner = np.concatenate([rng.integers(0, 3, 4 * len(rest)), np.full(2 * systems, 2)]).astype(np.int8)
    return coded(tuple(f"s{k:06d}" for k in range(systems)), 500, a, b, winner, rng.integers(0, 500, len(a)))


@pytest.mark.parametrize("systems", [2_500, pytest.param(100_000, marks=pytest.mark.slow)])
def test_very_many_systems_have_finite_ratings(systems: int) -> None:
    table = rate(many(systems), cluster=Cluster.QUESTION)
    assert table.draws is None
    assert table.covariance is None
    assert known(table.gradient_norm) < 1e-9
    assert all(known(r.lower) < known(r.rating) < known(r.upper) for r in table.ratings)
    assert all(r.se is not None for r in table.ratings)
    assert all(r.rank_lower <= r.rank <= r.rank_upper for r in table.ratings)
