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
from judges.llm.reply_size import ASKED, MIB, bounded
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
ADVICE = "Give a URL such as http://localhost:8080/search?q={query}&format=json."


class Source(Protocol):
    """Finds texts that bear on a claim."""

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Return at most `k` chunks, best first, or why the search found nothing."""
        ...


class LocalSource:
    """Searches whatever is on this machine: a corpus, or anything else that finds passages."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Search."""
        return self._retriever.find(query, k)


class ChunkIndex:
    """BM25 over the chunks of a few passages; all chunks can be found, the nearest first."""

    def __init__(self, passages: Sequence[Passage], chunking: Chunking) -> None:
        self.chunks = chunks_of(passages, chunking)
        self._ranking = Ranking(self.chunks)

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` chunks, best first, equally good ones in their own order."""
        scores = self._ranking.scores(query)
        if scores is None:
            return self.chunks[:k]
        return tuple(self.chunks[place] for place in np.argsort(-scores, kind="stable")[:k])


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def chunk_index(passages: tuple[Passage, ...], chunking: Chunking) -> ChunkIndex:
    """Return the index of a question's passages, the same for every answer to it."""
    return ChunkIndex(passages, chunking)


def chunks_of(passages: Sequence[Passage], chunking: Chunking) -> tuple[Passage, ...]:
    """Cut passages into chunks; one that is short enough keeps its id, others get numbers."""
    chunks: list[Passage] = []
    for passage in passages:
        pieces = list(chunking.cut(passage.text))
        for number, piece in enumerate(pieces, start=1):
            name = passage.id if len(pieces) == 1 else chunk_id(passage.id, number)
            chunks.append(Passage(name, piece, passage.title))
    return tuple(chunks)


class WebSource:
    """Searches the web through a URL template; snippets are chunks, cut where they are longer.

    Source: ICAT, section 4.3 (snippets of a search API in place of the corpus).
    """

    def __init__(
        self, template: str, client: "httpx.AsyncClient", chunking: Chunking, *, seconds: float = SECONDS
    ) -> None:
        parts = urlsplit(template)
        if parts.scheme not in {"http", "https"} or not parts.hostname or QUERY not in template:
            raise SpecError("The URL of the web search is not an HTTP URL with {query} in it.", advice=ADVICE)
        self.host = parts.hostname
        self._template = template
        self._client = client
        self._chunking = chunking
        self._seconds = seconds
        self._places = asyncio.Semaphore(AT_ONCE)

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Search; the address of a result is its id. Every failure is returned with its reason."""
        import httpx  # noqa: PLC0415 - loads only when the web is searched

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
        headers = {"Accept": "application/json", **ASKED}
        async with self._client.stream("GET", url, headers=headers) as response:
            encoding, status = response.headers.get("Content-Encoding", ""), response.status_code
            pieces = bounded(response.aiter_raw(), encoding, status, MAX_BYTES)
            return status, b"".join([piece async for piece in pieces])

    def _failed(self, why: str) -> CallFailure:
        return CallFailure(outcome=Outcome.FAILED, detail=f"The web search at {self.host} failed: {why}.")


def read_results(body: bytes) -> list[Passage] | str:
    """Return the results of a reply, or what is wrong with it.

    SearXNG answers 200 with no results where its engines failed, and names them; that is a failure.
    """
    try:
        reply = json.loads(body)
    except ValueError:
        return "its reply is not JSON"
    results = reply.get("results") if isinstance(reply, Mapping) else None
    if not isinstance(results, list):
        return "its reply has no list of results"
    passages = [found for row in results if isinstance(row, Mapping) and (found := _passage(row))]
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
