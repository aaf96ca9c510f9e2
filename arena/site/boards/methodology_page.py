"""Page of the method: from two answers to a verdict, and from verdicts to numbers."""

from pathlib import Path

import streamlit as st
from markdown_it import MarkdownIt
from markupsafe import Markup

from arena.site.ui.html import lead, page_heading, put

CHAPTERS = Path(__file__).parents[1] / "assets" / "method"


@st.cache_data(show_spinner=False, max_entries=1)
def chapters() -> list[str]:
    """Render the chapters as HTML; Streamlit's Markdown takes a browser ten times as long."""
    reader = MarkdownIt("commonmark").enable("table")
    return [reader.render(path.read_text(encoding="utf-8")) for path in sorted(CHAPTERS.glob("*.md"))]


def show() -> None:
    """Show all chapters."""
    page_heading("Method in full")
    lead("From two answers and a question to a rank with honest error bars.")
    for chapter in chapters():
        put("chapter", Markup(chapter))  # noqa: S704 - rendered from our own texts
