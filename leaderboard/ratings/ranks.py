"""Ranks with simultaneous intervals, tie groups and letters.

Every pair of systems is tested; Holm's procedure limits the probability of any false separation to 5 %. The
best and worst possible ranks of a system count the systems that are significantly better and worse.

Systems share a letter if and only if no test separates them (compact letter display). Unlike tie groups,
letters may overlap: "A", "AB" and "B" mean that only the first and the last system are separated.

Sources: Holm (1979); Mogstad, Romano, Shaikh & Wilhelm (2024) for ranks from tests of differences; Piepho
(2004) for letters; Gramm, Guo, Hüffner, Niedermeier, Piepho & Schmid (2007) for letters as cliques that grow
until they cover every unseparated pair, in polynomial time. Piepho's insert-and-absorb may be exponential.
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
MAX_LETTERED_SYSTEMS = 400
"""Maximum number of systems with letters; longer displays are unreadable."""
_LETTER = re.compile(r"[A-Z][a-z]*")


def letters(separated: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the letters of each system.

    Args:
        separated: (S, S), symmetric: whether a test separates two systems; systems best first.

    Returns:
        (S,) letters in alphabetical order, at least one each; the best system has "A".
    """
    groups = [(letter(number), set(group)) for number, group in enumerate(_cover(separated), 1)]
    return tuple("".join(name for name, group in groups if at in group) for at in range(len(separated)))


