"""Data on which public engines give infinities, nonsense or a traceback."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from data.errors import InputError, NotFoundError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings import Anchor, Cluster, Flag, IntervalKind, Method, rate
from tests.battle_tables import coded
from tests.narrow import known

Row = tuple[str, str, str, str]
A, B, TIE = "model_a", "model_b", "tie"
SANDWICH = IntervalKind.SANDWICH


def encode(battles: list[Row]) -> BattleTable:
    question, a, b, winner = map(list, zip(*battles, strict=True)) if battles else ([], [], [], [])
    return BattleTable.from_columns(question, ["x"] * len(question), a, b, winner)


CORE: list[Row] = [(f"q{k}", "a", "b", A if k % 3 else B) for k in range(20)]
CORE += [(f"q{k}", "b", "c", A if k % 4 else B) for k in range(20)]
LOSSES: list[Row] = [(f"q{k}", "a", "z", A) for k in range(20)]


def test_no_battle_cannot_be_rated() -> None:
    with pytest.raises(UnrankableError, match="no battle"):
        rate(encode([]))


def test_one_decided_battle_bounds_nothing() -> None:
    table = rate(encode([("q1", "a", "b", A)]))
    assert [r.rating for r in table.ratings] == [None, None]
    assert table.of("a").flags == (Flag.NEVER_LOSES,)
    assert table.of("b").flags == (Flag.NEVER_WINS,)
    assert "NaN" not in json.dumps(table.as_json())


def test_ties_alone_make_equal_ratings_without_an_interval() -> None:
    table = rate(encode([(f"q{k}", "a", "b", TIE) for k in range(9)]))
    assert [(r.rating, r.rank, r.lower, r.flags) for r in table.ratings] == [
        (1000.0, 1, None, (Flag.NO_INTERVAL,))
    ] * 2


@pytest.mark.parametrize("method", [Method.DAVIDSON, Method.RAO_KUPPER])
def test_tie_models_refuse_battles_that_leave_their_parameter_open(method: Method) -> None:
    with pytest.raises(UnrankableError, match="bradley-terry"):
        rate(encode([("q1", "a", "b", TIE), ("q2", "a", "b", TIE)]), method=method)
    with pytest.raises(UnrankableError, match="bradley-terry"):
        rate(encode([("q1", "a", "b", A), ("q2", "a", "b", TIE)]), method=method)


@pytest.mark.parametrize("method", [Method.DAVIDSON, Method.RAO_KUPPER])
def test_tie_models_without_a_tie_are_bradley_terry(method: Method) -> None:
    plain, other = rate(encode(CORE), interval=SANDWICH), rate(encode(CORE), interval=SANDWICH, method=method)
    assert np.abs(plain.points - other.points).max() < 1e-8


def test_one_question_gives_ratings_without_intervals() -> None:
    table = rate(encode([("q1", "a", "b", A), ("q1", "b", "a", A), ("q1", "a", "b", A)]))
    assert all(r.rating is not None and r.lower is None for r in table.ratings)
    assert all(Flag.NO_INTERVAL in r.flags for r in table.ratings)


def test_a_system_that_never_wins_leaves_the_others_as_they_were() -> None:
    plain, table = rate(encode(CORE), bootstrap=200), rate(encode(CORE + LOSSES), bootstrap=200)
    loser = table.of("z")
    assert (loser.rating, loser.lower, loser.flags) == (None, None, (Flag.NEVER_WINS,))
    assert loser.upper is not None
    assert loser.rank == 4
    for name in "abc":
        one, other = plain.of(name), table.of(name)
        assert (one.rating, one.se, one.lower, one.upper) == (
            other.rating,
            other.se,
            other.lower,
            other.upper,
        )


def test_the_one_sided_bound_is_exact_and_counts_questions() -> None:
    table = rate(encode(CORE + LOSSES), interval=SANDWICH)
    gap = (known(table.of("a").rating) - known(table.of("z").upper)) / 400
    assert (1 / (1 + 10**-gap)) ** 20 == pytest.approx(0.05, rel=1e-9)
    doubled = rate(encode(CORE + LOSSES + LOSSES), interval=SANDWICH)
    assert doubled.of("z").upper == pytest.approx(table.of("z").upper)


@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0, 40.0])
def test_the_one_sided_bound_does_not_depend_on_the_scale_of_weights(scale: float) -> None:
    """A question that counts thrice is Kish's 1.67 of two questions, whatever a battle weighs."""
    losses = [("q1", "a", "z", A), ("q2", "a", "z", A)]
    weight = np.array([scale] * len(CORE) + [scale, 3 * scale])
    table = rate(replace(encode(CORE + losses), weight=weight), interval=SANDWICH)
    gap = (known(table.of("a").rating) - known(table.of("z").upper)) / 400
    assert (1 / (1 + 10**-gap)) ** (4**2 / (1 + 3**2)) == pytest.approx(0.05, rel=1e-9)


