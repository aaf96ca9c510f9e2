"""Exact posteriors by variable elimination and one pass back: a junction tree in numpy.

Going forth, each variable is summed out into a message over its separator, in logarithms where products
could be too small for a float, and what is kept of it is the conditional probability that it is true. Going
back, the probability of each separator is read off the parent's clique. Nothing is divided by a message, so
hard zeros cost no special case.

Source: Dechter (1999); Koller & Friedman (2009), chapters 9 and 10.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from data.errors import StatisticsError
from judges.metrics.factuality.inference.network import Floats, Network
from judges.metrics.factuality.inference.ordering import EliminationOrder

CELL_LIMIT = 1 << 25
WIDTH_LIMIT = 23
SAFE_SPAN = 600.0
"""A product of factors no smaller than exp(-600) is far from what a float cannot hold (exp(-708))."""
LOG_2 = math.log(2)
LARGE_TABLE = 1 << 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Exact posteriors.

    Attributes:
        true: The probability of each variable to be true, shape (variables,).
        log_partition: The logarithm of the partition function.
    """

    true: Floats
    log_partition: float


def fits(order: EliminationOrder) -> bool:
    """Return whether exact inference in this order fits into the memory set aside for it (about 0.5 GB)."""
    return order.width <= WIDTH_LIMIT and order.cells <= CELL_LIMIT


def impossible() -> StatisticsError:
    """Return the error of a network in which no assignment has a positive probability."""
    return StatisticsError(
        "The posteriors do not exist: relations and priors that are certain contradict each other.",
        advice="Lower a probability of 1 or raise one of 0.",
    )


def exact_posteriors(network: Network, order: EliminationOrder) -> Exact:
    """Compute the posteriors of a network, each to about 1e-12.

    Raises:
        StatisticsError: No assignment has a positive probability.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        conditionals, log_partition = _forward(network, order) or _forward_in_logs(network, order)
    return Exact(true=_backward(order, conditionals, network.size), log_partition=log_partition)


def _forward(network: Network, order: EliminationOrder) -> tuple[list[Floats], float] | None:
    """Sum the variables out; return P(variable true | separator) for each, and the log partition.

    Every factor and message is scaled so that its greatest value is 1. None where a product of them might be
    too small for a float: then the same has to be done in logarithms, which takes several times as long.
    """
    unary, unary_peaks, unary_spans = _scaled(network.unary)
    pairs, pair_peaks, pair_spans = _scaled(network.tables)
    joined = network.neighbours()
    log_partition = float(unary_peaks.sum() + pair_peaks.sum())
    messages: dict[int, list[tuple[list[int], Floats, float]]] = defaultdict(list)
    conditionals = []
    for position, (variable, separator) in enumerate(zip(order.order, order.separators(), strict=True)):
        received = messages.pop(position, [])
        rows = [joined[variable].get(order.order[at]) for at in separator]
        own_span = unary_spans[variable] + sum(pair_spans[row] for row in rows if row is not None)
        span = own_span + sum(bound for _, _, bound in received)
        if span > SAFE_SPAN:
            span = own_span + sum(_span(message) for _, message, _ in received)
            if span > SAFE_SPAN:
                return None
        joint = [None if row is None else pairs[row] for row in rows]
        turned = [variable > order.order[at] for at in separator]
        table = _product(unary[variable], joint, turned)
        if received:
            axes = {at: axis for axis, at in enumerate([position, *separator])}
            for scope, message, _ in received:
                table = table * _spread(message, tuple(axes[at] for at in scope), table.ndim)
        message = table[0] + table[1]
        conditional = table[1] / message
        peak = float(message.max())
        if not peak:
            raise impossible()
        if not message.all():
            conditional = np.where(np.isnan(conditional), 0.5, conditional)
        log_partition += math.log(peak)
        conditionals.append(conditional)
        if separator:
            messages[separator[0]].append((separator, message / peak, span + LOG_2))
    return conditionals, log_partition


def _product(unary: Floats, factors: Sequence[Floats | None], turned: Sequence[bool]) -> Floats:
    """Join a variable's factors in one table, an axis for each neighbour; a None has no factor.

    One axis after the other, so that the smallest tables possible are multiplied.
    """
    table = unary.reshape(2, 1)
    for factor, is_turned in zip(factors, turned, strict=True):
        if factor is None:
            table = table.repeat(2, axis=1)
        else:
            ahead = factor.T if is_turned else factor
            table = (table[:, :, None] * ahead[:, None, :]).reshape(2, -1)
    return table.reshape((2,) * (1 + len(factors)))


def _scaled(logs: Floats) -> tuple[Floats, Floats, list[float]]:
    """Factors with 1 as their greatest value, the logarithms of what that was, and how far they go down."""
    axes = tuple(range(1, logs.ndim))
    peaks = logs.max(axis=axes, keepdims=True)
    if np.isneginf(peaks).any():
        raise impossible()
    below = logs - peaks
    spans = -np.where(np.isneginf(below), 0.0, below).min(axis=axes)
    return np.exp(below), peaks, spans.tolist()


def _span(message: Floats) -> float:
    """Return the range of a message's possible values below 1, as a logarithm."""
    return -math.log(float(message[message > 0].min()))


