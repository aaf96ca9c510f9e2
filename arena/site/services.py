"""Services for pages: one application a process."""

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
    """Pack what the pages need of the settings; keys of LLM endpoints stay behind."""
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
_VISITED: ContextVar[_Visit | None] = ContextVar("visited", default=None)


@contextmanager
def visiting(arena: Arena, address: Mapping[str, str], cookies: Mapping[str, str]) -> Iterator[None]:
    """Let pages that are made outside of Streamlit be of this arena and address, for who has the cookies."""
    token = _VISITED.set((arena, address, cookies))
    try:
        yield
    finally:
        _VISITED.reset(token)


def address() -> Mapping[str, str]:
    """Return the parameters of the page's address."""
    visited = _VISITED.get()
    return st.query_params.to_dict() if visited is None else visited[1]


def visitor_cookies() -> Mapping[str, str] | None:
    """Return the cookies of who asks outside of Streamlit; None in its own threads."""
    visited = _VISITED.get()
    return None if visited is None else visited[2]


def arena() -> Arena:
    """Return the application behind the pages, opened once a process."""
    visited = _VISITED.get()
    if visited is not None:
        return visited[0]
    settings = _given()
    return opened(as_secrets(read_settings()) if settings is None else {SECTION: settings})


def opened(secrets: Mapping[str, Mapping[str, Any]]) -> Arena:
    """Return the application behind the pages, by what `as_secrets` packed."""
    return _open(tuple(sorted(secrets[SECTION].items())))


def _given() -> Mapping[str, Any] | None:
    """Return the settings that the server was started with; None where Streamlit was started by hand."""
    try:
        section: Mapping[str, Any] | None = st.secrets.get(SECTION)
    except StreamlitSecretNotFoundError:
        return None
    return section


# A page asks a dozen times; Streamlit's cache would read through every setting each time.
@lru_cache(maxsize=4)
def _open(packed: tuple[tuple[str, Any], ...]) -> Arena:
    given: dict[str, Any] = dict(packed)
    others: dict[str, Any] = {name: str(given[name]) for name in TEXTS}
    others |= {name: int(given[name]) for name in LIMITS}
    settings = Settings(
        home=Path(given["home"]),
        key_elsewhere=bool(given["has_key"]),
        sole_owner=bool(given["sole_owner"]),
        plugins=tuple(Path(file) for file in given["plugins"].split(os.pathsep) if file),
        **others,
    )
    return open_arena(settings)
