from __future__ import annotations

from typing import Any

from arena.site.boards.snapshot_reader import _method

SETTINGS: dict[str, Any] = {"method": "bradley-terry", "interval": "sandwich", "bootstrap": None, "notes": []}


def test_a_board_says_why_it_was_not_resampled() -> None:
    """The notes of the ratings stand beside the kind of interval; boards of before have none."""
    noted = {**SETTINGS, "notes": ["intervals are sandwich intervals, since they are many"]}
    said = _method({"rating_settings": noted, "rate_settings": {}})
    assert said.endswith("intervals: sandwich. Intervals are sandwich intervals, since they are many.")
    former = {key: value for key, value in SETTINGS.items() if key != "notes"}
    for settings in (SETTINGS, former):
        said = _method({"rating_settings": settings, "rate_settings": {}})
        assert said.endswith("95 % intervals: sandwich.")
