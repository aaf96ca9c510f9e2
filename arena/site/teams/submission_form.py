"""The last step of a submission: name and card of the system, and a confirmation."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.question_sets.policies import closed_error
from arena.services.submissions.eligibility import Quota
from arena.site.services import arena
from arena.site.teams.card_form import fill_card
from arena.site.teams.file_check import SYSTEM_NAME, CheckedFile, next_file
from arena.site.teams.open_sets import OpenSet
from arena.site.ui.html import anchor, heading, note, paragraph, put
from arena.site.ui.messages import show_error, show_flash, show_progress, tell
from arena.site.uploads import on_disk
from data.errors import ArenaError, ConflictError, InvalidFileError, RecordError
from data.models import Submission, SystemCard

LAST, SUBMITTED = "last-submission", "submitted"


def offer_submission(
    open_set: OpenSet, checked: CheckedFile, team: str, quota: Quota, caller: Caller
) -> None:
    """Ask for the name and card of the system, and a confirmation."""
    heading("4. Submit", anchor="submit")
    lines = arena().submissions.find(set_name=open_set.name, team=team, caller=caller)
    system, card, anonymous = _ask({line.system: line for line in lines})
    if open_set.phase is not None:
        note(quota.sentence)
    missing = _missing(open_set, checked, system, team, quota, caller)
    missing = missing or ("" if card is not None else "Correct the system card.")
    with st.container(horizontal=True, vertical_alignment="center"):
        now = st.button("Submit", type="primary", disabled=bool(missing), key="submit-now")
        later = st.button(
            "Save without submitting",
            disabled=bool(missing),
            key="submit-later",
            help="Stored and checked; it does not count until you submit it on My team.",
        )
    if missing:
        note(missing)
    if now or later:
        entry = {"system": system, "team": team, "card": card, "anonymous": anonymous}
        _add(open_set, checked, entry, caller, confirm=now)


def _ask(versions: dict[str, Submission]) -> tuple[str, SystemCard | None, bool]:
    system = st.text_input("Name of the system", key=SYSTEM_NAME, max_chars=100).strip()
    listed = ", ".join(f"{name} ({submission.version})" for name, submission in versions.items())
    before = versions.get(system)
    if before is not None:
        note(f"It follows version {before.version} of {system}, unless its answers are the same.")
    elif listed:
        note(f"To add a version, use the name of your system: {listed}. Any other name is a new system.")
    card = fill_card(before.card if before else None)
    anonymous = st.checkbox(
        "Stay anonymous until the board is published",
        value=before is not None and before.anonymous,
        key=f"anonymous-{system}",
    )
    return system, card, anonymous


def _missing(
    open_set: OpenSet, checked: CheckedFile, system: str, team: str, quota: Quota, caller: Caller
) -> str:
    if open_set.phase is None:
        return str(closed_error(open_set.policy))
    if quota.left == 0 or quota.left_today == 0:
        return "Your team has no submissions left here. Withdraw one that has not been judged, or wait."
    if not system:
        return "Enter the name of the system."
    try:
        arena().submissions.require_name(open_set.name, system, team, checked.result.kind, caller=caller)
    except (RecordError, ConflictError) as error:
        return str(error)
    return ""


def _add(
    open_set: OpenSet, checked: CheckedFile, entry: Mapping[str, Any], caller: Caller, *, confirm: bool
) -> None:
    try:
        with st.spinner("Storing …"), on_disk(checked.file) as path:
            submissions = arena().submissions
            added = show_progress(
                lambda poll: submissions.add(
                    path,
                    open_set.name,
                    **entry,
                    kind=checked.result.kind,
                    confirm=confirm,
                    caller=caller,
                    poll=poll,
                ),
                before="Reading the question set",
            )
    except InvalidFileError as error:
        st.error("The file is no longer accepted; nothing was stored.", icon=":material/error:")
        put("problems", error.problems)
        return
    except ArenaError as error:
        show_error(error)
        return
    submission = added.submission
    next_file()
    st.session_state[LAST] = (submission.id, submission.team)
    title = f"{submission.system}, version {submission.version} ({submission.answers:,} answers)"
    done = f"{title} is {submission.state.value} as submission {submission.id}."
    there = f"{title} already has these answers; nothing was changed. It is submission {submission.id}."
    tell(done if added.created else there, SUBMITTED)


def show_outcome() -> None:
    """Describe the last submission, with a link to its status."""
    show_flash(SUBMITTED)
    if last := st.session_state.get(LAST):
        follow = anchor("Follow it on My team", "team", team=last[1], id=str(last[0]))
        paragraph(follow, " to see its place in the queue.", class_="aa-note")
