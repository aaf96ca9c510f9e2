"""Elimination orders: which variable to sum out first, and how wide the tables get.

Neighbourhoods are bit sets in Python integers, which makes counting the missing edges of a
neighbourhood a matter of `and` and `bit_count`.
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
    """An order with what eliminating in it costs.

    Attributes:
        order: The variables, first eliminated first.
        masks: For each of them in that order, its neighbours when it is eliminated, as a bit set.
    """

    order: tuple[int, ...]
    masks: tuple[int, ...]

    @property
    def width(self) -> int:
        """The induced width: the size of the largest separator; 0 without edges."""
        return max((mask.bit_count() for mask in self.masks), default=0)

    @property
    def cells(self) -> int:
        """The number of table cells over all separators."""
        return sum(1 << mask.bit_count() for mask in self.masks)

    def separators(self) -> list[list[int]]:
        """For each position, the later positions that its variable is joined to, ascending."""
        rank = {variable: position for position, variable in enumerate(self.order)}
        return [sorted(rank[other] for other in bits(mask)) for mask in self.masks]


def bits(mask: int) -> Iterator[int]:
    """Yield the members of a bit set, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def neighbour_masks(network: Network) -> list[int]:
    """Return the neighbourhood of every variable as a bit set."""
    masks = [0] * network.size
    for first, second in network.pairs.tolist():
        masks[first] |= 1 << second
        masks[second] |= 1 << first
    return masks


def components(network: Network) -> list[list[int]]:
    """Return the variables of each connected part, parts and variables in ascending order."""
    joined = network.neighbours()
    seen = [False] * network.size
    parts = []
    for start in range(network.size):
        if seen[start]:
            continue
        seen[start] = True
        part = [start]
        for variable in part:
            for neighbour in joined[variable]:
                if not seen[neighbour]:
                    seen[neighbour] = True
                    part.append(neighbour)
        parts.append(sorted(part))
    return parts


def min_fill(network: Network) -> EliminationOrder:
    """Find an order by min-fill, ties by degree, then by number.

    Once the width is past any table that could be held, the rest follows min-degree, which is
    enough to say how wide the network is. The width is an upper bound on the treewidth.

    Source: Kjaerulff (1990); Koller & Friedman (2009), section 9.4.3.
    """
    return _Eliminator(neighbour_masks(network)).run()


class _Eliminator:
    """Eliminates variables one at a time, keeping the costs of those that are left up to date.

    Variables of at most two neighbours go first, which is always safe. The cost of a variable with
    very many neighbours is updated only when its turn seems to come.
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
        """Take all that are left as one clique: filled in this far, they nearly are."""
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
        """Eliminate a variable and return those whose costs must be updated."""
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
