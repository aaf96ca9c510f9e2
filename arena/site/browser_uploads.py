"""Uploads of the pages, streamed to the disk: Streamlit would hold each of them in memory, whole.

Streamlit's own route checks first whether the request is of a page that is open; only what it then asks for
is read here, written, and passed to it with a few bytes instead of the file.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.services.submissions.browser_files import IN_PLACE, BrowserFiles, BrowserWriter
from data.files.text_files import MEBIBYTE

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

UPLOAD_PATH = re.compile(r"/_stcore/upload_file/[^/]+/(?P<file_id>[^/]+)")
LONGEST_HEAD = 16_384
MOST_READ = 1024 * MEBIBYTE
"""What is longer is broken off; up to here a page can say that a file is too large."""


class BrowserUploads:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, files: BrowserFiles) -> None:
        self._app = app
        self._files = files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; of an upload Streamlit gets another body."""
        matched = UPLOAD_PATH.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if matched is None:
            await self._app(scope, receive, send)
        elif scope["method"] == "PUT":
            upload = _Upload(self._files, matched["file_id"], Headers(scope=scope), receive)
            inner = {**scope, "headers": list(scope["headers"])}
            del MutableHeaders(scope=inner)["content-length"]
            await self._app(inner, upload.receive, send)
        else:
            if scope["method"] == "DELETE":
                await run_in_threadpool(self._files.remove, matched["file_id"])
            await self._app(scope, receive, send)


class _Upload:
    """One upload: reads the sender's body when Streamlit asks for it, and answers with another."""

    def __init__(self, files: BrowserFiles, file_id: str, headers: Headers, receive: Receive) -> None:
        self._files = files
        self._file_id = file_id
        self._receive = receive
        _, options = parse_options_header(headers.get("content-type", ""))
        self._boundary = options.get(b"boundary", b"")
        self._done = False

    async def receive(self) -> Message:
        """The next message for Streamlit: a body of a few bytes, then what the sender says."""
        if self._done:
            return await self._receive()
        self._done = True
        return {"type": "http.request", "body": await self._body(), "more_body": False}

    async def _body(self) -> bytes:
        """The body with the file replaced; empty where nothing can be read, which Streamlit refuses."""
        if not self._boundary:
            return b""
        part = _Part()
        try:
            with self._files.receiving(self._file_id) as writer:
                await self._store(part, writer)
        except (FormParserError, _BrokenOffError):
            return b""
        lines = (b"--" + self._boundary, *part.headers, b"", IN_PLACE, b"--" + self._boundary + b"--", b"")
        return b"\r\n".join(lines)

    async def _store(self, part: _Part, writer: BrowserWriter) -> None:
        parser = MultipartParser(self._boundary, part.callbacks())
        async for block in self._blocks():
            parser.write(block)
            if len(part.waiting) >= MEBIBYTE:
                await run_in_threadpool(writer.write, part.take())
        if not part.whole:
            raise _BrokenOffError
        await run_in_threadpool(writer.write, part.take())

    async def _blocks(self) -> AsyncIterator[bytes]:
        more, read = True, 0
        while more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise _BrokenOffError
            block = message.get("body", b"")
            more, read = message.get("more_body", False), read + len(block)
            if read > MOST_READ:
                raise _BrokenOffError
            yield block


class _BrokenOffError(Exception):
    """The sender went away, sends without an end, or ends in the middle."""


class _Part:
    """The first part of a body: its headers as they came, and bytes that were not written yet."""

    def __init__(self) -> None:
        self.headers: list[bytes] = []
        self.waiting = bytearray()
        self.whole = False
        self._header = bytearray()
        self._parts = 0

    def callbacks(self) -> MultipartCallbacks:
        """What the parser calls."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._field,
            "on_header_value": self._value,
            "on_header_end": self._end,
            "on_part_data": self._data,
            "on_end": self._close,
        }

    def take(self) -> bytes:
        """The bytes since the last call."""
        content = bytes(self.waiting)
        self.waiting.clear()
        return content

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > 1:
            raise FormParserError("An upload has one part.")

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._add(data[start:end])

    def _value(self, data: bytes, start: int, end: int) -> None:
        self._add((b"" if b": " in self._header else b": ") + data[start:end])

    def _add(self, piece: bytes) -> None:
        self._header += piece
        if len(self._header) > LONGEST_HEAD:
            raise FormParserError("The head of the part is too long.")

    def _end(self) -> None:
        self.headers.append(bytes(self._header))
        self._header.clear()

    def _close(self) -> None:
        self.whole = True

    def _data(self, data: bytes, start: int, end: int) -> None:
        self.waiting += data[start:end]
