"""Contradictions: statements that say otherwise than the closest statements of a ground truth.

Figures for one thing, words of opposite direction, and negations are compared, each with the few content
words around it. A statement that anything in the ground truth supports as closely contradicts nothing, so
where passages disagree, either side may be taken.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations
from typing import TypeAlias

from judges.text.sentences import CACHED_TEXTS, split_clauses, split_sentences
from judges.text.statements import Mark, MarkKind, Statement, read_statements
from judges.text.tokens import related, terms

TOPIC_FACTOR = 0.5
KIN_CREDIT = 0.6
CACHE_SIZE = 1 << 10
WINDOW = 2
NEED_SHARE = 0.35
FAINT = 0.15
_Weighed: TypeAlias = tuple[float, dict[str, float], frozenset[str], dict[str, list[tuple[str, float]]]]


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
            by_root: dict[str, list[tuple[str, float]]] = {}
            for term, weight in weights.items():
                by_root.setdefault(related(term), []).append((term, weight * KIN_CREDIT))
            weighed = (math.fsum(weights.values()), weights, frozenset(by_root), by_root)
            self._weighed[wanted] = weighed
        whole, weights, roots, by_root = weighed
        kin = roots & given_kin
        found = [weights[term] for term in wanted & given]
        found += [credit for root in kin for term, credit in by_root[root] if term not in given]
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


CLOSE = 0.4
CLOSE_NEGATION = 0.6
CLEARANCE = 0.2
LEAST_CONTEXT = 2
NEGATION_FACTOR = 0.3
ROUNDING = 0.021
COUNTED_BELOW = 20
EXACT = ("year", "day")
SWAPPED_BY = 0.5
MOST_SWAPPED = 20
"""Figures of one sentence that are compared with each other; a sentence with more is a table."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A statement and what it contradicts; `strength`, 0–1, is how closely both speak of one thing."""

    kind: MarkKind
    word: str
    statement: Statement
    against: Statement
    strength: float


