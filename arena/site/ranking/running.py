"""A ranking while it is judged, until its board is there."""

from __future__ import annotations

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.site.admin.common import grid, show_work
from arena.site.services import arena
from arena.site.ui.html import anchor, heading, note, paragraph
from data.models import RoundState
from data.text import percent


def show_running(name: str, caller: Caller) -> None:
    """Show a ranking's progress and its systems' standing; its board once it is published."""
    round_, job = arena().new_boards.watch(name, caller=caller)
    if round_.state is RoundState.PUBLISHED:
        st.success("The board is there.", icon=":material/check_circle:")
        paragraph(anchor("Open the board", "", board=name))
        paragraph(anchor("Make another board", "rank"))
        return
    heading("Comparing answers", anchor="running")
    if job is not None and job.job.error:
        st.error(job.job.error, icon=":material/error:")
        paragraph(anchor("Correct it, and start again", "rank"))
    elif job is not None:
        show_work(job)
    standing = arena().new_boards.standing(name, caller=caller)
    note(standing.sentence)
    grid(
        ("System", "Share of the wins", "Questions"),
        [(one.system, percent(one.score), f"{one.questions:,}") for one in standing.systems],
        caption="So far",
    )
