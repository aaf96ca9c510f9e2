"""Compact letter displays: who shares a letter, in which order, against other ways of finding them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from leaderboard.battles import BattleTable
from leaderboard.export.tables import flat_rows
from leaderboard.ratings import Cluster, IntervalKind, RatingTable, Settings, rate
from leaderboard.ratings.ranks import letter, letter_set, letters, places_among
from leaderboard.ratings.uncertainty.intervals import better
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About
from leaderboard.standings.published import bundled_board

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


@st.composite
def outcomes_of_intervals(draw: st.DrawFn) -> Apart:
    ends = draw(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)), min_size=1, max_size=8))
    ends.sort(reverse=True)
    middle, reach = (np.array(column) for column in zip(*ends, strict=True))
    return np.asarray(abs(middle[:, None] - middle) > reach[:, None] + reach)


def share(one: str, other: str) -> bool:
    return bool(letter_set(one) & letter_set(other))


def groups_of(found: tuple[str, ...]) -> list[tuple[int, ...]]:
    count = len(frozenset().union(*map(letter_set, found)))
    return [
        tuple(at for at, text in enumerate(found) if letter(number) in letter_set(text))
        for number in range(1, count + 1)
    ]


@given(outcomes(), st.data())
def test_those_who_stay_are_separated_as_before(separated: Apart, data: st.DataObject) -> None:
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


def insert_and_absorb(separated: Apart) -> list[tuple[int, ...]]:
    columns = [frozenset(range(len(separated)))]
    for one, other in zip(*np.nonzero(np.triu(separated)), strict=True):
        split = [
            part
            for column in columns
            for part in ((column - {one}, column - {other}) if {one, other} <= column else (column,))
        ]
        distinct = list(dict.fromkeys(split))
        columns = [column for column in distinct if not any(column < wider for wider in distinct)]
    return sorted(tuple(sorted(column)) for column in columns)


@settings(deadline=None)
@given(outcomes())
def test_two_systems_share_a_letter_exactly_where_no_test_separates_them(separated: Apart) -> None:
    """D7: whatever the tests say, a common letter means not separated, and none means separated."""
    found = letters(separated)
    for one, other in combinations(range(len(separated)), 2):
        assert share(found[one], found[other]) is not bool(separated[one, other])
    assert all(found)
    assert "A" in letter_set(found[0])


@settings(deadline=None)
@given(outcomes())
def test_no_letter_could_be_had_by_more_systems(separated: Apart) -> None:
    """D7: each letter belongs to a largest set of systems without a separated pair, found by brute force."""
    found = groups_of(letters(separated))
    assert set(found) <= set(every_group(separated))
    assert found == sorted(found)
    assert every_group(separated) == insert_and_absorb(separated)


@settings(deadline=None)
@given(outcomes_of_intervals())
def test_letters_of_intervals_are_those_of_insert_and_absorb(separated: Apart) -> None:
    """D7: where intervals that do not meet separate, three ways of finding letters agree."""
    assert groups_of(letters(separated)) == every_group(separated) == insert_and_absorb(separated)


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


def paper_ratings() -> RatingTable:
    return rate(bundled_board().table, cluster=Cluster.NONE)


def test_letters_of_a_rating_table_are_the_tests_behind_its_rank_intervals() -> None:
    """D7: on the paper's board two systems share a letter exactly where Holm's tests do not separate them."""
    table = paper_ratings()
    assert table.errors is not None
    sure = better(table.points, table.errors)
    for one, other in combinations(range(len(table.systems)), 2):
        first, second = (table.of(table.systems[code]).letters or "" for code in (one, other))
        assert share(first, second) is not bool(sure[one, other] or sure[other, one])
    assert table.of("qwen1.5-110b-chat").letters == "CD"
    assert table.of("qwen1.5-32b-chat").letters == "D"
    assert table.of("qwen1.5-32b-chat").tie_group != table.of("qwen1.5-110b-chat").tie_group


def test_letters_are_in_every_file_of_ratings() -> None:
    """D7: `letters` stand in the JSON of ratings, of standings and their second tables, and in flat rows."""
    paper = bundled_board()
    about = About(name="b", title="B", reference=paper.reference)
    standings = build_standings(paper.table, about, settings=Settings(cluster=Cluster.NONE)).as_json()
    lines = standings["lines"]
    assert isinstance(lines, dict)
    for part in lines.values():
        assert all(line["rating"]["letters"] for line in part)
    rows = {row["system"]: row for row in flat_rows(standings) if row["domain"] == "overall"}
    assert rows["qwen1.5-110b-chat"]["letters"] == "CD"
    assert list(rows["gpt-4o"])[9:11] == ["tie_group", "letters"]


@pytest.mark.parametrize(("systems", "known"), [(8, True), (9, False)])
def test_too_many_systems_have_no_letters(monkeypatch: pytest.MonkeyPatch, systems: int, known: bool) -> None:
    """D7: where nobody could read the letters they are null, not empty."""
    monkeypatch.setattr("leaderboard.ratings.ranks.MOST_SYSTEMS", 8)
    rows = [
        (f"q{at}", "d", f"s{at}", f"s{(at + 1) % systems}", winner)
        for at in range(systems)
        for winner in ("model_a", "model_b", "tie")
    ]
    battles = BattleTable.from_columns(*map(list, zip(*rows, strict=True)))
    table = rate(battles, interval=IntervalKind.SANDWICH)
    assert all((one.letters is not None) is known for one in table.ratings)
