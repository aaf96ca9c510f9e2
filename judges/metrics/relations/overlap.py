"""Shares of terms between all texts of a question at once, as matrix products.

The products add in another order than `TermWeights.share` and so differ from it in the last digits. They
select the few pairs that matter, whose shares are then computed as before.
"""

from collections.abc import Collection, Mapping, Sequence
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

    def __init__(self, texts: Sequence[Terms], weights: TermWeights) -> None:
        self._weights = weights
        every = frozenset[str]().union(*(text.terms for text in texts))
        self._terms: Mapping[str, int] = {term: place for place, term in enumerate(every)}
        roots = dict.fromkeys(map(related, every))
        self._roots: Mapping[str, int] = {root: place for place, root in enumerate(roots, len(every))}

    def rows(self, texts: Sequence[Terms], without: Collection[str] = ()) -> Rows:
        """Return texts as rows; terms in `without` have no weight."""
        width = len(self._terms) + len(self._roots)
        places: list[int] = []
        weights: list[float] = []
        present: list[int] = []
        total = []
        for start, text in zip(count(step=width), texts):
            whole = 0.0
            for term in text.terms:
                weight = 0.0 if term in without else self._weights.of(term)
                whole += weight
                root = self._roots.get(related(term))
                if root is None:
                    continue
                places.append(start + root)
                weights.append(KIN_CREDIT * weight)
                place = self._terms.get(term)
                if place is not None:
                    present.append(start + place)
                    places.append(start + place)
                    weights.append((1 - KIN_CREDIT) * weight)
            present.extend(start + self._roots[root] for root in text.related if root in self._roots)
            total.append(max(whole, LEAST))
        size = len(texts) * width
        query = np.bincount(places, weights, minlength=size).astype(np.float64).reshape(len(texts), width)
        target = np.zeros(size)
        target[present] = 1.0
        return Rows(query, target.reshape(len(texts), width), np.array(total))
