"""The readable text of web pages, in the place of what a search says of them.

A page's address comes from strangers: it is fetched only where every address of its host is public, over a
connection to the address that was checked, and so is every page that it redirects to. Reading HTML needs the
extra `web` (trafilatura, Apache-2.0).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import httpx

from data.errors import SpecError, WorkError
from data.public_hosts import HostError
from data.public_transport import PublicTransport
from judges.base import TextWork, reason_of
from judges.llm.requests import CallFailure
from judges.retrieval.ranking import Hit, Ranker, by_document

CHARACTERS = 4_000
MOST_BYTES = 1_000_000
SECONDS = 15.0
REDIRECTS = 5
AT_ONCE = 8
LEAST_CUT = 0.8
"""Share of the characters that a text keeps at least where it is cut at a word's end."""
HTML = ("text/html", "application/xhtml+xml")
PLAIN = ("text/plain", "text/markdown")
EXTRA = "Install it: `pip install answer-arena[web]`."


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLimits:
    """How much is fetched.

    Attributes:
        characters: Of a page's text at most.
        content_bytes: Of a page at most; longer ones are not read.
        seconds: Longest wait for a page, redirects included.
        private: Whether hosts with addresses that are not public may be asked.
    """

    characters: int = CHARACTERS
    content_bytes: int = MOST_BYTES
    seconds: float = SECONDS
    private: bool = False


class PageError(Exception):
    """Why a page has no text."""


def readable_text(content: bytes, charset: str | None) -> str:
    """The text of an HTML page without its navigation; empty where there is none.

    Raises:
        SpecError: The extra is not installed.
    """
    extract = extractor()
    # Names of encodings are the server's: an unknown one is left to be guessed.
    try:
        source: bytes | str = content.decode(charset) if charset else content
    except (LookupError, UnicodeDecodeError):
        source = content
    return str(extract(source, fast=True, include_comments=False, include_tables=True) or "")


def extractor() -> Callable[..., Any]:
    """What finds the text of a page.

    Raises:
        SpecError: The extra is not installed.
    """
    try:
        from trafilatura import extract  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "Reading pages needs the library trafilatura, which is not installed."
        raise SpecError(message, advice=EXTRA) from error
    found: Callable[..., Any] = extract
    return found


class PageReader:
    """Reads pages. Use it as an asynchronous context manager.

    Args:
        work: Where HTML is read, which may be a stranger's trap.
        limits: How much is fetched.

    Raises:
        SpecError: The extra is not installed.
    """

    def __init__(self, work: TextWork, limits: PageLimits | None = None) -> None:
        extractor()
        self._limits = limits or PageLimits()
        self._work = work
        self._places = asyncio.Semaphore(AT_ONCE)
        self._client = httpx.AsyncClient(
            transport=PublicTransport(private=self._limits.private),
            trust_env=False,
            follow_redirects=True,
            max_redirects=REDIRECTS,
            timeout=self._limits.seconds,
            headers={
                "User-Agent": "answer-arena (bot; reads pages that a search found)",
                "Accept": ", ".join((*HTML, *PLAIN)),
            },
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def read(self, url: str) -> str:
        """The text of a page, cut at a word's end.

        Raises:
            PageError: It has none; the reason is said.
        """
        if not url.startswith(("http://", "https://")):
            raise PageError("its id is no web address")
        try:
            async with self._places, asyncio.timeout(self._limits.seconds):
                kind, charset, content = await self._fetch(url)
        except TimeoutError as error:
            raise PageError(f"no page within {self._limits.seconds:g} s") from error
        except HostError as error:
            raise PageError(str(error)) from error
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise PageError(type(error).__name__) from error
        if kind in PLAIN:
            text = content.decode("utf-8", "replace")
        else:
            try:
                text = await self._work.do(readable_text, content, charset)
            except WorkError as error:
                raise PageError(f"reading it failed: {reason_of(error)}") from error
        if not text.strip():
            raise PageError("it has no readable text")
        return _cut(text.strip(), self._limits.characters)

    async def _fetch(self, url: str) -> tuple[str, str | None, bytes]:
        content = bytearray()
        async with self._client.stream("GET", url) as response:
            if response.status_code != httpx.codes.OK:
                raise PageError(f"HTTP {response.status_code}")
            kind = response.headers.get("Content-Type", HTML[0]).partition(";")[0].strip().lower()
            if kind not in {*HTML, *PLAIN}:
                raise PageError(f"its type is {kind[:40]}")
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > self._limits.content_bytes:
                    raise PageError(f"more than {self._limits.content_bytes:,} bytes")
            return kind, response.charset_encoding, bytes(content)


def _cut(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    cut = text[:characters]
    at = max(cut.rfind(" "), cut.rfind("\n"))
    return cut[:at] if at >= LEAST_CUT * characters else cut


class PagedRanker:
    """Puts pages' texts in the place of what a web search says of them; a page that fails keeps the latter.

    Args:
        ranker: Finds pages; the ids of its passages are their addresses.
        reader: Reads them.
    """

    def __init__(self, ranker: Ranker, reader: PageReader) -> None:
        self._ranker = ranker
        self._reader = reader
        self.read = 0
        self.failed: Counter[str] = Counter()

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank; a hit whose page could not be read has the reason as its `remark`."""
        hits = await self._ranker.rank(query, k)
        if isinstance(hits, CallFailure):
            return hits
        return await asyncio.gather(*map(self._with_page, by_document(hits, k)))

    async def _with_page(self, hit: Hit) -> Hit:
        try:
            text = await self._reader.read(hit.passage.id)
        except PageError as error:
            self.failed[str(error)] += 1
            return replace(hit, remark=f"snippet alone: {error}")
        self.read += 1
        return replace(hit, passage=replace(hit.passage, text=text))
