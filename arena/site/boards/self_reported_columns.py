"""What teams say of their systems: columns and filters of the standings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from xml.etree.ElementTree import Element

import altair as alt
import streamlit as st

from arena.site.boards.cache import cached_chart
from arena.site.boards.charts import behind, ink
from arena.site.boards.downloads import Rows, offer_files
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.ui.components import note
from arena.site.ui.formats import Bounded, points
from arena.site.ui.markup import element
from arena.site.ui.url_state import choose_one, chosen_words, opened
from data.percent import percent
from leaderboard.export.charts import Point, scatter
from leaderboard.standings.systems import NOT_REPORTED, SELF_REPORTED, Figure, SystemFacts, pareto_front

UNREPORTED = "unsaid"
WEIGHTS: Mapping[str, str] = MappingProxyType({"yes": "open", "no": "closed"})
FIGURES: Mapping[Figure, tuple[str, str]] = MappingProxyType(
    {Figure.TOKENS: ("Tokens", ",.0f"), Figure.USD: ("USD", ".3g"), Figure.MILLISECONDS: ("ms", ",.0f")}
)
"""Columns of figures, and how their values are written."""
TEXTS = ("organisation", "licence", "released")
NAMES: Mapping[Figure, str] = {
    Figure.USD: "USD per answer",
    Figure.TOKENS: "Tokens per answer",
    Figure.MILLISECONDS: "Milliseconds per answer",
}
FORMS: Mapping[Figure, str] = {Figure.USD: "$.3~g", Figure.TOKENS: ",.0f", Figure.MILLISECONDS: ",.0f"}
LEAST_POINTS = 2
LEFT = frozenset({"organisation", "licence"})


def said_cells(view: BoardView) -> Mapping[str, Callable[[Line], Element]]:
    """The cells of what teams say, by the names of their columns."""
    return {
        **{name: _text_cell(view, name) for name in TEXTS},
        "open_weights": _weights_cell(view),
        "parameter_count": _text_cell(view, "parameters"),
        **{figure.value: _figure_cell(view, figure, form) for figure, (_, form) in FIGURES.items()},
    }


def said_of(view: BoardView, line: Line) -> SystemFacts:
    """What is said of a line's system."""
    return view.self_reported.get(line.system, NOT_REPORTED)


def values_of(view: BoardView, name: str) -> tuple[str, ...]:
    """What teams say under a name, each once, in order; `UNREPORTED` at the end where some say nothing."""
    said = {line.system: said_of(view, line).text(name) for line in view.lines[OVERALL]}
    known = sorted({value for value in said.values() if value}, key=str.casefold)
    return (*known, UNREPORTED) if known and not all(said.values()) else tuple(known)


def keeps(view: BoardView, line: Line, wanted: Mapping[str, str]) -> bool:
    """Whether a line is of a system that says what is wanted; `released` asks for that time or later."""
    said = said_of(view, line)
    for name, value in wanted.items():
        text = said.text(name)
        if value == UNREPORTED:
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


def filter_values(view: BoardView) -> Iterator[tuple[str, str, str, str]]:
    """What systems can be filtered by: the address's word, its label, a value, and that in words."""
    for name, label in FILTERS.items() if view.self_reported else ():
        values = values_of(view, name)
        if values:
            yield name, label, "", "all"
            yield from ((name, label, value, _words(name, value)) for value in values)


def in_words(filters: Mapping[str, str]) -> list[str]:
    """What systems are filtered by, as the page says it."""
    return [f"{FILTERS[name].lower()} {_words(name, value)}" for name, value in filters.items()]


def cost_plot(view: BoardView, domain: str, lines: tuple[Line, ...]) -> None:
    """Cost against quality, with the front of it; nothing where no answer reports what it took."""
    reported = {figure for said in view.self_reported.values() for figure in said.figures}
    known = {figure: name for figure, name in NAMES.items() if figure in reported}
    if known:
        with opened("Cost and quality", "cost", "quality") as is_open:
            if is_open:
                _cost_plot(view, domain, lines, known)


def _cost_plot(view: BoardView, domain: str, lines: tuple[Line, ...], known: Mapping[Figure, str]) -> None:
    with st.container(horizontal=True):
        figure = Figure(choose_one("cost", "Cost", {key.value: label for key, label in known.items()}))
        qualities = {"win-tie": "Win + tie rate", "rating": "Rating"}
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
    if value == UNREPORTED:
        return "not said"
    return WEIGHTS[value] if name == "open_weights" else value
