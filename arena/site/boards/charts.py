"""The charts of the pages, each with words for those who do not see it and a table behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import altair as alt
import streamlit as st

from arena.services.boards.metric_columns import BOARD_METRICS
from arena.site.boards.cache import cached_chart
from arena.site.boards.downloads import Rows, offer_files
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.systems.profile_table import profile_rows
from arena.site.ui.components import note
from arena.site.ui.formats import Bounded, percent, points, whole
from arena.site.ui.markup import put
from arena.site.ui.tables import plain_table
from arena.site.ui.url_state import choose_one
from leaderboard.export.charts import Cell, Estimate, Point, forest, heatmap, scatter

A_MOMENT = 0.25
PAINTED = "painted"
INK_ON_LIGHT = "#1d2733"
INK_ON_DARK = "#e7eaee"
LEAST_DOMAINS = 2
HALF = 0.5
HALVES = "blue where it loses fewer than half of its battles, orange where more, stronger further away."


def let_the_table_paint() -> None:
    """Hold the charts of a visitor's first page back for a moment.

    The browser loads and starts its chart library as soon as the first chart arrives, and until that is
    done it shows nothing else; the table comes first.
    """
    if PAINTED not in st.session_state:
        st.session_state[PAINTED] = True
        time.sleep(A_MOMENT)


def interval_plot(view: BoardView, domain: str, lines: Sequence[Line]) -> None:
    """The forest plot: how sure the ratings are, or the rates where there are no ratings."""
    rated = [(line, line.rating) for line in lines if line.rating is not None]
    rates = [(line, line.win_tie) for line in lines if line.win_tie is not None]
    if not rated and not rates:
        return
    st.header("Ratings with 95 % intervals", anchor="intervals")
    what = view.rating_name(domain) if rated else "win and tie rate"

    def draw(_ink: str) -> alt.LayerChart:
        if rated:
            return forest([_estimate(*pair) for pair in rated], axis=f"{what.capitalize()}, points")
        marks = [_estimate(*pair) for pair in rates]
        return forest(marks, axis="Win + tie rate", share=True, reference=HALF)

    note(f"Each point is a {what}, its bar the 95 % interval. The table above has the same numbers.")
    shown = f"intervals {domain} {[(line.system, value) for line, value in rated or rates]}"
    words = _in_words(what, rated or rates, share=not rated)
    cached_chart(view, shown, draw, ink="", alt_text=words)
    rows: Rows = [
        {
            "domain": domain,
            "system": line.system,
            what: value.value,
            "lower": value.lower,
            "upper": value.upper,
        }
        for line, value in rated or rates
    ]
    title = f"{view.label(domain)}, {what}s"
    offer_files(view, f"intervals-{domain}", lambda: rows, title=title, chart=draw)


def domain_heatmap(view: BoardView) -> None:
    """Win + tie rate of every system in every domain."""
    cells = [
        Cell(
            system=line.system, domain=view.label(domain), rate=line.win_tie.value, battles=line.rates.battles
        )
        for system in view.systems
        for domain in view.domains
        if (line := view.line(system, domain)) is not None and line.win_tie is not None
    ]
    if len({cell.domain for cell in cells}) < LEAST_DOMAINS:
        return

    def draw(colour: str) -> alt.LayerChart:
        return heatmap(cells, title="Win + tie rate", ink=colour)

    st.header("Win + tie rate by domain", anchor="domains")
    note(f"Win + tie rate by domain: {HALVES}{_without_reference(view)}")
    words = "Heat map of win and tie rates, systems by domains; the table below it has the same numbers."
    cached_chart(view, "domains", draw, ink=ink(), alt_text=words)
    behind(
        "domain-rates",
        ("System", "Domain", "Win + tie", "Battles"),
        [(cell.system, cell.domain, percent(cell.rate), whole(cell.battles)) for cell in cells],
    )
    rows: Rows = [asdict(cell) for cell in cells]
    offer_files(view, "domains", lambda: rows, title="win + tie rate by domain", chart=draw)


def profile_plot(view: BoardView, system: str) -> None:
    """One system's win + tie rate in every domain; the reference's is against all systems."""
    rates = [
        (view.label(domain), line.own_rates.battles, line.own_rates.win_tie)
        for domain in (OVERALL, *view.domains)
        if (line := view.line(system, domain)) is not None and line.own_rates.win_tie is not None
    ]
    what = f"win + tie rate{' against all systems' if system == view.reference else ''}"
    marks = [
        Estimate(
            system=label,
            value=rate.value,
            lower=rate.span[0],
            upper=rate.span[1],
            note=f"{whole(battles)} battles",
        )
        for label, battles, rate in rates
    ]

    def draw(_ink: str) -> alt.LayerChart:
        return forest(marks, axis=what.capitalize(), share=True, reference=HALF)

    note(f"{what.capitalize()} with its 95 % interval; on the dashed line half of its battles are lost.")
    words = f"Win and tie rate of {system} by domain; the table below has the same numbers."
    cached_chart(view, f"profile {system}", draw, ink="", alt_text=words)
    title = f"{system} by domain, {what}"
    offer_files(view, f"system-{system}", lambda: profile_rows(view, system), title=title, chart=draw)


def _without_reference(view: BoardView) -> str:
    """Why the reference has no row among rates."""
    return f" {view.reference} has no row: the rates are against it." if view.reference else ""


def ink() -> str:
    """The colour of figures inside charts, for the reader's theme."""
    return INK_ON_DARK if st.context.theme.type == "dark" else INK_ON_LIGHT


