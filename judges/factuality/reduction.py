"""What can be summed out before sampling, and put back afterwards.

Summing out a variable with at most two neighbours leaves a pairwise network, so that a sampler need
only walk the core that remains; the others are drawn, exactly, given a state of the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from judges.factuality.exact import impossible, share_true
from judges.factuality.network import Floats, Network

PAIR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A variable that was summed out.

    Attributes:
        variable: Its number in the whole network.
        given: The at most two neighbours that it had, ascending.
        share: The probability that it is true, one axis a neighbour.
    """

    variable: int
    given: tuple[int, ...]
    share: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """A network without its variables of few neighbours.

    Attributes:
        core: The network of those that are left.
        variables: Their numbers in the whole network.
        removed: The others, first removed first.
    """

    core: Network
    variables: tuple[int, ...]
    removed: tuple[Removed, ...]


def reduce_network(network: Network) -> Reduced:
    """Sum out every variable that has at most two neighbours when its turn comes."""
    unary = network.unary.copy()
    joined: list[dict[int, Floats]] = [{} for _ in range(network.size)]
    for row, (first, second) in enumerate(network.pairs.tolist()):
        joined[first][second] = network.tables[row]
        joined[second][first] = network.tables[row].T
    queue = [variable for variable in range(network.size) if len(joined[variable]) <= PAIR]
    gone = [False] * network.size
    removed = []
    while queue:
        variable = queue.pop()
        if gone[variable]:
            continue
        gone[variable] = True
        given = tuple(sorted(joined[variable]))
        table = _table(unary[variable], [joined[variable][other] for other in given])
        removed.append(Removed(variable=variable, given=given, share=share_true(table)))
        _pass_on(np.logaddexp(table[0], table[1]), given, unary, joined)
        for other in given:
            del joined[other][variable]
            if len(joined[other]) <= PAIR:
                queue.append(other)
    left = [variable for variable in range(network.size) if not gone[variable]]
    return Reduced(core=_core(network, left, unary, joined), variables=tuple(left), removed=tuple(removed))


def _table(unary: Floats, factors: Sequence[Floats]) -> Floats:
    match factors:
        case []:
            return unary
        case [only]:
            return unary[:, None] + only
        case _:
            return unary[:, None, None] + factors[0][:, :, None] + factors[1][:, None, :]


def _pass_on(message: Floats, given: tuple[int, ...], unary: Floats, joined: list[dict[int, Floats]]) -> None:
    peak = float(message.max())
    if peak == -np.inf:
        raise impossible()
    message = message - peak
    match given:
        case (only,):
            unary[only] += message
        case (first, second):
            whole = joined[first].get(second, 0) + message
            joined[first][second] = whole
            joined[second][first] = whole.T


def _core(network: Network, left: list[int], unary: Floats, joined: list[dict[int, Floats]]) -> Network:
    place = {variable: index for index, variable in enumerate(left)}
    factors = {
        (place[first], place[second]): table
        for first in left
        for second, table in joined[first].items()
        if first < second
    }
    return Network(
        names=tuple(network.names[variable] for variable in left),
        unary=unary[left],
        pairs=np.array(list(factors), dtype=np.int64).reshape(-1, 2),
        tables=np.array(list(factors.values()), dtype=np.float64).reshape(-1, 2, 2),
    )


def possible_state(network: Network) -> NDArray[np.bool_]:
    """Return an assignment of positive probability: a solution of the hard zeros as 2-SAT.

    Raises:
        StatisticsError: There is none.

    Source: Aspvall, Plass & Tarjan (1979).
    """
    implications: nx.DiGraph[tuple[int, int]] = nx.DiGraph()
    implications.add_nodes_from((variable, value) for variable in range(network.size) for value in (0, 1))
    for variable, value in np.argwhere(np.isneginf(network.unary)).tolist():
        implications.add_edge((variable, value), (variable, 1 - value))
    for row, one, other in np.argwhere(np.isneginf(network.tables)).tolist():
        first, second = network.pairs[row].tolist()
        implications.add_edge((first, one), (second, 1 - other))
        implications.add_edge((second, other), (first, 1 - one))
    state = np.zeros(network.size, dtype=np.bool_)
    settled: set[int] = set()
    for part in nx.strongly_connected_components(implications):
        if any((variable, 1 - value) in part for variable, value in part):
            raise impossible()
        for variable, value in part:
            if variable not in settled:
                settled.add(variable)
                state[variable] = bool(value)
    return state
