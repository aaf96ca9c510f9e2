"""Contradictions: statements that say otherwise than the closest statements of a ground truth.

Figures for one thing, words of opposite direction, and negations are compared, each with the few content
words around it. A statement that anything in the ground truth supports as closely contradicts nothing, so
where passages disagree, either side may be taken.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

from judges.text.overlap import TermWeights
from judges.text.statements import Mark, MarkKind, Statement
from judges.text.tokens import related

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


@lru_cache(maxsize=1 << 14)
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