class ContradictionFinder:
    """Compares statements with one ground truth."""

    def __init__(self, ground_truth: Sequence[Statement], weights: TermWeights) -> None:
        self._ground_truth = tuple(ground_truth)
        self._weights = weights
        self._by_axis: defaultdict[str, list[tuple[Mark, Statement]]] = defaultdict(list)
        for statement in self._ground_truth:
            for mark in statement.marks:
                self._by_axis[mark.axis].append((mark, statement))
        self._figures = Figures(mark for statement in self._ground_truth for mark in statement.figures)

    def find(self, statement: Statement) -> tuple[Contradiction, ...]:
        """Return the contradictions of a statement, at most one a mark."""
        denials = (
            self._negated(mark, statement)
            for mark in statement.marks
            if mark.kind is MarkKind.NEGATION and len(mark.around) >= LEAST_CONTEXT
        )
        return (*self.conflicts(statement), *filter(None, denials))

    def conflicts(self, statement: Statement) -> tuple[Contradiction, ...]:
        """Return only those of figures and directions, which are surer than negations."""
        found = [
            (mark, one)
            for mark in statement.marks
            if mark.kind is not MarkKind.NEGATION and len(mark.around) >= LEAST_CONTEXT
            if (one := self._against(mark, statement)) is not None
        ]
        kept = [one for mark, one in found if not _turned_back(mark, one, found)]
        swapped = self._swapped(statement)
        return (*kept, *([swapped] if swapped else []))

    def _against(self, mark: Mark, statement: Statement) -> Contradiction | None:
        its_axis = self._by_axis.get(mark.axis, ())
        if mark.kind is MarkKind.QUANTITY and self._figures.have(mark):
            # A figure with a unit may stand among the very words that another one has around it.
            counted = mark.axis.startswith("count")
            if counted or all(its.value == mark.value or its.around != mark.around for its, _ in its_axis):
                return None
        support, conflict, against = 0.0, 0.0, None
        for its, other in its_axis:
            close = self._near(mark, its)
            if its.value == mark.value:
                support = max(support, close)
            elif close > conflict:
                conflict, against = close, other
        if against is None or conflict < CLOSE or conflict - support < CLEARANCE:
            return None
        return Contradiction(mark.kind, mark.text, statement, against, min(1.0, conflict))

    def _swapped(self, statement: Statement) -> Contradiction | None:
        """Two figures that stand where a statement of the ground truth has the other one of them."""
        known = [mark for mark in statement.figures if self._figures.name(mark)][:MOST_SWAPPED]
        for a, b in combinations(known, 2):
            if a.figure == b.figure or a.axis.split(":")[0] != b.axis.split(":")[0]:
                continue
            for other in self._ground_truth:
                theirs = {mark.figure: mark for mark in reversed(other.figures)}
                its_a, its_b = theirs.get(a.figure), theirs.get(b.figure)
                if its_a is None or its_b is None:
                    continue
                kept = self._firmly(a.beside, its_a.beside) + self._firmly(b.beside, its_b.beside)
                crossed = self._firmly(a.beside, its_b.beside) + self._firmly(b.beside, its_a.beside)
                if crossed - kept >= SWAPPED_BY and crossed - kept > kept:
                    strength = min(1.0, crossed - kept)
                    return Contradiction(a.kind, f"{a.text} / {b.text}", statement, other, strength)
        return None

    def _negated(self, mark: Mark, statement: Statement) -> Contradiction | None:
        support, conflict, against = 0.0, 0.0, None
        for other in self._ground_truth:
            shared = len(mark.around & other.terms)
            close = self._weights.share(mark.around, other.terms, other.related) if shared else 0.0
            if other.negated:
                support = max(support, close)
            elif close > conflict and shared >= LEAST_CONTEXT:
                conflict, against = close, other
        if against is None or conflict < CLOSE_NEGATION or conflict - support < CLEARANCE:
            return None
        return Contradiction(mark.kind, mark.text, statement, against, NEGATION_FACTOR * min(1.0, conflict))

    def _near(self, mark: Mark, its: Mark) -> float:
        """Return how closely two marks share a subject; one shared term is little unless a unit says more."""
        measured = mark.kind is MarkKind.QUANTITY and not mark.axis.startswith("count")
        return (self._closeness if measured else self._firmly)(mark.around, its.around)

    def _firmly(self, a: frozenset[str], b: frozenset[str]) -> float:
        return self._closeness(a, b) * min(1.0, len(a & b) / LEAST_CONTEXT)

    def _closeness(self, a: frozenset[str], b: frozenset[str]) -> float:
        """Return the overlap of two contexts, 0–1, counting what either has beyond the other."""
        if a.isdisjoint(b):
            return 0.0
        return (self._weights.share(a, b, _kin(b)) + self._weights.share(b, a, _kin(a))) / 2


def _turned_back(mark: Mark, one: Contradiction, found: Sequence[tuple[Mark, Contradiction]]) -> bool:
    """Return whether a second opposite reverses the sense again: long bonds more, short bonds less."""
    return mark.kind is MarkKind.DIRECTION and any(
        its.kind is MarkKind.DIRECTION
        and its.axis != mark.axis
        and other.against is one.against
        and not its.around.isdisjoint(mark.around)
        for its, other in found
    )


@lru_cache(maxsize=1 << 10)
def _kin(context: frozenset[str]) -> frozenset[str]:
    return frozenset(map(related, context))


class Figures:
    """Numbers of some texts, to look one up."""

    def __init__(self, marks: Iterable[Mark]) -> None:
        self._named: defaultdict[float, set[str]] = defaultdict(set)
        self._values: defaultdict[str, set[float]] = defaultdict(set)
        for mark in marks:
            dimension = mark.axis.split(":")[0]
            self._named[mark.figure].add(dimension)
            self._values[dimension].add(mark.value)

    def name(self, mark: Mark) -> bool:
        """Return whether one of them is the same plain number."""
        return mark.figure in self._named

    def have(self, mark: Mark) -> bool:
        """Return whether one may be the same: one plain number, or one value allowing for rounding."""
        dimension = mark.axis.split(":")[0]
        if mark.figure in self._named and self._named[mark.figure] - {dimension}:
            return True
        exact = dimension in EXACT or (dimension == "count" and mark.value < COUNTED_BELOW)
        return any(
            mark.value == value if exact else math.isclose(mark.value, value, rel_tol=ROUNDING)
            for value in self._values.get(dimension, ())
        )
