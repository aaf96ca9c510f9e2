"""Boards as files of other people's formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.services.accounts.auth import PUBLIC
from data.errors import FileFormatError, NotFoundError, RetractedError
from leaderboard.vocabulary import BoardForm
from tests.arena.conftest import Fill, play


def test_what_cannot_be_written_is_said(filled: Fill, tmp_path: Path) -> None:
    """An ending that names no form, a place that is no folder, a board that is gone or was taken down."""
    arena = filled()
    play(arena, publish=True)
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
