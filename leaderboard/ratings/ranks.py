"""Ranks with simultaneous intervals, tie groups and letters.

Every pair of systems is tested; Holm's procedure keeps the chance of even one false separation at 5 %.
A system's best possible rank counts those that are surely better, its worst those that are surely worse.

Sources: Holm (1979); Mogstad, Romano, Shaikh & Wilhelm (2024) for ranks from tests of differences.

Compact letter displays: systems share a letter exactly where no test separates them.

Letters, unlike tie groups, may overlap: "A", "AB" and "B" say that the first and the last are separated from
each other and neither of them from the one between.

Sources: Piepho (2004) for the display; Gramm, Guo, Hüffner, Niedermeier, Piepho & Schmid (2007) for letters
as cliques that are grown until they cover every pair that is not separated. That takes polynomial time
whatever the tests say. Piepho's own insert-and-absorb gives the same letters where systems are separated by
intervals that do not meet, and takes exponential time where many pairs are separated within themselves alone.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leaderboard.ratings.counts import Floats, Ints
from leaderboard.ratings.uncertainty.intervals import ERROR, PairedErrors, better, freedom_of, t_quantile
from leaderboard.ratings.vocabulary import POINTS

ALPHABET = 26
MOST_SYSTEMS = 400
"""Largest number of systems with letters: longer rows are unreadable."""
_LETTER = re.compile(r"[A-Z][a-z]*")


def letters(separated: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the letters of each system.

    Args:
        separated: (S, S), symmetric: whether a test separates two systems; systems best first.

    Returns:
        (S,) letters in alphabetical order, at least one each. Two systems have a letter in common if and only
        if they are not separated. Letters go by the places of the systems that have them, so the best system
        has "A".
    """
    groups = _cover(separated)
    named = [(letter(number), set(group)) for number, group in enumerate(groups, 1)]
    return tuple("".join(name for name, group in named if at in group) for at in range(len(separated)))


