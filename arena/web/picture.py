"""The picture that stands for a board where its address is shared."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

from arena.web.figures import percent, points
from arena.web.markup import as_html, element
from arena.web.views import OVERALL, BoardView, Line

WIDTH, HEIGHT = 1200, 630
SHOWN = 6
LONGEST_NAME = 24
LONGEST_TITLE = 44
INK, SOFT, ACCENT, PAPER, RULE = "#1d2733", "#55606d", "#0b6b7a", "#fdfcfa", "#dcd6cb"
FONT = "sans-serif"
LEFT, BAR_LEFT, BAR_RIGHT, VALUE = 70, 470, 1010, 1130
TOP, STEP = 262, 58


def board_picture(view: BoardView) -> bytes:
    """The first systems of a board with their ratings and intervals, 1200 by 630 pixels, as PNG."""
    import vl_convert  # noqa: PLC0415 - brings an engine along that is used where pictures are made alone

    return bytes(vl_convert.svg_to_png(as_html(board_drawing(view))))


def board_drawing(view: BoardView) -> Element:
    """The same as a drawing."""
    lines = view.lines[OVERALL][:SHOWN]
    values = [line.rating or line.win_tie for line in lines]
    spans = [value.span for value in values if value is not None] or [(0.0, 1.0)]
    low, high = min(low for low, _ in spans), max(high for _, high in spans)

    def place(value: float) -> float:
        return BAR_LEFT + (BAR_RIGHT - BAR_LEFT) * (value - low) / ((high - low) or 1)

    facts = f"{len(view.systems)} systems · {len(view.domains)} domains · published {view.published}"
    return element(
        "svg",
        element("rect", width=str(WIDTH), height=str(HEIGHT), fill=PAPER),
        element("rect", width=str(WIDTH), height="14", fill=ACCENT),
        _text("Answer Arena", LEFT, 85, 30, ACCENT, bold=True),
        _text(_cut(view.title, LONGEST_TITLE), LEFT, 145, 48, INK, bold=True),
        _text(facts, LEFT, 188, 26, SOFT),
        *(part for at, line in enumerate(lines) for part in _row(line, TOP + at * STEP, place)),
        xmlns="http://www.w3.org/2000/svg",
        width=str(WIDTH),
        height=str(HEIGHT),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
    )


def _row(line: Line, y: int, place: Callable[[float], float]) -> list[Element]:
    value = line.rating or line.win_tie
    parts = [
        element("line", x1=str(LEFT), x2=str(VALUE), y1=str(y + 20), y2=str(y + 20), stroke=RULE),
        _text(line.rank, LEFT, y, 28, SOFT),
        _text(_cut(line.system, LONGEST_NAME), LEFT + 75, y, 30, INK, bold=True),
    ]
    if value is None:
        return parts
    start, end = (place(bound) for bound in value.span)
    told = points(value.value) if line.rating is not None else percent(value.value)
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
        element("circle", cx=f"{place(value.value):.0f}", cy=str(y - 9), r="10", fill=ACCENT),
        _text(told, VALUE, y, 30, INK, bold=True, end=True),
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
