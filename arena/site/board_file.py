"""A board as one HTML file that needs no server, with the tables of the site."""

from __future__ import annotations

from pathlib import Path

from arena.container import Arena
from arena.formats import CITATION
from arena.html_pages import rendered
from arena.models.boards import OVERALL, BoardView
from arena.services.accounts.auth import PUBLIC
from arena.services.boards.metric_columns import column_meanings
from arena.services.boards.sentences import grounds, headline, leading, opening
from arena.services.boards.snapshot import read_board
from arena.site.boards.grid import grid_table, grid_titles
from arena.site.boards.matrix_page import matrix_table
from arena.site.boards.standings_table import standings_table
from arena.site.ui.html import words_table
from data.errors import RetractedError
from data.files.zip_files import atomic_text

ASSETS = Path(__file__).parent / "assets"
STYLES = ("style.css", "document.css")
MAX_IN_MATRIX = 30


def write_board(arena: Arena, name: str, path: Path) -> None:
    """Write the public view of a board or snapshot."""
    board = arena.boards.get(name, caller=PUBLIC)
    if not board.standings:
        raise RetractedError(name, board.notice)
    text = board_html(read_board(board), arena.settings.public_url)
    with atomic_text(path) as file:
        file.write(text)


def board_html(view: BoardView, address: str = "") -> str:
    """Render a board's page; `address` is the URL of its arena."""
    citation = CITATION.format(view=view, year=view.published[:4], address=address).splitlines()
    win, score = (next(iter(names), "") for names in grid_titles(view))
    return rendered(
        "board_file.html",
        view=view,
        style="".join((ASSETS / name).read_text(encoding="utf-8") for name in STYLES),
        about=opening(view, OVERALL),
        lead=headline(view, OVERALL),
        grounds=" · ".join(check.clause for check in grounds(view, OVERALL)),
        sections=[
            {
                "id": f"domain-{place}",
                "label": view.label(domain),
                "leading": leading(view, domain),
                "table": standings_table(view, domain, view.lines.get(domain, ()), in_file=True),
            }
            for place, domain in enumerate((OVERALL, *view.grid.domains))
        ],
        grid=grid_table(view, win, score, systems=len(view.systems), in_file=True) if win else None,
        matrix=matrix_table(view, in_file=True) if len(view.meetings.systems) <= MAX_IN_MATRIX else None,
        health=words_table(("Figure", "Value", "Meaning"), view.health, spare=1, scrolls=True),
        details=words_table(("About this board", ""), (*view.facts, *view.details), scrolls=True),
        definitions=words_table(("Column", "Meaning"), column_meanings().items(), scrolls=True),
        citation="\n".join(line for line in citation if address or "url = " not in line),
    )
