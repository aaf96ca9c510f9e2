"""Compact letter displays: who shares a letter, in which order, against other ways of finding them."""

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
    drawn = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    separated = np.zeros((size, size), dtype=bool)
    for (one, other), apart in zip(pairs, drawn, strict=True):
        separated[one, other] = separated[other, one] = apart
    return separated


def share(one: str, other: str) -> bool:
    return bool(letter_set(one) & letter_set(other))


def groups_of(found: tuple[str, ...]) -> list[tuple[int, ...]]:
    count = len(frozenset().union(*map(letter_set, found)))
    return [
        tuple(at for at, text in enumerate(found) if letter(number) in letter_set(text))
        for number in range(1, count + 1)
    ]


@given(outcomes(), st.data())
def test_separation_of_remaining_systems_is_unchanged(separated: Apart, data: st.DataObject) -> None:
    found = letters(separated)
    stay = sorted(data.draw(st.sets(st.integers(0, len(found) - 1), min_size=1)))
    among = places_among([found[at] for at in stay])
    for (one, mine), (other, theirs) in combinations(zip(stay, among, strict=True), 2):
        assert share(mine[2], theirs[2]) is not bool(separated[one, other])
    for at, (lower, upper, _) in zip(stay, among, strict=True):
        assert lower == 1 + sum(separated[at, other] for other in stay if other < at)
        assert upper == len(stay) - sum(separated[at, other] for other in stay if other > at)
    assert "A" in among[0][2]


def every_group(separated: Apart) -> list[tuple[int, ...]]:
    size = len(separated)
    alike = [
        set(some)
        for count in range(1, size + 1)
        for some in combinations(range(size), count)
        if not any(separated[one, other] for one, other in combinations(some, 2))
    ]
    return sorted(tuple(sorted(some)) for some in alike if not any(some < other for other in alike))


@settings(deadline=None)
@given(outcomes())
def test_letters_are_shared_exactly_where_no_test_separates_and_by_as_many_as_can(separated: Apart) -> None:
    """D7: each letter belongs to a largest set of systems without a separated pair, found by brute force."""
    found = letters(separated)
    for one, other in combinations(range(len(separated)), 2):
        assert share(found[one], found[other]) is not bool(separated[one, other])
    assert all(found)
    assert "A" in letter_set(found[0])
    groups = groups_of(found)
    assert set(groups) <= set(every_group(separated))
    assert groups == sorted(groups)


def test_letters_go_on_after_z_and_stay_apart_in_a_row() -> None:
    """D7: after Z come Aa, Ab, …, Ba, so that "ZAaAb" can only be read as three letters."""
    named = [letter(number) for number in (1, 26, 27, 52, 53, 702, 703)]
    assert named == ["A", "Z", "Aa", "Az", "Ba", "Zz", "Aaa"]
    assert letter_set("ZAaAb") == {"Z", "Aa", "Ab"}
    assert letters(~np.eye(30, dtype=bool))[-1] == "Ad"


def test_separate_pairs_without_end_have_few_letters() -> None:
    """D7: 100 systems, each separated from one other alone, have at most 200 letters, not 2⁵⁰."""
    separated = np.zeros((100, 100), dtype=bool)
    for one in range(0, 100, 2):
        separated[one, one + 1] = separated[one + 1, one] = True
    found = letters(separated)
    assert len(groups_of(found)) <= 200
    assert not share(found[0], found[1])
    assert share(found[0], found[99])


def test_letters_of_a_rating_table_are_the_tests_behind_its_rank_intervals() -> None:
    """D7: on the paper's board two systems share a letter exactly where Holm's tests do not separate them."""
    table = rate(bundled_board().table, cluster=Cluster.NONE)
    assert table.errors is not None
    sure = better(table.points, table.errors)
    for one, other in combinations(range(len(table.systems)), 2):
        first, second = (table.of(table.systems[code]).letters or "" for code in (one, other))
        assert share(first, second) is not bool(sure[one, other] or sure[other, one])
    assert table.of("qwen1.5-110b-chat").letters == "CD"
    assert table.of("qwen1.5-32b-chat").letters == "D"
    assert table.of("qwen1.5-32b-chat").tie_group != table.of("qwen1.5-110b-chat").tie_group


