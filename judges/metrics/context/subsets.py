"""Required subsets: the passages that together answer all that can be answered.

The text of CRUX (section 3.2) ranks passages once, by how many sub-questions each answers, and takes
in that order every passage that answers something new: `STATIC`. Its public code ranks anew after each
choice, by what is still open: `DYNAMIC`, the usual greedy cover. They differ often enough to be named.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import numpy as np

from judges.metrics.context.ratings import Ratings


class Order(StrEnum):
    """In which order the greedy choice looks at passages."""

    STATIC = "static"
    DYNAMIC = "dynamic"


class Use(StrEnum):
    """What a passage is good for."""

    REQUIRED = "required"
    PARTLY_REDUNDANT = "partly redundant"
    REDUNDANT = "redundant"
    IRRELEVANT = "irrelevant"


def required_subset(ratings: Ratings, order: Order = Order.STATIC) -> tuple[int, ...]:
    """Choose passages greedily until no further sub-question can be answered.

    Equally good passages are taken in their own order.

    Returns:
        Places of passages, in the order in which they were chosen; empty where nothing is answerable.

    Source: CRUX, section 3.2 (static); its `binarize_amount_rerank_greedy` (dynamic).
    """
    return _static(ratings) if order is Order.STATIC else _dynamic(ratings)


def _static(ratings: Ratings) -> tuple[int, ...]:
    useful = ratings.useful
    ranked = np.argsort(-useful.sum(axis=1), kind="stable")
    chosen: list[int] = []
    answered = np.zeros(useful.shape[1], dtype=np.bool_)
    for place in ranked:
        if (useful[place] & ~answered).any():
            chosen.append(int(place))
            answered |= useful[place]
    return tuple(chosen)


def _dynamic(ratings: Ratings) -> tuple[int, ...]:
    useful = ratings.useful
    chosen: list[int] = []
    answered = np.zeros(useful.shape[1], dtype=np.bool_)
    while not answered.all():
        place = int(np.argmax((useful & ~answered).sum(axis=1)))
        chosen.append(place)
        answered |= useful[place]
    return tuple(chosen)


def uses(ratings: Ratings, required: Collection[int]) -> tuple[Use, ...]:
    """Say of every passage what it is good for beside a required subset.

    A passage outside the subset is redundant where one required passage answers all that it answers,
    partly redundant where it takes several, and irrelevant where it answers nothing.

    Source: CRUX, section 3.2 ("partially or fully redundant").
    """
    useful = ratings.useful
    needed = [useful[place] for place in required]

    def use(place: int) -> Use:
        if place in required:
            return Use.REQUIRED
        if not useful[place].any():
            return Use.IRRELEVANT
        redundant = any(not (useful[place] & ~other).any() for other in needed)
        return Use.REDUNDANT if redundant else Use.PARTLY_REDUNDANT

    return tuple(use(place) for place in range(ratings.passages))
