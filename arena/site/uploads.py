"""File uploads on pages, and access to them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.runtime import Runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from arena.api.errors import RefusedRequestError, problem_response
from arena.api.middleware import LimitedBody
from arena.container import Arena
from arena.services.submissions.uploads import party_of
from arena.site.auth import caller_of_request
from arena.site.services import arena
from data.errors import ArenaError, FileFormatError
from data.files.text_files import MEBIBYTE

UPLOADS = "/_stcore/upload_file/"
MAX_FILES = 2
"""Quota of a party's uploads on pages, in files of the maximum size."""


def choose_file(
    label: str,
    *,
    key: str,
    types: Sequence[str] | None = None,
    max_mb: int | None = None,
    advice: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> UploadedFile | None:
    """Let the visitor choose a file of at most `max_mb`, by default the limit in the settings."""
    limit = max_mb or arena().settings.max_upload_mb
    return st.file_uploader(
        f"{label}, up to {limit:,} MiB",
        key=key,
        type=types,
        help=advice,
        on_change=on_change,
        max_upload_size=limit,
    )


def choose_files(label: str, *, key: str, advice: str | None = None) -> list[UploadedFile]:
    """Let the visitor choose any number of files."""
    limit = arena().settings.max_upload_mb
    return st.file_uploader(
        f"{label}, up to {limit:,} MiB each",
        key=key,
        help=advice,
        accept_multiple_files=True,
        max_upload_size=limit,
    )


@contextmanager
def on_disk(file: UploadedFile, *, max_mb: int | None = None) -> Iterator[Path]:
    """Write an uploaded file to disk, under its own name, for the duration of the block."""
    if max_mb is not None and file.size > max_mb * MEBIBYTE:
        message = f"{file.name} is {file.size / MEBIBYTE:,.1f} MiB; the limit is {max_mb:,} MiB."
        raise FileFormatError(message, advice="Choose a smaller file.", code="too-large")
    with arena().uploads.scratch(file.name) as (path, writer):
        writer.write(file.getbuffer())
        writer.close()
        yield path


class SignedInUploads:
    """ASGI middleware: accept files only from signed-in browsers, with the API's limits on bodies.

    Streamlit keeps files in memory until the visitor's session ends, so all files of a party count.
    """

    def __init__(self, app: ASGIApp, *, source: Arena) -> None:
        self._app, self._arena = app, source
        self._sessions: dict[str, str] = {}
        self._arriving: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http" or scope["method"] != "PUT" or not scope["path"].startswith(UPLOADS):
            await self._app(scope, receive, send)
            return
        try:
            await self._accept(scope, receive, send)
        except RefusedRequestError as error:
            refusal = problem_response(
                error.status_code, error.detail, advice=error.advice, headers=error.headers
            )
            await refusal(scope, receive, send)

    async def _accept(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, settings = Headers(scope=scope), self._arena.settings
        party = await run_in_threadpool(self._party, cookie_parser(headers.get("cookie", "")))
        if not party:
            raise RefusedRequestError(HTTPStatus.UNAUTHORIZED, "Sign in to upload files.")
        self._sessions = {session: owner for session, owner in self._sessions.items() if _is_open(session)}
        self._sessions[scope["path"].removeprefix(UPLOADS).partition("/")[0]] = party
        announced = headers.get("content-length", "")
        size = int(announced) if announced.isdecimal() else settings.upload_bytes
        if self._used(party) + size > MAX_FILES * settings.upload_bytes:
            raise RefusedRequestError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                "Your files on open pages have reached the upload limit.",
                advice="Remove files that you chose on this or another page, or close those pages.",
            )
        self._arriving[party] += size
        try:
            # A form adds some bytes to those of the file.
            body = LimitedBody(receive, settings.upload_bytes + MEBIBYTE, settings.body_timeout)
            await self._app(scope, body.receive, send)
        finally:
            self._arriving[party] -= size

    def _used(self, party: str) -> int:
        stored = _stored_files()
        own = (session for session, owner in self._sessions.items() if owner == party)
        return self._arriving[party] + sum(
            len(file.data) for session in own for file in stored.get(session, {}).values()
        )

    def _party(self, cookies: Mapping[str, str]) -> str:
        """Return the party that sends a file; empty without a sign-in."""
        try:
            caller = caller_of_request(self._arena, cookies)
        except ArenaError:
            return ""
        return party_of(caller) if caller.signed_in else ""


def _is_open(session: str) -> bool:
    return Runtime.exists() and Runtime.instance().is_active_session(session)


def _stored_files() -> Mapping[str, Mapping[str, UploadedFileRec]]:
    """Return the files that Streamlit keeps, by session and number."""
    if not Runtime.exists():
        return {}
    manager = Runtime.instance().uploaded_file_mgr
    return dict(manager.file_storage) if isinstance(manager, MemoryUploadedFileManager) else {}
