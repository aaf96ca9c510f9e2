"""The board inside the document, visible before Streamlit's script has drawn it."""

import logging
from functools import lru_cache

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from arena.container import Arena
from arena.html_pages import rendered
from arena.services.accounts.tokens import COOKIE
from arena.site.services import visiting
from arena.site.ui.html import digest
from data.errors import ArenaError

MAX_PAGES = 64
MAX_QUERY_LENGTH = 300
WARNS = "streamlit.runtime.scriptrunner_utils.script_run_context"
"""Streamlit's logger; it warns of each cache access outside of Streamlit's threads."""


def opened_row(arena: Arena, request: Request) -> str:
    """Return the details of the row in an address, as HTML for the caller; empty if nothing is published."""
    from arena.site.boards.leaderboard_page import opened_row as opened  # noqa: PLC0415 - as below

    with visiting(arena, dict(request.query_params), request.cookies):
        return opened() if arena.boards.heads() else ""


class FirstView:
    """Cache of the public board page, valid until visible data change."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        logging.getLogger(WARNS).addFilter(lambda record: "ScriptRunContext" not in record.getMessage())
        self._cached = lru_cache(maxsize=MAX_PAGES)(self._render)

    async def of(self, request: Request) -> str:
        """Return the board at an address as HTML; empty if the page is not a board or not public."""
        query = request.query_params
        signed_in = any(name.startswith((COOKIE, "_streamlit_user")) for name in request.cookies)
        if signed_in or len(str(query)) > MAX_QUERY_LENGTH:
            return ""
        return await run_in_threadpool(self._of, tuple(sorted(query.items())))

    def _of(self, query: tuple[tuple[str, str], ...]) -> str:
        try:
            # The page itself reports missing boards and errors.
            return self._cached(query, self._arena.store.changes())
        except ArenaError:
            return ""

    def _render(self, query: tuple[tuple[str, str], ...], _changes: int) -> str:
        from arena.site.boards.leaderboard_page import as_parts  # noqa: PLC0415 - routes are made without it
        from arena.site.boards.pickers import addressed_board  # noqa: PLC0415 - as above

        if not self._arena.boards.heads():
            return ""
        with visiting(self._arena, dict(query), {}):
            page = as_parts(addressed_board()).part("page")
        footer = f'<div class="stHtml">{rendered("footer.html", up="./", who="")}</div>'
        return f'<div id="first-view" data-view="{digest(page)}"><div>{page}{footer}</div></div>'
