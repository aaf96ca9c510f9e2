"""The charts of the pages, each with words for those who do not see it and a table behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import streamlit as st

from arena.formats import Bounded, whole
from arena.models.boards import OVERALL, BoardView, Line
from arena.services.boards.metric_columns import metric_columns
from arena.site.boards.cache import cached_chart, made_once
from arena.site.boards.downloads import Rows, board_rows, offer_files
from arena.site.boards.grid import figure_words, grid_titles
from arena.site.boards.standings_table import Column, columns_of
from arena.site.ui.html import figures_table, note, put_html
from arena.site.ui.url_state import choose_one, opened
from data.text import percent
from judges.metrics.registry import covering
from leaderboard.export.charts import Estimate, Point, cloud, forest, scatter
from leaderboard.standings.columns import Unit

INK_ON_LIGHT = "#1d2733"
INK_ON_DARK = "#e7eaee"
HALF = 0.5


def interval_chart(view: BoardView, domain: str, lines: Sequence[Line]) -> alt.LayerChart:
    """Draw the table's intervals as a picture to download: of ratings, else of rates."""
    marks = [_estimate(line.system, line.rating, line.battles) for line in lines if line.rating is not None]
    if marks:
        held = view.held(domain)
        return forest(marks, axis="Rating, points", reference=held.value if held else None)
    marks = [_estimate(line.system, line.win_tie, line.battles) for line in lines if line.win_tie is not None]
    return forest(marks, axis="Win + tie rate", share=True, reference=HALF)


def profile_plot(view: BoardView, system: str) -> None:
    """One system's win + tie rate in every domain; the reference's is against all systems."""
    marks = [
        _estimate(view.label(domain), line.own_rates.win_tie, line.own_rates.battles)
        for domain in (OVERALL, *view.domains)
        if (line := view.line(system, domain)) is not None and line.own_rates.win_tie is not None
    ]
    what = f"win + tie rate{' against all systems' if system == view.reference else ''}"

    def draw(_ink: str) -> alt.LayerChart:
        return forest(marks, axis=what.capitalize(), share=True, reference=HALF)

    note(f"{what.capitalize()} with its 95 % interval; on the dashed line half of its battles are lost.")
    words = f"Win and tie rate of {system} by domain; the table below has the same numbers."
    cached_chart(view, f"profile {system}", draw, ink="", alt_text=words)
    title = f"{system} by domain, {what}"
    offer_files(view, f"system-{system}", lambda: board_rows(view, [system]), title=title, chart=draw)


def ink() -> str:
    """Return the colour of figures inside charts, for the reader's theme."""
    return INK_ON_DARK if st.context.theme.type == "dark" else INK_ON_LIGHT


def _estimate(label: str, value: Bounded, battles: float) -> Estimate:
    low, high = value.span
    return Estimate(system=label, value=value.value, lower=low, upper=high, note=f"{whole(battles)} battles")


