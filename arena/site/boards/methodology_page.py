"""Method page: from an answer to a verdict, and the meaning of the numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from markdown_it import MarkdownIt

from arena.site.ui.html import lead, page_heading, put_html

CHAPTERS = Path(__file__).parents[1] / "assets" / "method"


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter, as HTML: Streamlit's Markdown takes a browser ten times as long."""

    name: str
    html: str


@st.cache_data(show_spinner=False, max_entries=1)
def chapters() -> tuple[Chapter, ...]:
    """Every chapter, in the order of their numbers."""
    reader = MarkdownIt("commonmark").enable("table")
    return tuple(
        Chapter(path.stem, reader.render(path.read_text(encoding="utf-8")))
        for path in sorted(CHAPTERS.glob("*.md"))
    )


NEXT_TO = "4-why"


def opening() -> None:
    """Show the chapters before the figures."""
    lead("From two answers and a question to a rank with honest error bars.")
    _show_chapters(chapter for chapter in chapters() if chapter.name <= NEXT_TO)


def _show_chapters(shown: Iterable[Chapter]) -> None:
    for chapter in shown:
        put_html(f'<div class="aa-chapter">{chapter.html}</div>')


def show() -> None:
    """Show the project's own account of its method."""
    page_heading("Method in full")
    opening()
    _show_chapters(chapter for chapter in chapters() if chapter.name > NEXT_TO)
