"""Organisers' page of rounds: plan, launch, watch, publish and retract."""

import streamlit as st

from arena.formats import format_time
from arena.site.admin.common import REFRESH_SECONDS, grid, organiser, refreshing
from arena.site.admin.round_form import new_round
from arena.site.admin.round_parts import board_part, controls, figures, standing, without_verdict
from arena.site.services import arena
from arena.site.ui.html import anchor, heading, lead, name_page, note, page_heading, paragraph, strip
from arena.site.ui.messages import show_flash
from data.models import RoundState


def show() -> None:
    """Show the round in the address, or all rounds and the form for a new round."""
    caller = organiser()
    name = st.query_params.get("round")
    if name is None:
        page_heading("Organise rounds")
        show_flash()
        _list()
        heading("New round", anchor="new")
        new_round(caller)
        return
    round_ = arena().round_reader.get(name, caller=caller)
    paragraph(anchor("All rounds", "admin-rounds"), class_="aa-eyebrow")
    page_heading(round_.name)
    name_page(round_.name, "Organise rounds")
    show_flash()
    facts = {"set": round_.set_name, "judge": round_.judge_name, "pairs": round_.plan["pairs"]}
    strip([*facts.items(), ("seed", str(round_.seed))])
    done = round_.state in {RoundState.PUBLISHED, RoundState.RETRACTED}
    refreshing(live, name, every=None if done else REFRESH_SECONDS)


def live(name: str) -> None:
    """Show the parts of a round that change: figures, standing, actions and board."""
    caller = organiser()
    watch = arena().rounds.watch(name, caller=caller)
    figures(watch)
    standing(watch.live)
    controls(watch, caller)
    board_part(watch, caller)
    without_verdict(watch, caller)


def _list() -> None:
    lead("Launch a round here; workers judge it.")
    rounds = arena().rounds.rounds(caller=organiser())
    if not rounds:
        note("There are no rounds yet.")
        return
    rows = [
        (
            anchor(round_.name, "admin-rounds", round=round_.name),
            *(round_.set_name, round_.judge_name, round_.state.value, format_time(round_.created_at)),
        )
        for round_ in rounds
    ]
    grid(("Round", "Set", "Judge", "State", "Created"), rows)
