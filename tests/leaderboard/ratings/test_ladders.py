from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import InputError, UnrankableError
from leaderboard.battles import BattleTable
from leaderboard.ratings import (
    Anchor,
    Flag,
    IntervalKind,
    RatingTable,
    Settings,
    difference,
    rate,
    rate_under_control,
    relative_columns,
)

Row = tuple[str, str, str, str, str]


def table_of(rows: Sequence[Row]) -> BattleTable:
    return BattleTable.from_columns(*[list(column) for column in zip(*rows, strict=True)])


def rated(rows: Sequence[Row], anchor: Anchor | None = None) -> RatingTable:
    return rate(table_of(rows), interval=IntervalKind.SANDWICH, anchor=anchor)


def two_floors(questions: int = 24, upper: str = "s", lower: str = "s") -> list[Row]:
    names = {1: f"{upper}1", 2: f"{upper}2", 3: f"{lower}3", 4: f"{lower}4"}
    rows = []
    for number in range(questions):
        for one, other in ((1, 3), (1, 4), (2, 3), (2, 4), (1, 2), (3, 4)):
            lost = number == 0 and (one, other) in {(1, 2), (3, 4)}
            rows.append((f"q{number}", "d", names[one], names[other], "model_b" if lost else "model_a"))
    return rows


@pytest.mark.parametrize(("upper", "lower"), [("s", "s"), ("z", "a"), ("a", "z")])
@pytest.mark.parametrize("turned", [False, True])
def test_the_beaten_stand_below_whatever_they_are_called(upper: str, lower: str, *, turned: bool) -> None:
    rows = two_floors(upper=upper, lower=lower)
    found = rated(rows[::-1] if turned else rows).ratings
    assert [row.system for row in found] == [f"{upper}1", f"{upper}2", f"{lower}3", f"{lower}4"]
    assert [(row.rank, row.rank_lower, row.rank_upper, row.tie_group) for row in found] == [
        (place, place, place, place) for place in range(1, 5)
    ]
    assert [row.letters for row in found] == ["A", "B", "C", "D"]
    assert [Flag.SEPARATE in row.flags for row in found] == [False, False, True, True]
    assert {row.ladder for row in found} == {0}


def test_the_one_decision_separates_groups_that_beat_others() -> None:
    found = rated(two_floors())
    assert all(found.separates(one, other) for one, other in combinations(found.systems, 2))


def test_a_larger_beaten_group_stands_below_a_smaller_one() -> None:
    rng = np.random.default_rng(1)
    rows: list[Row] = []
    for number in range(30):
        rows.append((f"q{number}", "d", "top1", "top2", "model_a" if number % 3 else "model_b"))
        for one in range(5):
            rows += [(f"q{number}", "d", top, f"s{one}", "model_a") for top in ("top1", "top2")]
            rows += [
                (f"q{number}", "d", f"s{one}", f"s{other}", "model_a" if rng.random() < 0.5 else "model_b")
                for other in range(one + 1, 5)
            ]
    found = rated(rows)
    assert [row.system for row in found.ratings[:2]] == ["top1", "top2"]
    assert all(row.rank_upper <= 2 for row in found.ratings[:2])
    assert all(row.rank_lower >= 3 and row.component == 0 for row in found.ratings[2:])
    top = set("".join(known_letters(row.letters) for row in found.ratings[:2]))
    assert not top & set("".join(known_letters(row.letters) for row in found.ratings[2:]))


def known_letters(text: str | None) -> str:
    assert text
    return text


def test_one_battle_puts_a_group_below_but_separates_nobody() -> None:
    rows: list[Row] = [
        (str(number), "d", *pair, "model_a" if number % divisor else "model_b")
        for number in range(12)
        for pair, divisor in ((("a", "b"), 2), (("c", "d"), 3))
    ]
    found = rated([*rows, ("0", "d", "a", "c", "model_a")])
    assert [row.system for row in found.ratings] == ["a", "b", "c", "d"]
    assert {(row.rank_lower, row.rank_upper, row.letters) for row in found.ratings} == {(1, 4, "A")}
    assert [row.rank for row in found.ratings] == [1, 1, 3, 4]


