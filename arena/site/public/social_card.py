"""The preview picture of a board where its address is shared."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from xml.etree.ElementTree import Element

from arena.html_pages import as_html
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.ui.formats import Bounded, points
from arena.site.ui.markup import element
from data.percent import percent
from data.plural import counted

WIDTH, HEIGHT = 1200, 630
ROWS = 6
LONGEST_NAME = 24
LONGEST_TITLE = 44
LONGEST_LINE, MOST_LINES = 64, 6
INK, SOFT, ACCENT, PAPER, RULE = "#1d2733", "#55606d", "#0b6b7a", "#fdfcfa", "#dcd6cb"
FONT = "sans-serif"
LEFT, BAR_LEFT, BAR_RIGHT, VALUE = 70, 470, 1010, 1130
TOP, STEP = 262, 58


def board_picture(view: BoardView) -> bytes:
    """The first systems of a board with their ratings and intervals, 1200 by 630 pixels, as PNG."""
    import vl_convert  # noqa: PLC0415 - loads an engine that only pictures need

    return bytes(vl_convert.svg_to_png(as_html(board_drawing(view))))


def retracted_picture(name: str, notice: str) -> bytes:
    """The preview picture of a retracted board, as PNG of the same size."""
    import vl_convert  # noqa: PLC0415 - as above

    lines = textwrap.wrap(
        notice or "No notice says why.", LONGEST_LINE, max_lines=MOST_LINES, placeholder=" …"
    )
    texts = [_text(line, LEFT, TOP + at * STEP, 30, INK) for at, line in enumerate(lines)]
    drawing = _sheet(f"The board {name} was retracted", "Notice of the organisers", texts)
    return bytes(vl_convert.svg_to_png(as_html(drawing)))


def board_drawing(view: BoardView) -> Element:
    """The same as a drawing."""
    lines = view.competitors()[:ROWS]
    rated = any(line.rating is not None for line in view.lines[OVERALL])
    values = [line.rating if rated else line.win_tie for line in lines]
    spans = [value.span for value in values if value is not None] or [(0.0, 1.0)]
    low, high = min(low for low, _ in spans), max(high for _, high in spans)

    def to_x(value: float) -> float:
        return BAR_LEFT + (BAR_RIGHT - BAR_LEFT) * (value - low) / ((high - low) or 1)

    systems, domains = counted(len(view.competitors()), "system"), counted(len(view.domains), "domain")
    facts = f"{systems} · {domains} · published {view.published}"
    rows = [
        part
        for at, (line, value) in enumerate(zip(lines, values, strict=True))
        for part in _row(line, value, TOP + at * STEP, to_x)
    ]
    return _sheet(view.title, facts, rows)


def _sheet(title: str, below: str, parts: Sequence[Element]) -> Element:
    return element(
        "svg",
        element("rect", width=str(WIDTH), height=str(HEIGHT), fill=PAPER),
        element("rect", width=str(WIDTH), height="14", fill=ACCENT),
        _text("Answer Arena", LEFT, 85, 30, ACCENT, bold=True),
        _text(_cut(title, LONGEST_TITLE), LEFT, 145, 48, INK, bold=True),
        _text(below, LEFT, 188, 26, SOFT),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=str(WIDTH),
        height=str(HEIGHT),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
    )


def _row(line: Line, value: Bounded | None, y: int, to_x: Callable[[float], float]) -> list[Element]:
    """A system's row; a value that does not exist is a dash, never another quantity."""
    name = f"{line.system} (reference)" if line.is_reference else line.system
    parts = [
        element("line", x1=str(LEFT), x2=str(VALUE), y1=str(y + 20), y2=str(y + 20), stroke=RULE),
        _text(line.rank, LEFT, y, 28, SOFT),
        _text(_cut(name, LONGEST_NAME), LEFT + 75, y, 30, INK, bold=True),
    ]
    if value is None:
        return [*parts, _text("–", VALUE, y, 30, SOFT, end=True)]
    start, end = (to_x(bound) for bound in value.span)
    text = points(value.value) if line.rating is not None else percent(value.value)
    return [
        *parts,
        element(
            "rect",
            x=f"{start:.0f}",
            y=str(y - 14),
            width=f"{max(end - start, 2):.0f}",
            height="10",
            rx="5",
            fill=ACCENT,
            opacity="0.4",
        ),
        element("circle", cx=f"{to_x(value.value):.0f}", cy=str(y - 9), r="10", fill=ACCENT),
        _text(text, VALUE, y, 30, INK, bold=True, end=True),
    ]


def _text(
    words: str, x: int, y: int, size: int, fill: str, *, bold: bool = False, end: bool = False
) -> Element:
    return element(
        "text",
        words,
        **{
            "x": str(x),
            "y": str(y),
            "font-size": str(size),
            "font-family": FONT,
            "font-weight": "700" if bold else "400",
            "text-anchor": "end" if end else "start",
            "fill": fill,
        },
    )


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
