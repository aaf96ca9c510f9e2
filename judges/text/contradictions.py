"""Find statements that contradict the closest statements of a ground truth.

The comparison covers figures for the same thing, words of opposite direction and negations, each with the
content words around it. A statement with equally close support in the ground truth contradicts nothing, so
if passages disagree, both sides are acceptable.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, combinations
from typing import TypeAlias

from judges.text.statements import Mark, MarkKind, Statement
from judges.text.tokens import related, terms

TOPIC_FACTOR = 0.5
KIN_CREDIT = 0.6
CACHE_SIZE = 1 << 10
_Weighed: TypeAlias = tuple[float, dict[str, float], frozenset[str], dict[str, list[tuple[str, float]]]]


@dataclass(frozen=True)
class TermWeights:
    """Smoothed inverse document frequencies over the statements of one question's texts.

    Attributes:
        known: Weight of each term of the texts; terms of the question count less, because an answer that
            only repeats the question contains no information.
    """

    known: Mapping[str, float]
    unseen: float
    topic: frozenset[str] = frozenset()
    topic_factor: float = TOPIC_FACTOR
    # A cache, because the same sets are compared with every window of every text.
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

    def total(self, bag: Iterable[str]) -> float:
        """Return the total weight of terms; `fsum` makes it independent of their order."""
        return math.fsum(map(self.of, bag))

    def share(self, query: frozenset[str], target: frozenset[str], target_roots: frozenset[str]) -> float:
        """Return the weighted share of `query` in `target`; related words count in part."""
        weighed = self._weighed.get(query)
        if weighed is None:
            if len(self._weighed) >= CACHE_SIZE:
                self._weighed.clear()
            weights = {term: self.of(term) for term in query}
            by_root: dict[str, list[tuple[str, float]]] = {}
            for term, weight in weights.items():
                by_root.setdefault(related(term), []).append((term, weight * KIN_CREDIT))
            weighed = (math.fsum(weights.values()), weights, frozenset(by_root), by_root)
            self._weighed[query] = weighed
        whole, weights, roots, by_root = weighed
        kin = roots & target_roots
        hits = [weights[term] for term in query & target]
        hits += [credit for root in kin for term, credit in by_root[root] if term not in target]
        return math.fsum(hits) / whole if hits and whole else 0.0


CLOSE = 0.4
CLOSE_NEGATION = 0.6
CLEARANCE = 0.2
MIN_CONTEXT = 2
NEGATION_FACTOR = 0.3
ROUNDING = 0.021
COUNTED_BELOW = 20
EXACT = ("year", "day")
SWAPPED_BY = 0.5
MAX_SWAPPED = 20
"""Maximum number of figures of a sentence that are compared with each other; more are a table."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A statement and the statement it contradicts; `strength`, 0–1, is the overlap of their subjects."""

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
        """Return the contradictions of a statement, at most one per mark."""
        denials = (
            self._negated(mark, statement)
            for mark in statement.marks
            if mark.kind is MarkKind.NEGATION and len(mark.around) >= MIN_CONTEXT
        )
        return (*self.conflicts(statement), *filter(None, denials))

    def conflicts(self, statement: Statement) -> tuple[Contradiction, ...]:
        """Return contradictions of figures and directions, which are more reliable than negations."""
        candidates = [
            (mark, contradiction)
            for mark in statement.marks
            if mark.kind is not MarkKind.NEGATION and len(mark.around) >= MIN_CONTEXT
            if (contradiction := self._against(mark, statement)) is not None
        ]
        rows = [row for mark, row in candidates if not _is_double_reversal(mark, row, candidates)]
        swapped = self._swapped(statement)
        return (*rows, *([swapped] if swapped else []))

    def _against(self, mark: Mark, statement: Statement) -> Contradiction | None:
        its_axis = self._by_axis.get(mark.axis, ())
        conflict, against = 0.0, None
        for its, other in its_axis:
            if its.value != mark.value and (close := self._near(mark, its)) > conflict:
                conflict, against = close, other
        if against is None or conflict < CLOSE:
            return None
        if mark.kind is MarkKind.QUANTITY and self._figures.have(mark):
            # A figure with a unit may have exactly the words around it that another figure has.
            counted = mark.axis.startswith("count")
            if counted or all(its.value == mark.value or its.around != mark.around for its, _ in its_axis):
                return None
        support = max((self._near(mark, its) for its, _ in its_axis if its.value == mark.value), default=0.0)
        if conflict - support < CLEARANCE:
            return None
        return Contradiction(mark.kind, mark.text, statement, against, min(1.0, conflict))

    def _swapped(self, statement: Statement) -> Contradiction | None:
        """Find two figures that are exchanged compared with a statement of the ground truth."""
        known = [mark for mark in statement.figures if self._figures.name(mark)][:MAX_SWAPPED]
        for a, b in combinations(known, 2):
            if a.figure == b.figure or a.axis.split(":")[0] != b.axis.split(":")[0]:
                continue
            for other in self._ground_truth:
                theirs = {mark.figure: mark for mark in reversed(other.figures)}
                its_a, its_b = theirs.get(a.figure), theirs.get(b.figure)
                if its_a is None or its_b is None:
                    continue
                straight = self._overlap(a.adjacent, its_a.adjacent) + self._overlap(
                    b.adjacent, its_b.adjacent
                )
                crossed = self._overlap(a.adjacent, its_b.adjacent) + self._overlap(
                    b.adjacent, its_a.adjacent
                )
                if crossed - straight >= SWAPPED_BY and crossed - straight > straight:
                    strength = min(1.0, crossed - straight)
                    return Contradiction(a.kind, f"{a.text} / {b.text}", statement, other, strength)
        return None

    def _negated(self, mark: Mark, statement: Statement) -> Contradiction | None:
        support, conflict, against = 0.0, 0.0, None
        for other in self._ground_truth:
            shared = len(mark.around & other.terms)
            close = self._weights.share(mark.around, other.terms, other.related) if shared else 0.0
            if other.negated:
                support = max(support, close)
            elif close > conflict and shared >= MIN_CONTEXT:
                conflict, against = close, other
        if against is None or conflict < CLOSE_NEGATION or conflict - support < CLEARANCE:
            return None
        return Contradiction(mark.kind, mark.text, statement, against, NEGATION_FACTOR * min(1.0, conflict))

    def _near(self, mark: Mark, its: Mark) -> float:
        """Return how closely two marks share a subject; without a unit one shared term counts less."""
        measured = mark.kind is MarkKind.QUANTITY and not mark.axis.startswith("count")
        return (self._closeness if measured else self._overlap)(mark.around, its.around)

    def _overlap(self, a: frozenset[str], b: frozenset[str]) -> float:
        return self._closeness(a, b) * min(1.0, len(a & b) / MIN_CONTEXT)

    def _closeness(self, a: frozenset[str], b: frozenset[str]) -> float:
        """Return the symmetric overlap of two contexts, 0–1."""
        if a.isdisjoint(b):
            return 0.0
        return (self._weights.share(a, b, _kin(b)) + self._weights.share(b, a, _kin(a))) / 2


