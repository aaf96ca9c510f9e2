"""The script that Streamlit runs for every visitor: theme, navigation, the chosen page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from types import MappingProxyType
from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from arena.services.accounts.auth import Caller
from arena.site.admin.common import ORGANISED, asked_pages, visitor
from arena.site.first_views import Address, first_views, is_public
from arena.site.services import arena
from arena.site.shown import SHOWN
from arena.site.ui.components import OPENED, SITE, logo, skeleton
from arena.site.ui.done import forget_done
from arena.site.ui.errors import guarded
from arena.site.ui.help_texts import PAGES
from data.errors import ArenaError

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
# Streamlit keeps the scroll position of the page before, so that the next would open in its middle. For its
# first frame each page is without height, which leaves only the top; a name of its own restarts that.
FROM_THE_TOP = (
    "<style>@keyframes aa-open-{page} {{ from, to {{ max-height: 0; overflow: hidden }} }}"
    " [data-testid=stMainBlockContainer] {{ animation: aa-open-{page} 50ms }}</style>"
)


def run() -> None:
    """Show the page that the address names."""
    st.logo(logo(), size="large", link=None)
    caller = visitor()
    page = st.navigation(_navigation(caller), position="top", expanded=True)
    name = page.url_path or HOME
    if st.session_state.get(OPENED, name) != name:
        forget_done()
        st.html(FROM_THE_TOP.format(page=name))
    st.set_page_config(page_title=f"{page.title} – {SITE}", page_icon=logo(), layout="wide")
    with _kept(page.url_path, caller), skeleton(name, caller.called):
        guarded(page.run)


def _kept(path: str, caller: Caller) -> AbstractContextManager[None]:
    """Keep what the public is shown first at an address, which the next visitor's document begins with.

    Where the arena cannot be opened the page says so, and nothing is kept.
    """
    if caller.signed_in or OPENED in st.session_state or not is_public(st.context.cookies):
        return nullcontext()
    try:
        return first_views(arena()).recorded(Address.of(path, _asked()))
    except ArenaError:
        return nullcontext()


def _asked() -> Iterator[tuple[str, str]]:
    for name in st.query_params:
        yield from ((name, value) for value in st.query_params.get_all(name))


def _navigation(caller: Caller) -> dict[str, list[StreamlitPage]]:
    """The menus for who is at the browser; pages outside them still open by their address."""
    asked = asked_pages(caller)
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
