"""Contexts: the passages that bear on each claim, found by BM25, duplicates removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import bm25s
import numpy as np
from numpy.typing import NDArray

from data.models import Passage
from judges.metrics.relations.model import QUESTION_CACHE_SIZE
from judges.text.tokens import terms, terms_of, words

PER_CLAIM = 5
MOST_CELLS = 1 << 18
"""Of a table of terms by texts that is kept beside an index: 1 MB."""


class Retriever(Protocol):
    """Finds passages: the question's own, or a corpus."""

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` passages, best first."""
        ...


class Ranking:
    """BM25 over a few texts, by the same terms as the lexical judge."""

    def __init__(self, texts: Sequence[Passage]) -> None:
        bags = [list(terms_of(words(f"{text.title} {text.text}"))) for text in texts]
        self._known = {term for bag in bags for term in bag}
        self._index = bm25s.BM25() if self._known else None
        if self._index is not None:
            self._index.index(bags, show_progress=False)

    def scores(self, query: str) -> NDArray[np.float32] | None:
        """Return the score of each text; None where a query has no term of theirs."""
        query_terms = [term for term in terms(query) if term in self._known]
        if self._index is None or not query_terms:
            return None
        if self._dense is None:
            return np.asarray(self._index.get_scores(query_terms))
        # In the order of the terms, as the library adds them.
        rows = self._dense[[self._index.vocab_dict[term] for term in query_terms]]
        scores: NDArray[np.float32] = np.add.reduce(rows, axis=0)
        return scores

    @cached_property
    def _dense(self) -> NDArray[np.float32] | None:
        """Weight of each term in each text's score, (terms, texts); None where that is a large table."""
        assert self._index is not None  # noqa: S101 - for the type checker
        index = self._index.scores
        terms_known, texts = len(index["indptr"]) - 1, index["num_docs"]
        if terms_known * texts > MOST_CELLS:
            return None
        dense = np.zeros((terms_known, texts), dtype=index["data"].dtype)
        dense[np.repeat(np.arange(terms_known), np.diff(index["indptr"])), index["indices"]] = index["data"]
        return dense


class PassageIndex:
    """BM25 over passages.

    Passages that share no term with a query are not found by it, unless there are no more than `k`:
    then all are found.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = distinct(passages)

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` passages, best first, ties in their own order."""
        if len(self._passages) <= k:
            return self._passages
        scores = self._ranking.scores(query)
        if scores is None:
            return ()
        best = np.argsort(-scores, kind="stable")[:k]
        return tuple(self._passages[number] for number in best if scores[number] > 0)

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(self._passages)


@lru_cache(maxsize=QUESTION_CACHE_SIZE)
def passage_index(passages: tuple[Passage, ...]) -> PassageIndex:
    """Return the index of a question's passages, the same for every answer to it."""
    return PassageIndex(passages)


def distinct(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Leave out empty passages and those that say the same, word for word, as an earlier one."""
    unique: dict[str, Passage] = {}
    for passage in passages:
        key = " ".join(passage.text.split()).casefold()
        if key:
            unique.setdefault(key, passage)
    return tuple(unique.values())


@dataclass(frozen=True, slots=True)
class Context:
    """A passage as a node of the fact graph."""

    id: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class Contexts:
    """The contexts of an answer.

    Attributes:
        unique: Those of all claims, duplicates removed, numbered c1, c2, … as first found.
    """

    unique: tuple[Context, ...]
    by_claim: tuple[tuple[Context, ...], ...]


def gather(retrieved: Sequence[Sequence[Passage]]) -> Contexts:
    """Give each passage that was found for a claim a number, one node a passage."""
    nodes: dict[str, Context] = {}
    by_claim = []
    for passages in retrieved:
        contexts = []
        for passage in distinct(passages):
            key = " ".join(passage.text.split()).casefold()
            contexts.append(nodes.setdefault(key, Context(f"c{len(nodes) + 1}", passage)))
        by_claim.append(tuple(contexts))
    return Contexts(unique=tuple(nodes.values()), by_claim=tuple(by_claim))
