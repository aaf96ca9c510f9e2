"""The script that Streamlit runs for every visitor: theme, navigation, the chosen page."""

from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from arena.services.accounts.auth import PUBLIC, Caller
from arena.site.auth import present
from arena.site.pages import Page, menus, pages
from arena.site.services import arena
from arena.site.ui.html import OPENED, SITE, logo, put, skeleton
from arena.site.ui.messages import forget_flash, guarded
from data.errors import ArenaError

HOME = "leaderboard"
OVERVIEW = "admin"


def run() -> None:
    """Show the page at the address."""
    st.logo(logo(), size="large", link=None)
    caller = _visitor()
    page = st.navigation(_navigation(caller), position="top", expanded=True)
    name = page.url_path or HOME
    if st.session_state.get(OPENED, name) != name:
        forget_flash()
        put("from_the_top", name)
    st.set_page_config(page_title=f"{page.title} – {SITE}", layout="wide")
    with skeleton(name, caller.display_name or (caller.name if caller.signed_in else "")):
        guarded(page.run)


def _visitor() -> Caller:
    """Return the visitor; the public if the database fails."""
    try:
        return present()
    except ArenaError:
        return PUBLIC


def _navigation(caller: Caller) -> dict[str, list[StreamlitPage]]:
    by_menu = menus(caller)
    navigation = {menu: [_page(page) for page in group] for menu, group in by_menu.items()}
    visible = {page.name for group in by_menu.values() for page in group}
    hidden = [page for name, page in sorted(pages().items()) if name not in visible]
    navigation[""] += [_page(page, visibility="hidden") for page in hidden]
    return navigation


def _waiting() -> int:
    try:
        return sum(len(inbox.waiting) for inbox in arena().inbox.waiting(caller=present()))
    except ArenaError:
        return 0


def _page(page: Page, visibility: Literal["visible", "hidden"] = "visible") -> StreamlitPage:
    title = page.title
    if page.name == OVERVIEW and visibility == "visible" and (waiting := _waiting()):
        title = f"{title} ({waiting:,})"
    return st.Page(
        page.run, title=title, url_path=page.name or HOME, default=not page.name, visibility=visibility
    )


run()
