from __future__ import annotations

import runpy
from importlib import import_module
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import t as t_distribution

from data.errors import NotFoundError, StatisticsError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings import Anchor, Cluster, Flag, IntervalKind, RatingTable, difference, rate
from leaderboard.ratings.vocabulary import POINTS
from leaderboard.stats import wilson
from tests.narrow import known


def test_paired_difference_has_smaller_error_than_two_ratings() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (f"q{at}", name, "ref", float(rng.random() < 1 / (1 + np.exp(-strength - hard))))
        for at, hard in enumerate(2 * rng.standard_normal(200))
        for name, strength in (("d", 0.6), ("e", 0.2), ("f", -0.3))
    ]
    table = rate(table_of(rows), bootstrap=500, anchor=Anchor(system="ref"))
    result = difference(table, "d", "e")
    assert result.points == pytest.approx(known(table.of("d").rating) - known(table.of("e").rating))
    assert result.se < 0.85 * np.hypot(known(table.of("d").se), known(table.of("e").se))
    mirrored = difference(table, "e", "d")
    assert (mirrored.lower, mirrored.upper) == pytest.approx((-result.upper, -result.lower))
    assert mirrored.prob_better == pytest.approx(1 - result.prob_better)


def test_incomparable_systems_raise_error() -> None:
    battles = BattleTable.from_columns(
        ["1", "2", "3", "1"], ["x"] * 4, list("abaa"), list("babz"), ["model_a"] * 4
    )
    table = rate(battles, bootstrap=20)
    with pytest.raises(UnrankableError, match="z has no rating"):
        difference(table, "a", "z")
    with pytest.raises(NotFoundError, match="unknown"):
        difference(table, "a", "unknown")


Row = tuple[str, str, str, float]
KINDS = list(IntervalKind)


def table_of(rows: list[Row], weights: list[float] | None = None) -> BattleTable:
    question, first, second, share = zip(*rows, strict=True)
    return BattleTable.from_columns(
        question_id=list(question),
        domain=["d"] * len(rows),
        model_a=list(first),
        model_b=list(second),
        winner=["model_a" if value > 0.5 else "model_b" if value < 0.5 else "tie" for value in share],
        score=list(share),
        weight=weights,
    )


def star(wins: dict[str, int], questions: int = 24) -> list[Row]:
    starts = {name: 5 * place for place, name in enumerate(wins)}
    return [
        (f"q{(at + starts[name]) % questions:02}", name, "ref", float(at < won))
        for name, won in wins.items()
        for at in range(questions)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_more_wins_never_reduce_separation(kind: IntervalKind) -> None:
    ranks = {}
    for won in (20, 21, 22, 23):
        table = rate(table_of(star({"A": won, "B": 2, "C": 1, "D": 12})), interval=kind)
        assert table.separates("A", "ref")
        assert difference(table, "A", "ref").lower > 0
        ranks[won] = table.of("A").rank_upper
    assert ranks[23] <= ranks[22] <= ranks[21] <= ranks[20]
    assert ranks[23] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_unanimous_questions_count_as_single_battles(kind: IntervalKind) -> None:
    def rated(questions: int) -> RatingTable:
        rows: list[Row] = []
        for at in range(questions):
            rows += [(f"q{at}", "good", "bad", 1.0)]
            rows += [(f"q{at}", "good", "mid", 1.0 - at % 2 / 2), (f"q{at}", "mid", "bad", 0.5 + at % 2 / 2)]
        return rate(table_of(rows), interval=kind)

    table = rated(30)
    assert [table.of(name).rank for name in ("good", "mid", "bad")] == [1, 2, 3]
    assert table.separates("good", "bad")
    gap = difference(table, "good", "bad")
    assert 0 < gap.lower < gap.points < gap.upper
    statistic = np.tanh(gap.points / POINTS / 2) * np.sqrt(30)
    assert gap.prob_better == pytest.approx(1 - t_distribution.sf(statistic, 29), abs=1e-12)
    assert not rated(4).separates("good", "bad")


def test_interval_of_independent_battles_is_wilsons() -> None:
    """Wilson's interval of the share of wins, with t in place of z."""
    won, count = 81, 263
    table = rate(
        table_of([(f"q{at}", "a", "b", float(at < won)) for at in range(count)]),
        interval=IntervalKind.SANDWICH,
    )
    gap = difference(table, "a", "b")
    share = won / count
    ratio = (1.959964 / float(stdtrit(count - 1, 0.975))) ** 2 * (count - 1) / count
    exact = wilson(share, count * ratio)
    assert exact is not None
    for end, limit in ((gap.lower, exact.lower), (gap.upper, exact.upper)):
        assert 1 / (1 + np.exp(-end / POINTS)) == pytest.approx(limit, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), questions=st.integers(3, 20))
def test_separation_agrees_with_interval_of_difference(seed: int, questions: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{at}", "a", "b", float(rng.random() < chance))
        for at, chance in enumerate(rng.beta(2, 1, questions))
        for _ in range(5)
    ]
    for kind in KINDS:
        table = rate(table_of(rows), interval=kind, bootstrap=100)
        try:
            gap = difference(table, "a", "b")
        except StatisticsError:
            continue
        apart = gap.lower > 0 or gap.upper < 0
        assert apart is table.separates("a", "b")
        assert apart is (max(gap.prob_better, 1 - gap.prob_better) > 0.975)
        assert apart is all(row.rank_lower == row.rank_upper for row in table.ratings)


