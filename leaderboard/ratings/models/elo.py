"""Online Elo, for comparison: the mean over random orders of the battles.

Orders are drawn for the canonical order of the battles, so neither the order of the rows nor that of the two
systems changes a byte. All orders (and resamples) run in parallel, one battle per step. Order k walks through
one random permutation with its own start and stride, which needs no memory per order.

Sources: Elo (1978); K = 4 as Chatbot Arena used it (Chiang et al. 2024); averaging over permutations as
Boubdir et al. (2023) recommend.
"""

import math
from dataclasses import replace

import numpy as np

from data.errors import InputError
from leaderboard.battles import BattleTable
from leaderboard.ratings.assemble import assemble
from leaderboard.ratings.counts import Floats, Ints, count_pairs
from leaderboard.ratings.estimate import in_gauge, resampled
from leaderboard.ratings.models.newton import SPARSE_ABOVE
from leaderboard.ratings.result import RatingTable, Settings
from leaderboard.ratings.uncertainty.effective import effective_units
from leaderboard.ratings.vocabulary import MEAN, POINTS, Bounds, Cluster, IntervalKind

K_FACTOR = 4.0
ORDERS = 100
BLOCK = 512


def rate_online(table: BattleTable, settings: Settings, anchor: Ints | None) -> RatingTable:
    """Return ratings averaged over `ORDERS` random orders.

    Intervals are percentiles of resamples, each with gamma weights and one random order, so they include the
    effect of the order.
    """
    if settings.interval is IntervalKind.SANDWICH:
        message = "Online Elo has no likelihood, so no sandwich interval."
        raise InputError(message, advice="Use bootstrap intervals.")
    if len(table.systems) > SPARSE_ABOVE:
        message = f"Online Elo supports up to {SPARSE_ABOVE} systems."
        raise InputError(message, advice="Use the method bradley-terry.")
    settings = replace(settings, bounds=Bounds.PERCENTILE)
    table = table.oriented()
    table = table.select(table.canonical())
    zero = MEAN if settings.anchor is None else settings.anchor.zero
    points = in_gauge(_play(table, settings, ORDERS, weighted=False).mean(axis=0), anchor) + zero
    draws = in_gauge(_play(table, settings, settings.bootstrap or 0, weighted=True), anchor) + zero
    pairs = count_pairs(table)
    effective = effective_units(table, pairs, settings.cluster, anchor)
    estimate = resampled(np.arange(len(table.systems)), points, draws, effective)
    return assemble(table, pairs, None, [estimate], settings)


def _play(table: BattleTable, settings: Settings, orders: int, *, weighted: bool) -> Floats:
    """(orders, S) final ratings."""
    blocks = [
        _play_block(table, settings, min(BLOCK, orders - first), [first, int(weighted)], weighted=weighted)
        for first in range(0, orders, BLOCK)
    ]
    return np.concatenate(blocks)


def _play_block(
    table: BattleTable, settings: Settings, orders: int, stream: list[int], *, weighted: bool
) -> Floats:
    rng = np.random.default_rng([settings.seed, *stream])
    battles, systems = len(table), len(table.systems)
    shuffled = rng.permutation(battles)
    place, stride = rng.integers(0, battles, orders), _strides(rng, battles, orders)
    a, b = table.a[shuffled].astype(np.int64), table.b[shuffled].astype(np.int64)
    share, question = table.share[shuffled], table.question[shuffled]
    step = np.full(battles, K_FACTOR) if table.weight is None else K_FACTOR * table.weight[shuffled]
    clustered = weighted and settings.cluster is Cluster.QUESTION
    weights = rng.standard_exponential((len(table.questions), orders)) if clustered else np.ones((1, orders))
    ratings = np.zeros(orders * systems)
    column = np.arange(orders)
    offset = column * systems
    for _ in range(battles):
        first, second = offset + a[place], offset + b[place]
        gap = (ratings[first] - ratings[second]) / POINTS
        moved = step[place] * (share[place] - 1 / (1 + np.exp(-gap)))
        if clustered:
            moved *= weights[question[place], column]
        elif weighted:
            moved *= rng.standard_exponential(orders)
        ratings[first] += moved
        ratings[second] -= moved
        place = (place + stride) % battles
    return ratings.reshape(orders, systems)


def _strides(rng: np.random.Generator, battles: int, orders: int) -> Ints:
    """Draw strides coprime to the number of battles, which visit every battle."""
    strides: list[int] = []
    while len(strides) < orders:
        candidates = rng.integers(1, max(battles, 2), orders).tolist()
        strides += [stride for stride in candidates if math.gcd(stride, battles) == 1]
    return np.array(strides[:orders], dtype=np.int64)
