"""Overlap of texts: weights of a question's terms, windows of sentences, and needs that windows meet."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TypeAlias

from judges.text.sentences import CACHED_TEXTS, split_clauses, split_sentences
from judges.text.statements import Statement, read_statements
from judges.text.tokens import related, terms

TOPIC_FACTOR = 0.5
KIN_CREDIT = 0.6
CACHE_SIZE = 1 << 10
WINDOW = 2
NEED_SHARE = 0.35
FAINT = 0.15
_Weighed: TypeAlias = tuple[float, dict[str, float], frozenset[str], dict[str, list[str]]]


@dataclass(frozen=True)
class TermWeights:
    """Smoothed inverse document frequencies over the statements of one question's texts.

    Attributes:
        known: The weight of each term of the texts; terms of the question count less, because an answer
            that only repeats the question says nothing.
        unseen: The weight of any other term.
        topic: The terms of the question.
        topic_factor: What their weights are multiplied by.
    """

    known: Mapping[str, float]
    unseen: float
    topic: frozenset[str] = frozenset()
    topic_factor: float = TOPIC_FACTOR
    # The same sets are compared with every window of every text.
    _weighed: dict[frozenset[str], _Weighed] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def fit(
        cls, statements: Sequence[frozenset[str]], topic: str = "", *, topic_factor: float = TOPIC_FACTOR
    ) -> "TermWeights":
        """Fit on the terms of each statement; `topic` is the question."""
        about = frozenset(terms(topic))
        count = len(statements)
        known = {
            term: (math.log((1 + count) / (1 + having)) + 1) * (topic_factor if term in about else 1.0)
            for term, having in Counter(chain.from_iterable(statements)).items()
        }
        unseen = math.log(1 + count) + 1 if known else 1.0
        return cls(known=known, unseen=unseen, topic=about, topic_factor=topic_factor)

    def of(self, term: str) -> float:
        """Return the weight of one term."""
        weight = self.known.get(term)
        if weight is not None:
            return weight
        return self.unseen * (self.topic_factor if term in self.topic else 1.0)

    def total(self, some: Iterable[str]) -> float:
        """Return the weight of a set of terms; summed exactly, so that their order does not matter."""
        return math.fsum(map(self.of, some))

    def share(self, wanted: frozenset[str], given: frozenset[str], given_kin: frozenset[str]) -> float:
        """Return the weighted share of `wanted` in `given`, related words counting in part; 0 for none."""
        weighed = self._weighed.get(wanted)
        if weighed is None:
            if len(self._weighed) >= CACHE_SIZE:
                self._weighed.clear()
            weights = {term: self.of(term) for term in wanted}
            by_root: dict[str, list[str]] = {}
            for term in wanted:
                by_root.setdefault(related(term), []).append(term)
            weighed = (math.fsum(weights.values()), weights, frozenset(by_root), by_root)
            self._weighed[wanted] = weighed
        whole, weights, roots, by_root = weighed
        found = [weights[term] for term in wanted & given]
        kin = (term for root in roots & given_kin for term in by_root[root])
        found += [weights[term] * KIN_CREDIT for term in kin if term not in given]
        return math.fsum(found) / whole if found and whole else 0.0


@dataclass(frozen=True, slots=True)
class Bag:
    """Terms with their related forms, and the text that they are from."""

    text: str
    terms: frozenset[str]
    related: frozenset[str]


@lru_cache(maxsize=CACHED_TEXTS)
def windows_of(text: str) -> tuple[Bag, ...]:
    """Return the windows of a text: every two neighbouring statements, or the only one."""
    return windows_over(read_statements(text))


def windows_over(statements: Sequence[Statement]) -> tuple[Bag, ...]:
    """Return the windows over statements."""
    starts = range(max(1, len(statements) - WINDOW + 1)) if statements else ()
    return tuple(_bag(statements[at : at + WINDOW]) for at in starts)


def _bag(statements: Sequence[Statement]) -> Bag:
    return Bag(
        " ".join(statement.text for statement in statements),
        frozenset[str]().union(*(statement.terms for statement in statements)),
        frozenset[str]().union(*(statement.related for statement in statements)),
    )


class NeedReader:
    """Spells out short needs (sub-questions, aspects) by the clauses of a question's texts next to them."""

    def __init__(self, sources: Sequence[Sequence[str]], weights: TermWeights) -> None:
        self._weights = weights
        self._sources = tuple(tuple(_clauses(texts)) for texts in sources)
        self._needs: dict[str, tuple[frozenset[str], tuple[frozenset[str], ...]]] = {}

    def share(self, need: str, windows: Sequence[Bag]) -> float:
        """Return the share of a need that the best window meets, 0–1."""
        if need not in self._needs:
            self._needs[need] = self._read(need)
        own, keys = self._needs[need]
        return max((self._met(own, keys, window) for window in windows), default=0.0)

    def _read(self, need: str) -> tuple[frozenset[str], tuple[frozenset[str], ...]]:
        every = frozenset(terms(need))
        own = every - self._weights.topic or every
        nearest = [self._nearest(own, clauses) for clauses in self._sources if clauses]
        return own, tuple(key.terms - own or key.terms for key in nearest if key is not None)

    def _nearest(self, own: frozenset[str], clauses: Sequence[Bag]) -> Bag | None:
        shares = [self._weights.share(own, clause.terms, clause.related) for clause in clauses]
        return clauses[shares.index(max(shares))] if max(shares) >= FAINT else None

    def _met(self, own: frozenset[str], keys: Sequence[frozenset[str]], window: Bag) -> float:
        share = self._weights.share(own, window.terms, window.related)
        if not keys:
            return share
        of_key = max(self._weights.share(key, window.terms, window.related) for key in keys)
        return NEED_SHARE * share + (1 - NEED_SHARE) * of_key


def _clauses(texts: Sequence[str]) -> Iterator[Bag]:
    for text in texts:
        for sentence in split_sentences(text):
            for clause in split_clauses(sentence):
                found = frozenset(terms(clause))
                if found:
                    yield Bag(clause, found, frozenset(map(related, found)))
