"""A column of the board is one entry, from which every surface is made."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from arena.services.boards.snapshot import read_board
from arena.services.boards.text_tables import board_table
from arena.site.boards.standings_table import standings_table
from data.models import Board
from leaderboard.export.tables import flat_rows, meaning_of, standings_file
from leaderboard.standings import columns
from leaderboard.standings.columns import COLUMNS, BoardColumn, Unit
from leaderboard.vocabulary import OVERALL, BoardForm
from tests.battle_tables import paper_board

DOCUMENT = Path(__file__).parents[4] / "docs" / "extending.md"
EXAMPLE = re.compile(r"<!-- column -->\n```python\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def board() -> Board:
    return paper_board()


def test_the_documents_column_is_on_every_surface(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry of under 30 lines reaches page, terminal, files and the list of fields."""
    (code,) = EXAMPLE.findall(DOCUMENT.read_text(encoding="utf-8"))
    assert len(code.splitlines()) < 30
    added: BoardColumn = eval(code, {"BoardColumn": BoardColumn, "Unit": Unit})  # noqa: S307 - the document's own
    monkeypatch.setattr(columns, "COLUMNS", (*COLUMNS, added))
    view, standings = read_board(board), board.standings
    table = standings_table(view, OVERALL, view.lines[OVERALL])
    assert ">Lost<" in table
    assert "lost" in board_table(board, OVERALL)[0]
    assert meaning_of("loss_rate") == "Share of battles lost"
    rows = list(csv.DictReader(io.StringIO(standings_file(standings, BoardForm.CSV).decode())))
    lines: Mapping[str, Any] = {line["system"]: line for line in standings["lines"][OVERALL]}
    for row in rows:
        rate = lines[row["system"]]["rate"]
        if row["domain"] == OVERALL and rate is not None:
            assert float(row["loss_rate"]) == pytest.approx(rate["losses"] / rate["battles"])


def test_every_column_of_files_says_what_it_means(board: Board) -> None:
    guessed = "Mean of this metric over the answers"
    assert [name for name in flat_rows(board.standings)[0] if meaning_of(name) == guessed] == []
