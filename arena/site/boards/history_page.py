"""Every board that was published, with its rank changes since the board before."""

from __future__ import annotations

from collections.abc import Mapping

from arena.html_pages import macro
from arena.services.boards.reader import HistoryEntry
from arena.site.queries import history
from arena.site.ui.formats import rank_range
from arena.site.ui.html import Cell, Child, lead, link, page_heading, put_html, words_table

HEADER = ("Board", "Published", "Judge", "Since the board before", "Content sha256")


def changed_lines(entry: HistoryEntry) -> list[str]:
    """Sentences on new, missing and moved systems."""
    if entry.changes is None:
        return []
    moved = [
        f"{change.system} from {rank_range(change.before)} to {rank_range(change.after)}"
        for change in entry.changes.systems
        if change.moved
    ]
    lines = [("New", ", ".join(entry.changes.entered)), ("No longer there", ", ".join(entry.changes.left))]
    return [
        *(f"{label}: {names}." for label, names in lines if names),
        f"Rank changed beyond chance: {'; '.join(moved) or 'none'}.",
    ]


def change_marks(entry: HistoryEntry | None) -> Mapping[str, tuple[str, str]]:
    """Return the mark beside a system's rank and its meaning."""
    if entry is None or entry.changes is None:
        return {}
    marks = dict.fromkeys(entry.changes.entered, ("new", f"It is not on the board before, {entry.previous}"))
    for change in entry.changes.systems:
        if change.expected is not None and change.after is not None:
            places = change.expected[0] - change.after[0]
            surely = "beyond chance" if change.moved else "which may be chance"
            before = f"Rank {rank_range(change.before)} on the board before, {entry.previous}; {surely}"
            if places:
                marks[change.system] = (f"{'▲' if places > 0 else '▼'}{abs(places)}", before)
    return marks


def show() -> None:
    """Show every board, the newest first."""
    page_heading("Rounds")
    lead("Published boards, newest first. A board never changes: its hash names exactly its standings.")
    put_html(words_table(HEADER, map(_row, history()), scrolls=True))


def _row(entry: HistoryEntry) -> tuple[Child, ...]:
    board = entry.board
    state = " (retracted)" if board.retracted else " (replaced)" if board.replaced_at is not None else ""
    lines = [] if board.retracted else changed_lines(entry) or ["There is no earlier board."]
    if board.notice:
        lines.append(f"Notice: {board.notice}")
    return (
        Cell(board.title, href=link("", board=board.name), sub=f"{board.name}{state}"),
        macro("day", board.published_at),
        "–" if board.retracted else str(board.standings["facts"].get("judge", "–")),
        " ".join(lines),
        board.content_hash[:12],
    )
