"""The front of cost and quality: exactly the systems that nobody beats."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leaderboard.standings.systems import pareto_front

# Few values, so that ties are common.
PLACES = st.tuples(st.integers(0, 4).map(float), st.integers(0, 4).map(float))
POINTS = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=2), PLACES, max_size=12)


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[0] and one[1] >= other[1] and one != other


@given(POINTS)
def test_front_is_what_nobody_beats(points: dict[str, tuple[float, float]]) -> None:
    """A system is on the front exactly where none is as cheap and as good, and better in one; ties stay."""
    front = pareto_front(points)
    by_definition = {
        name for name, place in points.items() if not any(_beats(other, place) for other in points.values())
    }
    assert set(front) == by_definition
    assert len(front) == len(set(front))
    assert [points[name][0] for name in front] == sorted(points[name][0] for name in front)


def test_equal_systems_are_on_the_front_together() -> None:
    """Of two at the same place neither beats the other; of two at one cost the better does."""
    assert pareto_front({"b": (1, 5), "a": (1, 5), "c": (1, 4), "d": (2, 5)}) == ("a", "b")
    assert pareto_front({}) == ()
    assert pareto_front({"free": (0, 0)}) == ("free",)
