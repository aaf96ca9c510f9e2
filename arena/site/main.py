"""The script that Streamlit runs for every visitor: theme, navigation, the chosen page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from arena.site import about_page, notifications
from arena.site.admin import (
    annotation_page,
    audit_page,
    calibration_page,
    overview_page,
    people_page,
    question_sets_page,
    rounds_page,
)
from arena.site.admin.common import ORGANISED, asked_pages
from arena.site.annotation import annotate_page
from arena.site.boards import (
    data_page,
    history_page,
    leaderboard_page,
    matrix_page,
    methodology_page,
)
from arena.site.compare import compare_page
from arena.site.questions import list_page, question_page
from arena.site.references import references_page
from arena.site.retrieval import retrieval_page
from arena.site.systems import system_page
from arena.site.teams import register_page, report_page, submit_page, team_page
from arena.site.trust import trust_page
from arena.site.ui.components import OPENED, SITE, name_page, skeleton
from arena.site.ui.done import forget_done
from arena.site.ui.errors import guarded
from arena.site.ui.help_texts import PAGES

SHOWN: Mapping[str, Callable[[], None]] = MappingProxyType(
    {
        "": leaderboard_page.show,
        "compare": compare_page.show,
        "questions": list_page.show,
        "matrix": matrix_page.show,
        "retrieval": retrieval_page.show,
        "rounds": history_page.show,
        "data": data_page.show,
        "trust": trust_page.show,
        "methodology": methodology_page.show,
        "about": about_page.show,
        "submit": submit_page.show,
        "team": team_page.show,
        "annotate": annotate_page.show,
        "references": references_page.show,
        "admin": overview_page.show,
        "admin-rounds": rounds_page.show,
        "admin-data": question_sets_page.show,
        "admin-calibration": calibration_page.show,
        "admin-annotation": annotation_page.show,
        "admin-people": people_page.show,
        "admin-notifications": notifications.show,
        "admin-audit": audit_page.show,
        "system": system_page.show,
        "question": question_page.show,
        "report": report_page.show,
        "register": register_page.show,
        "admin-inbox": overview_page.show,
    }
)
"""Every page by its address, without the slash."""
MENUS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "": ("", "compare", "questions"),
        "Results": ("matrix", "retrieval", "rounds", "data"),
        "How it works": ("trust", "methodology", "about"),
        "Teams": ("submit", "team"),
        "Label": ("annotate", "references"),
        "Organise": ORGANISED,
    }
)
"""The navigation: its menus with their pages; those of the first have no menu around them."""
BY_ROLE = frozenset({"Label", "Organise"})
"""Menus of which a visitor sees the pages that they are asked for."""
HOME = "leaderboard"
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
    page = st.navigation(_navigation(), position="top", expanded=True)
    name = page.url_path or HOME
    if st.session_state.get(OPENED, name) != name:
        forget_done()
        st.html(FROM_THE_TOP.format(page=name))
    name_page(page.title)
    with skeleton(name):
        guarded(page.run)


def _navigation() -> dict[str, list[StreamlitPage]]:
    """The menus for who is at the browser; pages outside them still open by their address."""
    asked = asked_pages()
    offered = {
        menu: [path for path in paths if menu not in BY_ROLE or path in asked]
        for menu, paths in MENUS.items()
    }
    menus = {menu: [_page(path) for path in paths] for menu, paths in offered.items() if paths}
    hidden = SHOWN.keys() - set(chain.from_iterable(offered.values()))
    menus[""] += [_page(path, visibility="hidden") for path in sorted(hidden)]
    return menus


def _page(path: str, visibility: Literal["visible", "hidden"] = "visible") -> StreamlitPage:
    return st.Page(
        SHOWN[path], title=PAGES[path], url_path=path or HOME, default=not path, visibility=visibility
    )


run()
