"""The charts of the pages, each with words for those who do not see it and a table behind it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict

import altair as alt
import streamlit as st

from arena.web.figures import percent, points, whole
from arena.web.files import Rows, offer_files
from arena.web.kept import chart_kept
from arena.web.markup import put
from arena.web.pieces import note
from arena.web.tables import plain_table, profile_rows
from arena.web.views import OVERALL, BoardView, Bounded, Line
from leaderboard.charts import Cell, Estimate, forest, heatmap

A_MOMENT = 0.25
PAINTED = "painted"
INK_ON_LIGHT = "#1d2733"
INK_ON_DARK = "#e7eaee"
LEAST_DOMAINS = 2


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
    st.subheader("How sure is it?", anchor="intervals")
    what = "rating" if rated else "win and tie rate"

    def draw(_ink: str) -> alt.LayerChart:
        if rated:
            return forest([_estimate(*pair) for pair in rated], axis="Rating, points")
        marks = [_estimate(*pair) for pair in rates]
        return forest(marks, axis="Win + tie rate", share=True, reference=0.5)

    note(f"Points are {what}s, bars their 95 % intervals. The table above has the same numbers.")
    shown = f"intervals {domain} {[(line.system, value) for line, value in rated or rates]}"
    words = _in_words(what, rated or rates, share=not rated)
    chart_kept(view, shown, draw, ink="", alt_text=words)
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
            system=line.system, domain=view.label(domain), rate=line.win_tie.value, battles=line.rate_battles
        )
        for system in view.systems
        for domain in view.domains
        if (line := view.line(system, domain)) is not None and line.win_tie is not None
    ]
    if len({cell.domain for cell in cells}) < LEAST_DOMAINS:
        return

    def draw(colour: str) -> alt.LayerChart:
        return heatmap(cells, title="Win + tie rate", ink=colour)

    st.subheader("Where is who strong?", anchor="domains")
    note("Win + tie rate by domain: blue above an even chance of 50 %, orange below, stronger further away.")
    words = "Heat map of win and tie rates, systems by domains; the table below it has the same numbers."
    chart_kept(view, "domains", draw, ink=ink(), alt_text=words)
    behind(
        "domain-rates",
        ("System", "Domain", "Win + tie", "Battles"),
        [(cell.system, cell.domain, percent(cell.rate), whole(cell.battles)) for cell in cells],
    )
    rows: Rows = [asdict(cell) for cell in cells]
    offer_files(view, "domains", lambda: rows, title="win + tie rate by domain", chart=draw)


def profile_plot(view: BoardView, system: str) -> None:
    """One system's win + tie rate in every domain."""
    found = [
        (view.label(domain), line, line.win_tie)
        for domain in (OVERALL, *view.domains)
        if (line := view.line(system, domain)) is not None and line.win_tie is not None
    ]
    marks = [
        Estimate(
            system=label,
            value=rate.value,
            lower=rate.span[0],
            upper=rate.span[1],
            note=f"{whole(line.rate_battles)} battles",
        )
        for label, line, rate in found
    ]

    def draw(_ink: str) -> alt.LayerChart:
        return forest(marks, axis="Win + tie rate", share=True, reference=0.5)

    note("Win + tie rate with its 95 % interval; the dashed line is an even chance.")
    words = f"Win and tie rate of {system} by domain; the table below has the same numbers."
    chart_kept(view, f"profile {system}", draw, ink="", alt_text=words)
    title = f"{system} by domain, win + tie rate"
    offer_files(view, f"system-{system}", lambda: profile_rows(view, system), title=title, chart=draw)


def ink() -> str:
    """The colour of figures inside charts, for the reader's theme."""
    return INK_ON_DARK if st.context.theme.type == "dark" else INK_ON_LIGHT


def _estimate(line: Line, value: Bounded) -> Estimate:
    low, high = value.span
    return Estimate(
        system=line.system,
        value=value.value,
        lower=low,
        upper=high,
        note=f"{whole(line.battles)} battles",
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
