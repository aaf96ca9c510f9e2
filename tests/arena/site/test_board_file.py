from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.container import Arena, open_arena
from arena.site.board_file import write_board
from data.errors import NotFoundError, RetractedError
from tests.arena.conftest import play
from tests.served import published


@pytest.fixture
def page(tmp_path: Path) -> str:
    arena = open_arena(published())
    write_board(arena, "tiny", tmp_path / "board.html")
    arena.close()
    return (tmp_path / "board.html").read_text(encoding="utf-8")


def test_board_file_has_every_table(page: str) -> None:
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", page)
    assert headings[:2] == ["By domain", "Overall"]
    assert {"Head to head", "About this board", "What the columns mean", "Citation"} <= set(headings)
    assert "aa-cells" in page
    assert page.count("aa-standings") >= len({"Overall", "Zero", "One", "Two"})


def test_board_file_has_no_external_resources_or_scripts(page: str) -> None:
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert "<link" not in page
    assert not re.search(r"\s(src|href)=\"(?!#)", page)
    assert not re.search(r"\son\w+=", page.partition("</style>")[2])


def test_board_file_is_refused_for_private_boards(filled: Callable[..., Arena], tmp_path: Path) -> None:
    arena = filled()
    play(arena)
    with pytest.raises(NotFoundError):
        write_board(arena, "r", tmp_path / "board.html")
    arena.boards.publish("r", report=lambda _line: None, score=False)
    arena.boards.retract("r", "A wrong file.")
    with pytest.raises(RetractedError, match="A wrong file"):
        write_board(arena, "r", tmp_path / "board.html")
    assert not (tmp_path / "board.html").exists()
