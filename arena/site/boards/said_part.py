"""What teams say of their systems: columns and filters of the standings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from xml.etree.ElementTree import Element

import altair as alt
import streamlit as st

from arena.site.boards.cache import cached_chart
from arena.site.boards.charts import behind, ink
from arena.site.boards.downloads import Rows, offer_files
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.ui.components import note
from arena.site.ui.formats import Bounded, percent, points
from arena.site.ui.markup import element
from arena.site.ui.url_state import choose_one, chosen_words, opened, optional_select
from leaderboard.export.charts import Point, scatter
from leaderboard.standings.systems import NOTHING_SAID, SELF_REPORTED, Figure, SystemFacts, pareto_front

UNSAID = "unsaid"
WEIGHTS: Mapping[str, str] = MappingProxyType({"yes": "open", "no": "closed"})
FIGURES: Mapping[Figure, tuple[str, str]] = MappingProxyType(
    {Figure.TOKENS: ("Tokens", ",.0f"), Figure.USD: ("USD", ".3g"), Figure.MILLISECONDS: ("ms", ",.0f")}
)
"""Columns of figures, and how their values are written."""
_TEXT_COLUMNS: Mapping[str, str] = MappingProxyType(
    {"Organisation": "organisation", "Licence": "licence", "Released": "released"}
)
NAMES: Mapping[Figure, str] = {
    Figure.USD: "USD per answer",
    Figure.TOKENS: "Tokens per answer",
    Figure.MILLISECONDS: "Milliseconds per answer",
}
FORMS: Mapping[Figure, str] = {Figure.USD: "$.3~g", Figure.TOKENS: ",.0f", Figure.MILLISECONDS: ",.0f"}
LEAST_POINTS = 2
LEFT = frozenset({"organisation", "licence"})


@dataclass(frozen=True, slots=True)
class SaidColumn:
    """A column of what teams say: its cell, and the value that it is sorted by."""

    cell: Callable[[Line], Element]
    value: Callable[[Line], float | str | None]


def said_columns(view: BoardView) -> dict[str, SaidColumn]:
    """The columns of what teams say, of those that at least one team of the board fills."""
    said = view.said.values()
    columns: dict[str, SaidColumn] = {
        name: SaidColumn(_text_cell(view, key), _text_value(view, key))
        for name, key in _TEXT_COLUMNS.items()
        if any(one.text(key) for one in said)
    }
    if any(one.text("open_weights") for one in said):
        columns["Weights"] = SaidColumn(_weights_cell(view), _text_value(view, "open_weights"))
    if any(one.parameter_count is not None for one in said):
        columns["Parameters"] = SaidColumn(
            _text_cell(view, "parameters"), lambda line: said_of(view, line).parameter_count
        )
    for figure, (name, form) in FIGURES.items():
        if any(figure in one.figures for one in said):
            columns[name] = SaidColumn(_figure_cell(view, figure, form), _figure_value(view, figure))
    return columns


def _text_value(view: BoardView, name: str) -> Callable[[Line], str | None]:
    return lambda line: said_of(view, line).text(name) or None


def _figure_value(view: BoardView, figure: Figure) -> Callable[[Line], float | None]:
    return lambda line: said_of(view, line).mean(figure)


def said_of(view: BoardView, line: Line) -> SystemFacts:
    """What is said of a line's system."""
    return view.said.get(line.system, NOTHING_SAID)


def values_of(view: BoardView, name: str) -> tuple[str, ...]:
    """What teams say under a name, each once, in order; `UNSAID` at the end where some say nothing."""
    said = {line.system: said_of(view, line).text(name) for line in view.lines[OVERALL]}
    known = sorted({value for value in said.values() if value}, key=str.casefold)
    return (*known, UNSAID) if known and not all(said.values()) else tuple(known)


def keeps(view: BoardView, line: Line, wanted: Mapping[str, str]) -> bool:
    """Whether a line is of a system that says what is wanted; `released` asks for that time or later."""
    said = said_of(view, line)
    for name, value in wanted.items():
        text = said.text(name)
        if value == UNSAID:
            fits = not text
        elif name == "released":
            fits = bool(text) and text >= value
        else:
            fits = text == value
        if not fits:
            return False
    return True


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


FILTERS: Mapping[str, str] = {
    "organisation": "Organisation",
    "licence": "Licence",
    "open_weights": "Weights",
    "released": "Released since",
}


