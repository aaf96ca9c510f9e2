"""The script that Streamlit runs for every visitor: theme, navigation, the chosen page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from arena.web.guard import guarded
from arena.web.organise.navigation import organiser_pages
from arena.web.pages import (
    compare,
    data,
    leaderboard,
    matrix,
    methodology,
    question,
    questions,
    report,
    rounds,
    submit,
    system,
    team,
)
from arena.web.skeleton import OPENED, skeleton

HERE = Path(__file__).parents[1]
# Streamlit keeps the place of the page before, so that the next would open in its middle. For its first frame
# each page is without height, which leaves only the top to be at; a name of its own starts that anew.
FROM_THE_TOP = (
    "<style>@keyframes aa-open-{page} {{ from, to {{ max-height: 0; overflow: hidden }} }}"
    " [data-testid=stMainBlockContainer] {{ animation: aa-open-{page} 50ms }}</style>"
)


def run() -> None:
    """Show the page that the address names."""
    st.set_page_config(page_title="Answer Arena", page_icon=HERE / "logo.svg", layout="wide")
    st.html(HERE / "style.css")
    st.logo(HERE / "logo.svg", size="large", link=None)
    public = [
        st.Page(leaderboard.show, title="Leaderboard", url_path="leaderboard", default=True),
        st.Page(compare.show, title="Compare", url_path="compare"),
        st.Page(matrix.show, title="Head to head", url_path="matrix"),
        st.Page(questions.show, title="Questions", url_path="questions"),
        st.Page(rounds.show, title="Rounds", url_path="rounds"),
        st.Page(methodology.show, title="Methodology", url_path="methodology"),
        st.Page(data.show, title="Data", url_path="data"),
        st.Page(submit.show, title="Submit", url_path="submit"),
        st.Page(team.show, title="My team", url_path="team"),
        st.Page(system.show, title="System", url_path="system", visibility="hidden"),
        st.Page(question.show, title="Question", url_path="question", visibility="hidden"),
        st.Page(report.show, title="Report", url_path="report", visibility="hidden"),
    ]
    page = st.navigation([*public, *organiser_pages()], position="top")
    name = page.url_path or "leaderboard"
    if st.session_state.get(OPENED, name) != name:
        st.html(FROM_THE_TOP.format(page=name))
    with skeleton(name):
        guarded(page.run)


run()
