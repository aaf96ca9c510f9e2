"""Figures as text: points, shares, counts and their intervals."""

from __future__ import annotations

from arena.web.views import Bounded


def points(value: float) -> str:
    """A rating as text, in whole points."""
    return f"{value:.0f}".replace("-", "−")


def percent(share: float | None) -> str:
    """A share as text, per cent with one decimal."""
    return "–" if share is None else f"{100 * share:.1f} %"


def whole(value: float) -> str:
    """A count as text."""
    return f"{value:,.0f}"


def interval_of_points(value: Bounded) -> str:
    """A rating's interval as text."""
    if value.lower is None or value.upper is None:
        return "no interval"
    return f"95 % interval {points(value.lower)} to {points(value.upper)}"


def interval_of_shares(value: Bounded) -> str:
    """A share's interval as text."""
    if value.lower is None or value.upper is None:
        return "no interval"
    return f"95 % interval {range_of_shares(value)}"


def range_of_shares(value: Bounded) -> str:
    """A share's interval as its two ends."""
    if value.lower is None or value.upper is None:
        return "–"
    return f"{100 * value.lower:.1f} to {100 * value.upper:.1f} %"
