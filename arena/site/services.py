"""Services for pages: one application per process."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from arena.container import Arena, open_arena
from arena.settings import Settings, read_settings

SECTION = "arena"
TEXTS = ("database_url", "endpoint", "public_url", "notify", "operator", "contact", "privacy", "docs_url")
LIMITS = ("max_upload_mb", "max_answer_chars")


def as_secrets(settings: Settings) -> Mapping[str, dict[str, Any]]:
    """Pack the settings that pages need, without keys of LLM endpoints."""
    return {
        SECTION: {
            "home": str(settings.home),
            "has_key": "yes" if settings.has_key else "",
            "sole_owner": "yes" if settings.sole_owner else "",
            "plugins": os.pathsep.join(map(str, settings.plugins)),
            **{name: getattr(settings, name) or "" for name in TEXTS},
            **{name: getattr(settings, name) for name in LIMITS},
        }
    }


_Visit = tuple[Arena, Mapping[str, str], Mapping[str, str]]
_VISIT: ContextVar[_Visit | None] = ContextVar("visit", default=None)


@contextmanager
def visiting(arena: Arena, address: Mapping[str, str], cookies: Mapping[str, str]) -> Iterator[None]:
    """Set the arena, address and cookies of pages that are rendered outside of Streamlit."""
    token = _VISIT.set((arena, address, cookies))
    try:
        yield
    finally:
        _VISIT.reset(token)


def address() -> Mapping[str, str]:
    """Return the parameters of the page's address."""
    visit = _VISIT.get()
    return st.query_params.to_dict() if visit is None else visit[1]


def visitor_cookies() -> Mapping[str, str] | None:
    """Return the visitor's cookies outside of Streamlit; None in its own threads."""
    visit = _VISIT.get()
    return None if visit is None else visit[2]


def arena() -> Arena:
    """Return the application behind the pages, opened once per process."""
    visit = _VISIT.get()
    if visit is not None:
        return visit[0]
    settings = _server_settings()
    return arena_of(as_secrets(read_settings()) if settings is None else {SECTION: settings})


def arena_of(secrets: Mapping[str, Mapping[str, Any]]) -> Arena:
    """Return the application for settings that `as_secrets` packed."""
    return _open(tuple(sorted(secrets[SECTION].items())))


def _server_settings() -> Mapping[str, Any] | None:
    try:
        section: Mapping[str, Any] | None = st.secrets.get(SECTION)
    except StreamlitSecretNotFoundError:
        return None
    return section


# A page calls this a dozen times; Streamlit's cache would hash every setting each time.
@lru_cache(maxsize=4)
def _open(packed: tuple[tuple[str, Any], ...]) -> Arena:
    values: dict[str, Any] = dict(packed)
    options: dict[str, Any] = {name: str(values[name]) for name in TEXTS}
    options |= {name: int(values[name]) for name in LIMITS}
    settings = Settings(
        home=Path(values["home"]),
        key_elsewhere=bool(values["has_key"]),
        sole_owner=bool(values["sole_owner"]),
        plugins=tuple(Path(file) for file in values["plugins"].split(os.pathsep) if file),
        **options,
    )
    return open_arena(settings)
