"""Submit: choose a set, check a file, correct it, say what the system is, confirm."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.question_sets.policies import closed_error
from arena.services.submissions.eligibility import Quota
from arena.site.auth import choose_team, show_visitor
from arena.site.services import arena
from arena.site.teams.file_check import SYSTEM_NAME, CheckedFile, next_file, show_check, take_file
from arena.site.teams.open_sets import OpenSet, choose_set, show_open_set, show_other_ways, starter_files
from arena.site.ui.html import anchor, heading, lead, name_page, note, page_heading, paragraph, put
from arena.site.ui.messages import show_error, show_flash, show_progress, tell
from arena.site.uploads import choose_file, laid_down
from data.errors import ArenaError, ConflictError, FileFormatError, InvalidFileError, RecordError
from data.models import Problem, Submission, SystemCard
from submissions.card import FIELDS, check_fields, load_card

MOST_MB = 1
SENT, WRONG = "card-file", "card-problems"
LABELS: Mapping[str, tuple[str, str]] = {
    "model": ("Model", "LLM that writes the answers"),
    "retriever": ("Retriever", "finds the passages"),
    "passages": ("Passages", "how many, and from where"),
    "organisation": ("Organisation", "lab or company"),
    "licence": ("Licence", "of the system"),
    "link": ("Link", "https://…"),
    "contact": ("Contact", "only you and the organisers see it"),
    "notes": ("Notes", "what readers should know"),
    "open_weights": ("Open weights", "yes or no"),
    "parameters": ("Parameters", "total number, such as 70B"),
    "released": ("Released", "2026-05-01, 2026-05 or 2026"),
}


def fill_card(before: SystemCard | None) -> SystemCard | None:
    """Show the form of the system card; None while a field is invalid."""
    with st.expander("System card: shown to readers", icon=":material/badge:"):
        _take_file()
        if before is not None and before != SystemCard():
            st.button("Copy the card of the previous version", on_click=_fill, args=(before,))
        columns = st.columns(2)
        for at, name in enumerate(FIELDS):
            label, hint = LABELS[name]
            if name == "notes":
                st.text_area(label, key=f"card-{name}", placeholder=hint)
            else:
                columns[at % 2].text_input(label, key=f"card-{name}", placeholder=hint)
    card, wrong = check_fields({name: str(st.session_state.get(f"card-{name}") or "") for name in FIELDS})
    for name, problems in wrong.items():
        for problem in problems:
            text = f"{LABELS[name][0]}: {problem.message} {problem.advice}"
            paragraph(text, class_="aa-note aa-bad", role="alert")
    return card


def _take_file() -> None:
    label = "Fill the fields from a card.yaml"
    choose_file(label, types=("yaml", "yml"), most_mb=MOST_MB, key=SENT, on_change=_read)
    wrong: Sequence[Problem] = st.session_state.get(WRONG, ())
    if wrong:
        note("This card cannot be used:")
        put("problems", wrong)


def _read() -> None:
    dropped = st.session_state.get(SENT)
    st.session_state[WRONG] = ()
    if dropped is None:
        return
    try:
        with laid_down(dropped, most_mb=MOST_MB) as path:
            _fill(load_card(path, arena().submissions.checks.card))
    except InvalidFileError as error:
        st.session_state[WRONG] = error.problems
    except FileFormatError as error:
        st.session_state[WRONG] = (
            Problem(error.line, error.code, "This is not a system card.", advice=error.advice),
        )


def _fill(card: SystemCard) -> None:
    for name, value in asdict(card).items():
        st.session_state[f"card-{name}"] = value


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
        with st.spinner("Storing …"), laid_down(checked.file) as path:
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
                until_told="Reading the question set",
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


def show() -> None:
    """Take a file of answers."""
    page_heading("Submit")
    lead("Upload a file of answers. It is checked first, and submitted when you confirm.")
    caller = show_visitor("check and submit a file")
    open_set = choose_set()
    if open_set is None:
        return
    name_page("Submit", open_set.summary.title or open_set.name)
    team = choose_team(caller) if caller.signed_in else None
    quota = arena().submissions.quota(open_set.name, team, caller=caller) if team else None
    show_open_set(open_set, quota)
    starter_files(open_set)
    if team is not None and quota is not None:
        checked = take_file(open_set, caller)
        if checked is not None:
            show_check(open_set, checked.result)
            if checked.result.accepted:
                offer_submission(open_set, checked, team, quota, caller)
        show_flash(SUBMITTED)
        if last := st.session_state.get(LAST):
            follow = anchor("Follow it on My team", "team", team=last[1], id=str(last[0]))
            paragraph(follow, " to see its place in the queue.", class_="aa-note")
    show_other_ways(open_set)
