from __future__ import annotations

from typing import Any

import pytest

from leaderboard.standings.places import changes, ranks_among_systems
from tests.cases import cases


def _board(ratings: dict[str, tuple[float | None, int, int]], **facts: str) -> dict[str, Any]:
    lines = [
        {"system": name, "rating": {"rating": points, "rank_lower": low, "rank_upper": high}}
        for name, (points, low, high) in ratings.items()
    ]
    return {"lines": {"overall": lines}, "facts": facts}


Ratings = dict[str, tuple[float | None, int, int]]


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    cases(__file__, "newcomers_and_leavers_move_nobody"),
    ids=["a newcomer below", "no common place", "places of leavers", "a newcomer above"],
)
def test_new_and_withdrawn_systems_change_no_ranks(before: Ratings, after: Ratings, moved: list[str]) -> None:
    result = changes(_board(before), _board(after))
    assert {change.system for change in result.systems if change.moved} == set(moved)
    assert (set(result.entered), set(result.left)) == (after.keys() - before, before.keys() - after)


def test_reference_has_no_rank() -> None:
    ratings: Ratings = {"ref": (1200, 1, 1), "a": (1000, 2, 2), "b": (800, 3, 3)}
    before, after = ({**_board(ratings), "reference": "ref"} for _ in range(2))
    assert ranks_among_systems(before) == {"a": (1, 1), "b": (2, 2)}
    result = changes(before, after)
    assert [(change.system, change.before, change.after) for change in result.systems] == [
        ("a", (1, 1), (1, 1)),
        ("b", (2, 2), (2, 2)),
    ]


def test_falling_reference_changes_no_ranks() -> None:
    before = {**_board({"ref": (1200, 1, 1), "a": (1000, 2, 2), "b": (800, 3, 3)}), "reference": "ref"}
    after = {**_board({"a": (1200, 1, 1), "ref": (1000, 2, 2), "b": (800, 3, 3)}), "reference": "ref"}
    assert not any(change.moved for change in changes(before, after).systems)
