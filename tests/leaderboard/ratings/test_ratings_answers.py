from __future__ import annotations

import numpy as np
import pytest

from data.errors import NotFoundError, UnrankableError
from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings import (
    Anchor,
    IntervalKind,
    Settings,
    rate,
)
from leaderboard.ratings.uncertainty.differences import difference
from tests.narrow import known

SANDWICH = Settings(interval=IntervalKind.SANDWICH, bootstrap=None)
QUICK = Settings(bootstrap=200)


def make_round(seed: int = 0, questions: int = 200, effect: float = 2.0) -> BattleTable:
    rng = np.random.default_rng(seed)
    names = ("d", "e", "f", "g", "ref")
    theta = np.array([0.9, 0.5, 0.0, -0.5, 0.3])
    question = np.repeat(np.arange(questions), 4)
    a = np.tile(np.arange(4), questions)
    hard = effect * rng.standard_normal(questions)
    chance = 1 / (1 + np.exp(-(theta[a] - theta[4] + hard[question])))
    return BattleTable(
        systems=names,
        questions=tuple(f"q{k:04d}" for k in range(questions)),
        domains=("few", "many"),
        a=a.astype(np.int32),
        b=np.full(len(a), 4, dtype=np.int32),
        winner=np.where(rng.random(len(a)) < chance, Winner.A, Winner.B).astype(np.int8),
        question=question.astype(np.int32),
        domain=(question >= 12).astype(np.int32),
    )


def test_a_paired_difference_is_surer_than_two_intervals_suggest() -> None:
    table = rate(make_round(), bootstrap=500, anchor=Anchor(system="ref"))
    found = difference(table, "d", "e")
    assert found.points == pytest.approx(known(table.of("d").rating) - known(table.of("e").rating))
    assert found.se < 0.85 * np.hypot(known(table.of("d").se), known(table.of("e").se))
    mirrored = difference(table, "e", "d")
    assert (mirrored.lower, mirrored.upper) == pytest.approx((-found.upper, -found.lower))
    assert mirrored.prob_better == pytest.approx(1 - found.prob_better)


def test_differences_do_not_depend_on_the_gauge() -> None:
    tables = [rate(make_round(), bootstrap=100, anchor=a) for a in (None, Anchor(system="g", rating=0))]
    one, other = (difference(table, "d", "g") for table in tables)
    assert (one.points, one.se, one.lower) == pytest.approx((other.points, other.se, other.lower))


def test_draws_and_sandwich_tell_the_same_story() -> None:
    drawn = difference(rate(make_round(), bootstrap=2000), "e", "f")
    closed = difference(rate(make_round(), interval=IntervalKind.SANDWICH), "e", "f")
    assert drawn.se == pytest.approx(closed.se, rel=0.08)
    assert drawn.prob_better == pytest.approx(closed.prob_better, abs=0.02)


def test_systems_that_cannot_be_compared_are_named() -> None:
    battles = BattleTable.from_columns(
        ["1", "2", "3", "1"], ["x"] * 4, list("abaa"), list("babz"), ["model_a"] * 4
    )
    table = rate(battles, bootstrap=20)
    with pytest.raises(UnrankableError, match="z has no rating"):
        difference(table, "a", "z")
    with pytest.raises(NotFoundError, match="nobody"):
        difference(table, "a", "nobody")
