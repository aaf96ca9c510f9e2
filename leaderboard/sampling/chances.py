"""Draws with known chances: how likely each battle is drawn, and a sample of fixed size by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FLOOR = 0.2
"""Least chance of a battle, as a part of the even one."""
WAVE_FLOOR = 0.1
"""The same within a wave of a round, where earlier waves gave every battle a chance too."""
LEAST_WORTH = 1e-9
"""Least worth beside the greatest: what is worth nothing may still be drawn where room is left."""
LEAST_ROOM = 1e-9


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Drawn:
    """A sample of what may be labelled.

    Attributes:
        taken: (n,) places in the frame, in random order.
        sampling_prob: (n,) probability that each was drawn.
    """

    taken: Codes
    sampling_prob: Floats


def draw_uniformly(frame: int, count: int, seed: int) -> Drawn:
    """Draw from a frame of this size, everything alike.

    Raises:
        InputError: Fewer than one are asked for, or the frame is empty.
    """
    return _drawn(np.full(frame, _wanted(frame, count) / max(frame, 1)), seed)


def draw_by_domain(domains: Sequence[str], count: int, seed: int) -> Drawn:
    """Draw as evenly over the domains as their sizes allow, everything within a domain alike.

    Errors are those of `draw_uniformly`.

    Args:
        domains: (N,) domain of everything in the frame.
        count: How many to draw.
        seed: Of the draw.
    """
    left = _wanted(len(domains), count)
    names, codes, sizes = np.unique(np.array(domains), return_inverse=True, return_counts=True)
    quotas, expected = np.zeros(len(names), dtype=np.int64), np.zeros(len(names))
    random = np.random.default_rng(seed)
    while left:
        open_ones = np.flatnonzero(quotas < sizes)
        share = min(1.0, left / len(open_ones))
        # What cannot be shared evenly goes to some of them, by chance.
        lucky = random.permutation(open_ones)[:left]
        quotas[lucky] += 1
        expected[open_ones] += share
        left -= len(lucky)
    chance = (expected / sizes)[codes]
    taken = np.concatenate(
        [random.permutation(np.flatnonzero(codes == code))[:quota] for code, quota in enumerate(quotas)]
    )
    order = random.permutation(taken).astype(np.int64)
    return Drawn(taken=order, sampling_prob=chance[order])


def draw_by_doubt(doubt: Floats, count: int, seed: int) -> Drawn:
    """Draw what is doubtful more often; errors as of `draw_uniformly`.

    Args:
        doubt: (N,) how unsure the judge is, 0–1. Nothing is drawn with less than a fifth of its even chance.
        count: How many to draw.
        seed: Of the draw.
    """
    everything = np.ones(len(doubt), dtype=bool)
    wanted = _wanted(len(doubt), count)
    return _drawn(topped_up(doubt, np.zeros(len(doubt)), everything, wanted, least=FLOOR), seed)


def _wanted(frame: int, count: int) -> int:
    if not frame:
        raise InputError("There is nothing to draw from.", advice="Choose other systems, a set or a round.")
    if count < 1:
        raise InputError(f"{count} items cannot be drawn.", advice="Draw one or more.")
    return min(frame, count)


def _drawn(chance: Floats, seed: int) -> Drawn:
    taken = np.random.default_rng(seed + 1).permutation(systematic(chance, seed))
    return Drawn(taken=taken, sampling_prob=chance[taken])


def topped_up(
    worth: Floats, before: Floats, left: NDArray[np.bool_], budget: int, *, least: float = WAVE_FLOOR
) -> Floats:
    """Chances of one more draw that bring the chances of all draws together towards worth.

    Args:
        worth: (N,) what the chance of each is to be in proportion to.
        before: (N,) its chance in the draws so far.
        left: (N,) whether it was drawn in none of them.
        budget: What the chances of those that are left add up to, at most.
        least: Least chance in this draw, as a part of the even one.

    Returns:
        (N,) chances; what was drawn before has that of others like it, as if it had not been.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - loads for long, and boards without waves take none of it

    places = np.flatnonzero(left)
    budget = min(budget, len(places))
    if budget == len(places):
        return np.ones(len(worth))
    even = budget / len(places)
    if worth[places].sum() <= 0:
        return np.full(len(worth), even)
    # Where too little is worth anything, the rest shares what is left of the budget evenly.
    worth = np.maximum(worth / worth.max(), LEAST_WORTH)
    room = np.maximum(1 - before, LEAST_ROOM)

    def chances(scale: float, rows: Codes | slice) -> Floats:
        return np.asarray(np.clip((scale * worth[rows] - before[rows]) / room[rows], least * even, 1.0))

    def surplus(scale: float) -> float:
        return float(chances(scale, places).sum()) - budget

    high = 1.0
    while surplus(high) < 0 and high < 1e300:  # noqa: PLR2004 - before overflow
        high *= 2
    scale = brentq(surplus, 0.0, high, xtol=1e-300, maxiter=1000) if surplus(high) > 0 else high
    return chances(scale, slice(None))


def systematic(chances: Floats, seed: int, strata: NDArray[np.integer] | None = None) -> Codes:
    """A sample of fixed size with exactly these chances: evenly spaced steps through a shuffled list.

    With (N,) codes of strata these stand together in the list, so that each has its share of the sample.

    Source: Madow (1949); shuffling first makes joint chances nearly those of independent draws.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(chances))
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    steps = np.floor(np.cumsum(chances[order]) + random.random() + 1e-9)
    taken = np.diff(np.concatenate([[0.0], steps])) > 0
    return np.sort(order[taken])
