"""Which systems nobody beats in cost and quality at once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby


def pareto_front(points: Mapping[str, tuple[float, float]]) -> tuple[str, ...]:
    """The names that are on the front: none is at least as cheap and as good, and better in one of the two.

    Two systems at the same place are both on it, or neither.

    Args:
        points: Name to cost (less is better) and quality (more is better).

    Returns:
        The names by rising cost, those of equal cost in their order of names.
    """
    front: list[str] = []
    best = float("-inf")
    ordered = sorted(points, key=lambda name: (points[name][0], name))
    for _, group in groupby(ordered, key=lambda name: points[name][0]):
        names = list(group)
        top = max(points[name][1] for name in names)
        if top > best:
            front += [name for name in names if points[name][1] == top]
            best = top
    return tuple(front)
