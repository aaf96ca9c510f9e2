"""Windows of neighbouring statements, and their coverage of short needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from judges.text.contradictions import TermWeights
from judges.text.sentences import CACHED_TEXTS, split_clauses, split_sentences
from judges.text.statements import Statement, read_statements
from judges.text.tokens import related, terms

WINDOW = 2
NEED_SHARE = 0.35
FAINT = 0.15


@dataclass(frozen=True, slots=True)
class Bag:
    """Terms of a text and their roots."""

    text: str
    terms: frozenset[str]
    related: frozenset[str]


@lru_cache(maxsize=CACHED_TEXTS)
def windows_of(text: str) -> tuple[Bag, ...]:
    """Return the windows of a text: each pair of neighbouring statements, or the only statement."""
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
    """Expands short needs (sub-questions, aspects) with the closest clauses of a question's texts."""

    def __init__(self, sources: Sequence[Sequence[str]], weights: TermWeights) -> None:
        self._weights = weights
        self._sources = tuple(tuple(_clauses(texts)) for texts in sources)
        self._needs: dict[str, tuple[frozenset[str], tuple[frozenset[str], ...]]] = {}

    def share(self, need: str, windows: Sequence[Bag]) -> float:
        """Return the share of a need that the best window covers, 0–1."""
        if need not in self._needs:
            self._needs[need] = self._read(need)
        own, keys = self._needs[need]
        return max((self._coverage(own, keys, window) for window in windows), default=0.0)

    def _read(self, need: str) -> tuple[frozenset[str], tuple[frozenset[str], ...]]:
        every = frozenset(terms(need))
        own = every - self._weights.topic or every
        nearest = [self._nearest(own, clauses) for clauses in self._sources if clauses]
        return own, tuple(key.terms - own or key.terms for key in nearest if key is not None)

    def _nearest(self, own: frozenset[str], clauses: Sequence[Bag]) -> Bag | None:
        shares = [self._weights.share(own, clause.terms, clause.related) for clause in clauses]
        return clauses[shares.index(max(shares))] if max(shares) >= FAINT else None

    def _coverage(self, own: frozenset[str], keys: Sequence[frozenset[str]], window: Bag) -> float:
        share = self._weights.share(own, window.terms, window.related)
        if not keys:
            return share
        key_share = max(self._weights.share(key, window.terms, window.related) for key in keys)
        return NEED_SHARE * share + (1 - NEED_SHARE) * key_share


def _clauses(texts: Sequence[str]) -> Iterator[Bag]:
    for text in texts:
        for sentence in split_sentences(text):
            for clause in split_clauses(sentence):
                if bag := frozenset(terms(clause)):
                    yield Bag(clause, bag, frozenset(map(related, bag)))