@pytest.mark.parametrize(("systems", "known"), [(8, True), (9, False)])
def test_too_many_systems_have_no_letters(monkeypatch: pytest.MonkeyPatch, systems: int, known: bool) -> None:
    """D7: where nobody could read the letters they are null, not empty."""
    monkeypatch.setattr("leaderboard.ratings.ranks.MOST_SYSTEMS", 8)
    rows = [
        (f"q{at}", "d", f"s{at}", f"s{(at + 1) % systems}", winner)
        for at in range(systems)
        for winner in ("model_a", "model_b", "tie")
    ]
    battles = encoded(rows)
    table = rate(battles, interval=IntervalKind.SANDWICH)
    assert all((one.letters is not None) is known for one in table.ratings)


Row = tuple[str, str, str, str, str]


def rated(rows: Sequence[Row], anchor: Anchor | None = None) -> RatingTable:
    return rate(encoded(rows), interval=IntervalKind.SANDWICH, anchor=anchor)


def met(*pairs: tuple[str, str], lost: Callable[[int, tuple[str, str]], bool] | None = None) -> list[Row]:
    """Battles of pairs on 24 questions, of which the first system loses every second unless it is said."""
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
@pytest.mark.parametrize("turned", [False, True])
def test_the_beaten_stand_below_whatever_they_are_called(upper: str, lower: str, *, turned: bool) -> None:
    names = [f"{upper}1", f"{upper}2", f"{lower}3", f"{lower}4"]
    rows = met(*combinations(names, 2), lost=lambda number, pair: number == 0 and pair[0][0] == pair[1][0])
    found = rated(rows[::-1] if turned else rows).ratings
    assert [row.system for row in found] == names
    assert [(row.rank, row.rank_lower, row.rank_upper, row.tie_group) for row in found] == [
        (place, place, place, place) for place in range(1, 5)
    ]
    assert [row.letters for row in found] == ["A", "B", "C", "D"]
    assert [Flag.SEPARATE in row.flags for row in found] == [False, False, True, True]
    assert {row.ladder for row in found} == {0}


def test_one_battle_puts_a_group_below_but_separates_nobody() -> None:
    rows = met(("a", "b"), ("c", "d"), lost=lambda number, pair: number % (2 if "a" in pair else 3) == 0)
    found = rated([*rows, ("0", "d", "a", "c", "model_a")])
    assert [row.system for row in found.ratings] == ["a", "b", "c", "d"]
    assert {(row.rank_lower, row.rank_upper, row.letters) for row in found.ratings} == {(1, 4, "A")}
    assert [row.rank for row in found.ratings] == [1, 1, 3, 4]


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_places_respect_certain_wins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = list("abcdef")
    rows: list[Row] = []
    took: set[tuple[str, str]] = set()
    for number in range(12):
        one, other = (str(name) for name in rng.choice(names, 2, replace=False))
        rows.append((f"q{number}", "d", one, other, "model_a"))
        took.add((one, other))
    for _ in names:
        took |= {(one, three) for one, two in took for again, three in took if again == two}
    found = rated(rows).ratings
    place = {row.system: number for number, row in enumerate(found)}
    for one, other in took:
        if one != other and (other, one) not in took:
            assert place[one] < place[other]


def test_equal_systems_are_rarely_separated_by_clean_records() -> None:
    """Two equal systems on 6 questions: the chance that a table calls one the better is at most 6 %."""
    false = 0.0
    for won in range(7):
        rows: list[Row] = [(str(n), "d", "a", "b", "model_a" if n < won else "model_b") for n in range(6)]
        false += math.comb(6, won) / 64 * any(row.rank_lower > 1 for row in rated(rows).ratings)
    assert 0 < false <= 0.06


