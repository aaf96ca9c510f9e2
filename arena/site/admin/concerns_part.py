"""What needs an organiser: each concern with its evidence, and a form that decides it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from arena.services.accounts.auth import Caller
from arena.services.concerns.service import LONGEST_REASON
from arena.site.admin.common import attempt
from arena.site.services import arena
from arena.site.ui.components import note, subheading
from arena.site.ui.flash_messages import show_flash
from arena.site.ui.formats import format_time
from arena.site.ui.markup import element, put
from data.records import Preference
from data.records.concerns import Concern, ConcernKind, Decision

ACTIONS = {
    Decision.ACCEPTED: "Accept it as it is",
    Decision.ASKED: "Ask the team",
    Decision.EXCLUDED: "Exclude it from further rounds",
    Decision.DISQUALIFIED: "Disqualify it: it is withdrawn for good",
    Decision.DISMISSED: "Dismiss it",
    Decision.UPHELD: "Uphold the judgment",
    Decision.CORRECTED: "Correct the verdict",
}
VERDICTS = {
    Preference.A: "The first system is better",
    Preference.B: "The second system is better",
    Preference.TIE: "A tie",
}
PLACE = "concerns"


def concerns_part(concerns: Sequence[Concern], caller: Caller) -> None:
    """Everything that waits, the oldest first."""
    show_flash(PLACE)
    if not concerns:
        return
    subheading("To look at", anchor=PLACE)
    for concern in concerns:
        with st.expander(f"{concern.id}: {concern.kind.words} · {_about(concern)}"):
            _show(concern, caller)


def _about(concern: Concern) -> str:
    if concern.kind is ConcernKind.DISPUTE or not concern.system:
        return concern.round_name
    return f"{concern.system} on {concern.set_name}"


def _show(concern: Concern, caller: Caller) -> None:
    st.text(concern.text)
    for line in concern.evidence:
        st.text(f"• {line}")
    since = f"Since {format_time(concern.created_at)}"
    note(f"{since}, by {concern.raised_by}." if concern.raised_by else f"{since}.")
    if concern.decision is Decision.ASKED:
        put(element("p", f"{concern.decided_by} asked: {concern.reason}", class_="aa-note"))
    labels = {choice: ACTIONS[choice] for choice in concern.choices}
    with st.form(f"concern-{concern.id}", border=False):
        decision = st.selectbox("Decision", list(labels), format_func=labels.__getitem__)
        verdict = None
        if concern.kind is ConcernKind.DISPUTE:
            verdict = st.selectbox(
                "The verdict, where it is corrected", list(VERDICTS), format_func=VERDICTS.__getitem__
            )
        reason = st.text_input("Reason", max_chars=LONGEST_REASON, help="Who it is about reads it.")
        sent = st.form_submit_button("Decide")
    if sent:
        attempt(
            lambda: arena().concerns.decide(
                concern.id,
                decision,
                reason=reason,
                verdict=verdict if decision is Decision.CORRECTED else None,
                caller=caller,
            ),
            f"Concern {concern.id} is {decision}.",
            PLACE,
        )
