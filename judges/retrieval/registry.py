"""The registry of retrievers: what finds passages for questions, and evidence for the claims of answers.

One is described once, here or by a plugin; the options of commands, their help, what they refuse and the
documentation are made from that. Servers and databases that a TOML file describes are named by `PREFIXES`.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from data.errors import InputError, JudgeError, SpecError
from data.plugins import CODE, Added, PluginKind, added, code_of, described
from data.records import Json, Outcome, Passage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judges.llm.costs import Ledger, Usage
    from judges.llm.requests import CallFailure
    from judges.retrieval.ranking import Hit, Ranker

BM25 = "bm25"
HTTP, SQL = "http:", "sql:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is searched.

    Attributes:
        corpus: Name of a corpus; empty for what searches none.
        description: Name of the TOML file that describes a server or database.
        approximate: Whether vectors are searched by the approximate index.
        ledger: The account that embeddings are paid from; None is no cap.
    """

    corpus: str = ""
    description: str = ""
    approximate: bool = False
    ledger: Ledger | None = None


def _no_usage() -> Usage:
    from judges.llm.costs import Usage  # noqa: PLC0415 - lists of retrievers do without

    return Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A retriever that is ready.

    Attributes:
        about: What it is, as it is stored with scores.
        key: The same in a few words, which distinguish scores of different sources.
        usage: What embedding queries took so far.
    """

    ranker: Ranker
    about: Mapping[str, Json]
    key: str
    usage: Usage = field(default_factory=_no_usage)


class Sources(Protocol):
    """What an arena has to search: errors are those of `CorpusService`."""

    def words(self, search: Search) -> AbstractAsyncContextManager[Opened]:
        """A corpus by its words."""
        ...

    def vectors(self, search: Search) -> AbstractAsyncContextManager[Opened]:
        """A corpus by its vectors."""
        ...

    def fused(self, search: Search) -> AbstractAsyncContextManager[Opened]:
        """A corpus by both."""
        ...

    def web(self, search: Search) -> AbstractAsyncContextManager[Opened]:
        """The web."""
        ...

    def server(self, search: Search) -> AbstractAsyncContextManager[Opened]:
        """A described server."""
        ...

    def database(self, search: Search) -> AbstractAsyncContextManager[Opened]:
        """A described database."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverInfo:
    """What is known of a retriever without opening it.

    Attributes:
        name: As in `--retriever`; one that ends in a colon is followed by the name of a description.
        title: How it finds passages, in a few words.
        open: Makes it ready, of what an arena has to search.
        find: In place of that, a plain or async function of a query and a number of passages. It returns
            passages, best first, or pairs of a passage and its score.
        corpus: Whether it searches a corpus, which must then be named.
        vectors: Whether it searches vectors, which may have an approximate index.
        pages: Whether it finds web pages, whose text may be fetched.
        evidence: Whether metrics may look for evidence with it.
    """

    name: str
    title: str
    open: Callable[[Sources, Search], AbstractAsyncContextManager[Opened]] | None = None
    find: Callable[[str, int], Any] | None = None
    corpus: bool = False
    vectors: bool = False
    pages: bool = False
    evidence: bool = True

    def __post_init__(self) -> None:
        functions: tuple[object, ...] = (self.open or self.find, self.find or self.open)
        if not all(map(callable, functions)):
            raise SpecError(f"The retriever {self.name} needs a function for find.")

    @asynccontextmanager
    async def opened(self, sources: Sources, search: Search) -> AsyncIterator[Opened]:
        """Make it ready; errors are those of what is searched."""
        if self.open is not None:
            async with self.open(sources, search) as opened:
                yield opened
        elif self.find is not None:
            code = code_of(PluginKind.RETRIEVERS, self.name)
            about: dict[str, Json] = {"retriever": self.name, CODE: code}
            yield Opened(ranker=_FunctionRanker(self.name, self.find), about=about, key=f"{self.name}@{code}")

    @property
    def option(self) -> str:
        """How it is named in options."""
        return f"{self.name}NAME" if self.name.endswith(":") else self.name

    def require(self, *, corpus: str, approximate: bool = False) -> None:
        """Refuse what this retriever does not search.

        Raises:
            InputError: A corpus is missing or too much, or it searches no vectors.
        """
        if self.corpus and not corpus:
            message = f"The retriever {self.option} searches a corpus, and none is named."
            raise InputError(message, advice="Name one with --corpus; `arena corpora list` shows them.")
        if corpus and not self.corpus:
            message = f"The retriever {self.option} does not search the corpus {corpus}."
            raise InputError(message, advice="Leave out --corpus, or choose another retriever.")
        if approximate and not self.vectors:
            names = " or ".join(one.option for one in retrievers() if one.vectors)
            message = f"The retriever {self.option} does not search the vectors of a corpus."
            raise InputError(message, advice=f"Leave out --approximate, or use {names}.")


