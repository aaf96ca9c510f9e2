"""What a team can do with a submission: submit it, choose it, withdraw it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from arena.services.identity import Caller
from arena.services.lives import Life
from arena.web.guard import show_error
from arena.web.pieces import note
from arena.web.visitors import tell
from arena.web.wiring import arena
from data.errors import ArenaError
from data.records import Submission, SubmissionState


def show_actions(one: Submission, life: Life, caller: Caller) -> None:
    """Offer what the submission's state allows; the services decide."""
    if one.state is SubmissionState.WITHDRAWN:
        return
    if one.state is SubmissionState.CHECKED:
        if st.button("Submit it now", type="primary", key=f"confirm-{one.id}"):
            act(
                lambda: arena().submissions.confirm(one.id, caller=caller),
                f"Submission {one.id} is accepted.",
            )
    elif one.selected:
        note("This version is chosen: it stands for its system in rounds to come.")
    elif st.button(
        "Choose this version for the board",
        key=f"select-{one.id}",
        help="Rounds to come take this version of the system. Without a choice they take the newest.",
    ):
        done = f"Version {one.version} of {one.system} enters the rounds to come."
        act(lambda: arena().submissions.select(one.id, caller=caller), done)
    with st.expander("Withdraw it", icon=":material/delete:"):
        _withdraw(one, life, caller)


def act(work: Callable[[], object], done: str) -> None:
    """Do something and say so on the page drawn anew, or show why it cannot be done."""
    try:
        work()
    except ArenaError as error:
        show_error(error)
    else:
        tell(done)


def _withdraw(one: Submission, life: Life, caller: Caller) -> None:
    note(
        "Its texts, and what judges wrote of them, are shown to nobody any more; its name, dates and reason "
        "stay. Published boards keep their numbers. This cannot be undone."
        + ("" if life.attempt else " If its judging has not begun, the attempt is given back.")
    )
    reason = st.text_input("Reason (readers see it)", key=f"reason-{one.id}", max_chars=500)
    sure = st.checkbox(f"Yes, withdraw version {one.version} of {one.system}", key=f"sure-{one.id}")
    if st.button("Withdraw", disabled=not sure, key=f"withdraw-{one.id}"):
        done = f"Submission {one.id} is withdrawn."
        act(lambda: arena().submissions.withdraw(one.id, reason=reason, caller=caller), done)
