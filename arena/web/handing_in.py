"""The last step: name, card, what it costs, and the confirmation."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from arena.services.identity import Caller
from arena.services.intake import Quota
from arena.web.card_form import fill_card
from arena.web.checked_files import CheckedFile, laid_down, next_file, problem_list
from arena.web.doors import Door
from arena.web.guard import show_error
from arena.web.markup import element, put
from arena.web.pieces import note
from arena.web.tables import link
from arena.web.visitors import tell
from arena.web.wiring import arena
from data.errors import ArenaError, InvalidFileError, RecordError
from data.records import Submission, SystemCard, require_name

LAST = "last-submission"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the visitor wants to submit; `card` is None while it cannot be used."""

    system: str
    team: str
    card: SystemCard | None
    anonymous: bool


def offer_submission(door: Door, checked: CheckedFile, team: str, quota: Quota, caller: Caller) -> None:
    """Let the visitor name the system, describe it, and confirm."""
    st.subheader("4. Submit", anchor="submit")
    versions = _versions(door, team, caller)
    wish = _ask(versions, team)
    note(_cost(door, quota))
    missing = _missing(door, wish, quota)
    with st.container(horizontal=True, vertical_alignment="center"):
        now = st.button("Submit", type="primary", disabled=bool(missing), key="submit-now")
        later = st.button(
            "Keep without submitting",
            disabled=bool(missing),
            key="submit-later",
            help="It is stored as checked: it does not count, and you submit it on My team.",
        )
    if missing:
        note(missing)
    if now or later:
        _add(door, checked, wish, caller, confirm=now)


def show_last() -> None:
    """Say what became of the file that was submitted last, and where to follow it."""
    last: tuple[int, str] | None = st.session_state.get(LAST)
    if last is not None:
        follow = element(
            "a", "Follow it on My team", href=link("team", team=last[1], id=str(last[0])), target="_self"
        )
        put(element("p", follow, ", where its place in the queue and its report appear.", class_="aa-note"))


def _versions(door: Door, team: str, caller: Caller) -> dict[str, Submission]:
    """The team's systems on the set, each with its newest version."""
    found = arena().submissions.find(set_name=door.name, team=team, caller=caller)
    return {line.submission.system: line.submission for line in found}


def _ask(versions: dict[str, Submission], team: str) -> Wish:
    system = st.text_input("Name of the system", key="system-name", max_chars=100).strip()
    known = ", ".join(f"{name} ({one.version})" for name, one in versions.items())
    before = versions.get(system)
    if before is not None:
        note(f"It follows version {before.version} of {system}, unless its answers are the same.")
    elif known:
        note(f"A name that you used before makes its next version: {known}. Another name is a new system.")
    card = fill_card(before.card if before else None)
    anonymous = st.checkbox(
        "Stay anonymous until a board with it is published",
        value=before is not None and before.anonymous,
        key=f"anonymous-{system}",
    )
    return Wish(system=system, team=team, card=card, anonymous=anonymous)


def _cost(door: Door, quota: Quota) -> str:
    """What submitting uses up, in a sentence."""
    phase = door.phase
    if phase is None or (phase.total_quota is None and phase.daily_quota is None):
        return "What it costs: nothing; this phase has no limit. You can withdraw it at any time."
    spans = [
        f"submission {number} of {limit} {span}"
        for number, limit, span in (
            (quota.following, phase.total_quota, f"in phase {phase.name}"),
            (quota.following_today, phase.daily_quota, "today (UTC)"),
        )
        if limit is not None
    ]
    return f"What it costs: {' and '.join(spans)}. Withdrawn before its judging begins, it is given back."


def _missing(door: Door, wish: Wish, quota: Quota) -> str:
    """Why it cannot be submitted yet; empty where it can."""
    if door.phase is None:
        return "The set takes no submissions now."
    if quota.left == 0 or quota.left_today == 0:
        return "Your team has no submission left here; withdraw one that was not judged yet, or wait."
    if not wish.system:
        return "Give the system a name to go on."
    try:
        require_name(wish.system, "System name")
    except RecordError as error:
        return str(error)
    return "" if wish.card is not None else "Mend the system card to go on."


def _add(door: Door, checked: CheckedFile, wish: Wish, caller: Caller, *, confirm: bool) -> None:
    try:
        with st.spinner("Storing …"), laid_down(checked.file) as path:
            added = arena().submissions.add(
                path,
                door.name,
                system=wish.system,
                team=wish.team,
                card=wish.card,
                anonymous=wish.anonymous,
                confirm=confirm,
                caller=caller,
            )
    except InvalidFileError as error:
        st.error("The file is not accepted any more; nothing was stored.", icon=":material/error:")
        put(problem_list(error.problems))
        return
    except ArenaError as error:
        show_error(error)
        return
    one = added.submission
    next_file()
    st.session_state[LAST] = (one.id, one.team)
    what = f"{one.system}, version {one.version} ({one.answers:,} answers)"
    if not added.created:
        tell(f"{what} has these answers already: nothing was changed. It is submission {one.id}.")
    tell(f"{what} is {one.state.value} as submission {one.id}.")
