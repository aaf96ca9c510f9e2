"""Elimination orders of variables.

Neighbourhoods are bit sets in Python integers, so that `and` and `bit_count` count missing edges quickly.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from judges.metrics.factuality.inference.network import Network

MIN_FILL_WIDTH = 24
SAFE_DEGREE = 2
LAZY_DEGREE = 64
MANY = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class EliminationOrder:
    """An elimination order with its costs.

    Attributes:
        order: Variables in order of elimination.
        masks: Neighbours of each variable at its elimination, as bit sets.
    """

    order: tuple[int, ...]
    masks: tuple[int, ...]

    @property
    def width(self) -> int:
        """Induced width: size of the largest separator; 0 without edges."""
        return max((mask.bit_count() for mask in self.masks), default=0)

    @property
    def cells(self) -> int:
        """Number of table cells over all separators."""
        return sum(1 << mask.bit_count() for mask in self.masks)

    def separators(self) -> list[list[int]]:
        """Return for each position the later positions of its neighbours, ascending."""
        rank = {variable: position for position, variable in enumerate(self.order)}
        return [sorted(rank[other] for other in bits(mask)) for mask in self.masks]


def bits(mask: int) -> Iterator[int]:
    """Yield the members of a bit set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def neighbour_masks(network: Network) -> list[int]:
    """Return the neighbours of every variable as a bit set."""
    masks = [0] * network.size
    for first, second in network.pairs.tolist():
        masks[first] |= 1 << second
        masks[second] |= 1 << first
    return masks


def components(network: Network) -> list[list[int]]:
    """Return the variables of each connected part, in ascending order."""
    joined = network.neighbours()
    visited = [False] * network.size
    parts = []
    for start in range(network.size):
        if visited[start]:
            continue
        visited[start] = True
        part = [start]
        for variable in part:
            for neighbour in joined[variable]:
                if not visited[neighbour]:
                    visited[neighbour] = True
                    part.append(neighbour)
        parts.append(sorted(part))
    return parts


def min_fill(network: Network) -> EliminationOrder:
    """Find an order by min-fill, resolving ties by degree, then by number.

    Once the tables would not fit into memory, the rest follows min-degree, which is enough to estimate the
    width. The width is an upper bound on the treewidth.

    Source: Kjaerulff (1990); Koller & Friedman (2009), section 9.4.3.
    """
    return _Eliminator(neighbour_masks(network)).run()


class _Eliminator:
    """Eliminates variables one at a time and updates the costs of the remaining ones.

    Variables with at most two neighbours come first, which is always optimal. Costs of variables with many
    neighbours are updated lazily.
    """

    def __init__(self, masks: list[int]) -> None:
        self.masks = masks
        self.left = set(range(len(masks)))
        self.by_fill = True
        self.order: list[int] = []
        self.separators: list[int] = []
        self.costs: dict[int, tuple[int, int]] = {}
        self.heap: list[tuple[tuple[int, int], int]] = []

    def run(self) -> EliminationOrder:
        for degree in range(SAFE_DEGREE + 1):
            self._strip(degree)
        self._price(self.left)
        while self.left:
            cost, variable = heapq.heappop(self.heap)
            if variable not in self.left or cost != self.costs[variable]:
                continue
            if len(self.left) > MANY and 2 * cost[1] > len(self.left):
                self._close()
                break
            if self.by_fill and cost[1] > LAZY_DEGREE and self._cost(variable) != cost:
                self._price({variable})
                continue
            self._price(self._eliminate(variable))
        return EliminationOrder(order=tuple(self.order), masks=tuple(self.separators))

    def _strip(self, degree: int) -> None:
        queue = [variable for variable in sorted(self.left) if self.masks[variable].bit_count() <= degree]
        while queue:
            variable = queue.pop()
            if variable in self.left:
                neighbours = list(bits(self.masks[variable]))
                self._remove(variable)
                queue += [other for other in neighbours if self.masks[other].bit_count() <= degree]

    def _close(self) -> None:
        """Treat the remaining variables as a clique, which they nearly are."""
        mask = sum(1 << variable for variable in self.left)
        for variable in sorted(self.left):
            mask &= ~(1 << variable)
            self.order.append(variable)
            self.separators.append(mask)

    def _price(self, variables: set[int]) -> None:
        for variable in variables:
            cost = self._cost(variable)
            if cost != self.costs.get(variable):
                self.costs[variable] = cost
                heapq.heappush(self.heap, (cost, variable))

    def _cost(self, variable: int) -> tuple[int, int]:
        mask = self.masks[variable]
        degree = mask.bit_count()
        if not self.by_fill:
            return degree, degree
        present = sum((self.masks[neighbour] & mask).bit_count() for neighbour in bits(mask))
        return (degree * (degree - 1) - present) // 2, degree

    def _remove(self, variable: int) -> None:
        mask = self.masks[variable]
        self.left.discard(variable)
        self.order.append(variable)
        self.separators.append(mask)
        for neighbour in bits(mask):
            self.masks[neighbour] = (self.masks[neighbour] | mask) & ~(1 << neighbour) & ~(1 << variable)

    def _eliminate(self, variable: int) -> set[int]:
        """Eliminate a variable and return the variables with outdated costs."""
        mask = self.masks[variable]
        separator = list(bits(mask))
        stale = mask
        if self.by_fill:
            for neighbour in separator:
                for other in bits(mask & ~self.masks[neighbour] & ~((2 << neighbour) - 1)):
                    stale |= self.masks[neighbour] & self.masks[other]
        self._remove(variable)
        if self.by_fill and len(separator) > MIN_FILL_WIDTH:
            self.by_fill = False
            return set(self.left)
        lazy = LAZY_DEGREE if self.by_fill else len(self.masks)
        return {
            other
            for other in bits(stale & ~(1 << variable))
            if self.masks[other].bit_count() <= lazy or self.costs[other][1] <= lazy
        }
