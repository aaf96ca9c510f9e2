"""Which votes of visitors count: nobody knows who they are, so no network and no visitor may weigh much."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

SHARES = 250
"""A network's votes weigh at most one part in so many, or one vote where the poll is small."""
FEWEST_RATED = 300
"""Below so many votes that count there are no ratings: a few networks could move them."""
PASSED = 0.75
"""The share of gold pairs that a visitor must have answered rightly, of at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """A vote as far as counting it goes.

    Attributes:
        key: Its own, from which the lot is drawn.
        visitor: Who voted, as a pseudonym.
        network: From where, as a pseudonym.
        right: Of a gold pair, whether the known side was preferred; None for a real pair.
    """

    key: str
    visitor: str
    network: str
    right: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What counts of the votes, and what does not.

    Attributes:
        kept: Keys of the votes that count.
        gold: Votes on gold pairs; they never count.
        untried: Votes of visitors who answered no gold pair, or too few rightly.
        over_cap: Votes beyond what one network or visitor may weigh.
        cap: How many votes of one network, and of one visitor, count.
    """

    kept: Collection[str]
    gold: int
    untried: int
    over_cap: int
    cap: int


def count_ballots(ballots: Sequence[Ballot], *, salt: str = "") -> Count:
    """Choose the votes that count.

    Votes on real pairs of visitors who pass their gold pairs, thinned by lot until no network and no visitor
    has more than the cap. So a flood from n networks weighs at most n parts in `SHARES` (or n votes, in a
    poll of less than `SHARES` of them), however many votes, visitors and hours it takes.

    Args:
        ballots: Every vote that was not rejected.
        salt: Of the lot; who does not know it cannot tell which votes are kept.
    """
    trusted = passing(ballots)
    real = [one for one in ballots if one.right is None]
    known = [one for one in real if one.visitor in trusted]
    cap = cap_of(Counter(one.network for one in known))
    by_network: Counter[str] = Counter()
    by_visitor: Counter[str] = Counter()
    kept: set[str] = set()
    for one in sorted(known, key=lambda one: hashlib.sha256(f"{salt}\x1f{one.key}".encode()).digest()):
        if by_network[one.network] < cap and by_visitor[one.visitor] < cap:
            by_network[one.network] += 1
            by_visitor[one.visitor] += 1
            kept.add(one.key)
    return Count(
        kept=frozenset(kept),
        gold=len(ballots) - len(real),
        untried=len(real) - len(known),
        over_cap=len(known) - len(kept),
        cap=cap,
    )


def passing(ballots: Sequence[Ballot]) -> frozenset[str]:
    """The visitors who answered a gold pair, and enough of theirs rightly."""
    gold: dict[str, list[bool]] = defaultdict(list)
    for one in ballots:
        if one.right is not None:
            gold[one.visitor].append(one.right)
    return frozenset(name for name, found in gold.items() if sum(found) >= PASSED * len(found))


def cap_of(votes: Mapping[str, int]) -> int:
    """The least cap c ≥ 1 that is a `SHARES`-th of what counts under it: Σ min(votes, c) / `SHARES`.

    The least one is found from below, so votes beyond the cap cannot raise it.
    """
    cap = 1
    while (raised := sum(min(count, cap) for count in votes.values()) // SHARES) > cap:
        cap = raised
    return cap