def test_a_system_that_never_loses_mirrors_one_that_never_wins() -> None:
    mirror = {A: B, B: A, TIE: TIE}
    table = rate(encode(CORE + LOSSES), interval=SANDWICH)
    other = rate(encode([(q, a, b, mirror[w]) for q, a, b, w in CORE + LOSSES]), interval=SANDWICH)
    assert known(other.of("z").lower) == pytest.approx(2000 - known(table.of("z").upper))
    assert other.of("z").flags == (Flag.NEVER_LOSES,)
    assert other.ratings[0].system == "z"


def test_groups_that_never_met_are_rated_apart() -> None:
    battles = CORE + [(f"q{k}", "x", "y", A if k % 5 else B) for k in range(20)]
    table = rate(encode(battles), bootstrap=50)
    for group in ("abc", "xy"):
        assert np.mean([table.of(name).rating for name in group]) == pytest.approx(1000)
        assert sorted(table.of(name).rank for name in group) == list(range(1, len(group) + 1))
    assert table.of("x").flags == (Flag.SEPARATE,)
    assert table.of("x").component == 1


def test_a_one_way_chain_has_no_rating() -> None:
    table = rate(encode([("q1", "a", "b", A), ("q2", "b", "c", A)]))
    assert all(r.rating is None for r in table.ratings)
    assert table.of("b").flags == (Flag.UNBOUNDED, Flag.SEPARATE) or table.of("b").flags == (Flag.UNBOUNDED,)


def test_a_chain_of_thirty_is_exact() -> None:
    battles = [
        (f"q{k}", f"s{i:02d}", f"s{i + 1:02d}", A if k < 90 else B) for i in range(29) for k in range(100)
    ]
    table = rate(encode(battles), interval=SANDWICH)
    gaps = -np.diff([known(table.of(f"s{i:02d}").rating) for i in range(30)])
    assert gaps.tolist() == pytest.approx([400 * np.log10(9)] * 29, abs=1e-8)
    assert known(table.gradient_norm) < 1e-12


def test_resamples_that_lose_all_wins_do_not_blow_up_the_interval() -> None:
    battles = [*CORE, *LOSSES, ("q7", "z", "b", A)]
    gamma = rate(encode(battles), bootstrap=500)
    assert gamma.draws_without_estimate == 0
    assert known(gamma.of("z").lower) > -1000


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
def test_weights_that_are_no_numbers_are_refused(weight: float) -> None:
    table = encode(CORE)
    with pytest.raises(UnrankableError, match="weight"):
        rate(replace(table, weight=np.full(len(table), weight)))


def test_battles_without_weight_are_as_if_never_fought() -> None:
    table = encode(CORE + LOSSES)
    weight = np.array([1.0] * len(CORE) + [0.0] * len(LOSSES))
    assert (
        rate(replace(table, weight=weight), bootstrap=50).as_json()
        == rate(encode(CORE), bootstrap=50).as_json()
    )


def test_misuse_is_refused() -> None:
    with pytest.raises(NotFoundError, match="nobody"):
        rate(encode(CORE), anchor=Anchor(system="nobody"))
    with pytest.raises(InputError, match="resamples"):
        rate(encode(CORE), bootstrap=1)
    with pytest.raises(InputError, match="cannot be fixed"):
        Anchor(system="a", rating=float("nan"))
    with pytest.raises(InputError, match="sandwich"):
        rate(encode(CORE), method=Method.ELO, interval=SANDWICH)


def many(systems: int) -> BattleTable:
    rng = np.random.default_rng(0)
    others = np.arange(1, systems, dtype=np.int32)
    a = np.concatenate([others] * 4 + [np.arange(systems, dtype=np.int32)] * 2)
    b = np.concatenate([np.zeros(4 * len(others), dtype=np.int32)] + [np.roll(np.arange(systems), 1)] * 2)
    winner = np.concatenate([rng.integers(0, 3, 4 * len(others)), np.full(2 * systems, 2)]).astype(np.int8)
    return coded(tuple(f"s{k:06d}" for k in range(systems)), 500, a, b, winner, rng.integers(0, 500, len(a)))


def test_many_systems_agree_with_the_dense_path() -> None:
    """Just above the limit nothing dense is made, and ratings satisfy the same equations."""
    table = rate(many(2_500))
    assert table.draws is None
    assert table.covariance is None
    assert known(table.gradient_norm) < 1e-9
    assert all(known(r.lower) < known(r.rating) < known(r.upper) for r in table.ratings)
    assert all(r.se is not None for r in table.ratings)
    assert all(r.rank_lower <= r.rank <= r.rank_upper for r in table.ratings)


@pytest.mark.slow
def test_a_hundred_thousand_systems_are_rated() -> None:
    table = rate(many(100_000), cluster=Cluster.QUESTION)
    assert len(table.ratings) == 100_000
    assert known(table.gradient_norm) < 1e-9
    assert np.isfinite(table.points).all()
