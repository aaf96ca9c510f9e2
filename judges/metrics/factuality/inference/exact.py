"""Exact posteriors by variable elimination and a backward pass: a junction tree in numpy.

The forward pass sums out each variable into a message over its separator, in logarithms, and stores the
conditional probability that it is true. The backward pass reads the probability of each separator from the
parent's clique. Messages are never divisors, so hard zeros need no special case.

Source: Dechter (1999); Koller & Friedman (2009), chapters 9 and 10.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from data.errors import StatisticsError
from judges.metrics.factuality.inference.network import Floats, Network
from judges.metrics.factuality.inference.ordering import EliminationOrder

CELL_LIMIT = 1 << 25
WIDTH_LIMIT = 23


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Exact posteriors.

    Attributes:
        true: Probability that each variable is true, shape (variables,).
    """

    true: Floats
    log_partition: float


def fits(order: EliminationOrder) -> bool:
    """Return whether exact inference in this order fits into memory (about 0.5 GB)."""
    return order.width <= WIDTH_LIMIT and order.cells <= CELL_LIMIT


def impossible() -> StatisticsError:
    """Return the error for a network without any possible assignment."""
    return StatisticsError(
        "The posteriors are undefined: relations and priors with certainty contradict each other.",
        advice="Lower a probability of 1 or raise a probability of 0.",
    )


def exact_posteriors(network: Network, order: EliminationOrder) -> Exact:
    """Compute the posteriors of a network, with errors of about 1e-12.

    Raises:
        StatisticsError: No assignment has a positive probability.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        conditionals, log_partition = _forward(network, order)
    return Exact(true=_backward(order, conditionals, network.size), log_partition=log_partition)


def _forward(network: Network, order: EliminationOrder) -> tuple[list[Floats], float]:
    """Sum out the variables; return P(variable true | separator) for each, and the log partition."""
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
    """Reshape a factor with ascending axes for broadcasting to a larger table."""
    shape = [1] * dimensions
    for axis in axes:
        shape[axis] = 2
    return factor.reshape(shape)


def share_true(table: Floats) -> Floats:
    """Return P(true) of the first axis conditional on the other axes; 0.5 if neither value is possible."""
    with np.errstate(invalid="ignore", over="ignore"):
        share = 1 / (1 + np.exp(table[0] - table[1]))
    return np.where(np.isnan(share), 0.5, share)


def _backward(order: EliminationOrder, conditionals: list[Floats], size: int) -> Floats:
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
            marginal = cliques[parent].sum(axis=drop)
            waiting[parent] -= 1
            if not waiting[parent]:
                del cliques[parent]
        share = conditionals[position] * marginal
        true[order.order[position]] = min(max(float(share.sum()), 0.0), 1.0)
        if waiting[position]:
            cliques[position] = np.stack((marginal - share, share))
    return true
