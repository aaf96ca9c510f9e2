"""Rounds for organisers: planned, tried, launched, watched, published, retracted."""

from __future__ import annotations

import streamlit as st

from arena.web.markup import element, put
from arena.web.organise.common import EVERY, grid, organiser, show_done, watched
from arena.web.organise.round_board import board_part
from arena.web.organise.round_form import new_round
from arena.web.organise.round_live import live
from arena.web.pieces import lead, note, strip
from arena.web.tables import link
from arena.web.wiring import arena


def show() -> None:
    """Show the round that the address names, else all of them and the form for another."""
    caller = organiser()
    name = st.query_params.get("round")
    if name is None:
        st.title("Rounds", anchor=False)
        show_done()
        _list()
        st.subheader("New round", anchor="new")
        new_round(caller)
        return
    watch = arena().desk.watch(name, caller=caller)
    found = watch.round
    put(
        element(
            "p", element("a", "All rounds", href=link("admin-rounds"), target="_self"), class_="aa-eyebrow"
        )
    )
    st.title(found.name, anchor=False)
    show_done()
    strip(
        [
            ("set", found.set_name),
            ("judge", found.judge_name),
            ("pairs", found.plan["pairs"]),
            ("seed", str(found.seed)),
        ]
    )
    watched(live, name, found.state, every=EVERY if watch.moving else None)
    board_part(watch, caller)


def _list() -> None:
    lead("A round is launched here and judged by workers; this site only watches.")
    rounds = arena().desk.rounds(caller=organiser())
    if not rounds:
        note("There are no rounds yet.")
        return
    rows = [
        (
            element("a", one.name, href=link("admin-rounds", round=one.name), target="_self"),
            one.set_name,
            one.judge_name,
            one.state.value,
            f"{one.created_at:%Y-%m-%d %H:%M}",
        )
        for one in rounds
    ]
    grid(("Round", "Set", "Judge", "State", "Made (UTC)"), rows)
