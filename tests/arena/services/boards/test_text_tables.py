"""Boards as text for terminals."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from arena.services.boards.snapshot import read_board
from arena.services.boards.text_tables import SCALES, board_table, formatted
from arena.site.boards.standings_table import standings_table
from data.models import Board
from leaderboard.export.tables import flat_rows, meaning_of, standings_file
from leaderboard.ratings import Settings
from leaderboard.standings import columns as board_columns
from leaderboard.standings.build import build_standings
from leaderboard.standings.columns import BoardColumn, Unit, columns
from leaderboard.standings.model import About
from leaderboard.vocabulary import OVERALL, BoardForm, TableFormat
from tests.battle_tables import board_of, encoded, paper_board

DOCUMENT = Path(__file__).parents[4] / "docs" / "extending.md"
EXAMPLE = re.compile(r"<!-- column -->\n```python\n(.*?)```", re.DOTALL)
Row = tuple[str, str, str, str, str]


def built(rows: list[Row]) -> Board:
    """A published board of battles."""
    return board_of(
        build_standings(encoded(rows), About(name="b", title="B"), settings=Settings(bootstrap=50))
    )


def floors(systems: tuple[str, ...]) -> list[Row]:
    """Return battles in which earlier systems win, except that 1 and 2, and 3 and 4, split theirs."""
    even = {("s1", "s2"), ("s3", "s4")}
    return [
        (f"q{number}", "d", one, other, "model_b" if (one, other) in even and number % 4 == 0 else "model_a")
        for number in range(24)
        for one, other in combinations(systems, 2)
    ]


def test_ratings_on_separate_scales_are_marked() -> None:
    """A lower group may have higher ratings, which a flag and a note explain."""
    headers, rows, notes = board_table(built(floors(("s1", "s2", "s3", "s4"))), "overall")
    assert (headers[0], headers[1], headers[-1]) == ("rank", "system", "flags")
    assert [(row[1], row[-1]) for row in rows] == [
        ("s1", None),
        ("s2", None),
        ("s3", "separate"),
        ("s4", "separate"),
    ]
    assert notes == (SCALES,)


def test_board_on_one_scale_has_no_flag_column() -> None:
    headers, rows, notes = board_table(built(floors(("s1", "s2"))), "overall")
    assert "flags" not in headers
    assert all(len(row) == len(headers) for row in rows)
    assert not notes


def test_board_is_formatted_for_papers_and_spreadsheets() -> None:
    """Each format has a line per system and its own escapes."""
    board = built(floors(("s|1", "s_2")))
    csv_lines = formatted(board, "overall", TableFormat.CSV).splitlines()
    assert csv_lines[0].startswith("domain,system,")
    assert [line.split(",")[1] for line in csv_lines[1:]] == ["s|1", "s_2"]
    markdown = formatted(board, "overall", TableFormat.MARKDOWN).splitlines()
    assert markdown[1].replace(" ", "").startswith("|---|---|")
    assert "s\\|1" in markdown[2]
    latex = formatted(board, "overall", TableFormat.LATEX)
    assert "\\toprule" in latex
    assert "s\\_2 & " in latex


def test_documents_column_is_in_every_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer than 30 lines add the column to page, terminal, files and documentation."""
    (code,) = EXAMPLE.findall(DOCUMENT.read_text(encoding="utf-8"))
    assert len(code.splitlines()) < 30
    added: BoardColumn = eval(code, {"BoardColumn": BoardColumn, "Unit": Unit})  # noqa: S307 - the document's own
    defined = (*columns(), added)
    monkeypatch.setattr(board_columns, "columns", lambda: defined)
    board = paper_board()
    view, standings = read_board(board), board.standings
    table = standings_table(view, OVERALL, view.lines[OVERALL])
    assert ">Lost, %<" in table
    assert "lost" in board_table(board, OVERALL)[0]
    assert meaning_of("loss_rate") == "Share of battles lost"
    rows = list(csv.DictReader(io.StringIO(standings_file(standings, BoardForm.CSV).decode())))
    lines: Mapping[str, Any] = {line["system"]: line for line in standings["lines"][OVERALL]}
    for row in rows:
        rate = lines[row["system"]]["rate"]
        if row["domain"] == OVERALL and rate is not None:
            assert float(row["loss_rate"]) == pytest.approx(rate["losses"] / rate["battles"])


def test_every_file_column_is_documented() -> None:
    guessed = "Mean of this metric over the answers"
    assert [name for name in flat_rows(paper_board().standings)[0] if meaning_of(name) == guessed] == []