def _is_double_reversal(
    mark: Mark, contradiction: Contradiction, candidates: Sequence[tuple[Mark, Contradiction]]
) -> bool:
    """Return whether a second opposite restores the meaning: long bonds more, short bonds less."""
    return mark.kind is MarkKind.DIRECTION and any(
        its.kind is MarkKind.DIRECTION
        and its.axis != mark.axis
        and other.against is contradiction.against
        and not its.around.isdisjoint(mark.around)
        for its, other in candidates
    )


@lru_cache(maxsize=1 << 10)
def _kin(context: frozenset[str]) -> frozenset[str]:
    return frozenset(map(related, context))


class Figures:
    """Index of the numbers of texts."""

    def __init__(self, marks: Iterable[Mark]) -> None:
        self._dimensions: defaultdict[float, set[str]] = defaultdict(set)
        self._values: defaultdict[str, set[float]] = defaultdict(set)
        for mark in marks:
            dimension = mark.axis.split(":")[0]
            self._dimensions[mark.figure].add(dimension)
            self._values[dimension].add(mark.value)

    def name(self, mark: Mark) -> bool:
        """Return whether the texts contain the same plain number."""
        return mark.figure in self._dimensions

    def have(self, mark: Mark) -> bool:
        """Return whether the texts contain the same plain number, or the same value after rounding."""
        dimension = mark.axis.split(":")[0]
        if mark.figure in self._dimensions and self._dimensions[mark.figure] - {dimension}:
            return True
        exact = dimension in EXACT or (dimension == "count" and mark.value < COUNTED_BELOW)
        return any(
            mark.value == value if exact else math.isclose(mark.value, value, rel_tol=ROUNDING)
            for value in self._values.get(dimension, ())
        )
