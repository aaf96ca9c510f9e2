"""What to fix first: kinds of error by the rating points that mending them would gain."""

from __future__ import annotations

from collections.abc import Sequence

from arena.services.evidence.fixes import Fix, Fixes
from arena.site.ui.components import heading, lead, note
from arena.site.ui.formats import points
from arena.site.ui.markup import Child, element, explained, put
from arena.site.ui.tables import anchor, words_table
from data.percent import percent

HEADER = (
    *("Kind of error", "Points gained", "95 % interval", "Look at", "Questions with it"),
    *("Lost battles there", "Share of the win, with and without it"),
)
SPARE = 3


def first_fix(fixes: Fixes) -> str:
    """What to mend first, in a sentence; empty where no gain is certain."""
    first = next((fix for fix in fixes.fixes if fix.gain.is_certain), None)
    if first is None or first.gain.points is None or first.gain.interval is None:
        return ""
    lower, upper = first.gain.interval.lower, first.gain.interval.upper
    return (
        f"Fix first: {first.title.lower()}. Without it the rating would be about "
        f"{points(first.gain.points)} points higher (95 % interval {points(lower)} to {points(upper)})."
    )


def show_fixes(board: str, fixes: Fixes) -> None:
    """The kinds of error, those that cost most first, with questions to look at."""
    heading("What to fix first", anchor="fix")
    if fixes.fixes:
        lead(first_fix(fixes) or "No kind of error is shown to cost it points.")
        rows = [_row(board, fix) for fix in fixes.fixes]
        put(words_table(HEADER, rows, spare=SPARE))
    for text in fixes.notes:
        note(text)


def _row(board: str, fix: Fix) -> Sequence[Child]:
    gain = fix.gain
    bounds = gain.interval
    return (
        explained(fix.title, fix.meaning),
        "–" if gain.points is None else _signed(gain.points),
        "–" if bounds is None else f"{_signed(bounds.lower)} to {_signed(bounds.upper)}",
        _links(board, fix.lost),
        f"{gain.questions:,} of {gain.questions + gain.absent:,}",
        f"{gain.lost:,} of {gain.battles:,}",
        f"{percent(gain.share)} and {percent(gain.absent_share)}",
    )


def _links(board: str, questions: Sequence[str]) -> Child:
    if not questions:
        return "–"
    node = element("span")
    for question in questions:
        link = anchor(question, "question", board=board, id=question)
        link.tail = " "
        node.append(link)
    return node


def _signed(value: float) -> str:
    """Points with their sign; 0 has none."""
    whole = round(value)
    return f"+{whole}" if whole > 0 else points(whole)
