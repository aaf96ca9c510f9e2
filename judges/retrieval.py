"""Registry of retrievers for passages and evidence; plugins can add more."""

import asyncio
import inspect
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from data.errors import InputError, JudgeError, SpecError
from data.models import Json, Outcome, Passage
from data.plugins import CODE, PluginEntries, PluginKind, code_of, describe_error, plugin_entries
from judges.llm.requests import CallFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from data.corpora.index import Corpus
    from judges.metrics.coverage.sources import Source


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage and its score: higher is better, comparable within one ranking."""

    passage: Passage
    score: float


class Ranker(Protocol):
    """Ranks passages for a query."""

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Return at most `k` passages, best first, or the reason for a failure.

        Raises:
            JudgeError: All searching must stop.
        """
        ...


class WordRanker:
    """Ranks the chunks of a corpus by BM25."""

    def __init__(self, corpus: "Corpus") -> None:
        self._corpus = corpus

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank passages for a query."""
        return [Hit(passage, score) for passage, score in self._corpus.search(query, k)]


class SourceRanker:
    """Ranks the passages of a source by their order: score 1 / place."""

    def __init__(self, source: "Source") -> None:
        self._source = source

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank passages for a query."""
        passages = await self._source.find(query, k)
        if isinstance(passages, CallFailure):
            return passages
        return [Hit(passage, 1 / place) for place, passage in enumerate(passages, start=1)]


class RankedSource:
    """Finds the best passages with a ranker."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Return the first `k` passages, or the reason for a failure."""
        hits = await self._ranker.rank(query, k)
        return hits if isinstance(hits, CallFailure) else [hit.passage for hit in hits]


def by_document(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Keep the best chunk of each document, under the document's id."""
    from data.corpora.documents import document_of  # noqa: PLC0415 - slow, and lists do not need it

    best: dict[str, Hit] = {}
    for hit in hits:
        name = document_of(hit.passage.id)
        best.setdefault(name, replace(hit, passage=replace(hit.passage, id=name)))
    return list(best.values())[:k]


BM25, WEB = "bm25", "web"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An open retriever; `about` is stored with scores, and `key` identifies it."""

    ranker: Ranker
    about: "Mapping[str, Json]"
    key: str


class Sources(Protocol):
    """Opens corpora and web search, with the errors of `CorpusService`."""

    def words(self, corpus: str) -> AbstractAsyncContextManager[Opened]:
        """Open a corpus."""
        ...

    def web(self, corpus: str) -> AbstractAsyncContextManager[Opened]:
        """Open the web search."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverInfo:
    """A retriever that is not open yet.

    Attributes:
        name: Value of `--retriever`.
        title: Short description.
        open: Opens it with the sources and the name of a corpus.
        find: Alternative to `open`: a plain or async function of a query and a number of passages. It returns
            passages, best first, or pairs of a passage and its score.
        corpus: Whether it needs the name of a corpus.
        evidence: Whether metrics may use it to find evidence.
    """

    name: str
    title: str
    open: Callable[[Sources, str], AbstractAsyncContextManager[Opened]] | None = None
    find: Callable[[str, int], Any] | None = None
    corpus: bool = False
    evidence: bool = True

    def __post_init__(self) -> None:
        functions: tuple[object, ...] = (self.open or self.find, self.find or self.open)
        if not all(map(callable, functions)):
            raise SpecError(f"The `find` of the retriever {self.name} is not a function.")

    @asynccontextmanager
    async def opened(self, sources: Sources, corpus: str) -> AsyncIterator[Opened]:
        """Open the retriever, with the errors of its source."""
        if self.open is not None:
            async with self.open(sources, corpus) as opened:
                yield opened
        elif self.find is not None:
            code = code_of(PluginKind.RETRIEVERS, self.name)
            about: dict[str, Json] = {"retriever": self.name, CODE: code}
            yield Opened(ranker=_FunctionRanker(self.name, self.find), about=about, key=f"{self.name}@{code}")

    def require(self, *, corpus: str) -> None:
        """Raise `InputError` for a missing or superfluous corpus."""
        if self.corpus and not corpus:
            message = f"The retriever {self.name} needs a corpus."
            raise InputError(message, advice="Choose one with --corpus; `arena corpora list` shows them.")
        if corpus and not self.corpus:
            message = f"The retriever {self.name} does not search the corpus {corpus}."
            raise InputError(message, advice="Leave out --corpus, or choose another retriever.")


OWN = (
    RetrieverInfo(name=BM25, title="words", corpus=True, open=lambda sources, corpus: sources.words(corpus)),
    RetrieverInfo(
        name=WEB, title="the search of `ARENA_SEARCH_URL`", open=lambda sources, corpus: sources.web(corpus)
    ),
)


def added_retrievers() -> PluginEntries[RetrieverInfo]:
    """Return the retrievers of plugins."""
    return plugin_entries(PluginKind.RETRIEVERS, RetrieverInfo, [info.name for info in OWN])


def retrievers(*, evidence: bool = False) -> tuple[RetrieverInfo, ...]:
    """List the retrievers, plugins last; `evidence` selects retrievers that metrics may use."""
    return tuple(info for info in (*OWN, *added_retrievers().entries) if info.evidence or not evidence)


def retriever_info(name: str, *, evidence: bool = False) -> RetrieverInfo:
    """Return a retriever by name, or raise `InputError`."""
    infos = retrievers(evidence=evidence)
    match = next((info for info in infos if info.name == name), None)
    if match is None:
        names = ", ".join(info.name for info in infos)
        advice = " ".join((f"Use one of: {names}.", *added_retrievers().problems))
        raise InputError(f"Unknown retriever {name!r}.", advice=advice)
    return match


def described_retrievers() -> str:
    """Return the retrievers with their titles, for the help of an option."""
    return _described(retrievers())


def retrievers_of_evidence() -> str:
    """Return the retrievers that metrics may use with their titles."""
    return _described(retrievers(evidence=True))


def _described(infos: Sequence[RetrieverInfo]) -> str:
    return ", ".join(f"`{info.name}` ({info.title})" for info in infos)


class _FunctionRanker:
    """Ranks by a plugin's function; an exception fails only its query."""

    def __init__(self, name: str, find: Callable[[str, int], Any]) -> None:
        self._name = name
        self._find = find

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        try:
            if inspect.iscoroutinefunction(self._find):
                entries = await self._find(query, k)
            else:
                entries = await asyncio.to_thread(self._find, query, k)
            return _hits(entries, k)
        except JudgeError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - plugins may raise anything
            detail = f"The plugin retriever {self._name} failed: {describe_error(error)}."
            return CallFailure(outcome=Outcome.FAILED, detail=detail)


def _hits(entries: object, k: int) -> list[Hit]:
    if not isinstance(entries, list | tuple):
        raise SpecError(f"It returned {entries!r:.80}, which is not a list of passages.")
    hits: dict[str, Hit] = {}
    for place, entry in enumerate(entries, start=1):
        passage, score = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, 1 / place)  # noqa: PLR2004 - a pair
        sound = isinstance(passage, Passage) and all(
            isinstance(text, str) for text in (passage.id, passage.text)
        )
        if not sound or not isinstance(score, int | float) or not math.isfinite(score):
            raise SpecError(f"It returned {entry!r:.80}, which is not a passage with a score.")
        if not passage.id or passage.id in hits:
            raise SpecError(f"It returned the passage {passage.id!r} twice, or a passage without an id.")
        hits[passage.id] = Hit(passage, float(score))
    return sorted(hits.values(), key=lambda hit: -hit.score)[:k]
