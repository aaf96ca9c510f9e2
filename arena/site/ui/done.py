"""What was done just before, said at the place where it was done until something else is done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import streamlit as st

from arena.site.ui.markup import element, put

DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What was done, when, and where on the page that is to be said; `said` once it was."""

    place: str
    text: str
    at: datetime
    said: bool = False


def keep_done(text: str, place: str = "") -> None:
    """Keep what was done for the run that follows; `place` is empty for the top of the page."""
    st.session_state[DONE] = Done(place=place, text=text, at=datetime.now(UTC))


def show_done(place: str = "") -> None:
    """Say what was done last, where this is its place."""
    done: Done | None = st.session_state.get(DONE)
    if done is None or done.place != place:
        return
    st.session_state[DONE] = replace(done, said=True)
    moment = element("span", f" {done.at:%H:%M} UTC", class_="aa-muted")
    put(element("p", done.text, moment, class_="aa-told", role="status"))


def forget_done() -> None:
    """Forget what was said; for where another page is opened."""
    done: Done | None = st.session_state.get(DONE)
    if done is not None and done.said:
        del st.session_state[DONE]
