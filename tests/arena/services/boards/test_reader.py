from __future__ import annotations

from pathlib import Path

import pytest

from arena.services.accounts.auth import PUBLIC
from data.errors import FileFormatError, NotFoundError, RetractedError
from leaderboard.vocabulary import BoardForm
from tests.arena.conftest import Fill, mix, play


def test_what_cannot_be_written_is_said(filled: Fill, tmp_path: Path) -> None:
    """An ending that names no form, a place that is no folder, a board that is gone or was taken down."""
    arena = filled(published=True)
    with pytest.raises(FileFormatError, match=r"r\.xlsx ends in none of .csv, .json, .parquet"):
        arena.boards.write_file("r", tmp_path / "r.xlsx")
    (tmp_path / "taken").mkdir()
    with pytest.raises(FileFormatError, match="taken cannot be written"):
        arena.boards.write_file("r", tmp_path / "taken", BoardForm.CSV)
    with pytest.raises(NotFoundError):
        arena.boards.file("none", BoardForm.CSV)
    arena.boards.retract("r", "A wrong file.")
    for form in BoardForm:
        with pytest.raises(RetractedError, match="A wrong file"):
            arena.boards.file("r", form, caller=PUBLIC)


def test_history_shows_changes_and_retractions(filled: Fill, tmp_path: Path) -> None:
    judged = mix(filled(), tmp_path)
    for name in ("one", "two"):
        play(judged, name, publish=True)
    newest, oldest = judged.boards.history()
    assert (newest.board.name, newest.previous, oldest.previous) == ("two", "one", None)
    assert newest.changes is not None
    assert not any(change.moved for change in newest.changes.systems)
    judged.boards.retract("one", "The wrong answers were judged.")
    newest, oldest = judged.boards.history()
    assert newest.previous is None
    assert (oldest.board.retracted, oldest.board.notice) == (True, "The wrong answers were judged.")
    assert oldest.changes is None
