"""Weighted mini-buckets: variable elimination with bounded tables, the paper's option.

Buckets that are too wide are split into mini-buckets, each summed with a power below one; costs are shifted
between them until their beliefs about the variable agree. The result is exact if no bucket is split.

Source: Liu & Ihler (2011), "Bounding the partition function using Hölder's inequality".
"""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from scipy.special import logsumexp

from judges.metrics.factuality.inference.exact import impossible
from judges.metrics.factuality.inference.network import Floats, Network
from judges.metrics.factuality.inference.ordering import EliminationOrder

I_BOUND = 6
ROUNDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class MiniBuckets:
    """Approximate posteriors.

    Attributes:
        true: Probability that each variable is true, shape (variables,).
        split: Number of split buckets; 0 means exact posteriors.
    """

    true: Floats
    split: int


@dataclass(slots=True, kw_only=True)
class _Part:
    """A mini-bucket with the axes `scope`, beginning with its own variable."""

    scope: tuple[int, ...]
    table: Floats
    weight: float = 1.0
    children: "list[_Part]" = field(default_factory=list)
    parent: "_Part | None" = None
    up: Floats = field(default_factory=lambda: np.zeros(()))
    down: Floats = field(default_factory=lambda: np.zeros(()))

    def outward(self) -> Floats:
        """Return the table with the messages of its children."""
        total = self.table
        for child in self.children:
            total = total + _onto(child.up, child.scope[1:], self.scope)
        return total

    def belief(self) -> Floats:
        """Return the logarithms of the belief about the scope, with maximum 0."""
        scores: Floats = (self.outward() + self.down) / self.weight
        peak = float(scores.max())
        if peak == -np.inf:
            raise impossible()
        return scores - peak


def minibucket_posteriors(
    network: Network, order: EliminationOrder, *, i_bound: int = I_BOUND, rounds: int = ROUNDS
) -> MiniBuckets:
    """Approximate the posteriors with tables over at most `i_bound` + 1 variables.

    Raises:
        StatisticsError: No assignment has a positive probability.
    """
    buckets = _buckets(network, order, i_bound)
    split = sum(len(bucket) > 1 for bucket in buckets)
    for _ in range(rounds if split else 1):
        _forward(buckets)
        _backward(buckets)
    true = np.empty(network.size)
    for variable, bucket in zip(order.order, buckets, strict=True):
        belief = _agreed(bucket)
        true[variable] = np.exp(belief[1] - np.logaddexp(belief[0], belief[1]))
    return MiniBuckets(true=true, split=split)


def _buckets(network: Network, order: EliminationOrder, i_bound: int) -> list[list[_Part]]:
    rank = {variable: position for position, variable in enumerate(order.order)}
    factors: dict[int, list[_Part]] = defaultdict(list)
    for variable, unary in enumerate(network.unary):
        factors[rank[variable]].append(_Part(scope=(rank[variable],), table=unary))
    for (first, second), table in zip(network.pairs.tolist(), network.tables, strict=True):
        rank_a, rank_b = rank[first], rank[second]
        turned = table if rank_a < rank_b else table.T
        factors[min(rank_a, rank_b)].append(
            _Part(scope=(min(rank_a, rank_b), max(rank_a, rank_b)), table=turned)
        )
    incoming: dict[int, list[_Part]] = defaultdict(list)
    buckets = []
    for position in range(network.size):
        bucket = _split(factors[position], incoming.pop(position, []), i_bound + 1)
        for part in bucket:
            part.weight = 1 / len(bucket)
            part.down = np.zeros((1,) * len(part.scope))
            if len(part.scope) > 1:
                incoming[part.scope[1]].append(part)
        buckets.append(bucket)
    return buckets


def _split(factors: list[_Part], senders: list[_Part], maximum: int) -> list[_Part]:
    items = [(factor.scope, factor, False) for factor in factors]
    items += [(sender.scope[1:], sender, True) for sender in senders]
    bins: list[tuple[set[int], list[tuple[_Part, bool]]]] = []
    for scope, part, sends in sorted(items, key=lambda item: (-len(item[0]), item[0])):
        room = [bucket for bucket in bins if len(bucket[0] | set(scope)) <= max(maximum, len(bucket[0]))]
        bucket = room[0] if room else (set(), [])
        if not room:
            bins.append(bucket)
        bucket[0].update(scope)
        bucket[1].append((part, sends))
    return [_part(tuple(sorted(scope)), inside) for scope, inside in bins]


def _part(scope: tuple[int, ...], inside: list[tuple[_Part, bool]]) -> _Part:
    merged = _Part(scope=scope, table=np.zeros((2,) * len(scope)))
    for part, sends in inside:
        if sends:
            part.parent = merged
            merged.children.append(part)
        else:
            merged.table = merged.table + _onto(part.table, part.scope, scope)
    return merged


def _onto(table: Floats, scope: tuple[int, ...], target: tuple[int, ...]) -> Floats:
    positions = set(scope)
    return table.reshape([2 if position in positions else 1 for position in target])


def _own_marginal(scores: Floats) -> Floats:
    axes = tuple(range(1, scores.ndim))
    return np.asarray(logsumexp(scores, axis=axes)) if axes else scores


def _agreed(bucket: list[_Part]) -> Floats:
    total = np.zeros(2)
    for part in bucket:
        marginal = _own_marginal(part.belief())
        total = total + part.weight * (marginal - logsumexp(marginal))
    if float(total.max()) == -np.inf:
        raise impossible()
    return total


def _forward(buckets: list[list[_Part]]) -> None:
    for bucket in buckets:
        if len(bucket) > 1:
            agreed = _agreed(bucket)
            for part in bucket:
                marginal = _own_marginal(part.belief())
                shift = np.where(
                    np.isneginf(agreed), -np.inf, agreed - np.where(np.isneginf(marginal), 0, marginal)
                )
                part.table = part.table + part.weight * shift.reshape(2, *(1,) * (len(part.scope) - 1))
        for part in bucket:
            scores = part.outward() / part.weight
            message = part.weight * np.logaddexp(scores[0], scores[1])
            peak = float(np.max(message))
            if peak == -np.inf:
                raise impossible()
            part.up = message - peak


def _backward(buckets: list[list[_Part]]) -> None:
    for bucket in reversed(buckets):
        for part in bucket:
            if part.parent is None:
                continue
            positions = set(part.scope)
            scores = part.parent.belief()
            drop = tuple(axis for axis, position in enumerate(part.parent.scope) if position not in positions)
            shared = np.asarray(logsumexp(scores, axis=drop)) if drop else scores
            part.down = np.where(np.isneginf(part.up), 0, part.weight * shared - np.maximum(part.up, -1e300))[
                None
            ]
