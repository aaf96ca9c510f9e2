"""A board as one HTML file that needs no server, with the tables of the site."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from arena.container import Arena
from arena.html_pages import rendered
from arena.services.accounts.auth import PUBLIC
from arena.services.boards.metric_columns import column_meanings
from arena.site.boards.matrix_page import matrix_table
from arena.site.boards.sentences import headline, leading
from arena.site.boards.snapshot_reader import read_board
from arena.site.boards.standings_table import standings_table
from arena.site.boards.view_model import OVERALL, BoardView
from arena.site.ui.help_texts import CITATION
from arena.site.ui.tables import scrolled, words_table
from data.errors import RetractedError
from data.files.zip_files import atomic_text

ASSETS = Path(__file__).parent / "assets"
STYLES = ("style.css", "document.css")
MAX_IN_MATRIX = 30


def write_board(arena: Arena, name: str, path: Path) -> None:
    """Write a board, or one snapshot of it, as the public may see it.

    Raises:
        NotFoundError: No board has this name.
        RetractedError: The board was retracted.
        FileFormatError: The file cannot be written.
    """
    board = arena.boards.get(name, caller=PUBLIC)
    if not board.standings:
        raise RetractedError(name, board.notice)
    text = board_html(read_board(board), arena.settings.public_url)
    with atomic_text(path) as file:
        file.write(text)


def board_html(view: BoardView, address: str = "") -> str:
    """Make the page of a board; `address` is that of its arena."""
    cited = CITATION.format(view=view, year=view.published[:4], address=address).splitlines()
    return rendered(
        "board_file.html",
        view=view,
        style="".join((ASSETS / name).read_text(encoding="utf-8") for name in STYLES),
        lead=headline(view, OVERALL),
        sections=[
            {
                "id": f"domain-{place}",
                "label": view.label(domain),
                "leading": leading(view, domain),
                "table": _plain(standings_table(view, domain, view.rows(domain))),
            }
            for place, domain in enumerate((OVERALL, *view.domains))
        ],
        matrix=_plain(matrix_table(view)) if len(view.meetings.systems) <= MAX_IN_MATRIX else None,
        health=_plain(words_table(("Figure", "Value", "Meaning"), view.health, spare=1))
        if view.health
        else None,
        details=_plain(words_table(("About this board",), (*view.facts, *view.details))),
        definitions=_plain(words_table(("Column", "Meaning"), column_meanings().items())),
        citation="\n".join(line for line in cited if address or "url = " not in line),
    )


def _plain(root: Element) -> Element:
    """Return a table without links, which lead to pages of the site; it can be scrolled by keyboard."""
    for anchor in list(root.iter("a")):
        anchor.attrib.clear()
        anchor.tag = "span"
    return scrolled(root)
