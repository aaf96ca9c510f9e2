"""Reporting a judgment: a reader's reason, sent to the organisers."""

from __future__ import annotations

import secrets

import streamlit as st

from arena.services.judgment_reports import LONGEST_REASON, SHORTEST_REASON, Complaint
from arena.web.guard import plain
from arena.web.pieces import note
from arena.web.wiring import arena
from data.errors import ArenaError
from data.records import BattleRecord, Judgment

SESSION = "reporter"


def offer_report(round_name: str, battle: BattleRecord, judgment: Judgment, at: int) -> None:
    """Offer to report a judgment."""
    with (
        st.popover("Report this judgment", icon=":material/flag:", key=f"report-{at}"),
        st.form(f"report-form-{at}", border=False, clear_on_submit=True),
    ):
        note(
            "What is wrong with it? The organisers read every report; the board stays as it is until they "
            "act."
        )
        reason = st.text_area(
            "Reason", max_chars=LONGEST_REASON, help=f"At least {SHORTEST_REASON} characters."
        )
        if st.form_submit_button("Send"):
            _send(round_name, battle, judgment, reason)


def _send(round_name: str, battle: BattleRecord, judgment: Judgment, reason: str) -> None:
    session = st.session_state.setdefault(SESSION, secrets.token_hex(16))
    try:
        arena().judgment_reports.add(
            Complaint(
                round_name=round_name,
                question_id=battle.question_id,
                battle=battle.key,
                judge=judgment.judge,
                presentation=judgment.presentation,
                reason=reason,
                session=session,
            )
        )
    except ArenaError as error:
        st.warning(plain(error))
    else:
        st.success("Reported. Thank you.", icon=":material/check:")
