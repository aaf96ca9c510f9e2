"""The script that Streamlit runs for every visitor: theme, navigation, the chosen page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from arena.web.guard import guarded
from arena.web.pages import data, leaderboard, methodology, question, questions, system

HERE = Path(__file__).parents[1]


def run() -> None:
    """Show the page that the address names."""
    st.set_page_config(page_title="Answer Arena", page_icon=":material/balance:", layout="wide")
    st.html(HERE / "style.css")
    st.logo(HERE / "logo.svg", size="large", link=None)
    page = st.navigation(
        [
            st.Page(leaderboard.show, title="Leaderboard", url_path="leaderboard", default=True),
            st.Page(questions.show, title="Questions", url_path="questions"),
            st.Page(methodology.show, title="Methodology", url_path="methodology"),
            st.Page(data.show, title="Data", url_path="data"),
            st.Page(system.show, title="System", url_path="system", visibility="hidden"),
            st.Page(question.show, title="Question", url_path="question", visibility="hidden"),
        ],
        position="top",
    )
    guarded(page.run)


run()
