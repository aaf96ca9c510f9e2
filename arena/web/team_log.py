"""What a team and the organisers did that concerns it; lines are only ever added."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from arena.services.identity import Caller
from arena.web.life_texts import moment
from arena.web.markup import element, put
from arena.web.pieces import note
from arena.web.tables import link
from arena.web.wiring import arena
from arena.web.word_tables import word_table

PAGE = 50


def show_log(team: str, caller: Caller) -> None:
    """Show a page of the team's log, the newest line first."""
    asked = st.query_params.get("before", "")
    before = int(asked) if asked.isascii() and asked.isdecimal() else None
    entries = arena().teams.audit(team=team, before=before, limit=PAGE, caller=caller)
    if not entries:
        note("Nothing was written down yet." if before is None else "There are no older lines.")
        return
    rows = [(moment(one.at), one.action.value, one.subject, one.actor, _told(one.detail)) for one in entries]
    put(word_table(("When", "What", "Of", "Who", "More"), rows, spare=2))
    if len(entries) == PAGE:
        older = link("team", team=team, part="log", before=str(entries[-1].id))
        put(element("p", element("a", "Older lines", href=older, target="_self")))


def _told(detail: Mapping[str, object]) -> str:
    return ", ".join(f"{name}: {_value(value)}" for name, value in detail.items() if value not in (None, ""))


def _value(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
