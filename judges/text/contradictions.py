"""Notice where a statement says otherwise than the closest statements of a ground truth.

Three things are looked at, each within the few content words around it: figures for one thing,
words of opposite direction, and negation. A statement that anything in the ground truth supports at least
as closely contradicts nothing, so where passages disagree, either side may be taken.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, islice

from judges.text.statements import Mark, MarkKind, Statement
from judges.text.term_weights import TermWeights
from judges.text.tokens import related

CLOSE = 0.4
CLOSE_NEGATION = 0.6
CLEARANCE_KNOWN = 0.35
"""How much closer a figure that the ground truth has elsewhere must be to another one's place."""
CLEARANCE = 0.2
FLIP_ALONG = 0.3
LEAST_CONTEXT = 2
NEGATION_FACTOR = 0.3
SWAPPED_BY = 0.5
DENIED_FROM = 0.75
ROUNDING = 0.021
COUNTED_BELOW = 20
MOST_SWAPPED = 20
"""Figures of one sentence that are held against each other; a sentence with more is a table."""
EXACT = ("year", "day of a month")
CACHED_CONTEXTS = 1 << 14


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Where a statement says otherwise than the ground truth.

    `strength` is 0–1: how closely the two speak of one thing.
    """

    kind: MarkKind
    word: str
    statement: Statement
    against: Statement
    strength: float


class ContradictionFinder:
    """Holds statements against one ground truth."""

    def __init__(self, ground_truth: Sequence[Statement], weights: TermWeights) -> None:
        self._ground_truth = tuple(ground_truth)
        self._weights = weights
        self._by_axis: dict[str, list[tuple[Mark, Statement]]] = {}
        for statement in self._ground_truth:
            for mark in statement.marks:
                self._by_axis.setdefault(mark.axis, []).append((mark, statement))
        self._values: defaultdict[str, set[float]] = defaultdict(set)
        for axis, found in self._by_axis.items():
            self._values[axis] = {mark.value for mark, _ in found}
        self._figures = Figures(
            mark for found in self._by_axis.values() for mark, _ in found if mark.kind is MarkKind.QUANTITY
        )

    def find(self, statement: Statement) -> tuple[Contradiction, ...]:
        """Return where a statement contradicts the ground truth, at most one contradiction a mark."""
        denials = [self._negated(mark, statement) for mark in statement.marks if self._denies(mark)]
        denials.append(self._denied(statement))
        return (*self.conflicts(statement), *filter(None, denials))

    def conflicts(self, statement: Statement) -> tuple[Contradiction, ...]:
        """Return only where its figures and directions do, which is surer than where it negates."""
        turned: dict[int, tuple[Mark, ...]] = {}
        found = [
            self._against(mark, statement, turned)
            for mark in statement.marks
            if mark.kind is not MarkKind.NEGATION
        ]
        return tuple(filter(None, (*found, self._swapped(statement))))

    @staticmethod
    def _denies(mark: Mark) -> bool:
        return mark.kind is MarkKind.NEGATION and len(mark.around) >= LEAST_CONTEXT

    def _against(
        self, mark: Mark, statement: Statement, turned: dict[int, tuple[Mark, ...]]
    ) -> Contradiction | None:
        if len(mark.around) < LEAST_CONTEXT:
            return None
        its_axis = self._by_axis.get(mark.axis, ())
        if mark.kind is MarkKind.DIRECTION and self._values[mark.axis] <= {mark.value}:
            return None
        known = mark.kind is MarkKind.QUANTITY and self._figures.have(mark)
        if known and not self._in_place_of_another(mark, its_axis):
            return None
        support, conflict, against = 0.0, 0.0, None
        for its, other in its_axis:
            close = self._near(mark, its)
            agrees = (
                its.value == mark.value
                or close <= conflict
                or self._turned_twice(mark, statement, other, turned)
            )
            if agrees and (its.value == mark.value or close > conflict):
                support = max(support, close)
            elif not agrees:
                conflict, against = close, other
        if (
            against is None
            or conflict < CLOSE
            or conflict - support < (CLEARANCE_KNOWN if known else CLEARANCE)
        ):
            return None
        return Contradiction(mark.kind, mark.text, statement, against, min(1.0, conflict))

    @staticmethod
    def _in_place_of_another(mark: Mark, its_axis: Sequence[tuple[Mark, Statement]]) -> bool:
        """Whether a figure with a unit stands among the very words that stand around another one."""
        if mark.axis.startswith("count"):
            return False
        return any(its.value != mark.value and its.around == mark.around for its, _ in its_axis)

    def _negated(self, mark: Mark, statement: Statement) -> Contradiction | None:
        """Whether the ground truth states plainly what a statement denies."""
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

    def _swapped(self, statement: Statement) -> Contradiction | None:
        """Whether two figures have changed places: each stands where the ground truth has the other."""
        own = {
            mark.figure: mark
            for mark in reversed(statement.marks)
            if mark.kind is MarkKind.QUANTITY and self._figures.name(mark)
        }
        for a, b in combinations(islice(reversed(own.values()), MOST_SWAPPED), 2):
            if a.axis.split(":")[0] != b.axis.split(":")[0]:
                continue
            having_a, having_b = self._having[a.figure], self._having[b.figure]
            for place in sorted(having_a.keys() & having_b.keys()):
                excess, kept = self._exchange(a, b, having_a[place], having_b[place])
                if excess >= SWAPPED_BY and excess > kept:
                    other = self._ground_truth[place]
                    return Contradiction(a.kind, f"{a.text} / {b.text}", statement, other, min(1.0, excess))
        return None

    @cached_property
    def _having(self) -> Mapping[float, Mapping[int, Mark]]:
        """For each plain number the places of the statements that have it, with their first mark of it."""
        having: dict[float, dict[int, Mark]] = {}
        for place, statement in enumerate(self._ground_truth):
            for mark in statement.figures:
                having.setdefault(mark.figure, {}).setdefault(place, mark)
        return having

    def _exchange(self, a: Mark, b: Mark, its_a: Mark, its_b: Mark) -> tuple[float, float]:
        """How much better two figures fit each other's place in a statement, and how well their own."""
        kept = self._firmly(a.next_to, its_a.next_to) + self._firmly(b.next_to, its_b.next_to)
        crossed = self._firmly(a.next_to, its_b.next_to) + self._firmly(b.next_to, its_a.next_to)
        return crossed - kept, kept

    def _denied(self, statement: Statement) -> Contradiction | None:
        """Whether a statement says plainly what the ground truth denies and nowhere says."""
        if statement.negated:
            return None
        for mark, other in self._by_axis.get("negation", ()):
            if len(mark.around & statement.terms) < LEAST_CONTEXT:
                continue
            close = self._weights.share(mark.around, statement.terms, statement.related)
            if close < DENIED_FROM:
                continue
            said = max(
                (
                    self._weights.share(mark.around & statement.terms, its.terms, its.related)
                    for its in self._ground_truth
                    if not its.negated
                ),
                default=0.0,
            )
            if close - said >= CLEARANCE:
                return Contradiction(mark.kind, "not", statement, other, NEGATION_FACTOR * close)
        return None

    def _turned_twice(
        self, mark: Mark, statement: Statement, other: Statement, turned: dict[int, tuple[Mark, ...]]
    ) -> bool:
        """Whether a second opposite pair turns the sense back (long bonds more, short bonds less)."""
        if mark.kind is not MarkKind.DIRECTION:
            return False
        # By identity: hashing a statement takes as long as what is saved.
        if id(other) not in turned:
            turned[id(other)] = tuple(
                its for its in statement.marks if its.kind is MarkKind.DIRECTION and self._turned(its, other)
            )
        return any(
            its.axis != mark.axis and not its.around.isdisjoint(mark.around) for its in turned[id(other)]
        )

    def _turned(self, mark: Mark, other: Statement) -> bool:
        """Whether a statement has the opposite of a direction and nothing as close of the same."""
        near = {True: 0.0, False: 0.0}
        for its in other.marks:
            if its.axis == mark.axis:
                same = its.value == mark.value
                near[same] = max(near[same], self._near(mark, its))
        return near[False] >= FLIP_ALONG and near[False] - near[True] >= CLEARANCE

    def _near(self, mark: Mark, its: Mark) -> float:
        """How closely two marks speak of one thing; one shared term is little unless a unit says more."""
        measured = mark.kind is MarkKind.QUANTITY and not mark.axis.startswith("count")
        near = self._closeness if measured else self._firmly
        return near(mark.around, its.around)

    def _firmly(self, a: frozenset[str], b: frozenset[str]) -> float:
        """How much two contexts share where a single shared term counts half."""
        return self._closeness(a, b) * min(1.0, len(a & b) / LEAST_CONTEXT)

    def _closeness(self, a: frozenset[str], b: frozenset[str]) -> float:
        """How much two contexts share, 0–1, counting what either has beyond the other."""
        if a.isdisjoint(b):
            return 0.0
        share = self._weights.share
        return (share(a, b, _kin(b)) + share(b, a, _kin(a))) / 2


