"""Files that visitors choose on a page, and who may send them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.runtime.uploaded_file_manager import UploadedFile
from streamlit.web.server.server_util import AUTH_COOKIE_NAME, get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

from arena.api.errors import problem_response
from arena.container import Arena
from arena.services.accounts.tokens import COOKIE
from arena.site.services import arena
from data.errors import ArenaError, FileFormatError
from data.files.text_files import MEBIBYTE

UPLOADS = "/_stcore/upload_file/"


def choose_file(
    label: str,
    *,
    key: str,
    types: Sequence[str] | None = None,
    most_mb: int | None = None,
    advice: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> UploadedFile | None:
    """Let the visitor choose a file of at most `most_mb`, by default as much as the settings say."""
    most = most_mb or arena().settings.max_upload_mb
    return st.file_uploader(
        f"{label}, up to {most:,} MiB",
        key=key,
        type=types,
        help=advice,
        on_change=on_change,
        max_upload_size=most,
    )


def choose_files(label: str, *, key: str, advice: str | None = None) -> list[UploadedFile]:
    """Let the visitor choose any number of files."""
    most = arena().settings.max_upload_mb
    return st.file_uploader(
        f"{label}, up to {most:,} MiB each",
        key=key,
        help=advice,
        accept_multiple_files=True,
        max_upload_size=most,
    )


@contextmanager
def laid_down(dropped: UploadedFile, *, most_mb: int | None = None) -> Iterator[Path]:
    """Write a chosen file to the disk, under its own name, until the end of the block."""
    if most_mb is not None and dropped.size > most_mb * MEBIBYTE:
        message = f"{dropped.name} has {dropped.size / MEBIBYTE:,.1f} MiB; up to {most_mb:,} MiB are taken."
        raise FileFormatError(message, advice="Bring a smaller file.", code="too-large")
    with arena().uploads.scratch(dropped.name) as (path, writer):
        writer.write(dropped.getbuffer())
        writer.close()
        yield path


class SignedInUploads:
    """ASGI middleware: refuse files of browsers that are signed in nowhere."""

    def __init__(self, app: ASGIApp, *, source: Arena) -> None:
        self._app, self._arena = app, source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] == "http" and scope["path"].startswith(UPLOADS) and scope["method"] == "PUT":
            cookies = cookie_parser(Headers(scope=scope).get("cookie", ""))
            if not await run_in_threadpool(self._signed_in, cookies):
                refusal = problem_response(HTTPStatus.UNAUTHORIZED, "Sign in to send files.")
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _signed_in(self, cookies: Mapping[str, str]) -> bool:
        try:
            if self._arena.sessions.who(cookies.get(COOKIE)).signed_in:
                return True
        except ArenaError:
            return False

        def signed(name: str) -> bytes | None:
            value = cookies.get(name)
            return None if value is None else decode_signed_value(get_cookie_secret(), name, value)

        return get_cookie_with_chunks(signed, AUTH_COOKIE_NAME) is not None