OWN = (
    RetrieverInfo(name=BM25, title="words", corpus=True, open=lambda sources, search: sources.words(search)),
    RetrieverInfo(
        name="dense",
        title="vectors, after `arena corpora import --embeddings`",
        corpus=True,
        vectors=True,
        open=lambda sources, search: sources.vectors(search),
    ),
    RetrieverInfo(
        name="hybrid",
        title="both, fused",
        corpus=True,
        vectors=True,
        evidence=False,
        open=lambda sources, search: sources.fused(search),
    ),
    RetrieverInfo(
        name="web",
        title="the search of `ARENA_SEARCH_URL`",
        pages=True,
        open=lambda sources, search: sources.web(search),
    ),
    RetrieverInfo(
        name=HTTP,
        title="a server that a TOML file describes (docs/retrievers.md)",
        pages=True,
        evidence=False,
        open=lambda sources, search: sources.server(search),
    ),
    RetrieverInfo(
        name=SQL,
        title="a PostgreSQL database likewise",
        evidence=False,
        open=lambda sources, search: sources.database(search),
    ),
)


def added_retrievers() -> Added[RetrieverInfo]:
    """The retrievers of plugins."""
    return added(PluginKind.RETRIEVERS, RetrieverInfo, [one.name for one in OWN])


def retrievers(*, evidence: bool = False) -> tuple[RetrieverInfo, ...]:
    """Every retriever, those of plugins last; with `evidence`, those that metrics may use."""
    return tuple(one for one in (*OWN, *added_retrievers().entries) if one.evidence or not evidence)


def retriever_info(name: str, *, evidence: bool = False) -> RetrieverInfo:
    """Return what is known of a retriever.

    Raises:
        InputError: There is none of this name, or with `evidence` none that metrics may use.
    """
    kind, colon, _ = name.partition(":")
    found = next((one for one in OWN if one.name == kind + colon), None)
    found = found or next((one for one in added_retrievers().entries if one.name == name), None)
    if found is None or (evidence and not found.evidence):
        names = ", ".join(one.option for one in retrievers(evidence=evidence))
        advice = " ".join((f"Use one of: {names}.", *added_retrievers().problems))
        raise InputError(f"There is no retriever {name!r}.", advice=advice)
    return found


def described_retrievers() -> str:
    """The retrievers with what each is, for the help of an option."""
    return _described(retrievers())


def retrievers_of_evidence() -> str:
    """The same of those that metrics may use."""
    return _described(retrievers(evidence=True))


def _described(infos: Sequence[RetrieverInfo]) -> str:
    return ", ".join(f"`{one.option}` ({one.title})" for one in infos)


class _FunctionRanker:
    """Ranks by others' code, whose failure on a query is that query's."""

    def __init__(self, name: str, find: Callable[[str, int], Any]) -> None:
        self._name = name
        self._find = find

    async def rank(self, query: str, k: int) -> Sequence[Hit] | CallFailure:
        """Rank."""
        from judges.llm.requests import CallFailure  # noqa: PLC0415 - lists of retrievers do without

        try:
            if inspect.iscoroutinefunction(self._find):
                found = await self._find(query, k)
            else:
                found = await asyncio.to_thread(self._find, query, k)
            return _hits(found, k)
        except JudgeError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - others' code may raise anything
            detail = f"The plugin retriever {self._name} failed: {described(error)}."
            return CallFailure(outcome=Outcome.FAILED, detail=detail)


def _hits(found: object, k: int) -> list[Hit]:
    from judges.retrieval.ranking import Hit  # noqa: PLC0415 - as above

    if not isinstance(found, list | tuple):
        raise SpecError(f"It returned {found!r:.80}, which is no list of passages.")
    hits: dict[str, Hit] = {}
    for place, one in enumerate(found, start=1):
        passage, score = one if isinstance(one, tuple) and len(one) == 2 else (one, 1 / place)  # noqa: PLR2004 - a pair
        sound = isinstance(passage, Passage) and all(
            isinstance(text, str) for text in (passage.id, passage.text)
        )
        if not sound or not isinstance(score, int | float) or not math.isfinite(score):
            raise SpecError(f"It returned {one!r:.80}, which is no passage with a score.")
        if not passage.id or passage.id in hits:
            raise SpecError(f"It returned the passage {passage.id!r} twice, or one without an id.")
        hits[passage.id] = Hit(passage, float(score))
    return sorted(hits.values(), key=lambda hit: -hit.score)[:k]