def pair_on_three() -> list[Row]:
    return [
        (f"q{at}", "X", "Y", float(number < won))
        for at, won in enumerate((13, 16, 18))
        for number in range(20)
    ]


def many_questions() -> list[Row]:
    return [(f"z{at}", "A", "B", float(at % 3 > 0)) for at in range(200)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("linked", [False, True])
def test_difference_uses_only_its_effective_questions(kind: IntervalKind, *, linked: bool) -> None:
    separate = rate(table_of(pair_on_three()), interval=kind, bootstrap=100)
    rows = pair_on_three() + many_questions()
    if linked:
        rows += [("z0", "X", "A", 1.0), ("z1", "X", "A", 0.0), ("z2", "X", "A", 1.0)]
    joint = rate(table_of(rows), interval=kind, bootstrap=100)
    plain, mixed = difference(separate, "X", "Y"), difference(joint, "X", "Y")
    assert (plain.questions, mixed.questions) == (3, 3)
    assert mixed.lower == pytest.approx(plain.lower, rel=0.02)
    assert mixed.upper == pytest.approx(plain.upper, rel=0.02)
    assert plain.lower < 0 < plain.upper or plain.prob_better > 0.975
    assert mixed.interval is IntervalKind.SANDWICH
    assert Flag.FEW_QUESTIONS in joint.of("X").flags


def test_bridge_of_few_questions_limits_effective_questions() -> None:
    rows = [
        (f"q{at}", first, second, float((at * step) % 7 > 2))
        for first, second, step in (("a", "b", 3), ("c", "d", 5))
        for at in range(200)
    ]
    rows += [(f"q{at}", "a", "c", share) for at, share in enumerate((1.0, 0.0, 1.0, 1.0))]
    table = rate(table_of(rows), interval=IntervalKind.SANDWICH)
    assert difference(table, "a", "b").questions > 150
    assert difference(table, "a", "c").questions <= 5
    assert difference(table, "b", "d").questions <= 5


def test_few_questions_give_flagged_t_intervals() -> None:
    table = rate(table_of(pair_on_three()))
    by_t = rate(table_of(pair_on_three()), interval=IntervalKind.SANDWICH)
    for row, same in zip(table.ratings, by_t.ratings, strict=True):
        assert row.flags == (Flag.FEW_QUESTIONS,)
        assert (row.lower, row.upper, row.se) == (same.lower, same.upper, same.se)
    many = rate(table_of([(f"q{at}", "a", "b", float(at % 3 > 0)) for at in range(40)]))
    assert all(not row.flags for row in many.ratings)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([1e-6, 0.01, 3.0, 1e5]))
def test_ratings_do_not_depend_on_scale_of_weights(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{at % 15}", *rng.permutation(["a", "b", "c"])[:2].tolist(), float(rng.random() < 0.6))
        for at in range(90)
    ]
    weights = rng.lognormal(0, 1, len(rows))
    plain, scaled = (
        rate(table_of(rows, (weights * by).tolist()), interval=IntervalKind.SANDWICH) for by in (1.0, scale)
    )
    for row, same in zip(plain.ratings, scaled.ratings, strict=True):
        assert (row.system, row.letters, row.flags) == (same.system, same.letters, same.flags)
        assert (row.lower, row.upper) == pytest.approx((same.lower, same.upper))
    for first, second in combinations("abc", 2):
        gap, again = difference(plain, first, second), difference(scaled, first, second)
        assert (gap.lower, gap.upper, gap.questions) == pytest.approx(
            (again.lower, again.upper, again.questions)
        )


@pytest.mark.parametrize("cluster", list(Cluster))
def test_very_many_systems_default_to_sandwich_intervals(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster
) -> None:
    monkeypatch.setattr(import_module("leaderboard.ratings.rate"), "MAX_RESAMPLED", 8)
    rng = np.random.default_rng(5)
    pairs = [rng.choice(10, 2, replace=False) for _ in range(300)]
    rows = [(f"q{at % 20}", f"s{a}", f"s{b}", float(rng.random() < 0.5)) for at, (a, b) in enumerate(pairs)]
    table = rate(table_of(rows), cluster=cluster)
    assert table.settings.interval is IntervalKind.SANDWICH
    assert len(table.notes) == 1
    assert "sandwich" in table.notes[0]
    assert table.as_json()["notes"] == list(table.notes)
    explicit = rate(table_of(rows), cluster=cluster, interval=IntervalKind.SANDWICH)
    assert (explicit.ratings, explicit.notes) == (table.ratings, ())
    few = [row for row in rows if {row[1], row[2]} <= {"s1", "s2", "s3"}]
    assert rate(table_of(few), bootstrap=20).settings.interval is IntervalKind.BOOTSTRAP


@pytest.mark.slow
@pytest.mark.parametrize("systems", [2, 5])
@pytest.mark.parametrize("questions", [3, 5, 8])
def test_equal_systems_are_rarely_separated(systems: int, questions: int) -> None:
    simulation = runpy.run_path(
        str(Path(__file__).parents[4] / "benchmarks/few_questions.py"), run_name="few"
    )
    result = simulation["simulate"](
        systems=systems, questions=questions, battles=10, rounds=250, interval=IntervalKind.SANDWICH
    )
    assert result.separated < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 250)
    assert result.apart < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 250)
    assert result.held > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 250)