def test_groups_that_never_met_have_places_of_their_own() -> None:
    rows = [row for row in two_floors() if (row[2] in {"s1", "s2"}) is (row[3] in {"s1", "s2"})]
    found = rated(rows)
    assert [(row.system, row.ladder, row.rank_lower) for row in found.ratings] == [
        ("s1", 0, 1),
        ("s2", 0, 2),
        ("s3", 1, 1),
        ("s4", 1, 2),
    ]


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_order_of_rows_and_sides_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for number in range(14):
        one, other = rng.choice(list("abcdefg"), 2, replace=False)
        rows.append((f"q{number}", "d", str(one), str(other), str(rng.choice(["model_a", "model_b"]))))
    other_way = {"model_a": "model_b", "model_b": "model_a"}
    turned = [(question, domain, two, one, other_way[winner]) for question, domain, one, two, winner in rows]
    mixed = [pair[int(rng.random() < 0.5)] for pair in zip(rows, turned, strict=True)]
    shuffled = [mixed[place] for place in rng.permutation(len(mixed))]
    first, second = (json.dumps(rated(each).as_json()) for each in (rows, shuffled))
    assert first == second


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_nobody_is_placed_above_a_system_that_beat_it_for_certain(seed: int) -> None:
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
    rng = np.random.default_rng(0)
    false = 0
    for _ in range(400):
        won = rng.random(6) < 0.5
        rows: list[Row] = [
            (str(number), "d", "a", "b", "model_a" if one else "model_b") for number, one in enumerate(won)
        ]
        false += any(row.rank_lower > 1 for row in rated(rows).ratings)
    assert false / 400 <= 0.06


def beaten(rows: int = 10) -> list[Row]:
    return [
        (str(number), "d", "a", other, "model_a" if other == "c" or number % 2 else "model_b")
        for number in range(rows)
        for other in ("b", "c")
    ]


def test_an_anchor_that_lost_every_battle_is_refused() -> None:
    with pytest.raises(UnrankableError, match="c cannot be the anchor: it lost every battle"):
        rated(beaten(), Anchor(system="c", rating=1200))
    assert rated(beaten()).of("c").rating is None


def test_an_anchor_without_enough_company_is_refused() -> None:
    won = [(*row[:2], row[3], row[2], row[4]) for row in beaten() if row[3] == "c"]
    plain = [row for row in beaten() if row[3] == "b"]
    with pytest.raises(UnrankableError, match="c cannot be the anchor: it won every battle"):
        rated([*won, *plain], Anchor(system="c"))
    three: list[Row] = [
        (str(number), "d", *pair, "model_a" if number % 2 else "model_b")
        for number in range(12)
        for pair in (("a", "b"), ("b", "c"), ("x", "y"))
    ]
    with pytest.raises(UnrankableError, match="2 systems on one scale with it, and 3 others on another"):
        rated(three, Anchor(system="x"))
    assert rated(three, Anchor(system="a", rating=900)).of("a").rating == 900


def test_the_anchor_is_checked_in_every_fit() -> None:
    rng = np.random.default_rng(0)
    battles = table_of(beaten())
    columns, _ = relative_columns({"length": rng.poisson(90, (2, len(battles)))}, len(battles))  # type: ignore[dict-item]
    with pytest.raises(UnrankableError, match="c cannot be the anchor"):
        rate_under_control(battles, columns, Settings(anchor=Anchor(system="c")))


@pytest.mark.parametrize("rating", [1e308, -1.1e6, float("inf"), float("nan")])
def test_anchors_are_bounded(rating: float) -> None:
    with pytest.raises(InputError, match="cannot be fixed at"):
        Anchor(system="a", rating=rating)
    assert Anchor(system="a", rating=1e6).rating == 1e6


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
    battles = table_of(linked())
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


def test_several_anchors_must_share_a_scale() -> None:
    with pytest.raises(UnrankableError, match="c cannot be the anchor: it lost every battle"):
        rated(beaten(), Anchor(system="a", others=(Anchor(system="c"),)))
    with pytest.raises(InputError, match="twice"):
        Anchor(system="a", others=(Anchor(system="a", rating=3),))


@pytest.mark.parametrize(("questions", "ranks"), [(12, [(1, 1), (2, 2), (3, 3)]), (3, [(1, 3)] * 3)])
def test_systems_that_nobody_rates_have_the_places_that_their_battles_show(
    questions: int, ranks: list[tuple[int, int]]
) -> None:
    rows = [(f"q{n}", "d", a, b, "model_a") for n in range(questions) for a, b in ("ab", "bc", "ac")]
    found = rate(BattleTable.from_columns(*[list(column) for column in zip(*rows, strict=True)]))
    assert [rating.system for rating in found.ratings] == ["a", "b", "c"]
    assert [rating.rating for rating in found.ratings] == [None] * 3
    assert [(rating.rank_lower, rating.rank_upper) for rating in found.ratings] == ranks
    assert found.separates("a", "c") == (questions == 12)
