"""The charts of the pages, each with words for those who do not see it and a table behind it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from arena.web.markup import put
from arena.web.pieces import note
from arena.web.tables import plain_table
from arena.web.views import OVERALL, BoardView, Bounded, Line, percent, points, whole
from leaderboard.charts import Cell, Estimate, Point, forest, heatmap, scatter

A_MOMENT = 0.25
PAINTED = "painted"
INK_ON_LIGHT = "#1d2733"
INK_ON_DARK = "#e7eaee"
LEAST_DOMAINS = 2
LEAST_POINTS = 2


def let_the_table_paint() -> None:
    """Hold the charts of a visitor's first page back for a moment.

    The browser loads and starts its chart library as soon as the first chart arrives, and until that is
    done it shows nothing else; the table comes first.
    """
    if PAINTED not in st.session_state:
        st.session_state[PAINTED] = True
        time.sleep(A_MOMENT)


def interval_plot(view: BoardView, domain: str) -> None:
    """The forest plot: how sure the ratings are, or the rates where there are no ratings."""
    lines = view.lines[domain]
    rated = [(line, line.rating) for line in lines if line.rating is not None]
    rates = [(line, line.win_tie) for line in lines if line.win_tie is not None]
    st.subheader("How sure is it?", anchor="intervals")
    if rated:
        chart = forest([_estimate(*pair) for pair in rated], axis="Rating, points")
        what = "rating"
    else:
        chart = forest([_estimate(*pair) for pair in rates], axis="Win + tie rate", share=True, reference=0.5)
        what = "win and tie rate"
    note(f"Points are {what}s, bars their 95 % intervals. The table above has the same numbers.")
    st.altair_chart(chart, width="stretch", alt=_in_words(what, rated or rates, share=not rated))


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
    st.subheader("Where is who strong?", anchor="domains")
    note("Win + tie rate by domain: blue above an even chance of 50 %, orange below, stronger further away.")
    alt = "Heat map of win and tie rates, systems by domains; the table below it has the same numbers."
    st.altair_chart(heatmap(cells, title="Win + tie rate", ink=_ink()), width="stretch", alt=alt)
    _behind(
        "domain-rates",
        ("System", "Domain", "Win + tie", "Battles"),
        [(cell.system, cell.domain, percent(cell.rate), whole(cell.battles)) for cell in cells],
    )


def trade_off(view: BoardView, domain: str) -> None:
    """Comprehensiveness against win rate."""
    found = [
        (line.system, line.comprehensiveness.value, line.win)
        for line in view.lines[domain]
        if line.comprehensiveness is not None and line.win is not None
    ]
    if len(found) < LEAST_POINTS:
        return
    st.subheader("Do comprehensive answers win?", anchor="trade-off")
    marks = [
        Point(system=system, x=share, y=win.value, y_lower=win.lower, y_upper=win.upper)
        for system, share, win in found
    ]
    note("Each point is a system; bars are 95 % intervals of the win rate.")
    st.altair_chart(
        scatter(marks, x="Comprehensiveness", y="Win rate", ink=_ink()),
        width="stretch",
        alt="Scatter plot of win rate by comprehensiveness; the table below it has the same numbers.",
    )
    _behind(
        "trade-off",
        ("System", "Comprehensiveness", "Win"),
        [(system, percent(share), percent(win.value)) for system, share, win in found],
    )


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
    note("Win + tie rate with its 95 % interval; the dashed line is an even chance.")
    st.altair_chart(
        forest(marks, axis="Win + tie rate", share=True, reference=0.5),
        width="stretch",
        alt=f"Win and tie rate of {system} by domain; the table below has the same numbers.",
    )


def _ink() -> str:
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


def _behind(key: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The numbers of a chart as a table, made when it is opened."""
    with st.expander("The same as a table", key=f"table-{key}", on_change="rerun") as box:
        if box.open:
            put(plain_table(header, rows))
