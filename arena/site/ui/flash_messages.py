"""Flash messages: what was done just before, said where it was done until something else is done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import streamlit as st

from arena.site.ui.html import Cell, paragraph

FLASH = "flash"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flash:
    """Message on a finished action, with its time and place; `shown` after its display."""

    place: str
    text: str
    at: datetime
    shown: bool = False


def keep_flash(text: str, place: str = "") -> None:
    """Keep what was done for the run that follows; `place` is empty for the top of the page."""
    st.session_state[FLASH] = Flash(place=place, text=text, at=datetime.now(UTC))


def show_flash(place: str = "") -> None:
    """Say what was done last, where this is its place."""
    flash: Flash | None = st.session_state.get(FLASH)
    if flash is None or flash.place != place:
        return
    st.session_state[FLASH] = replace(flash, shown=True)
    moment = Cell(f" {flash.at:%H:%M} UTC", class_="aa-muted")
    paragraph(flash.text, moment, class_="aa-told", role="status")


def forget_flash() -> None:
    """Forget what was said; for where another page is opened."""
    flash: Flash | None = st.session_state.get(FLASH)
    if flash is not None and flash.shown:
        del st.session_state[FLASH]
