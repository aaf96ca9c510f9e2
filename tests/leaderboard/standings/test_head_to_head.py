from __future__ import annotations

import pytest

from leaderboard.battles import BattleTable
from leaderboard.standings.head_to_head import head_to_head, read_head_to_head
from tests.narrow import known


def test_meetings_are_read_from_both_sides() -> None:
    winners = ["model_a"] * 9 + ["tie"] * 4 + ["model_b"]
    rows = [(f"q{at}", "d", "a", "b", winner) for at, winner in enumerate(winners)]
    rows.append(("q0", "d", "b", "c", "tie"))
    table = BattleTable.from_columns(*(list(column) for column in zip(*rows, strict=True)))
    meetings = read_head_to_head(head_to_head(table, ["b", "a", "c"]).as_json())
    assert meetings.systems == ("b", "a", "c")
    won, lost = known(meetings.of("a", "b")), known(meetings.of("b", "a"))
    assert (won.battles, won.wins, won.ties, won.losses) == (14, 9, 4, 1)
    assert (lost.wins, lost.ties, lost.losses) == (1, 4, 9)
    assert won.rate == pytest.approx(11 / 14)
    assert meetings.of("a", "c") is None
