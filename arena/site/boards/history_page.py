"""All published boards, with rank changes since the previous board."""

from arena.html_pages import macro
from arena.services.boards.reader import HistoryEntry
from arena.site.queries import history
from arena.site.ui.html import Cell, Child, lead, link, page_heading, put_html, words_table

HEADER = ("Board", "Published", "Judge", "Since the previous board", "Content sha256")


def show() -> None:
    """Show all boards, newest first."""
    page_heading("Rounds")
    lead("Published boards, newest first. A board never changes; its hash identifies its exact standings.")
    put_html(words_table(HEADER, map(_row, history()), scrolls=True))


def _row(entry: HistoryEntry) -> tuple[Child, ...]:
    board = entry.board
    state = " (retracted)" if board.retracted else " (replaced)" if board.replaced_at is not None else ""
    lines = [] if board.retracted else entry.sentences or ["There is no earlier board."]
    if board.notice:
        lines.append(f"Notice: {board.notice}")
    return (
        Cell(board.title, href=link("", board=board.name), sub=f"{board.name}{state}"),
        macro("day", board.published_at),
        "–" if board.retracted else str(board.standings["facts"].get("judge", "–")),
        " ".join(lines),
        board.content_hash[:12],
    )
