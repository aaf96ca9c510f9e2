"""Web pages over real HTTP: their text, and every way in which a page can fail."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import Awaitable, Callable, Sequence

import pytest
from aiohttp import web

from data import public_hosts
from data.records import Outcome, Passage
from judges.base import HERE
from judges.llm.requests import CallFailure
from judges.retrieval.ranking import Hit
from judges.retrieval.web_pages import PagedRanker, PageError, PageLimits, PageReader

pytest.importorskip("trafilatura", reason="NO TRAFILATURA: the text of web pages is not tested")
SENTENCE = "The sky is blue since air scatters short waves more than long ones."
PAGE = (
    "<html><head><title>Sky</title><script>track()</script></head><body><nav><a href='/'>Home</a></nav>"
    f"<article><h1>Why is the sky blue?</h1><p>{f'{SENTENCE} ' * 9}</p></article><footer>© Somebody</footer>"
    "</body></html>"
)
OPEN = PageLimits(private=True, seconds=5)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def reading(handler: Handler, *, limits: PageLimits = OPEN, path: str = "/", host: str = "127.0.0.1") -> str:
    """What is read of a page that a server gives."""

    async def run() -> str:
        app = web.Application()
        app.router.add_get("/{path:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.05)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        try:
            async with PageReader(HERE, limits) as reader:
                return await reader.read(f"http://{host}:{port}{path}")
        finally:
            await runner.cleanup()

    return asyncio.run(run())


def giving(body: bytes | str, *, status: int = 200, headers: dict[str, str] | None = None) -> Handler:
    """Answer everything with one page."""

    async def handler(_: web.Request) -> web.StreamResponse:
        content = body.encode() if isinstance(body, str) else body
        return web.Response(
            body=content, status=status, headers={"Content-Type": "text/html", **(headers or {})}
        )

    return handler


def test_a_page_gives_its_readable_text() -> None:
    """The article's words are there, navigation, scripts and footer are not; a bot asks, and says so."""
    asked: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        asked.append(request.headers["User-Agent"])
        return await giving(PAGE)(request)

    text = reading(handler)
    assert text.count(SENTENCE) == 9
    assert not {"Home", "track", "Somebody"} & set(text.replace("()", "").split())
    assert "answer-arena" in asked[0]
    assert "bot" in asked[0]


def test_a_text_is_cut_at_a_word() -> None:
    """At most 4,000 characters are kept by default, and no word is halved."""
    text = reading(giving(PAGE.replace(SENTENCE, " ".join([SENTENCE] * 20))))
    assert 3_900 < len(text) <= 4_000
    assert SENTENCE.startswith(text.rpartition(". ")[2])
    assert text.split()[-1] in SENTENCE.split()
    assert len(reading(giving(PAGE), limits=PageLimits(private=True, characters=50))) <= 50


def test_encodings_are_followed() -> None:
    """The header's charset is used or guessed, compressed pages are unpacked, plain text stays."""
    page = PAGE.replace(SENTENCE, "Größe und Wärme ändern sich über den Tag hinweg, sagt man häufig.")
    latin = giving(page.encode("latin-1"), headers={"Content-Type": "text/html; charset=latin-1"})
    assert "Größe und Wärme" in reading(latin)
    odd = giving(page.encode(), headers={"Content-Type": "text/html; charset=klingon"})
    assert "Größe und Wärme" in reading(odd)
    packed = giving(gzip.compress(page.encode()), headers={"Content-Encoding": "gzip"})
    assert "Größe und Wärme" in reading(packed)
    assert reading(giving("Just <b> words.", headers={"Content-Type": "text/plain"})) == "Just <b> words."


@pytest.mark.parametrize(
    ("handler", "why"),
    [
        (giving("x", status=404), "HTTP 404"),
        (giving("%PDF", headers={"Content-Type": "application/pdf"}), "its type is application/pdf"),
        (giving("<html><body></body></html>"), "no readable text"),
        (giving("x" * 1_200_000), "more than 1,000,000 bytes"),
        (giving(gzip.compress(b"x" * 5_000_000), headers={"Content-Encoding": "gzip"}), "more than"),
        (giving("", status=302, headers={"Location": "/again"}), "TooManyRedirects"),
        (giving("", status=302, headers={"Location": "ftp://127.0.0.1/"}), "UnsupportedProtocol"),
    ],
)
def test_a_page_that_gives_no_text_says_why(handler: Handler, why: str) -> None:
    """Errors, other types, empty pages, bombs and circles are reasons, not texts."""
    with pytest.raises(PageError, match=why):
        reading(handler)


def test_a_slow_page_is_given_up() -> None:
    """The limit holds for the page as a whole, however steadily it drips."""

    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        for _ in range(100):
            await response.write(b"<p>drop</p>")
            await asyncio.sleep(0.05)
        return response

    started = time.monotonic()
    with pytest.raises(PageError, match="no page within"):
        reading(drip, limits=PageLimits(private=True, seconds=0.3))
    assert time.monotonic() - started < 4


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0", "2130706433", "nowhere.invalid"])
def test_hosts_that_are_not_public_are_refused(host: str) -> None:
    """However this machine is spelled, it is not asked; nor is a host that nobody knows."""
    called: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        called.append(request.path)
        return await giving(PAGE)(request)

    with pytest.raises(PageError, match=r"not public|not known"):
        reading(handler, limits=PageLimits(seconds=5), host=host)
    assert not called


def test_a_redirect_is_checked_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public page that leads to a private address leads nowhere."""
    monkeypatch.setattr(public_hosts, "is_public", lambda address: address == "127.0.0.1")

    async def handler(request: web.Request) -> web.StreamResponse:
        target = f"http://127.0.0.2:{request.url.port}/secret"
        return await giving("", status=302, headers={"Location": target})(request)

    with pytest.raises(PageError, match=r"127\.0\.0\.2 has an address that is not public"):
        reading(handler, limits=PageLimits(seconds=5))


class Search:
    """Finds given pages, or fails."""

    def __init__(self, hits: Sequence[Hit] | CallFailure) -> None:
        self.hits = hits

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank."""
        assert query == "q"
        return self.hits if isinstance(self.hits, CallFailure) else self.hits[:k]


def test_a_page_that_fails_keeps_what_the_search_says() -> None:
    """Its passage is the snippet with a remark, the others have their pages' text; both are counted."""

    class Reader(PageReader):
        """Reads one page."""

        async def read(self, url: str) -> str:
            """Read."""
            return "page" if url == "https://a" else await super().read(url)

    hits = [
        Hit(Passage(name, "snippet"), 1 / place)
        for place, name in enumerate(["https://a", "https://a#2", "b"], 1)
    ]

    async def run() -> tuple[PagedRanker, Sequence[Hit] | CallFailure, Sequence[Hit] | CallFailure]:
        async with Reader(HERE) as reader:
            paged = PagedRanker(Search(hits), reader)
            failure = CallFailure(outcome=Outcome.FAILED, detail="down")
            return paged, await paged.rank("q", 3), await PagedRanker(Search(failure), reader).rank("q", 3)

    paged, found, failed = asyncio.run(run())
    assert not isinstance(found, CallFailure)
    assert [(hit.passage.id, hit.passage.text) for hit in found] == [("https://a", "page"), ("b", "snippet")]
    assert [hit.remark for hit in found] == ["", "snippet alone: its id is no web address"]
    assert (paged.read, dict(paged.failed)) == (1, {"its id is no web address": 1})
    assert isinstance(failed, CallFailure)