def _cover(separated: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Group systems without a separated pair; every pair that is not separated is within one group."""
    alike = [{*np.flatnonzero(~row).tolist(), at} for at, row in enumerate(separated)]
    # Pairs that no group has yet; each system is a pair with itself, so that none is without a group.
    lacking = [set(others) for others in alike]
    groups = []
    for at in range(len(alike)):
        while lacking[at]:
            group = _grown(at, alike, lacking[at])
            groups.append(group)
            for member in group:
                lacking[member].difference_update(group)
    return sorted(groups)


def _grown(first: int, alike: Sequence[set[int]], wanted: set[int]) -> tuple[int, ...]:
    """Return a group without a separated pair that cannot grow further; wanted systems come first."""
    group, room = {first}, set(alike[first])
    for other in (*sorted(wanted), *sorted(room - wanted)):
        if other in room:
            group.add(other)
            room &= alike[other]
    return tuple(sorted(group))


def letter(number: int) -> str:
    """1 → A, 26 → Z, 27 → Aa, 53 → Ba: small letters follow, so that letters in a row stay distinct."""
    turn, place = divmod(number - 1, ALPHABET)
    if not turn:
        return chr(ord("A") + place)
    return letter(turn) + chr(ord("a") + place)


def letter_set(text: str) -> frozenset[str]:
    """Return the single letters of a system, as `letters` wrote them."""
    return frozenset(_LETTER.findall(text))


class Placed(Protocol):
    """Rank of a system and its bounds; None if the rating does not say."""

    @property
    def ladder(self) -> int:
        """Number of the ladder; systems of one ladder are ranked together."""

    @property
    def letters(self) -> str | None:
        """As `letters` wrote them."""

    @property
    def rank_lower(self) -> int | None:
        """Best rank that the battles allow."""

    @property
    def rank_upper(self) -> int | None:
        """Worst rank that the battles allow."""


def told_apart(one: Placed, other: Placed) -> bool:
    """Test whether the battles separate two systems, for all pairs at once: by letters, which show the tests.

    Without letters by places, which hold for all systems at once.
    """
    if one.ladder != other.ladder:
        return False
    if one.letters is not None and other.letters is not None:
        return not letter_set(one.letters) & letter_set(other.letters)
    ends = one.rank_lower, one.rank_upper, other.rank_lower, other.rank_upper
    best, worst, its_best, its_worst = (math.nan if end is None else end for end in ends)
    return worst < its_best or its_worst < best


def places_among(texts: Sequence[str]) -> tuple[tuple[int, int, str], ...]:
    """Rank some systems among themselves, by the letters of all.

    Leaving systems out changes no test of the others.
    """
    sets = [letter_set(text) for text in texts]
    separated = np.array([[not one & other for other in sets] for one in sets], dtype=bool)
    above = np.tril(separated, -1).sum(axis=1)
    below = np.triu(separated, 1).sum(axis=1)
    return tuple(
        (1 + int(over), len(sets) - int(under), text)
        for over, under, text in zip(above, below, letters(separated), strict=True)
    )


def places_beside(
    reference: tuple[int, int, str | None], others: Sequence[tuple[int, int, str | None]]
) -> tuple[tuple[int, int, str | None], ...]:
    """Best place, worst place and letters of systems among themselves, where places counted the reference.

    Where some have no letters, places are those that hold whatever the reference's is: one further up where
    it is surely above. No place is after the last.
    """
    if all(text for _, _, text in others):
        return places_among([text or "" for _, _, text in others])
    above = [int(reference[1] < best) for best, _, _ in others]
    return tuple(
        (min(best - step, len(others)), min(worst - step, len(others)), text)
        for step, (best, worst, text) in zip(above, others, strict=True)
    )


def wide_better(points: Floats, reach: Floats) -> tuple[Ints, Ints]:
    """Count the systems that are surely better, and surely worse, from Bonferroni intervals alone.

    Used where systems are too many for every pair: two systems are apart where their simultaneous
    intervals do not meet.
    """
    lower, upper = np.sort(points - reach), np.sort(points + reach)
    over = len(points) - np.searchsorted(lower, points + reach, side="right")
    under = np.searchsorted(upper, points - reach, side="left")
    return over, under


def simultaneous_reach(se: Floats, units: Floats) -> Floats:
    """(S,) how far simultaneous Bonferroni intervals of ratings reach to either side, in points."""
    half = t_quantile(freedom_of(units), 1 - ERROR / max(len(se), 1)) * se / POINTS / 2
    return np.asarray(2 * POINTS * np.arcsinh(half))


def tie_groups(order: Ints, sure: NDArray[np.bool_]) -> Ints:
    """(S,) group of each system; a new one begins with the first that the group's best surely beats."""
    groups = np.zeros(len(order), dtype=np.int64)
    if not len(order):
        return groups
    best, number = order[0], 1
    for system in order:
        if sure[best, system]:
            best, number = system, number + 1
        groups[system] = number
    return groups


def competition_ranks(points: Floats) -> Ints:
    """1 for the best; ratings equal to a billionth of a point share a rank."""
    rounded = np.round(points, 9)
    return 1 + len(points) - np.searchsorted(np.sort(rounded), rounded, side="right")


@dataclass(frozen=True, eq=False, kw_only=True)
class Places:
    """(S,) places within each component, and the order of all systems, best first."""

    order: Ints
    rank: Ints
    lower: Ints
    upper: Ints
    group: Ints
    letters: list[str | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Known:
    """Order of groups that have no common scale, as far as it is known.

    Attributes:
        ladder: (S,) group of systems that share places, 0 for the main one's.
        over: (S,) how many systems of other groups stand above each.
        clean: (S, S) on how many independent questions (or battles) the row's system beat the column's, of
            another group, which never took a share of a win from it; None if systems are too many.
    """

    ladder: Ints
    over: Ints
    under: Ints
    clean: Floats | None


def place_systems(
    points: Floats,
    se: Floats,
    ends: tuple[Floats, Floats],
    component: Ints,
    errors: PairedErrors | None,
    units: Floats | None = None,
    known: Known | None = None,
) -> Places:
    """Order the systems of each ladder, with rank intervals.

    Arrays are (S,), NaN where there is none; of a system without a rating at most one of its `ends` is a
    number. Without `errors` of differences (very many systems) standard errors and `units` decide; without
    `known` every group has places of its own.
    """
    size = len(points)
    if known is None:
        nobody = np.zeros(size, dtype=np.int64)
        known = Known(ladder=component, over=nobody, under=nobody, clean=None)
    places = Places(
        order=_order(points, ends, component, known),
        rank=np.zeros(size, dtype=np.int64),
        lower=np.ones(size, dtype=np.int64),
        upper=np.zeros(size, dtype=np.int64),
        group=np.ones(size, dtype=np.int64),
        letters=[None] * size,
    )
    edges = np.searchsorted(known.ladder[places.order], np.arange(known.ladder.max(initial=0) + 2))
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if last > first:
            order = places.order[first:last]
            _rank(places, order, points, component)
            if errors is None:
                tested = order[~np.isnan(points[order]) & ~np.isnan(se[order])]
                behind = np.full(len(tested), np.inf) if units is None else units[tested]
                if known.clean is not None and not len(tested):
                    # Nobody has a rating, and who beat whom in every battle is known all the same.
                    nobody_yet = np.zeros((len(order), len(order)), dtype=bool)
                    _place_ladder(places, order, _with_clean(nobody_yet, order, known))
                else:
                    _place_many(places, tested, points, simultaneous_reach(se[tested], behind))
            else:
                sure = _surely_better(order, points, se, ends, component, errors)
                _place_ladder(places, order, sure if known.clean is None else _with_clean(sure, order, known))
    return places


def _order(points: Floats, ends: tuple[Floats, Floats], component: Ints, known: Known) -> Ints:
    """Best first: by known order; then bounded from below alone, rated, from above alone."""
    lower, upper = ends
    rated, from_below, from_above = ~np.isnan(points), ~np.isnan(lower), ~np.isnan(upper)
    level = np.select([rated, from_below, from_above], [1, 0, 2], 3)
    value = np.select([rated, from_below, from_above], [points, lower, upper], 0.0)
    # A group that is rated by itself stays together.
    group = np.where(rated, component, 0)
    by = (np.arange(len(points)), -value, level, group, -known.under, known.over, known.ladder)
    return np.asarray(np.lexsort(by))


def _rank(places: Places, order: Ints, points: Floats, component: Ints) -> None:
    """Places by rating: equal ratings of one group share theirs."""
    rank = np.arange(1, len(order) + 1)
    rated = ~np.isnan(points[order])
    for group in np.unique(component[order[rated]]).tolist():
        members = np.flatnonzero(rated & (component[order] == group))
        rank[members] = members[0] + competition_ranks(points[order[members]])
    places.rank[order] = rank
    places.upper[order] = len(order)


def _place_ladder(places: Places, order: Ints, sure: NDArray[np.bool_]) -> None:
    places.lower[order] = 1 + sure.sum(axis=0)
    places.upper[order] = len(order) - sure.sum(axis=1)
    places.group[order] = tie_groups(np.arange(len(order)), sure)
    if len(order) <= MOST_SYSTEMS:
        for code, text in zip(order.tolist(), letters(sure | sure.T), strict=True):
            places.letters[code] = text


def _with_clean(sure: NDArray[np.bool_], order: Ints, known: Known) -> NDArray[np.bool_]:
    """Add pairs of different groups: by the sign test where they met, and by systems between them.

    One that beat another on k questions and never lost a share has a two-sided chance of 2^(1 − k) where both
    are alike; Bonferroni over all pairs of the ladder.
    """
    if known.clean is None or not known.clean.any():
        return sure
    count = len(order)
    pairs = count * (count - 1) / 2
    won = known.clean[np.ix_(order, order)]
    found = sure | ((won > 0) & (2.0 ** (1 - won) <= ERROR / pairs))
    while True:
        more = found | (found.astype(np.float32) @ found.astype(np.float32) > 0)
        if (more == found).all():
            return found
        found = more


def _surely_better(
    order: Ints,
    points: Floats,
    se: Floats,
    ends: tuple[Floats, Floats],
    component: Ints,
    errors: PairedErrors,
) -> NDArray[np.bool_]:
    """(M, M) whether the row's system is surely better: by Holm, and by one-sided bounds."""
    lower, upper = ends[0][order], ends[1][order]
    tested = ~np.isnan(points[order]) & ~np.isnan(se[order])
    sure = np.zeros((len(order), len(order)), dtype=bool)
    inner = np.flatnonzero(tested)
    codes = order[inner]
    sure[np.ix_(inner, inner)] = better(points[codes], errors.among(codes))
    single = np.isnan(points[order])
    one_scale = component[order][:, None] == component[order]
    bounded = (single[:, None] != single[None, :]) & one_scale
    with np.errstate(invalid="ignore"):
        sure |= bounded & (lower[:, None] > upper[None, :])
    return sure


def _place_many(places: Places, tested: Ints, points: Floats, reach: Floats) -> None:
    over, under = wide_better(points[tested], reach)
    places.lower[tested] = 1 + over
    places.upper[tested] -= under
    lowest, number = np.inf, 0
    for code, low, high in zip(
        tested.tolist(), (points[tested] - reach).tolist(), (points[tested] + reach).tolist(), strict=True
    ):
        if number == 0 or high < lowest:
            lowest, number = low, number + 1
        places.group[code] = number
