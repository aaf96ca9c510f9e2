"""How a verdict comes about, and what the numbers mean."""

from __future__ import annotations

import streamlit as st

from arena.web.method import chapters
from arena.web.pieces import lead
from arena.web.posterior_curve import NEXT_TO, posterior_curve


def show() -> None:
    """Show the project's own account of its method."""
    st.title("Methodology", anchor=False)
    lead("From two answers and a question to a rank with honest error bars.")
    for chapter in chapters():
        with st.container(key=f"chapter-{chapter.name}"):
            st.markdown(chapter.text)
            if chapter.name == NEXT_TO:
                posterior_curve()
