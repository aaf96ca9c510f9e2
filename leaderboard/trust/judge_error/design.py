"""Which estimates each battle bears on, and what a sample of battles stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from leaderboard.ratings.counts import Floats, Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Design:
    """Which targets each battle bears on.

    Attributes:
        directions: (N, D) x of each battle: +1 and −1 for two ratings, or a single +1 for a mean.
        slope: (N,) v, how fast the expected share grows along x: p(1 − p), or 1 for a mean.
        cluster: (N,) the question of each battle; of means, the question and target.
        stratum: (N,) what a sample is weighed by to stand for all battles: the pair, or the target.
        anchor: Target whose rating is fixed; None where their mean is.
        is_contrast: Whether battles compare two targets, so that only differences exist.
    """

    directions: csr_array
    slope: Floats
    cluster: Ints
    stratum: Ints
    anchor: int | None = None
    is_contrast: bool = True

    @property
    def targets(self) -> int:
        """D."""
        return int(self.directions.shape[1])

    def operator(self, rows: Ints, weight: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """(D, D) from summed scores to moves of the targets, in their gauge, and (D,) which can be told.

        Targets that the rows do not link to most others cannot, nor can any where the anchor is one of these.
        """
        part = self.directions[rows]
        matrix = (part.T @ part.multiply((weight * self.slope[rows])[:, None]).tocsr()).toarray()
        label = connected_components(csr_array(matrix), directed=False)[1]
        met = np.diag(matrix) > 0
        estimable = (
            met & (label == np.bincount(label[met]).argmax()) if self.is_contrast and met.any() else met
        )
        operator = np.zeros((self.targets, self.targets))
        if not estimable.any() or (self.anchor is not None and not estimable[self.anchor]):
            return operator, np.zeros_like(estimable)
        inner = matrix[np.ix_(estimable, estimable)]
        size = len(inner)
        if self.is_contrast:
            inverse = np.linalg.inv(inner + np.trace(inner) / size**2)
            place = None if self.anchor is None else int(estimable[: self.anchor].sum())
            inverse = inverse - (inverse.mean(axis=0) if place is None else inverse[place])
        else:
            inverse = np.diag(1 / np.diag(inner))
        operator[np.ix_(estimable, estimable)] = inverse
        return operator, estimable

    def weights(self, rows: Ints) -> Floats:
        """How many battles each sampled one stands for: all of its stratum, divided by the sampled."""
        size = int(self.stratum.max(initial=0)) + 1
        everyone, sampled = (
            np.bincount(self.stratum, minlength=size),
            np.bincount(self.stratum[rows], minlength=size),
        )
        return np.asarray(everyone[self.stratum[rows]] / sampled[self.stratum[rows]])

    def pairs_within(self, rows: Ints, weight: Floats) -> float:
        """Ordered pairs of battles on one question that a sample stands for."""
        whole, square = (np.bincount(self.cluster[rows], part) for part in (weight, weight**2))
        return float((whole**2 - square).sum())

    def clusters(self, rows: Ints) -> Floats:
        """(D,) independent questions behind each target."""
        if self.is_contrast:
            return np.full(self.targets, float(len(np.unique(self.cluster[rows]))))
        used = self.directions[rows].tocoo()
        keys = np.unique(self.cluster[rows][used.row] * np.int64(self.targets) + used.col)
        return np.bincount(keys % self.targets, minlength=self.targets).astype(np.float64)
