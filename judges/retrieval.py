"""Registry of retrievers, which find passages for questions and evidence for the claims of answers.

Options of commands and their help are made from it; a plugin adds others.
"""

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
        """Return at most `k` passages, best first, or why there are none.

        Raises:
            JudgeError: Searching as a whole cannot go on.
        """
        ...


class WordRanker:
    """Ranks the chunks of a corpus by BM25."""

    def __init__(self, corpus: "Corpus") -> None:
        self._corpus = corpus

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank."""
        return [Hit(passage, score) for passage, score in self._corpus.search(query, k)]


class SourceRanker:
    """Ranks the passages of a source by their order: score 1 / place."""

    def __init__(self, source: "Source") -> None:
        self._source = source

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank."""
        passages = await self._source.find(query, k)
        if isinstance(passages, CallFailure):
            return passages
        return [Hit(passage, 1 / place) for place, passage in enumerate(passages, start=1)]


class RankedSource:
    """Finds the first passages of a ranking."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker

    async def find(self, query: str, k: int) -> Sequence[Passage] | CallFailure:
        """Return the first `k` passages, or why the search failed."""
        hits = await self._ranker.rank(query, k)
        return hits if isinstance(hits, CallFailure) else [hit.passage for hit in hits]


def by_document(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Keep the best chunk of each document, under the document's id."""
    from data.corpora.documents import document_of  # noqa: PLC0415 - reads files, which lists do without

    best: dict[str, Hit] = {}
    for hit in hits:
        name = document_of(hit.passage.id)
        best.setdefault(name, replace(hit, passage=replace(hit.passage, id=name)))
    return list(best.values())[:k]


BM25, WEB = "bm25", "web"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A retriever that is ready; `about` is stored with scores, and `key` names them."""

    ranker: Ranker
    about: "Mapping[str, Json]"
    key: str


class Sources(Protocol):
    """The corpora and the web of an arena; errors are those of `CorpusService`."""

    def words(self, corpus: str) -> AbstractAsyncContextManager[Opened]:
        """Open a corpus."""
        ...

    def web(self, corpus: str) -> AbstractAsyncContextManager[Opened]:
        """Open the web."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverInfo:
    """A retriever that is not opened yet.

    Attributes:
        name: As in `--retriever`.
        title: How it finds passages, in a few words.
        open: Makes it ready, given the sources and the name of a corpus.
        find: In place of that, a plain or async function of a query and a number of passages. It returns
            passages, best first, or pairs of a passage and its score.
        corpus: Whether it searches a corpus, which must then be named.
        evidence: Whether metrics may look for evidence with it.
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
            raise SpecError(f"The retriever {self.name} needs a function for find.")

    @asynccontextmanager
    async def opened(self, sources: Sources, corpus: str) -> AsyncIterator[Opened]:
        """Make it ready; errors are those of what is searched."""
        if self.open is not None:
            async with self.open(sources, corpus) as opened:
                yield opened
        elif self.find is not None:
            code = code_of(PluginKind.RETRIEVERS, self.name)
            about: dict[str, Json] = {"retriever": self.name, CODE: code}
            yield Opened(ranker=_FunctionRanker(self.name, self.find), about=about, key=f"{self.name}@{code}")

    def require(self, *, corpus: str) -> None:
        """Refuse a corpus that is missing or too much.

        Raises:
            InputError: It is.
        """
        if self.corpus and not corpus:
            message = f"The retriever {self.name} searches a corpus, and none is named."
            raise InputError(message, advice="Name one with --corpus; `arena corpora list` shows them.")
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
    return plugin_entries(PluginKind.RETRIEVERS, RetrieverInfo, [one.name for one in OWN])


def retrievers(*, evidence: bool = False) -> tuple[RetrieverInfo, ...]:
    """List the retrievers, those of plugins last; with `evidence`, those that metrics may use."""
    return tuple(one for one in (*OWN, *added_retrievers().entries) if one.evidence or not evidence)


def retriever_info(name: str, *, evidence: bool = False) -> RetrieverInfo:
    """Return a retriever by its name.

    Raises:
        InputError: There is none of this name, or with `evidence` none that metrics may use.
    """
    known = retrievers(evidence=evidence)
    found = next((one for one in known if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in known)
        advice = " ".join((f"Use one of: {names}.", *added_retrievers().problems))
        raise InputError(f"There is no retriever {name!r}.", advice=advice)
    return found


def described_retrievers() -> str:
    """Return the retrievers with what each is, for the help of an option."""
    return _described(retrievers())


def retrievers_of_evidence() -> str:
    """Return the same of those that metrics may use."""
    return _described(retrievers(evidence=True))


def _described(infos: Sequence[RetrieverInfo]) -> str:
    return ", ".join(f"`{one.name}` ({one.title})" for one in infos)


class _FunctionRanker:
    """Ranks by others' code, whose failure on a query is that query's."""

    def __init__(self, name: str, find: Callable[[str, int], Any]) -> None:
        self._name = name
        self._find = find

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        try:
            if inspect.iscoroutinefunction(self._find):
                found = await self._find(query, k)
            else:
                found = await asyncio.to_thread(self._find, query, k)
            return _hits(found, k)
        except JudgeError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - others' code may raise anything
            detail = f"The plugin retriever {self._name} failed: {describe_error(error)}."
            return CallFailure(outcome=Outcome.FAILED, detail=detail)


def _hits(found: object, k: int) -> list[Hit]:
    if not isinstance(found, list | tuple):
        raise SpecError(f"It returned {found!r:.80}, which is not a list of passages.")
    hits: dict[str, Hit] = {}
    for place, one in enumerate(found, start=1):
        passage, score = one if isinstance(one, tuple) and len(one) == 2 else (one, 1 / place)  # noqa: PLR2004 - a pair
        sound = isinstance(passage, Passage) and all(
            isinstance(text, str) for text in (passage.id, passage.text)
        )
        if not sound or not isinstance(score, int | float) or not math.isfinite(score):
            raise SpecError(f"It returned {one!r:.80}, which is not a passage with a score.")
        if not passage.id or passage.id in hits:
            raise SpecError(f"It returned the passage {passage.id!r} twice, or one without an id.")
        hits[passage.id] = Hit(passage, float(score))
    return sorted(hits.values(), key=lambda hit: -hit.score)[:k]
