"""What a short need (a sub-question, an aspect) asks for, and how far a text meets it, without an LLM.

A need is a few words and rarely those of its answer. It is spelled out by the statements of a ground truth
that are closest to it: its keys. A text meets the need as far as one of its windows (two neighbouring
statements) has the weight of a key and of the need together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from judges.text.sentences import CACHED_TEXTS, split_clauses, split_sentences
from judges.text.statements import Statement, read_statements
from judges.text.term_weights import TermWeights
from judges.text.tokens import related, terms

WINDOW = 2
NEED_SHARE = 0.35
FAINT = 0.15


@dataclass(frozen=True, slots=True)
class Bag:
    """Terms with their related forms, and the text that they are from."""

    text: str
    terms: frozenset[str]
    related: frozenset[str]


@dataclass(frozen=True, slots=True)
class Need:
    """A need with its keys; none where the texts of the question have nothing near it.

    Its terms are those that it does not share with the question, since any text on the topic has these; a
    key's are those that it adds to them.
    """

    text: str
    terms: frozenset[str]
    keys: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Met:
    """How far a text meets a need, 0–1, and the words of it that do."""

    share: float
    evidence: str


class NeedReader:
    """Spells out needs by the texts of a question.

    Args:
        sources: Groups of texts that say what is to be said (the reference; the passages). Each gives a
            need one key.
        weights: Term weights of the question's texts.
    """

    def __init__(self, sources: Sequence[Sequence[str]], weights: TermWeights) -> None:
        self._weights = weights
        self._sources = tuple(tuple(_clauses(texts)) for texts in sources)
        self._needs: dict[str, Need] = {}

    def read(self, need: str) -> Need:
        """Spell out one need; every answer to a question is held against the same ones."""
        spelled = self._needs.get(need)
        if spelled is None:
            spelled = self._needs[need] = self._read(need)
        return spelled

    def _read(self, need: str) -> Need:
        all_terms = frozenset(terms(need))
        own_terms = all_terms - self._weights.topic or all_terms
        keys = [self._closest(own_terms, clauses) for clauses in self._sources if clauses]
        beyond = (key.terms - own_terms or key.terms for key in keys if key is not None)
        return Need(need, own_terms, tuple(beyond))

    def _closest(self, own_terms: frozenset[str], clauses: Sequence[Bag]) -> Bag | None:
        """The first of the clauses that have most of a need's weight; None where none has any to speak of."""
        shares = [self._weights.share(own_terms, clause.terms, clause.related) for clause in clauses]
        most = max(shares)
        return clauses[shares.index(most)] if most >= FAINT else None

    def meet(self, need: Need, windows: Sequence[Bag]) -> Met:
        """How far the best window of a text meets a need."""
        best = Met(0.0, "")
        for window in windows:
            share = self._share(need, window)
            if share > best.share:
                best = Met(share, window.text)
        return best

    def _share(self, need: Need, window: Bag) -> float:
        need_share = self._weights.share(need.terms, window.terms, window.related)
        if not need.keys:
            return need_share
        key_share = max(self._weights.share(key, window.terms, window.related) for key in need.keys)
        return NEED_SHARE * need_share + (1 - NEED_SHARE) * key_share


@lru_cache(maxsize=CACHED_TEXTS)
def windows_of(text: str) -> tuple[Bag, ...]:
    """The windows of a text: every two neighbouring statements, or the only one."""
    return windows_over(read_statements(text))


def windows_over(statements: Sequence[Statement]) -> tuple[Bag, ...]:
    """The windows over statements."""
    if not statements:
        return ()
    return tuple(_bag(statements[at : at + WINDOW]) for at in range(max(1, len(statements) - WINDOW + 1)))


def _clauses(texts: Sequence[str]) -> Iterator[Bag]:
    for text in texts:
        for sentence in split_sentences(text):
            for clause in split_clauses(sentence):
                found = frozenset(terms(clause))
                if found:
                    yield Bag(clause, found, frozenset(map(related, found)))


def _bag(statements: Sequence[Statement]) -> Bag:
    return Bag(
        " ".join(statement.text for statement in statements),
        frozenset[str]().union(*(statement.terms for statement in statements)),
        frozenset[str]().union(*(statement.related for statement in statements)),
    )
