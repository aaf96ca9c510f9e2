"""Draws with known chances: the chances are those with which things are drawn, and add up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from data.errors import InputError
from leaderboard.sampling.chances import Drawn, draw_by_domain, draw_by_doubt, draw_uniformly

DOMAINS = ["a"] * 30 + ["b"] * 6 + ["c"] * 4
DOUBT = np.linspace(0, 1, 40)
DRAWS: dict[str, Callable[[int], Drawn]] = {
    "uniform": lambda seed: draw_uniformly(40, 10, seed),
    "domain": lambda seed: draw_by_domain(DOMAINS, 12, seed),
    "fewer than domains": lambda seed: draw_by_domain(DOMAINS, 2, seed),
    "doubt": lambda seed: draw_by_doubt(DOUBT, 10, seed),
}


@pytest.mark.parametrize("kind", list(DRAWS))
def test_things_are_drawn_as_often_as_their_chances_say(kind: str) -> None:
    """Over many seeds the share of draws with a thing is the chance that the draw gives it."""
    counts, chance = np.zeros(40), np.zeros(40)
    for seed in range(1500):
        drawn = DRAWS[kind](seed)
        counts[drawn.taken] += 1
        chance[drawn.taken] = drawn.sampling_prob
    assert np.abs(counts / 1500 - chance).max() < 0.06


def test_domains_get_alike_and_doubt_gets_more() -> None:
    """Twelve of three domains are four of each; what is most doubtful is drawn far more often."""
    taken = draw_by_domain(DOMAINS, 12, 1).taken
    assert sorted(DOMAINS[place] for place in taken) == ["a"] * 4 + ["b"] * 4 + ["c"] * 4
    drawn = [draw_by_doubt(DOUBT, 10, seed) for seed in range(200)]
    picked = np.concatenate([one.taken for one in drawn])
    assert (picked >= 20).mean() > 0.7
    assert {len(one.taken) for one in drawn} == {10}


def test_as_many_are_drawn_as_asked_where_little_is_doubtful() -> None:
    """What is worth nothing shares what the doubtful leave of the budget, with its chance kept."""
    drawn = draw_by_doubt(np.array([1.0] * 5 + [0.0] * 35), 20, 3)
    assert len(drawn.taken) == 20
    assert dict(zip(drawn.taken.tolist(), drawn.sampling_prob.round(6), strict=True)) == {
        place: 1.0 if place < 5 else round(15 / 35, 6) for place in drawn.taken.tolist()
    }


def test_nothing_is_drawn_from_nothing() -> None:
    """An empty frame is an error; more than there is means everything, with chance 1."""
    with pytest.raises(InputError, match="nothing to draw from"):
        draw_uniformly(0, 3, 0)
    with pytest.raises(InputError, match="cannot be drawn"):
        draw_by_domain(["a"], 0, 0)
    everything = draw_uniformly(5, 9, 0)
    assert sorted(everything.taken) == [0, 1, 2, 3, 4]
    assert set(everything.sampling_prob) == {1.0}
