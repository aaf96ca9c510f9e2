"""Which pairs their direct battles separate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from leaderboard.standings.head_to_head import read_head_to_head, sign_test


def _pair(system: str, opponent: str, wins: int, ties: int, losses: int) -> list[dict[str, object]]:
    battles = wins + ties + losses
    return [
        {
            "system": one,
            "opponent": other,
            "battles": battles,
            "wins": won,
            "ties": ties,
            "losses": lost,
            "rate": (won + ties / 2) / battles,
        }
        for one, other, won, lost in ((system, opponent, wins, losses), (opponent, system, losses, wins))
    ]


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (5, 5), (6, 5), (9, 1), (0, 8), (700, 600)])
def test_sign_test_is_the_exact_binomial_one(wins: int, losses: int) -> None:
    """The chance equals that of an independent implementation; without decided battles it is 1."""
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    found = sign_test(np.array([float(wins)]), np.array([float(losses)]))
    assert found[0] == pytest.approx(expected)


def test_ties_say_nothing_of_who_is_better() -> None:
    """A hundred ties change the rate and leave the chance as it is."""
    rows = [*_pair("a", "b", 9, 0, 1), *_pair("a", "c", 9, 100, 1), *_pair("b", "c", 1, 0, 1)]
    meetings = read_head_to_head({"systems": ["a", "b", "c"], "pairs": rows})
    few, many = meetings.of("a", "b"), meetings.of("a", "c")
    assert few is not None
    assert many is not None
    assert few.chance == many.chance
    assert many.rate < few.rate


def test_pairs_are_apart_for_all_at_once() -> None:
    """A pair that would stand alone at 5 % does not stand among many even ones; both sides agree."""
    rows = _pair("a", "b", 9, 0, 1)
    alone = read_head_to_head({"systems": ["a", "b"], "pairs": rows})
    for opponent in "cdefg":
        rows += _pair("a", opponent, 5, 0, 5)
    among = read_head_to_head({"systems": list("abcdefg"), "pairs": rows})
    assert alone.pairs["a", "b"].apart
    assert alone.pairs["b", "a"].apart
    assert not among.pairs["a", "b"].apart
    assert among.of("b", "c") is None
