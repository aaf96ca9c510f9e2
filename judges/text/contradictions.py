"""Notice where a statement says otherwise than the closest statements of a yardstick.

Three things are looked at, each within the few content words around it: figures for one thing,
words of opposite direction, and negation. A statement that anything in the yardstick supports at least
as closely contradicts nothing, so where passages disagree, either side may be taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from judges.text.statements import Mark, MarkKind, Statement
from judges.text.tokens import kin
from judges.text.weights import TermWeights

CLOSE = 0.45
CLOSE_NEGATION = 0.6
CLEARANCE = 0.15
FLIP_ALONG = 0.3
LEAST_CONTEXT = 2
NEGATION_FACTOR = 0.4
ROUNDING = 0.021
COUNTED_BELOW = 20
EXACT = ("year", "day of a month")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Where a statement says otherwise than the yardstick.

    `strength` is 0–1: how closely the two speak of one thing.
    """

    kind: MarkKind
    word: str
    statement: Statement
    against: Statement
    strength: float


class ContradictionFinder:
    """Holds statements against one yardstick."""

    def __init__(self, yardstick: Sequence[Statement], weights: TermWeights) -> None:
        self._yardstick = tuple(yardstick)
        self._weights = weights
        self._by_axis: dict[str, list[tuple[Mark, Statement]]] = {}
        for statement in self._yardstick:
            for mark in statement.marks:
                self._by_axis.setdefault(mark.axis, []).append((mark, statement))
        self._figures = [
            mark for found in self._by_axis.values() for mark, _ in found if mark.kind is MarkKind.QUANTITY
        ]

    def find(self, statement: Statement) -> tuple[Contradiction, ...]:
        """Return where a statement contradicts the yardstick, at most one contradiction a mark."""
        found = (self._against(mark, statement) for mark in statement.marks)
        return tuple(contradiction for contradiction in found if contradiction)

    def _against(self, mark: Mark, statement: Statement) -> Contradiction | None:
        if len(mark.around) < LEAST_CONTEXT:
            return None
        if mark.kind is MarkKind.NEGATION:
            return self._negated(mark, statement)
        if mark.kind is MarkKind.QUANTITY and any(_same_figure(mark, other) for other in self._figures):
            return None
        support, conflict, against = 0.0, 0.0, None
        for its, other in self._by_axis.get(mark.axis, ()):
            close = self._closeness(mark.around, its.around)
            agrees = (
                its.value == mark.value or close <= conflict or self._turned_twice(mark, statement, other)
            )
            if agrees and (its.value == mark.value or close > conflict):
                support = max(support, close)
            elif not agrees:
                conflict, against = close, other
        if against is None or conflict < CLOSE or conflict - support < CLEARANCE:
            return None
        return Contradiction(mark.kind, mark.text, statement, against, min(1.0, conflict))

    def _negated(self, mark: Mark, statement: Statement) -> Contradiction | None:
        """Whether the yardstick states plainly what a statement denies."""
        support, conflict, against = 0.0, 0.0, None
        for other in self._yardstick:
            shared = len(mark.around & other.terms)
            close = self._weights.share(mark.around, other.terms, other.kin) if shared else 0.0
            if other.negated:
                support = max(support, close)
            elif close > conflict and shared >= LEAST_CONTEXT:
                conflict, against = close, other
        if against is None or conflict < CLOSE_NEGATION or conflict - support < CLEARANCE:
            return None
        return Contradiction(mark.kind, mark.text, statement, against, NEGATION_FACTOR * min(1.0, conflict))

    def _turned_twice(self, mark: Mark, statement: Statement, other: Statement) -> bool:
        """Whether a second opposite pair turns the sense back (long bonds more, short bonds less)."""
        return mark.kind is MarkKind.DIRECTION and any(
            a.kind is b.kind is MarkKind.DIRECTION
            and a.axis == b.axis != mark.axis
            and a.value != b.value
            and self._closeness(a.around, b.around) >= FLIP_ALONG
            for a in statement.marks
            for b in other.marks
        )

    def _closeness(self, a: frozenset[str], b: frozenset[str]) -> float:
        """How much two contexts share, 0–1, counting what either has beyond the other."""
        if not a or not b:
            return 0.0
        share = self._weights.share
        return (share(a, b, frozenset(map(kin, b))) + share(b, a, frozenset(map(kin, a)))) / 2


def _same_figure(a: Mark, b: Mark) -> bool:
    """Whether two numbers could say the same: one figure, or one value allowing for rounding."""
    if a.figure == b.figure:
        return True
    dimension = a.axis.split(":")[0]
    if dimension != b.axis.split(":")[0] or dimension in EXACT:
        return False
    if dimension == "count" and a.value < COUNTED_BELOW:
        return False
    return math.isclose(a.value, b.value, rel_tol=ROUNDING, abs_tol=1e-12)