@lru_cache(maxsize=CACHED_CONTEXTS)
def _kin(context: frozenset[str]) -> frozenset[str]:
    """What the terms of a context are kin by; each is held against many others."""
    return frozenset(map(related, context))


class Figures:
    """Numbers in which one is looked up without holding it against every one of them."""

    def __init__(self, marks: Iterable[Mark]) -> None:
        every = tuple(marks)
        self._named: dict[float, set[str]] = {}
        self._values: dict[str, list[Mark]] = {}
        for mark in sorted(every, key=lambda each: each.value):
            dimension = mark.axis.split(":")[0]
            self._named.setdefault(mark.figure, set()).add(dimension)
            self._values.setdefault(dimension, []).append(mark)

    def name(self, mark: Mark) -> bool:
        """Whether one of them is the same plain number."""
        return mark.figure in self._named

    def have(self, mark: Mark) -> bool:
        """Whether one of them may be the same figure; if any is, so is one of the two nearest in value."""
        dimension = mark.axis.split(":")[0]
        if self._named.get(mark.figure, set()) - {dimension}:
            return True
        values = self._values.get(dimension, [])
        place = bisect_left(values, mark.value, key=lambda each: each.value)
        return any(may_be_same_figure(mark, other) for other in values[max(0, place - 1) : place + 1])


def may_be_same_figure(a: Mark, b: Mark) -> bool:
    """Whether two numbers could say the same: one figure, or one value allowing for rounding."""
    dimension = a.axis.split(":")[0]
    if a.figure == b.figure:
        return dimension != b.axis.split(":")[0] or math.isclose(a.value, b.value, rel_tol=ROUNDING)
    if dimension != b.axis.split(":")[0] or dimension in EXACT:
        return False
    if dimension == "count" and a.value < COUNTED_BELOW:
        return False
    return math.isclose(a.value, b.value, rel_tol=ROUNDING, abs_tol=1e-12)
