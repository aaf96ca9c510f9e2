"""Decide exactly whether ratings exist, before the fit.

Source: Ford (1957): the maximum likelihood estimate exists, and is unique up to a shift, if and only if for
every split of the systems in two, some system of each half beat or tied one of the other. That is strong
connectivity of the graph with an edge from each system to the systems that it beat or tied.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from leaderboard.ratings.counts import HIGH, LOW, TIE, Ints, PairCounts

# Up to this many systems a dense adjacency matrix takes a tenth of a sparse one's time.
DENSE_SYSTEMS = 500


@dataclass(frozen=True, eq=False, kw_only=True)
class Groups:
    """Groups of systems within which ratings exist.

    Attributes:
        label: (S,) group of each system: 0 is the main group, then by decreasing size. The main group is the
            anchor's, else the one with most systems, most battles, most systems below, then by name.
        above: (S,) whether a chain of wins leads from the system to the main group but none back.
        ladder: (S,) systems linked by any chain of battles, 0 with the main group.
        over: (S,) number of systems in the ladder that certainly rank above.
    """

    label: Ints
    sizes: Ints
    above: NDArray[np.bool_]
    below: NDArray[np.bool_]
    ladder: Ints
    over: Ints
    under: Ints


def is_one_group(pairs: PairCounts) -> bool:
    """Return whether all systems form one group, so that their Bradley-Terry estimate exists."""
    if pairs.systems <= DENSE_SYSTEMS:
        edges = np.zeros((pairs.systems, pairs.systems), dtype=bool)
        edges[pairs.low, pairs.high] = pairs.outcomes[LOW] + pairs.outcomes[TIE] > 0
        edges[pairs.high, pairs.low] = pairs.outcomes[HIGH] + pairs.outcomes[TIE] > 0
        return _reaches_all(edges) and _reaches_all(edges.T)
    count, _ = connected_components(_beat_or_tied(pairs), connection="strong")
    return bool(count == 1)


def ties_settle(pairs: PairCounts) -> bool:
    """Return whether the tie parameter of a group with ties has a finite estimate.

    It has none if the systems can be placed on a line so that every winner is at least one step above the
    loser and tied systems are at most one step apart: then the step and the tie parameter may grow without
    bound. Such places exist if the graph of these difference constraints has no negative cycle.
    """
    low, high, tie = (row > 0 for row in pairs.outcomes)
    source = [pairs.low[low], pairs.high[high], pairs.low[tie], pairs.high[tie]]
    target = [pairs.high[low], pairs.low[high], pairs.high[tie], pairs.low[tie]]
    step = [np.full(low.sum() + high.sum(), -1), np.full(2 * tie.sum(), 1)]
    starts, ends, length = np.concatenate(source), np.concatenate(target), np.concatenate(step)
    place = np.zeros(pairs.systems, dtype=np.int64)
    for _ in range(pairs.systems + 1):
        lower = place.copy()
        np.minimum.at(lower, ends, place[starts] + length)
        if np.array_equal(lower, place):
            return False
        place = lower
    return True


def find_groups(pairs: PairCounts, anchor: int | None = None, names: Sequence[str] | None = None) -> Groups:
    """Group systems by strong connectivity of the graph of wins and ties; names break ties of order."""
    graph = _beat_or_tied(pairs)
    _, component = connected_components(graph, connection="strong")
    sizes = np.bincount(component)
    battles = np.bincount(component, pairs.battles)
    first = np.full(len(sizes), pairs.systems)
    by_name = np.arange(pairs.systems)
    if names is not None:
        by_name[sorted(range(pairs.systems), key=names.__getitem__)] = np.arange(pairs.systems)
    np.minimum.at(first, component, by_name)
    over, under = _beaten(graph, component.astype(np.int64), sizes)
    anchored = np.zeros(len(sizes), dtype=bool)
    if anchor is not None:
        anchored[component[anchor]] = True
    order = np.lexsort((first, -under, -battles, -sizes, ~anchored))
    place = np.empty(len(sizes), dtype=np.int64)
    place[order] = np.arange(len(sizes))
    label = place[component]
    main = label == 0
    seed = int(np.argmax(main))
    _, linked = connected_components(graph, directed=False)
    # Ladders are numbered by their first group.
    lowest = np.full(linked.max() + 1, len(sizes))
    np.minimum.at(lowest, linked, label)
    return Groups(
        label=label,
        sizes=sizes[order],
        above=_reached(graph.T.tocsr(), seed) & ~main,
        below=_reached(graph, seed) & ~main,
        ladder=np.argsort(np.argsort(lowest))[linked],
        over=over[component],
        under=under[component],
    )


def _beaten(graph: csr_array, component: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """(G,) number of systems above each group, and below it, by chains of wins."""
    over, under = np.zeros(len(sizes), dtype=np.int64), np.zeros(len(sizes), dtype=np.int64)
    if len(sizes) == 1:
        return over, under
    ends = graph.tocoo()
    apart = component[ends.row] != component[ends.col]
    edges = (np.ones(apart.sum()), (component[ends.row][apart], component[ends.col][apart]))
    groups = coo_array(edges, shape=(len(sizes), len(sizes))).tocsr()
    for group in range(len(sizes)):
        reached = _reached(groups, group)
        reached[group] = False
        under[group] = sizes[reached].sum()
        over[reached] += sizes[group]
    return over, under


def _reaches_all(edges: NDArray[np.bool_]) -> bool:
    reached = np.zeros(len(edges), dtype=bool)
    reached[:1] = True
    fresh = reached
    while fresh.any():
        fresh = edges[fresh].any(axis=0) & ~reached
        reached = reached | fresh
    return bool(reached.all())


def _beat_or_tied(pairs: PairCounts) -> csr_array:
    by_low = pairs.outcomes[LOW] + pairs.outcomes[TIE] > 0
    by_high = pairs.outcomes[HIGH] + pairs.outcomes[TIE] > 0
    source = np.concatenate([pairs.low[by_low], pairs.high[by_high]])
    target = np.concatenate([pairs.high[by_low], pairs.low[by_high]])
    shape = (pairs.systems, pairs.systems)
    return coo_array((np.ones(len(source)), (source, target)), shape=shape).tocsr()


def _reached(graph: csr_array, start: int) -> NDArray[np.bool_]:
    reached = np.zeros(graph.shape[0], dtype=bool)
    reached[breadth_first_order(graph, start, return_predecessors=False)] = True
    return reached
