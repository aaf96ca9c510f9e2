"""Charts of the pages, each with an alternative text and a table to download."""

from collections.abc import Sequence

import altair as alt
import streamlit as st

from arena.formats import Bounded, whole
from arena.models.boards import OVERALL, BoardView, Line
from arena.site.boards.cache import made_once
from arena.site.boards.downloads import board_rows, offer_files
from arena.site.ui.html import note
from leaderboard.export.charts import Estimate, forest

HALF = 0.5


def interval_chart(view: BoardView, domain: str, lines: Sequence[Line]) -> alt.LayerChart:
    """Draw the table's intervals as a picture to download: ratings, or else rates."""
    marks = [_estimate(line.system, line.rating, line.battles) for line in lines if line.rating is not None]
    if marks:
        reference = view.held(domain)
        return forest(marks, axis="Rating, points", reference=reference.value if reference else None)
    marks = [_estimate(line.system, line.win_tie, line.battles) for line in lines if line.win_tie is not None]
    return forest(marks, axis="Win + tie rate", share=True, reference=HALF)


def profile_plot(view: BoardView, system: str) -> None:
    """Show a system's win + tie rate in every domain; the reference's is against all systems."""
    marks = [
        _estimate(view.label(domain), line.own_rates.win_tie, line.own_rates.battles)
        for domain in (OVERALL, *view.domains)
        if (line := view.line(system, domain)) is not None and line.own_rates.win_tie is not None
    ]
    what = f"win + tie rate{' against all systems' if system == view.reference else ''}"

    def draw(_ink: str) -> alt.LayerChart:
        return forest(marks, axis=what.capitalize(), share=True, reference=HALF)

    note(f"{what.capitalize()} with its 95 % interval; the dashed line is at 50 %.")
    words = f"Win and tie rate of {system} by domain; the table below has the same numbers."
    spec = made_once(view, f"profile {system}", lambda: draw("").to_dict())
    st.vega_lite_chart(spec, width="stretch", alt=words)
    title = f"{system} by domain, {what}"
    offer_files(view, f"system-{system}", lambda: board_rows(view, [system]), title=title, chart=draw)


def _estimate(label: str, value: Bounded, battles: float) -> Estimate:
    low, high = value.span
    return Estimate(system=label, value=value.value, lower=low, upper=high, note=f"{whole(battles)} battles")