def chosen_filters(view: BoardView) -> dict[str, str]:
    """What the address asks of systems, of what the board knows."""
    asked = {name: chosen_words(name) for name in FILTERS}
    return {name: value for name, value in asked.items() if value and value in values_of(view, name)}


def choose_said(view: BoardView) -> None:
    """Offer to filter by what teams say; nothing where no team says anything."""
    if not view.said:
        return
    with st.popover("Filter", icon=":material/filter_list:"):
        for name, label in FILTERS.items():
            values = values_of(view, name)
            if values:
                optional_select(name, label, {value: _words(name, value) for value in values}, "All")
        note(SELF_REPORTED)


def in_words(filters: Mapping[str, str]) -> list[str]:
    """What systems are filtered by, as the page says it."""
    return [f"{FILTERS[name].lower()} {_words(name, value)}" for name, value in filters.items()]


def cost_plot(view: BoardView, domain: str, lines: tuple[Line, ...]) -> None:
    """Cost against quality, with the front of it; nothing where no answer reports what it took."""
    reported = {figure for said in view.said.values() for figure in said.figures}
    known = {figure: name for figure, name in NAMES.items() if figure in reported}
    if known:
        with opened("Cost and quality", "cost", "quality") as is_open:
            if is_open:
                _cost_plot(view, domain, lines, known)


def _cost_plot(view: BoardView, domain: str, lines: tuple[Line, ...], known: Mapping[Figure, str]) -> None:
    with st.container(horizontal=True):
        figure = Figure(choose_one("cost", "Cost", {key.value: label for key, label in known.items()}))
        qualities = {"win-tie": "Win + tie rate", "rating": view.rating_name(domain).capitalize()}
        quality = choose_one("quality", "Quality", qualities)
    label, upward = NAMES[figure], qualities[quality]
    entrants = [line for line in lines if not line.is_reference]
    places = {
        line.system: (cost, value)
        for line in entrants
        if (cost := said_of(view, line).mean(figure)) is not None
        and (value := line.rating if quality == "rating" else line.win_tie) is not None
    }
    silent = [line.system for line in entrants if line.system not in places]
    note(f"{SELF_REPORTED} {_left_out(silent, label)}".strip())
    if len(places) < LEAST_POINTS:
        note("Fewer than two systems have both, so nothing is drawn.")
        return
    front = pareto_front({name: (cost, value.value) for name, (cost, value) in places.items()})
    note(
        f"On the line: {', '.join(front)}. No system is cheaper and at least as good, or as cheap and better."
    )
    _draw(view, domain, places, front, (figure, label, upward))


def _draw(
    view: BoardView,
    domain: str,
    places: Mapping[str, tuple[float, Bounded]],
    front: tuple[str, ...],
    axes: tuple[Figure, str, str],
) -> None:
    figure, label, upward = axes
    share = upward == "Win + tie rate"
    marks = [
        Point(system=name, x=cost, y=value.value, y_lower=value.lower, y_upper=value.upper)
        for name, (cost, value) in places.items()
    ]

    def draw(colour: str) -> alt.LayerChart:
        return scatter(marks, x=label, y=upward, ink=colour, y_share=share, x_form=FORMS[figure], front=front)

    shown = f"cost {domain} {figure} {upward} {sorted(places)}"
    words = (
        f"Scatter plot of {upward} by {label} with the Pareto front; the table below it has the same numbers."
    )
    cached_chart(view, shown, draw, ink=ink(), alt_text=words)
    text = percent if share else points
    form = FIGURES[figure][1]
    behind(
        "cost-quality",
        ("System", label, upward, "On the front"),
        [
            (mark.system, format(mark.x, form), text(mark.y), "yes" if mark.system in front else "no")
            for mark in marks
        ],
    )
    rows: Rows = [
        {"system": mark.system, label: mark.x, upward: mark.y, "front": mark.system in front}
        for mark in marks
    ]
    offer_files(view, "cost-quality", lambda: rows, title=f"{upward} by {label}", chart=draw)


def _left_out(silent: list[str], label: str) -> str:
    if not silent:
        return ""
    what = "system is" if len(silent) == 1 else "systems are"
    names = ", ".join(silent)
    return f"{len(silent)} {what} not drawn, since {label} is not reported or no rate known: {names}."


def _words(name: str, value: str) -> str:
    if value == UNSAID:
        return "not said"
    return WEIGHTS[value] if name == "open_weights" else value
