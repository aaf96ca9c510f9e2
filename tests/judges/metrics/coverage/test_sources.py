from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpx
import pytest
from aiohttp import web

from data.corpora.documents import Chunking
from data.errors import SpecError
from data.models import Outcome, Passage
from judges.llm.requests import CallFailure
from judges.metrics.coverage.sources import WebSource

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
RESULT = {"url": "https://example.org/a", "title": "A", "content": "Rivers carry salt into the sea."}


def search(
    handler: Handler, query: str = "why is the sea salty?", *, k: int = 5, seconds: float = 5
) -> Sequence[Passage] | CallFailure:
    async def run() -> Sequence[Passage] | CallFailure:
        app = web.Application()
        app.router.add_get("/search", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.05)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        url = f"http://127.0.0.1:{port}/search?q={{query}}&format=json&n={{count}}"
        try:
            async with httpx.AsyncClient() as client:
                source = WebSource(url, client, Chunking(), seconds=seconds)
                return await source.find(query, k)
        finally:
            await runner.cleanup()

    return asyncio.run(run())


def replying(body: object, status: int = 200) -> Handler:
    async def handler(_: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status)

    return handler


def test_results_become_passages() -> None:
    queries: list[dict[str, str]] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        queries.append(dict(request.query))
        return web.json_response({"results": [{**RESULT, "url": f"https://e.org/{n}"} for n in range(9)]})

    results = search(handler, "salt & sea? 100%", k=3)
    assert not isinstance(results, CallFailure)
    assert [passage.id for passage in results] == [f"https://e.org/{n}" for n in range(3)]
    assert (results[0].title, results[0].text) == ("A", RESULT["content"])
    assert queries == [{"q": "salt & sea? 100%", "format": "json", "n": "3"}]


def test_empty_search_is_not_failure() -> None:
    assert search(replying({"results": [], "unresponsive_engines": []})) == ()


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"results": [RESULT]}, 500, "HTTP 500"),
        ({"results": [RESULT]}, 429, "HTTP 429"),
        ({"answers": []}, 200, "no list of results"),
        ([], 200, "no list of results"),
        ({"results": [{"url": "https://e.org"}, "x"]}, 200, "none of its results"),
        ({"results": [], "unresponsive_engines": [["a", "timeout"]]}, 200, "no engine answered"),
    ],
)
def test_failures_have_reasons(body: object, status: int, reason: str) -> None:
    results = search(replying(body, status))
    assert isinstance(results, CallFailure)
    assert results.outcome is Outcome.FAILED
    assert reason in results.detail
    assert "127.0.0.1" in results.detail


def test_slow_and_unreachable_searches_fail() -> None:
    async def slow(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response()

    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>sign in</html>")

    async def cut(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    reasons = [search(slow, seconds=0.1), search(page), search(cut)]
    details = [reason.detail for reason in reasons if isinstance(reason, CallFailure)]
    assert len(details) == 3
    assert "no reply within 0.1 s" in details[0]
    assert "not JSON" in details[1]


@pytest.mark.parametrize(
    "template", ["", "localhost?q={query}", "http://localhost/search", "file:///{query}"]
)
def test_url_without_query_placeholder_is_rejected(template: str) -> None:
    client: Any = None
    with pytest.raises(SpecError, match="needs an HTTP URL with"):
        WebSource(template, client, Chunking())
