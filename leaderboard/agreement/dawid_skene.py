"""What items truly are, from labels of people who err each in their own way: Dawid and Skene's model.

Each person p has a matrix π_p[t, s], the chance of saying s of an item that is t, and classes have shares
ρ_t. Expectation-maximisation from the shares of votes alternates between the posterior of each item,
proportional to ρ_t ∏_p π_p[t, said], and the matrices and shares that fit these posteriors.

Source: Dawid & Skene (1979), "Maximum likelihood estimation of observer error-rates using the EM algorithm".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import StatisticsError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

PSEUDO_COUNT = 0.01
"""Of every cell of a matrix: nobody is sure never to say something because they have not said it yet."""
MOST_STEPS = 200
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Posteriors:
    """What items are, as far as the labels tell.

    Attributes:
        items: (I, C) probability of each class; an item without labels has the classes' shares.
        shares: (C,) share of each class among the items.
        people: (P, C, C) each person's chance of saying the last index of an item that is the one before.
        steps: Steps of the algorithm.
        converged: Whether the last step moved no posterior by more than the tolerance.
    """

    items: Floats
    shares: Floats
    people: Floats
    steps: int
    converged: bool

    @property
    def accuracy(self) -> Floats:
        """(P,) each person's chance of being right, over items as they are."""
        right: Floats = np.einsum("pcc,c->p", self.people, self.shares)
        return right


def dawid_skene(
    item: Codes, person: Codes, said: Codes, *, items: int, people: int, classes: int
) -> Posteriors:
    """Estimate what items are.

    Args:
        item: (L,) the item of each label.
        person: (L,) whose label it is.
        said: (L,) the class that it names.
        items: How many items there are.
        people: How many people.
        classes: How many classes.

    Raises:
        StatisticsError: There are no labels, or a code is out of range.
    """
    if not len(item):
        raise StatisticsError("There are no labels.", advice="Estimate once something is labelled.")
    for codes, size in ((item, items), (person, people), (said, classes)):
        if codes.min() < 0 or codes.max() >= size:
            raise StatisticsError(f"The code {int(codes.max())} of a label is out of range.")
    votes = np.zeros((items, classes))
    np.add.at(votes, (item, said), 1.0)
    given = votes.sum(axis=1, keepdims=True)
    posterior = np.where(given > 0, votes / np.maximum(given, 1), 1 / classes)
    steps, converged = 0, False
    while not converged and steps < MOST_STEPS:
        shares, matrices = _fitted(posterior, given[:, 0] > 0, item, person, said, people)
        log = np.tile(np.log(shares), (items, 1))
        np.add.at(log, item, np.log(matrices[person, :, said]))
        log -= log.max(axis=1, keepdims=True)
        following = np.exp(log)
        following /= following.sum(axis=1, keepdims=True)
        converged = bool(np.abs(following - posterior).max() < TOLERANCE)
        posterior, steps = following, steps + 1
    shares, matrices = _fitted(posterior, given[:, 0] > 0, item, person, said, people)
    return Posteriors(items=posterior, shares=shares, people=matrices, steps=steps, converged=converged)


def _fitted(
    posterior: Floats, labelled: NDArray[np.bool_], item: Codes, person: Codes, said: Codes, people: int
) -> tuple[Floats, Floats]:
    """Shares of classes and matrices of people under posteriors of items."""
    classes = posterior.shape[1]
    shares = posterior[labelled].sum(axis=0) + PSEUDO_COUNT
    counts = np.full((people, classes, classes), PSEUDO_COUNT)
    # By person, what was said, and then what it is; turned round so that rows are what items are.
    np.add.at(counts, (person, said), posterior[item])
    matrices = counts.transpose(0, 2, 1)
    return shares / shares.sum(), matrices / matrices.sum(axis=2, keepdims=True)
