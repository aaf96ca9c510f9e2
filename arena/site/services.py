"""How pages reach the services: one application a process, and public data cached briefly.

Only published boards are cached, by the hash of their content; nothing that depends on who asks is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from arena.container import Arena, open_arena
from arena.settings import Settings, read_settings

SECTION = "arena"
LIMITS = ("max_upload_mb", "max_answer_chars", "uploads", "upload_hours", "trial_usd")
"""What the settings let in and let be spent; so do the pages."""


def as_secrets(settings: Settings) -> Mapping[str, dict[str, Any]]:
    """Pack what the pages need of the settings; keys of LLM endpoints stay behind."""
    return {
        SECTION: {
            "home": str(settings.home),
            "database_url": settings.database_url,
            "endpoint": settings.endpoint,
            **{name: getattr(settings, name) for name in LIMITS},
        }
    }


def arena() -> Arena:
    """The application behind the pages, opened once a process."""
    settings = _given()
    if settings is None:
        settings = as_secrets(read_settings())[SECTION]
    limits = tuple(int(settings[name]) for name in LIMITS)
    return _open(str(settings["home"]), str(settings["database_url"]), str(settings["endpoint"]), limits)


def _given() -> Mapping[str, Any] | None:
    """The settings that the server was started with; None where Streamlit was started by hand."""
    try:
        section: Mapping[str, Any] | None = st.secrets.get(SECTION)
    except StreamlitSecretNotFoundError:
        return None
    return section


@st.cache_resource(max_entries=4, show_spinner=False)
def _open(home: str, database_url: str, endpoint: str, limits: tuple[int, ...]) -> Arena:
    allowed: dict[str, Any] = dict(zip(LIMITS, limits, strict=True))
    return open_arena(Settings(home=Path(home), database_url=database_url, endpoint=endpoint, **allowed))
