"""Which votes of visitors count: gold, and what one network or visitor may weigh."""

from __future__ import annotations

from collections import Counter

import pytest

from leaderboard.people.public_votes import SHARES, Ballot, cap_of, count_ballots


def ballots(network: str, visitor: str, real: int, *, gold: tuple[bool, ...] = (True,)) -> list[Ballot]:
    """Votes of one visitor."""
    rights: list[bool | None] = [None] * real + list(gold)
    return [
        Ballot(key=f"{network}-{visitor}-{place}", visitor=visitor, network=network, right=right)
        for place, right in enumerate(rights)
    ]


@pytest.mark.parametrize(
    ("votes", "cap"),
    [({}, 1), ({"n": 5000}, 1), ({str(n): 5 for n in range(80)}, 1), ({str(n): 5 for n in range(600)}, 5)],
)
def test_the_cap_is_a_share_of_what_counts_under_it(votes: dict[str, int], cap: int) -> None:
    """A small poll has one vote a network; a large one a 250th of its votes, never more than all of them."""
    found = cap_of(votes)
    assert min(found, max(votes.values(), default=1)) == cap or found == cap
    assert found <= max(1, sum(min(count, found) for count in votes.values()) // SHARES)


def test_votes_beyond_the_cap_cannot_raise_it() -> None:
    """A network with a million votes moves the cap by no more than one with as many as the cap."""
    honest = {str(number): 5 for number in range(700)}
    assert cap_of(honest | {"flood": 10**6}) <= cap_of(honest) + 1


def test_a_flood_weighs_one_part_in_two_hundred_and_fifty_a_network() -> None:
    """5,000 votes of 1,000 visitors on three networks count as little as three networks may."""
    honest = [one for n in range(600) for one in ballots(f"h{n}", f"v{n}", 5)]
    flood = [one for n in range(1000) for one in ballots(f"f{n % 3}", f"x{n}", 5)]
    count = count_ballots(honest + flood, salt="s")
    kept = Counter(key.split("-")[0][0] for key in count.kept)
    assert kept["h"] == 3000
    assert kept["f"] <= 3 * count.cap
    assert kept["f"] / len(count.kept) <= 3 / SHARES + 0.001
    assert count.over_cap == 5000 - kept["f"]


def test_visitors_count_who_pass_gold_pairs() -> None:
    """Without a gold pair, or with too few rightly answered, nothing of a visitor counts; gold never does."""
    given = (
        ballots("a", "right", 1)
        + ballots("b", "none", 1, gold=())
        + ballots("c", "half", 1, gold=(True, False))
        + ballots("d", "most", 1, gold=(True, True, True, False))
    )
    count = count_ballots(given)
    assert set(count.kept) == {"a-right-0", "d-most-0"}
    assert (count.gold, count.untried) == (7, 2)


def test_one_visitor_on_many_networks_is_one_visitor() -> None:
    """Changing the network does not make a visitor weigh more than one may."""
    roaming = [
        Ballot(key=f"k{n}", visitor="roams", network=f"n{n}", right=None) for n in range(50)
    ] + ballots("home", "roams", 0)
    assert len(count_ballots(roaming).kept) == count_ballots(roaming).cap == 1
