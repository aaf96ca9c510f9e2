"""Shares of terms between all texts of a question at once, as matrix products.

The products add in another order than `TermWeights.share` and so differ from it in the last digits. They
select the few pairs that matter, whose shares are then computed as before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.text.contradictions import KIN_CREDIT, TermWeights
from judges.text.statements import Statement
from judges.text.tokens import related

Floats = NDArray[np.float64]
LEAST = 1e-12
TOLERANCE = 1e-9
"""More than the rounding errors of a product."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts as rows of matrices.

    Attributes:
        query: Weights of the terms and of the roots of each text, shape (texts, terms + roots).
        target: 1 for each term and root of a text, else 0; the same shape.
        total: Weight of all terms of each text, at least `LEAST`, shape (texts,).
    """

    query: Floats
    target: Floats
    total: Floats

    def shares(self, targets: "Rows") -> Floats:
        """Return the approximate share of each own text in each target, shape (texts, targets)."""
        shares: Floats = self.query @ targets.target.T / self.total[:, None]
        return shares


class Vocabulary:
    """Terms and roots of a question's texts; other terms match none of them."""

    def __init__(self, texts: Sequence[Statement], weights: TermWeights) -> None:
        self._weights = weights
        every = frozenset[str]().union(*(text.terms for text in texts))
        roots = dict.fromkeys(map(related, every))
        self._roots: Mapping[str, int] = {root: place for place, root in enumerate(roots, len(every))}
        self._terms = {
            term: (weights.of(term), self._roots[related(term)], place) for place, term in enumerate(every)
        }
        self._width = len(every) + len(roots)

    def rows(self, texts: Sequence[Statement]) -> tuple[Rows, Rows]:
        """Return texts as rows, with all terms and without terms of the question."""
        places: list[int] = []
        weights: list[tuple[float, float]] = []
        present: list[int] = []
        totals, of = np.zeros((2, len(texts))), self._weights.of
        for number, text in enumerate(texts):
            start, total, new = number * self._width, 0.0, 0.0
            for term in text.terms:
                known = self._terms.get(term)
                weight, root, place = known or (of(term), self._roots.get(related(term)), None)
                new_weight = 0.0 if term in self._weights.topic else weight
                total += weight
                new += new_weight
                if root is not None:
                    places.append(start + root)
                    weights.append((KIN_CREDIT * weight, KIN_CREDIT * new_weight))
                if place is not None:
                    present.append(start + place)
                    places.append(start + place)
                    weights.append(((1 - KIN_CREDIT) * weight, (1 - KIN_CREDIT) * new_weight))
            present.extend(start + self._roots[root] for root in text.related if root in self._roots)
            totals[:, number] = max(total, LEAST), max(new, LEAST)
        shape = len(texts), self._width
        target = np.zeros(len(texts) * self._width)
        target[present] = 1.0
        columns = zip(*weights, strict=True) if weights else ((), ())
        every, new_only = (
            Rows(
                np.bincount(places, column, target.size).astype(float).reshape(shape),
                target.reshape(shape),
                own,
            )
            for column, own in zip(columns, totals, strict=True)
        )
        return every, new_only