def _cover(separated: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return groups without separated pairs that together cover every unseparated pair."""
    alike = [{*np.flatnonzero(~row).tolist(), at} for at, row in enumerate(separated)]
    # Each system is a pair with itself, so every system gets a group.
    uncovered = [set(neighbours) for neighbours in alike]
    groups = []
    for at in range(len(alike)):
        while uncovered[at]:
            group = _maximal_group(at, alike, uncovered[at])
            groups.append(group)
            for member in group:
                uncovered[member].difference_update(group)
    return sorted(groups)


def _maximal_group(first: int, alike: Sequence[set[int]], wanted: set[int]) -> tuple[int, ...]:
    """Return a maximal group without separated pairs; wanted systems come first."""
    group, room = {first}, set(alike[first])
    for other in (*sorted(wanted), *sorted(room - wanted)):
        if other in room:
            group.add(other)
            room &= alike[other]
    return tuple(sorted(group))


def letter(number: int) -> str:
    """1 → A, 26 → Z, 27 → Aa, 53 → Ba: lower case marks continuation, so joined letters can be split."""
    turn, place = divmod(number - 1, ALPHABET)
    if not turn:
        return chr(ord("A") + place)
    return letter(turn) + chr(ord("a") + place)


def letter_set(text: str) -> frozenset[str]:
    """Split the letters of a system, as written by `letters`."""
    return frozenset(_LETTER.findall(text))


class Placed(Protocol):
    """Ladder, letters and possible ranks of a system; None if unknown."""

    @property
    def ladder(self) -> int:
        """Ladder; systems of one ladder are ranked together."""

    @property
    def letters(self) -> str | None:
        """Letters, as written by `letters`."""

    @property
    def rank_lower(self) -> int | None:
        """Best possible rank."""

    @property
    def rank_upper(self) -> int | None:
        """Worst possible rank."""


def is_separated(first: Placed, second: Placed) -> bool:
    """Return whether the simultaneous test of all pairs separates two systems: by letters, else by ranks."""
    if first.ladder != second.ladder:
        return False
    if first.letters is not None and second.letters is not None:
        return not letter_set(first.letters) & letter_set(second.letters)
    ends = first.rank_lower, first.rank_upper, second.rank_lower, second.rank_upper
    best_1, worst_1, best_2, worst_2 = (math.nan if end is None else end for end in ends)
    return worst_1 < best_2 or worst_2 < best_1


def places_among(texts: Sequence[str]) -> tuple[tuple[int, int, str], ...]:
    """Rank a subset of systems by their letters on the full board; the tests do not change."""
    sets = [letter_set(text) for text in texts]
    separated = np.array([[not first & second for second in sets] for first in sets], dtype=bool)
    above = np.tril(separated, -1).sum(axis=1)
    below = np.triu(separated, 1).sum(axis=1)
    return tuple(
        (1 + int(over), len(sets) - int(under), text)
        for over, under, text in zip(above, below, letters(separated), strict=True)
    )


def places_without(
    reference: tuple[int, int, str | None], systems: Sequence[tuple[int, int, str | None]]
) -> tuple[tuple[int, int, str | None], ...]:
    """Recompute best rank, worst rank and letters of systems without the reference.

    If letters are missing, ranks move up by one for systems that are significantly below the reference.
    """
    if all(text for _, _, text in systems):
        return places_among([text or "" for _, _, text in systems])
    below = [int(reference[1] < best) for best, _, _ in systems]
    return tuple(
        (min(best - step, len(systems)), min(worst - step, len(systems)), text)
        for step, (best, worst, text) in zip(below, systems, strict=True)
    )


def wide_better(points: Floats, reach: Floats) -> tuple[Ints, Ints]:
    """Count the systems significantly better and worse than each, by non-overlapping simultaneous intervals.

    Used if there are too many systems to test every pair.
    """
    lower, upper = np.sort(points - reach), np.sort(points + reach)
    over = len(points) - np.searchsorted(lower, points + reach, side="right")
    under = np.searchsorted(upper, points - reach, side="left")
    return over, under


def simultaneous_reach(se: Floats, units: Floats) -> Floats:
    """(S,) half-widths of simultaneous Bonferroni intervals of ratings in points."""
    half = t_quantile(freedom_of(units), 1 - ERROR / max(len(se), 1)) * se / POINTS / 2
    return np.asarray(2 * POINTS * np.arcsinh(half))


def tie_groups(order: Ints, sure: NDArray[np.bool_]) -> Ints:
    """(S,) tie groups; a group ends before the first system that its best one significantly beats."""
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
    """Return ranks from 1; ratings equal to a billionth of a point share a rank."""
    rounded = np.round(points, 9)
    return 1 + len(points) - np.searchsorted(np.sort(rounded), rounded, side="right")


@dataclass(frozen=True, eq=False, kw_only=True)
class Places:
    """(S,) ranks within each ladder, and the order of all systems, best first."""

    order: Ints
    rank: Ints
    lower: Ints
    upper: Ints
    group: Ints
    letters: list[str | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Known:
    """Partial order of groups without a common scale.

    Attributes:
        ladder: (S,) systems that are ranked together, 0 with the main group.
        over: (S,) number of systems of other groups that rank above each.
        clean: (S, S) number of independent questions (or battles) on which the row's system beat the
            column's, of another group, which never won or tied; None if there are too many systems.
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

    Arrays are (S,), NaN if unknown; a system without a rating has at most one of the `ends`. Without `errors`
    of differences (very many systems) standard errors and `units` decide; without `known` each group is
    ranked separately.
    """
    size = len(points)
    if known is None:
        zeros = np.zeros(size, dtype=np.int64)
        known = Known(ladder=component, over=zeros, under=zeros, clean=None)
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
                effective = np.full(len(tested), np.inf) if units is None else units[tested]
                if known.clean is not None and not len(tested):
                    # Without ratings, clean records still separate systems.
                    no_pair = np.zeros((len(order), len(order)), dtype=bool)
                    _place_ladder(places, order, _with_clean(no_pair, order, known))
                else:
                    _place_many(places, tested, points, simultaneous_reach(se[tested], effective))
            else:
                sure = _surely_better(order, points, se, ends, component, errors)
                _place_ladder(places, order, sure if known.clean is None else _with_clean(sure, order, known))
    return places


def _order(points: Floats, ends: tuple[Floats, Floats], component: Ints, known: Known) -> Ints:
    """Return codes, best first: by known order, then only bounded below, rated, only bounded above."""
    lower, upper = ends
    rated, from_below, from_above = ~np.isnan(points), ~np.isnan(lower), ~np.isnan(upper)
    level = np.select([rated, from_below, from_above], [1, 0, 2], 3)
    value = np.select([rated, from_below, from_above], [points, lower, upper], 0.0)
    # Systems of a separately rated group stay together.
    group = np.where(rated, component, 0)
    by = (np.arange(len(points)), -value, level, group, -known.under, known.over, known.ladder)
    return np.asarray(np.lexsort(by))


def _rank(places: Places, order: Ints, points: Floats, component: Ints) -> None:
    """Set ranks by rating; equal ratings of a group share a rank."""
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
    if len(order) <= MAX_LETTERED_SYSTEMS:
        for code, text in zip(order.tolist(), letters(sure | sure.T), strict=True):
            places.letters[code] = text


def _with_clean(sure: NDArray[np.bool_], order: Ints, known: Known) -> NDArray[np.bool_]:
    """Add pairs of different groups, by the sign test on direct battles and by transitivity.

    k wins out of k have a two-sided p-value of 2^(1 − k); Bonferroni over all pairs of the ladder.
    """
    if known.clean is None or not known.clean.any():
        return sure
    count = len(order)
    pairs = count * (count - 1) / 2
    won = known.clean[np.ix_(order, order)]
    better_than = sure | ((won > 0) & (2.0 ** (1 - won) <= ERROR / pairs))
    while True:
        closure = better_than | (better_than.astype(np.float32) @ better_than.astype(np.float32) > 0)
        if (closure == better_than).all():
            return better_than
        better_than = closure


def _surely_better(
    order: Ints,
    points: Floats,
    se: Floats,
    ends: tuple[Floats, Floats],
    component: Ints,
    errors: PairedErrors,
) -> NDArray[np.bool_]:
    """(M, M) whether the row's system is significantly better, by Holm's procedure and one-sided bounds."""
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
