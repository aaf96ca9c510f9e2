"""The script that Streamlit runs for every visitor: theme, navigation, the chosen page."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from arena.site.admin import (
    annotation_page,
    audit_page,
    calibration_page,
    people_page,
    question_sets_page,
    rounds_page,
)
from arena.site.admin.common import is_annotator, is_organiser, is_writer
from arena.site.annotation import annotate_page
from arena.site.boards import (
    compare_page,
    data_page,
    history_page,
    leaderboard_page,
    matrix_page,
    methodology_page,
)
from arena.site.questions import list_page, question_page
from arena.site.references import references_page
from arena.site.retrieval import retrieval_page
from arena.site.systems import system_page
from arena.site.teams import report_page, submit_page, team_page
from arena.site.trust import trust_page
from arena.site.ui.components import OPENED, SITE, name_page, skeleton
from arena.site.ui.errors import guarded
from arena.site.ui.help_texts import PAGES


def organiser_pages() -> list[StreamlitPage]:
    """Every page of organisers and annotators; hidden ones still open by their address."""
    seen = _seen(is_organiser())
    asked = {} if seen == "visible" else {"annotate": _seen(is_annotator()), "references": _seen(is_writer())}
    return [
        st.Page(show, title=PAGES[path], url_path=path, visibility=asked.get(path, seen))
        for path, show in ORGANISED.items()
    ]


def _seen(offered: bool) -> Literal["visible", "hidden"]:
    return "visible" if offered else "hidden"


SHOWN = {
    "compare": compare_page.show,
    "matrix": matrix_page.show,
    "questions": list_page.show,
    "retrieval": retrieval_page.show,
    "rounds": history_page.show,
    "methodology": methodology_page.show,
    "data": data_page.show,
    "submit": submit_page.show,
    "team": team_page.show,
}
ORGANISED = {
    "admin-data": question_sets_page.show,
    "admin-rounds": rounds_page.show,
    "admin-calibration": calibration_page.show,
    "annotate": annotate_page.show,
    "references": references_page.show,
    "admin-annotation": annotation_page.show,
    "admin-people": people_page.show,
    "admin-audit": audit_page.show,
}
LED_TO = {
    "system": system_page.show,
    "question": question_page.show,
    "report": report_page.show,
    "trust": trust_page.show,
}
ASSETS = Path(__file__).parent / "assets"
# Streamlit keeps the scroll position of the page before, so that the next would open in its middle. For its
# first frame each page is without height, which leaves only the top; a name of its own restarts that.
FROM_THE_TOP = (
    "<style>@keyframes aa-open-{page} {{ from, to {{ max-height: 0; overflow: hidden }} }}"
    " [data-testid=stMainBlockContainer] {{ animation: aa-open-{page} 50ms }}</style>"
)


def run() -> None:
    """Show the page that the address names."""
    st.set_page_config(page_title=SITE, page_icon=ASSETS / "logo.svg", layout="wide")
    st.html(ASSETS / "style.css")
    st.logo(ASSETS / "logo.svg", size="large", link=None)
    public = [
        st.Page(leaderboard_page.show, title=PAGES[""], url_path="leaderboard", default=True),
        *(st.Page(show, title=PAGES[path], url_path=path) for path, show in SHOWN.items()),
        *(
            st.Page(show, title=PAGES[path], url_path=path, visibility="hidden")
            for path, show in LED_TO.items()
        ),
    ]
    page = st.navigation([*public, *organiser_pages()], position="top")
    name = page.url_path or "leaderboard"
    if st.session_state.get(OPENED, name) != name:
        st.html(FROM_THE_TOP.format(page=name))
    name_page(page.title)
    with skeleton(name):
        guarded(page.run)


run()