@st.fragment
def behind(key: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Show the numbers of a chart as a table, made when it is opened."""
    with st.expander("The same as a table", key=f"table-{key}", on_change="rerun") as box:
        if box.open:
            put_html(figures_table(header, rows))


def cells_plot(view: BoardView, win: str, score: str) -> None:
    """Plot each cell of the grid, its score across and its battles upward, with a table behind it."""
    wins, scores = grid_titles(view)
    both = [cell for cell in view.grid.cells if win in cell.figures and score in cell.figures]
    label = view.grid.domains

    def draw(_ink: str) -> alt.LayerChart:
        points = []
        for cell in both:
            (y, y_lower, y_upper), (x, x_lower, x_upper) = (cell.figures[name].ends for name in (win, score))
            points.append(
                Point(
                    system=cell.system,
                    domain=label[cell.domain],
                    x=x,
                    y=y,
                    x_lower=x_lower,
                    x_upper=x_upper,
                    y_lower=y_lower,
                    y_upper=y_upper,
                )
            )
        return cloud(points, x=scores[score], y=wins[win], y_share=win != "rating")

    words = f"{wins[win]} by {scores[score].lower()}, a dot a cell; the table below has the same numbers."
    cached_chart(view, f"cells {win} {score}", draw, ink="", alt_text=words)
    rows = [
        (
            f"{cell.system}, {label[cell.domain]}",
            *(figure_words(name, cell.figures[name]) for name in (win, score)),
        )
        for cell in both
    ]
    behind("cells", ("Cell", wins[win], scores[score]), rows)


LEAST_POINTS = 2
SECOND = "win"
DRAWN = frozenset({Unit.SHARE, Unit.POINTS, Unit.WORDS, Unit.COUNT, Unit.NUMBER})


Axes = Mapping[str, Column]
"""Columns that can be drawn, by their names in the address."""


def chosen_scatter(view: BoardView, domain: str) -> None:
    """Two columns that the reader chooses, each with its intervals; closed until it is asked for."""
    axes = made_once(view, f"axes {domain}", lambda: _axes(view, domain))
    if len(axes) < LEAST_POINTS:
        return
    with opened("Compare two measures", "x", "y") as is_open:
        if is_open:
            _scatter(view, domain, axes)


def _scatter(view: BoardView, domain: str, axes: Axes) -> None:
    labels = {name: column.name for name, column in axes.items()}
    lines = view.lines[domain]
    with st.container(horizontal=True):
        covers = (spec.key for spec in metric_columns() if spec.name in covering())
        x_name = choose_one("x", "X axis", _first(labels, *covers))
        across = axes[x_name]
        others = {name: label for name, label in labels.items() if name != x_name}
        shared = {name: label for name, label in others.items() if len(_both(lines, across, axes[name])) > 1}
        upward = axes[choose_one("y", "Y axis", _first({**shared, **others}, SECOND))]
    points = _both(lines, across, upward)
    alone = [
        line.system for line in lines if (across.bounded(line) is None) is not (upward.bounded(line) is None)
    ]
    left_out = f" Not drawn, since one of the two is not known: {', '.join(alone)}." if alone else ""
    if len(points) < LEAST_POINTS:
        known = points[0].system if points else "No system"
        verb = "alone has" if points else "has"
        note(f"{known} {verb} both, so there is nothing to compare.{left_out}")
        return

    def draw(colour: str) -> alt.LayerChart:
        shares = {"x_share": across.spec.unit is Unit.SHARE, "y_share": upward.spec.unit is Unit.SHARE}
        return scatter(points, x=across.name, y=upward.name, ink=colour, **shares)

    note(f"Each of {len(points)} points is a system; bars are 95 % intervals where they are known.{left_out}")
    words = f"Scatter plot of {upward.name} by {across.name}; the table below it has the same numbers."
    shown = f"scatter {domain} {across.name} {upward.name}"
    cached_chart(view, shown, draw, ink=ink(), alt_text=words)
    behind(
        "trade-off",
        ("System", across.name, upward.name),
        [(point.system, _text(across, point.x), _text(upward, point.y)) for point in points],
    )
    rows: Rows = [{"system": point.system, across.name: point.x, upward.name: point.y} for point in points]
    offer_files(view, "scatter", lambda: rows, title=f"{upward.name} by {across.name}", chart=draw)


def _both(lines: Sequence[Line], across: Column, upward: Column) -> list[Point]:
    return [
        Point(
            system=line.system,
            x=x.value,
            y=y.value,
            x_lower=x.lower,
            x_upper=x.upper,
            y_lower=y.lower,
            y_upper=y.upper,
        )
        for line in lines
        if (x := across.bounded(line)) is not None and (y := upward.bounded(line)) is not None
    ]


def _axes(view: BoardView, domain: str) -> Axes:
    lines = view.lines[domain]
    columns = (column for column in columns_of(view, domain, lines) if column.spec.unit in DRAWN)
    known = [(column, sum(column.bounded(line) is not None for line in lines)) for column in columns]
    return {column.spec.key: column for column, count in known if count >= LEAST_POINTS}


def _text(column: Column, value: float) -> str:
    return percent(value) if column.spec.unit is Unit.SHARE else whole(value)


def _first(labels: Mapping[str, str], *names: str) -> dict[str, str]:
    return {**{name: labels[name] for name in names if name in labels}, **labels}
