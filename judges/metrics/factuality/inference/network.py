"""Markov network of a fact graph, with a factor per prior and per relation.

Variables are binary, value 0 false and 1 true; every factor has one or two of them, so that a network is
three arrays. Factors are logarithms; a hard zero is minus infinity.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError
from judges.metrics.factuality.graph import (
    CLAIM_PRIOR,
    FactEdge,
    FactGraph,
    FactNode,
    FactorTables,
    FactRelation,
    NodeKind,
)

REFERENCE_CONTEXT_PRIOR = 0.9
"""Constant in the public code, regardless of the context's own prior."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A pairwise Markov network over binary variables.

    Attributes:
        names: Name of each variable.
        unary: Logarithms of the unary factors, shape (variables, 2).
        pairs: Variables of each binary factor, lower first, distinct, shape (factors, 2).
        tables: Logarithms of the binary factors, shape (factors, 2, 2), lower variable first.
    """

    names: tuple[str, ...]
    unary: Floats
    pairs: Ints
    tables: Floats

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.names)

    def neighbours(self) -> list[dict[int, int]]:
        """Return for each variable its neighbours and the rows of their common factors."""
        joined: list[dict[int, int]] = [{} for _ in range(self.size)]
        for row, (first, second) in enumerate(self.pairs.tolist()):
            joined[first][second] = row
            joined[second][first] = row
        return joined

    def part(self, variables: Sequence[int]) -> "Network":
        """Return the sub-network of the given variables, in their order."""
        place = np.full(self.size, -1, dtype=np.int64)
        place[list(variables)] = np.arange(len(variables))
        ends = place[self.pairs]
        inside = (ends >= 0).all(axis=1)
        ends, tables = ends[inside], self.tables[inside]
        turned = ends[:, 0] > ends[:, 1]
        tables = np.where(turned[:, None, None], tables.transpose(0, 2, 1), tables)
        return Network(
            names=tuple(self.names[index] for index in variables),
            unary=self.unary[list(variables)],
            pairs=np.sort(ends, axis=1),
            tables=tables,
        )


def network_of_factors(
    names: Sequence[str], factors: Sequence[tuple[Sequence[int], Sequence[float]]]
) -> Network:
    """Create a network from factors (scope and values, the last variable changing fastest)."""
    unary = np.zeros((len(names), 2))
    tables: dict[tuple[int, int], Floats] = {}
    for scope, values in factors:
        content = np.asarray(values, dtype=np.float64)
        if content.size != 2 ** len(scope) or not (np.isfinite(content) & (content >= 0)).all():
            message = f"The factor on {list(scope)} has the values {list(values)}."
            raise InputError(message, advice="Use two or four finite, non-negative values.")
        with np.errstate(divide="ignore"):
            logs = np.log(content).reshape((2,) * len(scope))
        match tuple(scope):
            case (only,):
                unary[only] += logs
            case (first, second) if first != second:
                key = (min(first, second), max(first, second))
                turned = logs if first < second else logs.T
                tables[key] = tables[key] + turned if key in tables else turned
            case _:
                message = f"A factor has the variables {list(scope)}."
                raise InputError(message, advice="A factor needs one variable, or two different ones.")
    pairs = np.array(list(tables), dtype=np.int64).reshape(-1, 2)
    stacked = np.array(list(tables.values()), dtype=np.float64).reshape(-1, 2, 2)
    return Network(names=tuple(names), unary=unary, pairs=pairs, tables=stacked)


def network_of(graph: FactGraph, tables: FactorTables = FactorTables.TABLE1) -> Network:
    """Convert a fact graph to a Markov network.

    Source: FactReasoner, section 3.1 and Table 1; `reference-code` is the variant of its public code.
    """
    place = {node.id: index for index, node in enumerate(graph.nodes)}
    nodes = {node.id: node for node in graph.nodes}
    factors: list[tuple[Sequence[int], Sequence[float]]] = [
        ((place[node.id],), (1 - node.prior, node.prior)) for node in graph.nodes
    ]
    factors += [
        ((place[edge.source], place[edge.target]), _values(edge, nodes, tables)) for edge in graph.edges
    ]
    return network_of_factors(tuple(place), factors)


def _values(edge: FactEdge, nodes: Mapping[str, FactNode], tables: FactorTables) -> tuple[float, ...]:
    """Return the factor of an edge: (¬x,¬y), (¬x,y), (x,¬y), (x,y)."""
    p = edge.probability
    if edge.relation is FactRelation.EQUIVALENCE:
        return (p, 1 - p, 1 - p, p)
    if tables is FactorTables.TABLE1:
        source_false = (p, p)
    else:
        prior = CLAIM_PRIOR if nodes[edge.target].kind is NodeKind.CLAIM else REFERENCE_CONTEXT_PRIOR
        source_false = (1 - prior, prior)
    if edge.relation is FactRelation.ENTAILMENT:
        return (*source_false, 1 - p, p)
    return (*source_false, p, 1 - p)
