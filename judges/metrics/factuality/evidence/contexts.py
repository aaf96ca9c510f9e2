"""Contexts: the passages that bear on each claim, found by BM25, duplicates removed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import bm25s
import numpy as np

from data.records import Passage
from judges.text.sentences import split_sentences
from judges.text.tokens import terms

PER_CLAIM = 5


class Retriever(Protocol):
    """Finds passages: the question's own, or a corpus."""

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` passages, best first."""
        ...


class PassageIndex:
    """BM25 over passages, by the same terms as the lexical judge.

    Passages that share no term with a query are not found by it, unless there are no more than `k`:
    then all are found.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = distinct(passages)
        bags = [list(terms(f"{passage.title} {passage.text}")) for passage in self._passages]
        self._index = bm25s.BM25() if any(bags) else None
        if self._index is not None:
            self._index.index(bags, show_progress=False)
            self._known = {term for bag in bags for term in bag}

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` passages, best first, ties in their own order."""
        if len(self._passages) <= k:
            return self._passages
        query_terms = [] if self._index is None else [term for term in terms(query) if term in self._known]
        if self._index is None or not query_terms:
            return ()
        scores = np.asarray(self._index.get_scores(query_terms))
        best = np.argsort(-scores, kind="stable")[:k]
        return tuple(self._passages[number] for number in best if scores[number] > 0)


def distinct(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Leave out empty passages and those that say the same, word for word, as an earlier one."""
    unique: dict[str, Passage] = {}
    for passage in passages:
        key = " ".join(passage.text.split()).casefold()
        if key:
            unique.setdefault(key, passage)
    return tuple(unique.values())


def shortened(passage: Passage, wanted: Collection[str], words: int) -> Passage:
    """A passage of at most so many words: of its sentences those with most of the wanted terms, in order.

    One within the limit stays as it is; of one whose best sentence is longer than the limit, that sentence's
    first words stay.
    """
    if len(passage.text.split()) <= words:
        return passage
    sentences = split_sentences(passage.text)
    sought = frozenset(wanted)
    ranked = sorted(
        range(len(sentences)), key=lambda at: (-len(sought.intersection(terms(sentences[at]))), at)
    )
    kept: list[int] = []
    left = words
    for at in ranked:
        length = len(sentences[at].split())
        if length <= left:
            kept.append(at)
            left -= length
    text = " ".join(sentences[at] for at in sorted(kept))
    text = text or " ".join(sentences[ranked[0]].split()[:words])
    return Passage(passage.id, text, passage.title)


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
        by_claim: For each claim, its own, best first.
    """

    unique: tuple[Context, ...]
    by_claim: tuple[tuple[Context, ...], ...]


def gather(retrieved: Sequence[Sequence[Passage]]) -> Contexts:
    """Number the passages found for each claim, one node a passage."""
    nodes: dict[str, Context] = {}
    by_claim = []
    for passages in retrieved:
        contexts = []
        for passage in distinct(passages):
            key = " ".join(passage.text.split()).casefold()
            contexts.append(nodes.setdefault(key, Context(f"c{len(nodes) + 1}", passage)))
        by_claim.append(tuple(contexts))
    return Contexts(unique=tuple(nodes.values()), by_claim=tuple(by_claim))
