"""Sources of evidence: passages, a corpus on disk, or the web.

The web is searched through a plain HTTP endpoint that answers with JSON, as a self-hosted SearXNG does.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote_plus, urlsplit

import numpy as np

from data.corpora.documents import Chunking, chunk_id
from data.errors import SpecError
from data.models import Outcome, Passage
from judges.llm.errors import CallError
from judges.llm.reply_size import MIB, REQUEST_HEADERS, bounded
from judges.llm.requests import CallFailure
from judges.metrics.factuality.contexts import Ranking, Retriever
from judges.metrics.relations.model import QUESTION_CACHE_SIZE

if TYPE_CHECKING:
    import httpx

SECONDS = 20.0
AT_ONCE = 4
MAX_BYTES = 5 * MIB
QUERY, COUNT = "{query}", "{count}"
TEXTS = ("content", "snippet", "description")
ADVICE = "Use a URL such as http://localhost:8080/search?q={query}&format=json."


class Source(Protocol):
    """Finds texts about a claim."""

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Return at most `k` chunks, best first, or the reason for a failure."""
        ...


class LocalSource:
    """Searches a local retriever, such as a corpus."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Search."""
        return self._retriever.find(query, k)


class ChunkIndex:
    """BM25 over the chunks of a few passages; chunks without common terms come last."""

    def __init__(self, passages: Sequence[Passage], chunking: Chunking) -> None:
        self.chunks = chunks_of(passages, chunking)
        self._ranking = Ranking(self.chunks)

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` chunks, best first, ties in order."""
        scores = self._ranking.scores(query)
        if scores is None:
            return self.chunks[:k]
        return tuple(self.chunks[place] for place in np.argsort(-scores, kind="stable")[:k])


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def chunk_index(passages: tuple[Passage, ...], chunking: Chunking) -> ChunkIndex:
    """Return the index of a question's passages, shared by all answers."""
    return ChunkIndex(passages, chunking)


def chunks_of(passages: Sequence[Passage], chunking: Chunking) -> tuple[Passage, ...]:
    """Split passages into chunks; short passages keep their id, chunks of others get numbers."""
    chunks: list[Passage] = []
    for passage in passages:
        pieces = list(chunking.cut(passage.text))
        for number, piece in enumerate(pieces, start=1):
            name = passage.id if len(pieces) == 1 else chunk_id(passage.id, number)
            chunks.append(Passage(name, piece, passage.title))
    return tuple(chunks)


class WebSource:
    """Searches the web through a URL template and splits the snippets into chunks.

    Source: ICAT, section 4.3 (snippets of a search API in place of the corpus).
    """

    def __init__(
        self, template: str, client: "httpx.AsyncClient", chunking: Chunking, *, seconds: float = SECONDS
    ) -> None:
        parts = urlsplit(template)
        if parts.scheme not in {"http", "https"} or not parts.hostname or QUERY not in template:
            raise SpecError("The web search needs an HTTP URL with {query}.", advice=ADVICE)
        self.host = parts.hostname
        self._template = template
        self._client = client
        self._chunking = chunking
        self._seconds = seconds
        self._places = asyncio.Semaphore(AT_ONCE)

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Search the web; passage ids are the URLs of results."""
        import httpx  # noqa: PLC0415 - only web search needs it

        url = self._template.replace(QUERY, quote_plus(query)).replace(COUNT, str(k))
        try:
            async with self._places, asyncio.timeout(self._seconds):
                status, body = await self._get(url)
        except TimeoutError:
            return self._failed(f"no reply within {self._seconds:g} s")
        except CallError as fault:
            return self._failed(fault.detail.rstrip("."))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return self._failed(f"{type(error).__name__}: {error}")
        if status != httpx.codes.OK:
            return self._failed(f"HTTP {status}")
        results = read_results(body)
        if isinstance(results, str):
            return self._failed(results)
        return chunks_of(results[:k], self._chunking)[:k]

    async def _get(self, url: str) -> tuple[int, bytes]:
        headers = {"Accept": "application/json", **REQUEST_HEADERS}
        async with self._client.stream("GET", url, headers=headers) as response:
            encoding, status = response.headers.get("Content-Encoding", ""), response.status_code
            pieces = bounded(response.aiter_raw(), encoding, status, MAX_BYTES)
            return status, b"".join([piece async for piece in pieces])

    def _failed(self, reason: str) -> CallFailure:
        return CallFailure(outcome=Outcome.FAILED, detail=f"The web search at {self.host} failed: {reason}.")


def read_results(body: bytes) -> list[Passage] | str:
    """Return the results of a reply, or the problem.

    No results with unresponsive engines is a failure, because SearXNG answers 200 if its engines fail.
    """
    try:
        reply = json.loads(body)
    except ValueError:
        return "its reply is not JSON"
    results = reply.get("results") if isinstance(reply, Mapping) else None
    if not isinstance(results, list):
        return "its reply has no list of results"
    passages = [hit for row in results if isinstance(row, Mapping) and (hit := _passage(row))]
    if results and not passages:
        return "none of its results has a URL and a text"
    if not passages and reply.get("unresponsive_engines"):
        return f"no engine answered ({str(reply['unresponsive_engines'])[:100]})"
    return passages


def _passage(row: Mapping[str, object]) -> Passage | None:
    url, title = row.get("url"), row.get("title")
    text = next((value for name in TEXTS if isinstance(value := row.get(name), str) and value.strip()), None)
    if not isinstance(url, str) or not url or text is None:
        return None
    return Passage(url, text, title if isinstance(title, str) else "")
