"""The first view of a page: what the document of its address begins with.

Streamlit's document is empty until its script has loaded, connected and drawn the page. Before that what the
page says is there as HTML, made from the same templates, and covers it until it is whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from streamlit.web.server.server_util import AUTH_COOKIE_NAME

from arena.container import Arena
from arena.html_pages import rendered
from arena.services.accounts.sessions import COOKIE
from arena.site.pages import menus, pages
from arena.site.services import PublicVisit, visited
from arena.site.ui.components import logo
from arena.site.ui.errors import PageEndedError

FRESH = 600.0
"""Seconds for which a view is shown again; less where a board or a right changes."""
MOST = 128
LONGEST_ADDRESS = 300
"""Characters; longer ones are searches that hardly anybody opens again."""
SIGNED_IN = (COOKIE, AUTH_COOKIE_NAME)
"""How the names of cookies begin that say who somebody is."""
Query = tuple[tuple[str, str], ...]


def is_public(cookies: Iterable[str]) -> bool:
    """Whether a browser with cookies of these names is signed in nowhere: it is shown what all are."""
    return not any(name.startswith(SIGNED_IN) for name in cookies)


class FirstViews:
    """The views of one arena, for whoever is signed in nowhere; from threads of every request.

    Args:
        arena: Whose pages they are of.
        clock: Seconds that only grow.
    """

    def __init__(self, arena: Arena, clock: Callable[[], float] = time.monotonic) -> None:
        self._arena, self._clock = arena, clock
        self._made = lru_cache(maxsize=MOST)(self._make)

    def of(self, page: str, query: Iterable[tuple[str, str]]) -> str:
        """The view of an address as HTML; empty where it has none.

        Raises:
            ArenaError: The address names something that does not exist or that the public may not see.
        """
        asked = tuple(sorted(dict(query).items()))
        if len(page) + sum(len(name) + len(value) for name, value in asked) > LONGEST_ADDRESS:
            return ""
        return self._made(page, asked, self._state(), self._clock() // FRESH)

    def _state(self) -> object:
        """What the views depend on: the published boards, and what people have changed."""
        return self._arena.store.audit.changes(), self._arena.boards.heads(), self._arena.boards.retracted()

    def _make(self, page: str, query: Query, _state: object, _period: float) -> str:
        address: Mapping[str, str] = dict(query)
        try:
            with visited(PublicVisit(self._arena, address)):
                look = pages()[page].look()
                who = self._arena.sessions.who(None)
                return look and rendered(
                    "pages/first_view.html",
                    page=look,
                    up="./",
                    who=who.name if who.signed_in else "",
                    logo=logo(),
                    menus=menus(who),
                    here=page,
                )
        except PageEndedError:
            return ""
