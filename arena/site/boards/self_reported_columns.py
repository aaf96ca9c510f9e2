"""Columns of what teams say of their systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from xml.etree.ElementTree import Element

from arena.site.boards.view_model import BoardView, Line
from arena.site.ui.markup import element
from leaderboard.standings.sections import NOT_REPORTED, Figure, SystemFacts

WEIGHTS: Mapping[str, str] = MappingProxyType({"yes": "open", "no": "closed"})
FIGURES: Mapping[Figure, tuple[str, str]] = MappingProxyType(
    {Figure.TOKENS: ("Tokens", ",.0f"), Figure.USD: ("USD", ".3g"), Figure.MILLISECONDS: ("ms", ",.0f")}
)
"""Columns of figures, and how their values are written."""
TEXTS = ("organisation", "licence", "released")
LEFT = frozenset({"organisation", "licence"})


def said_cells(view: BoardView) -> Mapping[str, Callable[[Line], Element]]:
    """Return the cells of what teams say, by the names of their columns."""
    return {
        **{name: _text_cell(view, name) for name in TEXTS},
        "open_weights": _weights_cell(view),
        "parameter_count": _text_cell(view, "parameters"),
        **{figure.value: _figure_cell(view, figure, form) for figure, (_, form) in FIGURES.items()},
    }


def said_of(view: BoardView, line: Line) -> SystemFacts:
    """Return the self-reported facts on a line's system."""
    return view.self_reported.get(line.system, NOT_REPORTED)


def _text_cell(view: BoardView, name: str) -> Callable[[Line], Element]:
    def cell(line: Line) -> Element:
        text = said_of(view, line).text(name)
        left = {"class_": "aa-left"} if name in LEFT else {}
        return element("td", text, **left) if text else _nothing(**left)

    return cell


def _weights_cell(view: BoardView) -> Callable[[Line], Element]:
    def cell(line: Line) -> Element:
        said = WEIGHTS.get(said_of(view, line).text("open_weights"))
        return element("td", said) if said else _nothing()

    return cell


def _figure_cell(view: BoardView, figure: Figure, form: str) -> Callable[[Line], Element]:
    def cell(line: Line) -> Element:
        said = said_of(view, line)
        mean = said.figures.get(figure)
        if mean is None:
            return _nothing()
        shown = element("td", element("span", format(mean.mean, form), class_="aa-main"))
        if mean.answers < said.answers:
            part = f"{mean.answers:,} of {said.answers:,}"
            shown.append(element("span", part, class_="aa-sub", title="Answers that report it"))
        return shown

    return cell


def _nothing(**attributes: str) -> Element:
    dash = element("span", "–", class_="aa-muted", title="The team does not say")
    return element("td", dash, **attributes)
