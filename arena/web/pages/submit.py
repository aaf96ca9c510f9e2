"""Submit: choose a set, check a file, mend it, say what the system is, confirm."""

from __future__ import annotations

import streamlit as st

from arena.web.checked_files import show_check, take_file
from arena.web.doors import choose_set, offer_starts, show_door, show_other_ways
from arena.web.handing_in import offer_submission, show_last
from arena.web.pieces import lead
from arena.web.visitors import choose_team, show_told, show_visitor
from arena.web.wiring import arena


def show() -> None:
    """Take a file of answers."""
    st.title("Submit", anchor=False)
    lead("From your file of answers to a place in the queue: checked first, submitted when you confirm.")
    caller = show_visitor("check and submit a file")
    show_told()
    show_last()
    door = choose_set()
    if door is None:
        return
    team = choose_team(caller) if caller.signed_in else None
    quota = arena().submissions.quota(door.name, team, caller=caller) if team else None
    show_door(door, quota)
    offer_starts(door)
    if team is not None and quota is not None:
        checked = take_file(door, caller)
        if checked is not None:
            show_check(door, checked.result)
            if checked.result.accepted:
                offer_submission(door, checked, team, quota, caller)
    show_other_ways(door)
