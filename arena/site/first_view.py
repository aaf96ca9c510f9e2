"""The board in the document, which readers see before Streamlit's script has drawn it."""

import logging
from functools import lru_cache

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from arena.container import Arena
from arena.services.accounts.tokens import COOKIE
from arena.site.services import visiting
from arena.site.ui.html import digest
from data.errors import ArenaError

MOST = 64
LONGEST_ADDRESS = 300
"""Characters; longer searches are hardly ever opened again."""
WARNS = "streamlit.runtime.scriptrunner_utils.script_run_context"
"""Streamlit's logger that warns of each read of its cache outside of its own threads."""


def opened_row(arena: Arena, request: Request) -> str:
    """Return what the row of an address opens to, as HTML for who asks; empty where nothing is published."""
    from arena.site.boards.leaderboard_page import opened_row as opened  # noqa: PLC0415 - as below

    with visiting(arena, dict(request.query_params), request.cookies):
        return opened() if arena.boards.heads() else ""


class FirstView:
    """The board page for visitors who are signed in nowhere, kept until readers may notice a change."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        logging.getLogger(WARNS).addFilter(lambda record: "ScriptRunContext" not in record.getMessage())
        self._kept = lru_cache(maxsize=MOST)(self._made)

    async def of(self, request: Request) -> str:
        """Return the board of an address as HTML; empty where the page is not a board, or not public."""
        query = request.query_params
        signed_in = any(name.startswith((COOKIE, "_streamlit_user")) for name in request.cookies)
        if signed_in or len(str(query)) > LONGEST_ADDRESS:
            return ""
        return await run_in_threadpool(self._of, tuple(sorted(query.items())))

    def _of(self, query: tuple[tuple[str, str], ...]) -> str:
        try:
            # Without a board the page itself says so, and errors too.
            return self._kept(query, self._arena.store.changes()) if self._arena.boards.heads() else ""
        except ArenaError:
            return ""

    def _made(self, query: tuple[tuple[str, str], ...], _changes: int) -> str:
        from arena.site.boards.leaderboard_page import as_parts  # noqa: PLC0415 - routes are made without it
        from arena.site.boards.pickers import addressed_board  # noqa: PLC0415 - as above

        with visiting(self._arena, dict(query), {}):
            page = as_parts(addressed_board()).part("page")
        return f'<div id="first-view" data-view="{digest(page)}"><div>{page}</div></div>'
