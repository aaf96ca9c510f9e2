"""Online Elo, for comparison: it depends on the order of the battles, so many random orders are averaged.

The orders are drawn for the battles in canonical order, each with its first system in code order on side a:
neither the order of the rows nor which system is named first changes a byte.

All orders (and resamples) are played side by side, one battle of each a step. Order k walks through one
random permutation from its own start with its own stride, which needs no memory for each order.

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
from leaderboard.ratings.uncertainty.carrying import carrying_units
from leaderboard.ratings.vocabulary import MEAN, POINTS, Bounds, Cluster, IntervalKind

K_FACTOR = 4.0
ORDERS = 100
BLOCK = 512


def rate_online(table: BattleTable, settings: Settings, anchor: Ints | None) -> RatingTable:
    """Ratings averaged over `ORDERS` random orders; intervals from reweighted battles in random orders.

    Intervals thus include the effect of a single order. Resamples always have gamma weights and
    percentile ends.
    """
    if settings.interval is IntervalKind.SANDWICH:
        message = "Online Elo has no likelihood, so no sandwich interval."
        raise InputError(message, advice="Ask for bootstrap intervals.")
    if len(table.systems) > SPARSE_ABOVE:
        message = f"Online Elo is computed for up to {SPARSE_ABOVE} systems."
        raise InputError(message, advice="Rate so many systems with the method bradley-terry.")
    settings = replace(settings, bounds=Bounds.PERCENTILE)
    table = table.oriented()
    table = table.select(table.canonical())
    zero = MEAN if settings.anchor is None else settings.anchor.zero
    points = in_gauge(_play(table, settings, ORDERS, weighted=False).mean(axis=0), anchor) + zero
    draws = in_gauge(_play(table, settings, settings.bootstrap or 0, weighted=True), anchor) + zero
    pairs = count_pairs(table)
    carrying = carrying_units(table, pairs, settings.cluster, anchor)
    estimate = resampled(np.arange(len(table.systems)), points, draws, carrying)
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
    """Strides that visit every battle: coprime to their number."""
    strides: list[int] = []
    while len(strides) < orders:
        tried = rng.integers(1, max(battles, 2), orders).tolist()
        strides += [stride for stride in tried if math.gcd(stride, battles) == 1]
    return np.array(strides[:orders], dtype=np.int64)
