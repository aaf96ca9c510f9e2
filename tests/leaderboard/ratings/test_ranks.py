"""Letters, ranks and anchors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from data.errors import InputError, UnrankableError
from leaderboard.ratings import (
    Anchor,
    Cluster,
    Flag,
    IntervalKind,
    RatingTable,
    Settings,
    difference,
    rate,
    rate_under_control,
    relative_columns,
)
from leaderboard.ratings.ranks import letter, letter_set, letters, places_among
from leaderboard.ratings.uncertainty.intervals import better
from leaderboard.standings.published import bundled_board
from tests.battle_tables import encoded

Apart = NDArray[np.bool_]


@st.composite
def outcomes(draw: st.DrawFn) -> Apart:
    size = draw(st.integers(1, 8))
    pairs = list(combinations(range(size), 2))
    values = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    separated = np.zeros((size, size), dtype=bool)
    for (a, b), apart in zip(pairs, values, strict=True):
        separated[a, b] = separated[b, a] = apart
    return separated


def share(first: str, second: str) -> bool:
    return bool(letter_set(first) & letter_set(second))


def groups_of(result: tuple[str, ...]) -> list[tuple[int, ...]]:
    count = len(frozenset().union(*map(letter_set, result)))
    return [
        tuple(at for at, text in enumerate(result) if letter(number) in letter_set(text))
        for number in range(1, count + 1)
    ]


@given(outcomes(), st.data())
def test_separation_of_remaining_systems_is_unchanged(separated: Apart, data: st.DataObject) -> None:
    result = letters(separated)
    stay = sorted(data.draw(st.sets(st.integers(0, len(result) - 1), min_size=1)))
    among = places_among([result[at] for at in stay])
    for (a, place_a), (b, place_b) in combinations(zip(stay, among, strict=True), 2):
        assert share(place_a[2], place_b[2]) is not bool(separated[a, b])
    for at, (lower, upper, _) in zip(stay, among, strict=True):
        assert lower == 1 + sum(separated[at, other] for other in stay if other < at)
        assert upper == len(stay) - sum(separated[at, other] for other in stay if other > at)
    assert "A" in among[0][2]


def every_group(separated: Apart) -> list[tuple[int, ...]]:
    size = len(separated)
    alike = [
        set(group)
        for count in range(1, size + 1)
        for group in combinations(range(size), count)
        if not any(separated[a, b] for a, b in combinations(group, 2))
    ]
    return sorted(tuple(sorted(group)) for group in alike if not any(group < larger for larger in alike))


@settings(deadline=None)
@given(outcomes())
def test_letters_are_maximal_groups_of_unseparated_systems(separated: Apart) -> None:
    """The groups agree with a brute-force search."""
    result = letters(separated)
    for a, b in combinations(range(len(separated)), 2):
        assert share(result[a], result[b]) is not bool(separated[a, b])
    assert all(result)
    assert "A" in letter_set(result[0])
    groups = groups_of(result)
    assert set(groups) <= set(every_group(separated))
    assert groups == sorted(groups)


def test_letters_after_z_can_be_split() -> None:
    """After Z come Aa, Ab, …, Ba, so that "ZAaAb" can only be read as three letters."""
    named = [letter(number) for number in (1, 26, 27, 52, 53, 702, 703)]
    assert named == ["A", "Z", "Aa", "Az", "Ba", "Zz", "Aaa"]
    assert letter_set("ZAaAb") == {"Z", "Aa", "Ab"}
    assert letters(~np.eye(30, dtype=bool))[-1] == "Ad"


def test_many_separated_pairs_need_few_letters() -> None:
    """100 systems, each separated from only one other, have at most 200 letters, not 2⁵⁰."""
    separated = np.zeros((100, 100), dtype=bool)
    for at in range(0, 100, 2):
        separated[at, at + 1] = separated[at + 1, at] = True
    result = letters(separated)
    assert len(groups_of(result)) <= 200
    assert not share(result[0], result[1])
    assert share(result[0], result[99])


def test_letters_agree_with_rank_tests() -> None:
    """On the paper's board two systems share a letter if and only if Holm's tests do not separate them."""
    table = rate(bundled_board().table, cluster=Cluster.NONE)
    assert table.errors is not None
    sure = better(table.points, table.errors)
    for a, b in combinations(range(len(table.systems)), 2):
        first, second = (table.of(table.systems[code]).letters or "" for code in (a, b))
        assert share(first, second) is not bool(sure[a, b] or sure[b, a])
    assert table.of("qwen1.5-110b-chat").letters == "CD"
    assert table.of("qwen1.5-32b-chat").letters == "D"
    assert table.of("qwen1.5-32b-chat").tie_group != table.of("qwen1.5-110b-chat").tie_group


@pytest.mark.parametrize(("systems", "known"), [(8, True), (9, False)])
def test_too_many_systems_have_no_letters(monkeypatch: pytest.MonkeyPatch, systems: int, known: bool) -> None:
    monkeypatch.setattr("leaderboard.ratings.ranks.MAX_LETTERED_SYSTEMS", 8)
    rows = [
        (f"q{at}", "d", f"s{at}", f"s{(at + 1) % systems}", winner)
        for at in range(systems)
        for winner in ("model_a", "model_b", "tie")
    ]
    battles = encoded(rows)
    table = rate(battles, interval=IntervalKind.SANDWICH)
    assert all((rating.letters is not None) is known for rating in table.ratings)


Row = tuple[str, str, str, str, str]


def rated(rows: Sequence[Row], anchor: Anchor | None = None) -> RatingTable:
    return rate(encoded(rows), interval=IntervalKind.SANDWICH, anchor=anchor)


def met(*pairs: tuple[str, str], lost: Callable[[int, tuple[str, str]], bool] | None = None) -> list[Row]:
    """Battles of pairs on 24 questions; by default the first system loses every second battle."""
    return [
        (
            str(number),
            "d",
            *pair,
            "model_b" if (lost(number, pair) if lost else number % 2 == 0) else "model_a",
        )
        for number in range(24)
        for pair in pairs
    ]


@pytest.mark.parametrize(("upper", "lower"), [("z", "a"), ("a", "z")])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_losing_group_ranks_below_regardless_of_names(upper: str, lower: str, *, is_reversed: bool) -> None:
    names = [f"{upper}1", f"{upper}2", f"{lower}3", f"{lower}4"]
    rows = met(*combinations(names, 2), lost=lambda number, pair: number == 0 and pair[0][0] == pair[1][0])
    result = rated(rows[::-1] if is_reversed else rows).ratings
    assert [row.system for row in result] == names
    assert [(row.rank, row.rank_lower, row.rank_upper, row.tie_group) for row in result] == [
        (place, place, place, place) for place in range(1, 5)
    ]
    assert [row.letters for row in result] == ["A", "B", "C", "D"]
    assert [Flag.SEPARATE in row.flags for row in result] == [False, False, True, True]
    assert {row.ladder for row in result} == {0}


def test_one_battle_orders_groups_without_separating_them() -> None:
    rows = met(("a", "b"), ("c", "d"), lost=lambda number, pair: number % (2 if "a" in pair else 3) == 0)
    result = rated([*rows, ("0", "d", "a", "c", "model_a")])
    assert [row.system for row in result.ratings] == ["a", "b", "c", "d"]
    assert {(row.rank_lower, row.rank_upper, row.letters) for row in result.ratings} == {(1, 4, "A")}
    assert [row.rank for row in result.ratings] == [1, 1, 3, 4]


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_places_respect_certain_wins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = list("abcdef")
    rows: list[Row] = []
    wins: set[tuple[str, str]] = set()
    for number in range(12):
        winner, loser = (str(name) for name in rng.choice(names, 2, replace=False))
        rows.append((f"q{number}", "d", winner, loser, "model_a"))
        wins.add((winner, loser))
    for _ in names:
        wins |= {(first, third) for first, second in wins for again, third in wins if again == second}
    result = rated(rows).ratings
    place = {row.system: number for number, row in enumerate(result)}
    for winner, loser in wins:
        if winner != loser and (loser, winner) not in wins:
            assert place[winner] < place[loser]


def test_equal_systems_are_rarely_separated_by_clean_records() -> None:
    """For two equal systems on 6 questions, a table calls one better in at most 6 % of cases."""
    false = 0.0
    for won in range(7):
        rows: list[Row] = [(str(n), "d", "a", "b", "model_a" if n < won else "model_b") for n in range(6)]
        false += math.comb(6, won) / 64 * any(row.rank_lower > 1 for row in rated(rows).ratings)
    assert 0 < false <= 0.06


BEATEN = met(("a", "b"), ("a", "c"), lost=lambda number, pair: "b" in pair and number % 2 == 0)
WINNING = met(("a", "b"), ("c", "a"), lost=lambda number, pair: "b" in pair and number % 2 == 0)
APART = met(("a", "b"), ("b", "c"), ("x", "y"))


@pytest.mark.parametrize(
    ("rows", "anchor", "message"),
    [
        (BEATEN, Anchor(system="c", rating=1200), "c cannot be the anchor: it lost every battle"),
        (BEATEN, Anchor(system="a", additional=(Anchor(system="c"),)), "c cannot be the anchor: it lost"),
        (WINNING, Anchor(system="c"), "c cannot be the anchor: it won every battle"),
        (APART, Anchor(system="x"), "its scale has 2 systems, and a separate scale has 3"),
    ],
)
def test_anchor_outside_main_group_is_refused(rows: list[Row], anchor: Anchor, message: str) -> None:
    with pytest.raises(UnrankableError, match=message):
        rated(rows, anchor)
    assert rated(rows).ratings
    assert rated(APART, Anchor(system="a", rating=900)).of("a").rating == 900


def test_style_control_checks_anchor() -> None:
    rng = np.random.default_rng(0)
    battles = encoded(BEATEN)
    columns, _ = relative_columns({"length": rng.poisson(90, (2, len(battles)))}, len(battles))  # type: ignore[dict-item]
    with pytest.raises(UnrankableError, match="c cannot be the anchor"):
        rate_under_control(battles, columns, Settings(anchor=Anchor(system="c")))


@pytest.mark.parametrize("rating", [1e308, -1.1e6, float("inf"), float("nan")])
def test_anchors_are_bounded(rating: float) -> None:
    with pytest.raises(InputError, match="cannot be fixed at"):
        Anchor(system="a", rating=rating)
    assert Anchor(system="a", rating=1e6).rating == 1e6
    with pytest.raises(InputError, match="the same system"):
        Anchor(system="a", additional=(Anchor(system="a", rating=3),))


def linked(questions: int = 40) -> list[Row]:
    rng = np.random.default_rng(3)
    return [
        (str(number), "d", first, second, "model_a" if rng.random() < chance else "model_b")
        for number in range(questions)
        for first, second, chance in (("a", "b", 0.6), ("b", "c", 0.6), ("a", "c", 0.7))
    ]


def anchored() -> Anchor:
    return Anchor(system="a", rating=1000, additional=(Anchor(system="b", rating=1200),))


@pytest.mark.parametrize("interval", IntervalKind)
def test_several_anchors_only_shift_ratings(interval: IntervalKind) -> None:
    battles = encoded(linked())
    plain = rate(battles, interval=interval, bootstrap=60)
    result = rate(battles, interval=interval, bootstrap=60, anchor=anchored())
    assert (result.points[0] - 1000) + (result.points[1] - 1200) == pytest.approx(0, abs=1e-9)
    assert result.points - plain.points == pytest.approx(np.full(3, result.points[0] - plain.points[0]))
    assert difference(result, "a", "c").se == pytest.approx(difference(plain, "a", "c").se)
    assert result.covariance is not None
    # Only the mean of the two anchors is fixed.
    assert result.covariance[0, 0] + result.covariance[0, 1] == pytest.approx(0, abs=1e-6)
    assert all(Flag.ANCHOR not in row.flags and row.se for row in result.ratings)
    assert result.as_json()["anchor"] == [
        {"system": "a", "rating": 1000.0},
        {"system": "b", "rating": 1200.0},
    ]
    single = rate(battles, interval=interval, bootstrap=60, anchor=Anchor(system="a", rating=900))
    assert single.as_json()["anchor"] == {"system": "a", "rating": 900}
    assert single.of("a").rating == 900


@pytest.mark.parametrize(("questions", "ranks"), [(12, [(1, 1), (2, 2), (3, 3)]), (3, [(1, 3)] * 3)])
def test_systems_without_ratings_are_ranked_by_clean_records(
    questions: int, ranks: list[tuple[int, int]]
) -> None:
    rows = [(f"q{n}", "d", a, b, "model_a") for n in range(questions) for a, b in ("ab", "bc", "ac")]
    result = rate(encoded(rows))
    assert [rating.system for rating in result.ratings] == ["a", "b", "c"]
    assert [rating.rating for rating in result.ratings] == [None] * 3
    assert [(rating.rank_lower, rating.rank_upper) for rating in result.ratings] == ranks
    assert result.separates("a", "c") == (questions == 12)