def _forward_in_logs(network: Network, order: EliminationOrder) -> tuple[list[Floats], float]:
    """Return the same in logarithms."""
    joined = network.neighbours()
    messages: dict[int, list[tuple[list[int], Floats]]] = defaultdict(list)
    conditionals = []
    log_partition = 0.0
    for position, (variable, separator) in enumerate(zip(order.order, order.separators(), strict=True)):
        axes = {at: axis for axis, at in enumerate([position, *separator])}
        table = np.zeros((2,) * len(axes))
        table += network.unary[variable].reshape(2, *(1,) * len(separator))
        for at in separator:
            other = order.order[at]
            row = joined[variable].get(other)
            if row is not None:
                factor = network.tables[row] if variable < other else network.tables[row].T
                table += _spread(factor, (0, axes[at]), len(axes))
        for scope, message in messages.pop(position, ()):
            table += _spread(message, tuple(axes[at] for at in scope), len(axes))
        message = np.logaddexp(table[0], table[1])
        peak = float(message.max())
        if peak == -np.inf:
            raise impossible()
        log_partition += peak
        conditionals.append(share_true(table))
        if separator:
            messages[separator[0]].append((separator, message - peak))
    return conditionals, log_partition


def _spread(factor: Floats, axes: tuple[int, ...], dimensions: int) -> Floats:
    """View a factor, whose axes ascend, so that it adds to a table with more of them."""
    shape = [1] * dimensions
    for axis in axes:
        shape[axis] = 2
    return factor.reshape(shape)


def share_true(table: Floats) -> Floats:
    """P(true) of the first axis given the others; 0.5 where neither value is possible."""
    with np.errstate(invalid="ignore", over="ignore"):
        share = 1 / (1 + np.exp(table[0] - table[1]))
    return np.where(np.isnan(share), 0.5, share)


def _backward(order: EliminationOrder, conditionals: list[Floats], size: int) -> Floats:
    """Read off the posteriors, last eliminated first."""
    scopes = order.separators()
    waiting = [0] * len(scopes)
    for scope in scopes:
        if scope:
            waiting[scope[0]] += 1
    cliques: dict[int, Floats] = {}
    true = np.empty(size)
    for position in reversed(range(len(scopes))):
        scope = scopes[position]
        marginal = np.ones(())
        if scope:
            parent = scope[0]
            keep = set(scope)
            drop = tuple(axis for axis, at in enumerate([parent, *scopes[parent]]) if at not in keep)
            marginal = _sum_out(cliques[parent], drop)
            waiting[parent] -= 1
            if not waiting[parent]:
                del cliques[parent]
        share = conditionals[position] * marginal
        true[order.order[position]] = min(max(float(share.sum()), 0.0), 1.0)
        if waiting[position]:
            cliques[position] = np.stack((marginal - share, share))
    return true


def _sum_out(table: Floats, axes: tuple[int, ...]) -> Floats:
    """Sum over some axes, the last first: in halves, which large tables of many short axes are quicker by."""
    if table.size < LARGE_TABLE:
        return np.asarray(table.sum(axis=axes))
    left = table.ndim - len(axes)
    for axis in reversed(axes):
        halves = table.reshape(1 << axis, 2, -1)
        table = halves[:, 0] + halves[:, 1]
    return table.reshape((2,) * left)
