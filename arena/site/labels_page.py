"""Label pairs: a person reads two anonymous answers and chooses the better one."""

import secrets
from collections.abc import Mapping
from typing import Any

import streamlit as st

from arena.api.dependencies import Rates, rate_key
from arena.services.labels import BlindPair
from arena.site.auth import present
from arena.site.services import arena
from arena.site.ui.html import heading, lead, note, page_heading, paragraph
from arena.site.ui.messages import plain
from arena.site.ui.url_state import choose_one
from data.errors import ArenaError, QuotaError
from data.models.words import LabelValue

BUTTONS = {
    LabelValue.A: ("A is better", "A"),
    LabelValue.B: ("B is better", "B"),
    LabelValue.TIE: ("Tie", "T"),
    LabelValue.BOTH_BAD: ("Both are bad", "X"),
    LabelValue.SKIP: ("Skip", "S"),
}
MAX_PER_HOUR = 120
RATES = Rates(requests=MAX_PER_HOUR, intakes=MAX_PER_HOUR)
"""Hourly limits on labels: of an anonymous visitor, and of all of them at one address."""
STORED = "We store your labels, their times, which answer came first, and {who}."
ACCOUNT = "the name of your account. Organisers see it; boards do not show it"
SESSION = "a random code for this visit, but no name or address"


def show() -> None:
    """Show a pair of the chosen round with its buttons."""
    page_heading("Label pairs")
    caller = present()
    rounds = arena().labels.open_to(caller)
    if not rounds:
        note("No round is open for your labels. Organisers invite people; sign in if you are invited.")
        return
    name = choose_one("round", "Round", {name: name for name in rounds}) if len(rounds) > 1 else rounds[0]
    if error := st.session_state.pop("label-error", ""):
        st.error(error, icon=":material/error:")
    pair = _pair(name)
    if pair is None:
        paragraph("You have labelled every pair. Thank you!", class_="aa-told", role="status")
    else:
        _show(name, pair)
    note(STORED.format(who=ACCOUNT if caller.signed_in else SESSION))


def _who() -> Mapping[str, Any]:
    return {"caller": present(), "session": st.session_state.setdefault("visit", secrets.token_urlsafe(24))}


def _pair(name: str) -> BlindPair | None:
    waiting: dict[str, BlindPair | None] = st.session_state.setdefault("label-pairs", {})
    key = f"{present().name} {name}"
    waiting[key] = waiting.get(key) or arena().labels.next(name, **_who())
    return waiting[key]


def _show(name: str, pair: BlindPair) -> None:
    lead("Which answer would help the asker more? Judge the content, not the length.")
    with st.container(key="question-text"):
        page_heading(pair.question.question)
    for place, column, text in zip("AB", st.columns(2), (pair.first, pair.second), strict=True):
        with column, st.container(border=True, height="stretch", key=f"prose-answer-{place}"):
            heading(f"Answer {place}")
            st.text(text)
    with st.container(horizontal=True, key="choices"):
        for value, (words, shortcut) in BUTTONS.items():
            args = (name, pair.battle, value)
            st.button(words, key=f"label-{value}", shortcut=shortcut, on_click=_label, args=args)
    if pair.question.reference:
        with st.expander("Reference", icon=":material/verified:", key="prose-reference"):
            st.text(pair.question.reference)
    if passages := pair.question.passages:
        with st.expander(f"Passages ({len(passages)})", icon=":material/menu_book:", key="prose-passages"):
            for passage in passages:
                st.text(f"{passage.title}\n{passage.text}".strip())


def _label(name: str, battle: int, value: LabelValue) -> None:
    who = _who()
    try:
        if not who["caller"].signed_in:
            _count(who["session"])
        arena().labels.label(name, battle, value, **who)
    except ArenaError as error:
        st.session_state["label-error"] = plain(error)
    st.session_state.pop("label-pairs", None)


def _count(session: str) -> None:
    """Count a label of a visitor, by their session and their address, which are not stored."""
    address = st.context.ip_address
    for key in filter(None, (session, rate_key(address) if isinstance(address, str) else "")):
        if not RATES.intake(key)[0]:
            raise QuotaError("You have reached the limit of labels per hour.", advice="Come back in an hour.")
