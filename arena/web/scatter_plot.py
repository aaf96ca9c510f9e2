"""Any two columns of a board against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import altair as alt
import streamlit as st

from arena.services.board_metrics import BOARD_METRICS
from arena.web.choices import choose_one
from arena.web.figures import percent, whole
from arena.web.files import Rows, offer_files
from arena.web.kept import chart_kept
from arena.web.pieces import note
from arena.web.plots import behind, ink
from arena.web.views import BoardView, Bounded, Line
from leaderboard.charts import Point, scatter

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
    st.subheader("What goes with what?", anchor="trade-off")
    labels = {name: axis.label for name, axis in axes.items()}
    with st.container(horizontal=True):
        across = axes[choose_one("x", "Across", _first(labels, FIRST))]
        upward = axes[choose_one("y", "Upward", _first(labels, SECOND))]
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

    note(f"Each of {len(points)} points is a system; bars are 95 % intervals where they are known.")
    words = f"Scatter plot of {upward.label} by {across.label}; the table below it has the same numbers."
    shown = f"scatter {domain} {across.label} {upward.label}"
    chart_kept(view, shown, draw, ink=ink(), alt_text=words)
    behind(
        "trade-off",
        ("System", across.label, upward.label),
        [(one.system, across.text(one.x), upward.text(one.y)) for one in points],
    )
    rows: Rows = [{"system": one.system, across.label: one.x, upward.label: one.y} for one in points]
    offer_files(view, "scatter", lambda: rows, title=f"{upward.label} by {across.label}", chart=draw)


def _axes(view: BoardView, domain: str) -> Mapping[str, Axis]:
    """The columns of a domain that at least two systems have."""
    every = {
        **{metric.name: Axis(metric.label, _score(metric.name)) for metric in BOARD_METRICS},
        "win": Axis("Win rate", lambda line: line.win),
        "win-tie": Axis("Win + tie rate", lambda line: line.win_tie),
        "rating": Axis("Rating, points", lambda line: line.rating, share=False),
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