BEATEN = met(("a", "b"), ("a", "c"), lost=lambda number, pair: "b" in pair and number % 2 == 0)
WINNING = met(("a", "b"), ("c", "a"), lost=lambda number, pair: "b" in pair and number % 2 == 0)
APART = met(("a", "b"), ("b", "c"), ("x", "y"))


@pytest.mark.parametrize(
    ("rows", "anchor", "said"),
    [
        (BEATEN, Anchor(system="c", rating=1200), "c cannot be the anchor: it lost every battle"),
        (BEATEN, Anchor(system="a", others=(Anchor(system="c"),)), "c cannot be the anchor: it lost every"),
        (WINNING, Anchor(system="c"), "c cannot be the anchor: it won every battle"),
        (APART, Anchor(system="x"), "2 systems on one scale with it, and 3 others on another"),
    ],
)
def test_an_anchor_that_holds_nothing_is_refused(rows: list[Row], anchor: Anchor, said: str) -> None:
    with pytest.raises(UnrankableError, match=said):
        rated(rows, anchor)
    assert rated(rows).ratings
    assert rated(APART, Anchor(system="a", rating=900)).of("a").rating == 900


def test_the_anchor_is_checked_in_every_fit() -> None:
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
    with pytest.raises(InputError, match="twice"):
        Anchor(system="a", others=(Anchor(system="a", rating=3),))


def linked(questions: int = 40) -> list[Row]:
    rng = np.random.default_rng(3)
    return [
        (str(number), "d", one, other, "model_a" if rng.random() < chance else "model_b")
        for number in range(questions)
        for one, other, chance in (("a", "b", 0.6), ("b", "c", 0.6), ("a", "c", 0.7))
    ]


def anchored() -> Anchor:
    return Anchor(system="a", rating=1000, others=(Anchor(system="b", rating=1200),))


@pytest.mark.parametrize("interval", IntervalKind)
def test_several_anchors_shift_all_ratings_and_stretch_none(interval: IntervalKind) -> None:
    battles = encoded(linked())
    plain = rate(battles, interval=interval, bootstrap=60)
    found = rate(battles, interval=interval, bootstrap=60, anchor=anchored())
    assert (found.points[0] - 1000) + (found.points[1] - 1200) == pytest.approx(0, abs=1e-9)
    assert found.points - plain.points == pytest.approx(np.full(3, found.points[0] - plain.points[0]))
    assert difference(found, "a", "c").se == pytest.approx(difference(plain, "a", "c").se)
    assert found.covariance is not None
    # In this gauge the two deviate together by nothing.
    assert found.covariance[0, 0] + found.covariance[0, 1] == pytest.approx(0, abs=1e-6)
    assert all(Flag.ANCHOR not in row.flags and row.se for row in found.ratings)
    assert found.as_json()["anchor"] == [{"system": "a", "rating": 1000.0}, {"system": "b", "rating": 1200.0}]
    single = rate(battles, interval=interval, bootstrap=60, anchor=Anchor(system="a", rating=900))
    assert single.as_json()["anchor"] == {"system": "a", "rating": 900}
    assert single.of("a").rating == 900


@pytest.mark.parametrize(("questions", "ranks"), [(12, [(1, 1), (2, 2), (3, 3)]), (3, [(1, 3)] * 3)])
def test_systems_that_nobody_rates_have_the_places_that_their_battles_show(
    questions: int, ranks: list[tuple[int, int]]
) -> None:
    rows = [(f"q{n}", "d", a, b, "model_a") for n in range(questions) for a, b in ("ab", "bc", "ac")]
    found = rate(encoded(rows))
    assert [rating.system for rating in found.ratings] == ["a", "b", "c"]
    assert [rating.rating for rating in found.ratings] == [None] * 3
    assert [(rating.rank_lower, rating.rank_upper) for rating in found.ratings] == ranks
    assert found.separates("a", "c") == (questions == 12)
