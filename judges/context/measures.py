"""Coverage, ranked coverage and density of a context. What does not exist is None, never 0 or 1."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from data.errors import RecordError
from judges.context.ratings import BoolArray, Ratings

ALPHA = 0.5
DENSITY_WEIGHT = 0.5


def answered_by(ratings: Ratings, context: Collection[int]) -> tuple[int, ...]:
    """The answerable sub-questions that the passages of a context answer.

    Source: CRUX, Eq. 3 (the maximum over the passages reaches the threshold).
    """
    held = np.flatnonzero(ratings.answers[list(context)].any(axis=0))
    return tuple(int(column) for column in held)


def coverage(ratings: Ratings, context: Collection[int]) -> float | None:
    """The share of the answerable sub-questions that a context answers.

    Returns:
        0–1; None where no sub-question is answerable. A context without passages covers 0.

    Source: CRUX, Eq. 3.
    """
    if not ratings.answerable:
        return None
    return len(answered_by(ratings, context)) / len(ratings.answerable)


def ranked_coverage(
    ratings: Ratings, ranking: Sequence[int], *, alpha: float = ALPHA, depth: int | None = None
) -> float | None:
    """α-nDCG with sub-questions as subtopics, over a strict order.

    A passage gains 1 for each sub-question that it answers, times 1 − α for every earlier passage that
    answered it too, discounted by the logarithm of its rank. The ideal takes, at each rank, the passage of
    all rated ones that gains most (the last of equals, as TREC's ndeval).

    Args:
        ratings: All rated passages: the pool of the ideal.
        ranking: Places of passages, best first; a repeat keeps its rank and gains nothing.
        alpha: How much a repeated answer is discounted.
        depth: Ranks looked at in both; by default all.

    Returns:
        0–1, above 1 only where the greedy ideal is not the best order; None where nothing is answerable.

    Raises:
        RecordError: α is not within 0–1, or the depth not positive.

    Source: Clarke et al. (2008); CRUX, Eq. 4. Eq. 4 sums its ideal over Z*; here, as in ir-measures, the
    ideal ranks all rated passages.
    """
    if not 0 <= alpha <= 1:
        raise RecordError(f"α is {alpha}.", advice="Give a number from 0 to 1.")
    if depth is not None and depth < 1:
        raise RecordError(f"The depth is {depth}.", advice="Give a positive number of ranks.")
    if not ratings.answerable:
        return None
    found = ratings.useful
    ranked = found[list(ranking[:depth])]
    ranked[[rank for rank, place in enumerate(ranking[:depth]) if place in ranking[:rank]]] = False
    gains = _gains(ranked, alpha)
    ideal = _ideal_gains(found, alpha)[:depth]
    return _discounted(gains) / _discounted(ideal)


def _gains(found: BoolArray, alpha: float) -> list[float]:
    earlier = np.zeros(found.shape[1])
    gains = []
    for row in found:
        gains.append(float(((1 - alpha) ** earlier[row]).sum()))
        earlier += row
    return gains


def _ideal_gains(found: BoolArray, alpha: float) -> list[float]:
    left = found.copy()
    earlier = np.zeros(found.shape[1])
    gains = []
    for _ in range(len(found)):
        offered = left @ ((1 - alpha) ** earlier)
        best = int(np.flatnonzero(np.isclose(offered, offered.max()))[-1])
        if not offered[best]:
            break
        gains.append(float(offered[best]))
        earlier += left[best]
        left[best] = False
    return gains


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def density(
    covered: float | None,
    tokens: int,
    *,
    best_covered: float | None,
    best_tokens: int,
    weight: float = DENSITY_WEIGHT,
) -> float | None:
    """How much a text covers for its length, beside the oracle context.

    Args:
        covered: Coverage of the text.
        tokens: Its length.
        best_covered: Coverage of the oracle context, Z*.
        best_tokens: Its length.
        weight: The exponent w: below 1, density gains less and less.

    Returns:
        At least 0, 1 for the oracle context itself and above 1 for what is denser; None where a coverage is
        undefined, the oracle covers nothing, or a text has no tokens.

    Raises:
        RecordError: A length is negative, or the weight is not a positive number.

    Source: CRUX, Eq. 5.
    """
    if min(tokens, best_tokens) < 0:
        raise RecordError("A text has a negative number of tokens.", advice="Count its tokens again.")
    if not (math.isfinite(weight) and weight > 0):
        raise RecordError(
            f"The density weight is {weight}.", advice="Give a positive number; the paper's is 0.5."
        )
    if covered is None or not best_covered or not tokens or not best_tokens:
        return None
    return float(((covered / tokens) / (best_covered / best_tokens)) ** weight)
