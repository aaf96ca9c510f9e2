"""A system over the boards of its question set."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from arena.services.history import Appearance
from arena.web.figures import points
from arena.web.files import offer_files
from arena.web.markup import put
from arena.web.pieces import note
from arena.web.readings import history_of
from arena.web.tables import plain_table
from arena.web.views import BoardView


def show_history(view: BoardView, system: str) -> None:
    """Its rank and rating on every standing board of the set, the newest first."""
    found = history_of(view, system)
    st.subheader("Over the rounds", anchor="history")
    if len(found) < 2:  # noqa: PLR2004 - one board is no history
        note("This is the only standing board of its question set that has this system.")
        return
    note("Ratings of different rounds have different opponents: compare ranks and intervals, not points.")
    header = ("Board", "Rank", "Rating", "95 % interval", "Published", "Judge")
    put(plain_table(header, [_row(one) for one in reversed(found)], spare=3))
    offer_files(view, f"history-{system}", lambda: [_file_row(system, one) for one in found])


def _file_row(system: str, one: Appearance) -> Mapping[str, object]:
    best, worst = one.ranks or (None, None)
    return {
        "system": system,
        "on_board": one.board,
        "published": one.published.isoformat(),
        "rank_lower": best,
        "rank_upper": worst,
        "systems": one.systems,
        "rating": one.rating,
        "lower": one.lower,
        "upper": one.upper,
        "judge": one.judge,
    }


def _row(one: Appearance) -> tuple[str, ...]:
    ranks = "–" if one.ranks is None else "–".join(map(str, dict.fromkeys(one.ranks)))
    known = one.lower is not None and one.upper is not None
    return (
        one.board,
        f"{ranks} of {one.systems}",
        "–" if one.rating is None else points(one.rating),
        f"{points(one.lower or 0)} to {points(one.upper or 0)}" if known else "–",
        one.published.date().isoformat(),
        one.judge or "–",
    )
