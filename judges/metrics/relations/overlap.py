"""Shares of terms between all texts of a question at once, as matrix products.

The products add in another order than `TermWeights.share` and so differ from it in the last digits. They
select the few pairs that matter, whose shares are then computed as before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from judges.text.contradictions import KIN_CREDIT, TermWeights
from judges.text.tokens import related

Floats = NDArray[np.float64]
LEAST = 1e-12
TOLERANCE = 1e-9
"""More than the rounding errors of a product."""


class Terms(Protocol):
    """A text as its terms and their roots."""

    @property
    def terms(self) -> frozenset[str]:
        """Terms of the text."""
        ...

    @property
    def related(self) -> frozenset[str]:
        """Roots of the terms."""
        ...


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts as rows of matrices.

    Attributes:
        query: Weights of the terms and of the roots of each text, shape (texts, terms + roots).
        new: The same without terms of the question.
        target: 1 for each term and root of a text, else 0; the same shape.
        total: Weight of all terms of each text, at least `LEAST`, shape (texts,).
        new_total: The same without terms of the question.
    """

    query: Floats
    new: Floats
    target: Floats
    total: Floats
    new_total: Floats

    def shares(self, targets: "Rows") -> Floats:
        """Return the approximate share of each own text in each target, shape (texts, targets)."""
        shares: Floats = self.query @ targets.target.T / self.total[:, None]
        return shares

    def new_shares(self, targets: "Rows") -> Floats:
        """Return the same shares without terms of the question."""
        shares: Floats = self.new @ targets.target.T / self.new_total[:, None]
        return shares


class Vocabulary:
    """Terms and roots of a question's texts; other terms match none of them."""

    def __init__(self, texts: Sequence[Terms], weights: TermWeights) -> None:
        self._weights = weights
        every = frozenset[str]().union(*(text.terms for text in texts))
        roots = dict.fromkeys(map(related, every))
        self._roots: Mapping[str, int] = {root: place for place, root in enumerate(roots, len(every))}
        self._terms = {
            term: (weights.of(term), self._roots[related(term)], place) for place, term in enumerate(every)
        }
        self._width = len(every) + len(roots)

    def rows(self, texts: Sequence[Terms]) -> Rows:
        """Return texts as rows."""
        places: list[int] = []
        weights: list[float] = []
        new: list[float] = []
        present: list[int] = []
        totals, new_totals = [], []
        topic = self._weights.topic
        for start, text in zip(count(step=self._width), texts):
            total = new_total = 0.0
            for term in text.terms:
                weight, root, place = self._terms.get(term) or self._other(term)
                new_weight = 0.0 if term in topic else weight
                total += weight
                new_total += new_weight
                if root is None:
                    continue
                places.append(start + root)
                weights.append(KIN_CREDIT * weight)
                new.append(KIN_CREDIT * new_weight)
                if place is not None:
                    present.append(start + place)
                    places.append(start + place)
                    weights.append((1 - KIN_CREDIT) * weight)
                    new.append((1 - KIN_CREDIT) * new_weight)
            present.extend(start + self._roots[root] for root in text.related if root in self._roots)
            totals.append(max(total, LEAST))
            new_totals.append(max(new_total, LEAST))
        shape = len(texts), self._width
        size = len(texts) * self._width
        target = np.zeros(size)
        target[present] = 1.0
        return Rows(
            np.bincount(places, weights, minlength=size).astype(np.float64).reshape(shape),
            np.bincount(places, new, minlength=size).astype(np.float64).reshape(shape),
            target.reshape(shape),
            np.array(totals),
            np.array(new_totals),
        )

    def _other(self, term: str) -> tuple[float, int | None, int | None]:
        return self._weights.of(term), self._roots.get(related(term)), None