def _estimate(line: Line, value: Bounded) -> Estimate:
    low, high = value.span
    return Estimate(
        system=line.system, value=value.value, lower=low, upper=high, note=f"{whole(line.battles)} battles"
    )


def _in_words(what: str, pairs: Sequence[tuple[Line, Bounded]], *, share: bool) -> str:
    text = percent if share else points
    parts = ", ".join(f"{line.system} {text(value.value)}" for line, value in pairs)
    return f"Forest plot of {what}s with 95 % intervals, best first: {parts}."


@st.fragment
def behind(key: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The numbers of a chart as a table, made when it is opened."""
    with st.expander("The same as a table", key=f"table-{key}", on_change="rerun") as box:
        if box.open:
            put(plain_table(header, rows))


LEAST_POINTS = 2
FIRST, SECOND = "comprehensiveness-nli", "win"


@dataclass(frozen=True, slots=True)
class Axis:
    """A column that can be drawn: its label, its values, whether they are shares."""

    label: str
    value: Callable[[Line], Bounded | None]
    share: bool = True

    def text(self, value: float) -> str:
        """The value as readers see it."""
        return percent(value) if self.share else whole(value)


def chosen_scatter(view: BoardView, domain: str) -> None:
    """Two columns that the reader chooses, each with its intervals."""
    axes = _axes(view, domain)
    if len(axes) < LEAST_POINTS:
        return
    st.header("Compare two measures", anchor="trade-off")
    labels = {name: axis.label for name, axis in axes.items()}
    with st.container(horizontal=True):
        across = axes[choose_one("x", "X axis", _first(labels, FIRST))]
        upward = axes[choose_one("y", "Y axis", _first(labels, SECOND))]
    points = [
        Point(
            system=line.system,
            x=x.value,
            y=y.value,
            x_lower=x.lower,
            x_upper=x.upper,
            y_lower=y.lower,
            y_upper=y.upper,
        )
        for line in view.lines[domain]
        if (x := across.value(line)) is not None and (y := upward.value(line)) is not None
    ]

    def draw(colour: str) -> alt.LayerChart:
        shares = {"x_share": across.share, "y_share": upward.share}
        return scatter(points, x=across.label, y=upward.label, ink=colour, **shares)

    missing = ""
    if view.reference and {across, upward} & {axes.get("win"), axes.get("win-tie")}:
        missing = f" {view.reference} has no point: the rates are against it."
    note(f"Each of {len(points)} points is a system; bars are 95 % intervals where they are known.{missing}")
    words = f"Scatter plot of {upward.label} by {across.label}; the table below it has the same numbers."
    shown = f"scatter {domain} {across.label} {upward.label}"
    cached_chart(view, shown, draw, ink=ink(), alt_text=words)
    behind(
        "trade-off",
        ("System", across.label, upward.label),
        [(point.system, across.text(point.x), upward.text(point.y)) for point in points],
    )
    rows: Rows = [{"system": point.system, across.label: point.x, upward.label: point.y} for point in points]
    offer_files(view, "scatter", lambda: rows, title=f"{upward.label} by {across.label}", chart=draw)


def _axes(view: BoardView, domain: str) -> Mapping[str, Axis]:
    """The columns of a domain that at least two systems have."""
    every = {
        **{metric.name: Axis(metric.label, _score(metric.name)) for metric in BOARD_METRICS},
        "win": Axis("Win rate", lambda line: line.win),
        "win-tie": Axis("Win + tie rate", lambda line: line.win_tie),
        "rating": Axis(
            f"{view.rating_name(domain).capitalize()}, points", lambda line: line.rating, share=False
        ),
        "words": Axis("Median words", lambda line: _plain(line.words), share=False),
        "no-answer": Axis("No-answer share", lambda line: _plain(line.no_answer)),
    }
    lines = view.lines[domain]
    known = {name: sum(axis.value(line) is not None for line in lines) for name, axis in every.items()}
    return {name: axis for name, axis in every.items() if known[name] >= LEAST_POINTS}


def _first(labels: Mapping[str, str], name: str) -> dict[str, str]:
    """The labels with one of them first, which makes it the default."""
    chosen = {name: labels[name]} if name in labels else {}
    return {**chosen, **labels}


def _score(metric: str) -> Callable[[Line], Bounded | None]:
    return lambda line: line.scores.get(metric)


def _plain(value: float | None) -> Bounded | None:
    return None if value is None else Bounded(value=value)
