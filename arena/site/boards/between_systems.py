"""The ratings of battles between systems alone, beside a board's own."""

from __future__ import annotations

import streamlit as st

from arena.site.boards.view_model import BoardView
from arena.site.ui.components import note
from arena.site.ui.formats import points
from arena.site.ui.markup import put
from arena.site.ui.tables import plain_table

HEADER = ("Rank", "System", "Rating", "95 % interval")


def between_systems(view: BoardView) -> None:
    """Offer a second table; nothing where the board has no such ratings of its own."""
    if not view.between.ratings:
        return
    with st.expander("Ratings of battles between systems alone"):
        note(f"{view.between.note} {_why(view)}")
        put(plain_table(HEADER, _rows(view)))


def _why(view: BoardView) -> str:
    """Why they may differ from the board's own."""
    if not view.yardsticks:
        return "They leave out what the judge makes of the reference."
    return (
        f"The judge held answers against {view.yardsticks}: against another yardstick, verdicts are on "
        "another scale, and those on the reference itself agree less with people."
    )


def _rows(view: BoardView) -> list[tuple[str, str, str, str]]:
    rows = []
    for system, placed in view.between.ratings.items():
        low, high = placed.rating.lower, placed.rating.upper
        interval = "–" if low is None or high is None else f"{points(low)}–{points(high)}"
        rank = str(placed.rank_lower)
        if placed.rank_upper != placed.rank_lower:
            rank = f"{rank}–{placed.rank_upper}"
        rows.append((rank, system, points(placed.rating.value), interval))
    return rows
