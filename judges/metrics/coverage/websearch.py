"""Web search through a plain HTTP endpoint that answers with JSON, as a self-hosted SearXNG does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote_plus, urlsplit

from data.errors import SpecError
from data.records import Outcome
from judges.llm.requests import CallFailure
from judges.metrics.coverage.sources import Snippet

if TYPE_CHECKING:
    import httpx

SECONDS = 20.0
AT_ONCE = 4
MOST_BYTES = 5_000_000
QUERY, COUNT = "{query}", "{count}"
TEXTS = ("content", "snippet", "description")
ADVICE = "Give a URL such as http://localhost:8080/search?q={query}&format=json."


class HttpSearch:
    """Searches through a URL template; every failure is returned with its reason.

    Args:
        template: The URL, with `{query}` and, where the service takes one, `{count}`.
        client: Carries the calls; closed by whoever made it.
        seconds: The longest wait for one search.

    Raises:
        SpecError: The template is no HTTP URL with `{query}` in it.
    """

    def __init__(self, template: str, client: httpx.AsyncClient, *, seconds: float = SECONDS) -> None:
        self.host = check_template(template)
        self._template = template
        self._client = client
        self._seconds = seconds
        self._places = asyncio.Semaphore(AT_ONCE)

    async def search(self, query: str, count: int) -> Sequence[Snippet] | CallFailure:
        """Search.

        Returns:
            At most `count` results; an empty list only where the service says that it found nothing.
        """
        import httpx  # noqa: PLC0415 - loads only when the web is searched

        url = self._template.replace(QUERY, quote_plus(query)).replace(COUNT, str(count))
        try:
            async with self._places, asyncio.timeout(self._seconds):
                status, body = await self._get(url)
        except TimeoutError:
            return self._failed(f"no reply within {self._seconds:g} s")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self._failed(f"{type(error).__name__}: {error}")
        if status != httpx.codes.OK:
            return self._failed(f"HTTP {status}")
        if len(body) > MOST_BYTES:
            return self._failed(f"more than {MOST_BYTES:,} bytes")
        results = read_results(body)
        return self._failed(results) if isinstance(results, str) else results[:count]

    async def _get(self, url: str) -> tuple[int, bytes]:
        body = bytearray()
        async with self._client.stream("GET", url, headers={"Accept": "application/json"}) as response:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    break
            return response.status_code, bytes(body)

    def _failed(self, why: str) -> CallFailure:
        return CallFailure(outcome=Outcome.FAILED, detail=f"The web search at {self.host} failed: {why}.")


def check_template(template: str) -> str:
    """Return the host of a search URL.

    Raises:
        SpecError: It is no HTTP URL with `{query}` in it.
    """
    parts = urlsplit(template)
    if parts.scheme not in {"http", "https"} or not parts.hostname or QUERY not in template:
        raise SpecError("The URL of the web search is no HTTP URL with {query} in it.", advice=ADVICE)
    return parts.hostname


def read_results(body: bytes) -> list[Snippet] | str:
    """The results of a reply, or what is wrong with it.

    SearXNG answers 200 with no results where its engines failed, and names them; that is a failure.
    """
    try:
        reply = json.loads(body)
    except ValueError:
        return "its reply is no JSON"
    results = reply.get("results") if isinstance(reply, Mapping) else None
    if not isinstance(results, list):
        return "its reply has no list of results"
    rows = [row for row in results if isinstance(row, Mapping)]
    snippets = [snippet for row in rows if (snippet := _snippet(row)) is not None]
    if results and not snippets:
        return "none of its results has a URL and a text"
    if not snippets and reply.get("unresponsive_engines"):
        return f"no engine answered ({str(reply['unresponsive_engines'])[:100]})"
    return snippets


def _snippet(row: Mapping[str, object]) -> Snippet | None:
    url, title = row.get("url"), row.get("title")
    text = next((value for name in TEXTS if isinstance(value := row.get(name), str) and value.strip()), None)
    if not isinstance(url, str) or not url or text is None:
        return None
    return Snippet(url, text, title if isinstance(title, str) else "")
