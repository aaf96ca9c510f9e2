"""Posterior probabilities of claims and contexts, with method, width and error."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from data.errors import InputError
from data.models import Json
from data.models.words import to_json
from judges.metrics.factuality.graph import FactGraph, FactorTables, Inference
from judges.metrics.factuality.inference.exact import exact_posteriors, fits
from judges.metrics.factuality.inference.minibuckets import I_BOUND, minibucket_posteriors
from judges.metrics.factuality.inference.network import Network, network_of
from judges.metrics.factuality.inference.ordering import EliminationOrder, components, min_fill


class Method(StrEnum):
    """Method by which the posteriors were computed."""

    EXACT = "exact"
    WMB = "wmb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginals:
    """Posterior probability that each node is true.

    Attributes:
        marginals: By node id, in the order of the graph.
        method: Least exact method used on the parts of the graph.
        treewidth: Width of the elimination order, an upper bound on the treewidth of the graph.
        error: 0 if exact; None with split mini-buckets, which have no error estimate.
    """

    marginals: Mapping[str, float]
    method: Method
    treewidth: int
    error: float | None

    def as_json(self) -> dict[str, Json]:
        """Return the object that `arena metrics marginals` prints."""
        return to_json(self)


def marginals(
    graph: FactGraph, *, factors: FactorTables = FactorTables.TABLE1, inference: Inference = Inference.AUTO
) -> Marginals:
    """Compute the posterior of every node of a fact graph.

    Raises:
        InputError: Requested exact inference does not fit into memory.
        StatisticsError: Certain relations and priors contradict each other.

    Source: FactReasoner, section 3.2.
    """
    return network_marginals(network_of(graph, factors), inference=inference)


def network_marginals(network: Network, *, inference: Inference = Inference.AUTO) -> Marginals:
    """Compute marginals of a network; networks that are too wide are solved by connected parts."""
    order = min_fill(network)
    if inference is not Inference.WMB and fits(order):
        return _solve(network, order, inference)
    posteriors: dict[str, float] = {}
    methods: set[Method] = set()
    width = 0
    errors: list[float | None] = [0.0]
    for variables in components(network):
        part = network.part(variables)
        order = min_fill(part)
        solution = _solve(part, order, inference)
        posteriors |= solution.marginals
        width = max(width, solution.treewidth)
        methods.add(solution.method)
        errors.append(solution.error)
    known = [error for error in errors if error is not None]
    return Marginals(
        marginals={name: posteriors[name] for name in network.names},
        method=Method.WMB if Method.WMB in methods else Method.EXACT,
        treewidth=width,
        error=max(known) if len(known) == len(errors) else None,
    )


def _solve(part: Network, order: EliminationOrder, inference: Inference) -> Marginals:
    error: float | None = 0.0
    if inference is not Inference.WMB and fits(order):
        true, method = exact_posteriors(part, order).true, Method.EXACT
    elif inference is Inference.EXACT:
        message = f"Exact inference over {part.size} nodes at width {order.width} does not fit into memory."
        raise InputError(message, advice="Use --inference auto, which falls back to weighted mini-buckets.")
    else:
        approximate = minibucket_posteriors(part, order, i_bound=I_BOUND)
        true, method = approximate.true, Method.WMB
        error = None if approximate.split else 0.0
    values = dict(zip(part.names, true.tolist(), strict=True))
    return Marginals(marginals=values, method=method, treewidth=order.width, error=error)
