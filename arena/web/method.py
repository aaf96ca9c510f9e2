"""The method page's chapters: the project's own Markdown, shipped with the site."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

CHAPTERS = Path(__file__).with_name("method")


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter, in Markdown."""

    name: str
    text: str


@st.cache_data(show_spinner=False, max_entries=1)
def chapters() -> tuple[Chapter, ...]:
    """Every chapter, in the order of their numbers."""
    return tuple(
        Chapter(path.stem, path.read_text(encoding="utf-8")) for path in sorted(CHAPTERS.glob("*.md"))
    )
