"""Contexts: distinct passages for each claim, retrieved by BM25."""

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
MAX_CELLS = 1 << 18
"""Maximum size of a dense table of terms by texts: 1 MB."""


class Retriever(Protocol):
    """Finds passages of a question or of a corpus."""

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` passages, best first."""
        ...


class Ranking:
    """BM25 over a few texts, with the terms of the lexical judge."""

    def __init__(self, texts: Sequence[Passage]) -> None:
        bags = [list(terms_of(words(f"{text.title} {text.text}"))) for text in texts]
        self._known = {term for bag in bags for term in bag}
        self._index = bm25s.BM25() if self._known else None
        if self._index is not None:
            self._index.index(bags, show_progress=False)

    def scores(self, query: str) -> NDArray[np.float32] | None:
        """Return the score of each text; None if the query has no known term."""
        query_terms = [term for term in terms(query) if term in self._known]
        if self._index is None or not query_terms:
            return None
        if self._dense is None:
            return np.asarray(self._index.get_scores(query_terms))
        # Same order of summation as in the library, for equal results.
        rows = self._dense[[self._index.vocab_dict[term] for term in query_terms]]
        scores: NDArray[np.float32] = np.add.reduce(rows, axis=0)
        return scores

    @cached_property
    def _dense(self) -> NDArray[np.float32] | None:
        """Weight of each term in each text's score, shape (terms, texts); None if too large."""
        assert self._index is not None  # noqa: S101 - for the type checker
        index = self._index.scores
        terms_known, texts = len(index["indptr"]) - 1, index["num_docs"]
        if terms_known * texts > MAX_CELLS:
            return None
        dense = np.zeros((terms_known, texts), dtype=index["data"].dtype)
        dense[np.repeat(np.arange(terms_known), np.diff(index["indptr"])), index["indices"]] = index["data"]
        return dense


class PassageIndex:
    """BM25 over passages.

    It returns only passages that share a term with the query, unless there are at most `k` passages.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = distinct(passages)

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` passages, best first, ties in order."""
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
    """Return the index of a question's passages, shared by all answers."""
    return PassageIndex(passages)


def distinct(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Remove empty and repeated passages."""
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
        unique: Distinct contexts of all claims, numbered c1, c2, … in order of occurrence.
    """

    unique: tuple[Context, ...]
    by_claim: tuple[tuple[Context, ...], ...]


def gather(retrieved: Sequence[Sequence[Passage]]) -> Contexts:
    """Assign numbers to the distinct passages of all claims."""
    nodes: dict[str, Context] = {}
    by_claim = []
    for passages in retrieved:
        contexts = []
        for passage in distinct(passages):
            key = " ".join(passage.text.split()).casefold()
            contexts.append(nodes.setdefault(key, Context(f"c{len(nodes) + 1}", passage)))
        by_claim.append(tuple(contexts))
    return Contexts(unique=tuple(nodes.values()), by_claim=tuple(by_claim))
