"""What changed between two boards of one question set, and which places systems have among themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from leaderboard.standings.places import lines_among_systems
from leaderboard.vocabulary import OVERALL

Standings = Mapping[str, Any]
Ranks = tuple[int, int]
SETTINGS = ("question set", "judge", "model", "judge hash", "pairs", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One system on both boards; its ranks are among the systems, the reference left aside.

    Attributes:
        system: Its name.
        ranks_before: Best and worst place that the earlier battles leave open.
        ranks_after: Likewise, later.
        rating_before: In points; None where it does not exist.
        rating_after: Likewise.
        ranks_expected: `ranks_before` as those who left and entered alone would move it.
        shift: Rating after less rating before, in points, each taken from the mean of the systems rated on
            both boards, so that newcomers do not move everybody; None without both.
    """

    system: str
    ranks_before: Ranks | None
    ranks_after: Ranks | None
    ranks_expected: Ranks | None
    rating_before: float | None
    rating_after: float | None
    shift: float | None

    @property
    def moved(self) -> bool:
        """Whether the ranks have no place in common with those before, newcomers and leavers left aside."""
        if self.ranks_expected is None or self.ranks_after is None:
            return False
        return self.ranks_expected[0] > self.ranks_after[1] or self.ranks_after[0] > self.ranks_expected[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What is new, gone and moved, and which settings differ (name to before and after)."""

    entered: tuple[str, ...]
    left: tuple[str, ...]
    systems: tuple[Change, ...]
    settings: Mapping[str, tuple[str, str]]


def changes(before: Standings, after: Standings) -> Changes:
    """Compare the systems of two boards overall, in the order of the later one; the reference is none."""
    old, new = _ratings(before), _ratings(after)
    ranks = ranks_among_systems(before), ranks_among_systems(after)
    both = [name for name in new if name in old]
    rated = [name for name in both if _points(old[name]) is not None and _points(new[name]) is not None]
    bases = [fmean(_points(side[name]) or 0.0 for name in rated) if rated else 0.0 for side in (old, new)]
    facts = {
        name: (str(before["facts"].get(name, "")), str(after["facts"].get(name, ""))) for name in SETTINGS
    }
    return Changes(
        entered=tuple(name for name in new if name not in old),
        left=tuple(name for name in old if name not in new),
        systems=tuple(_change(name, old[name], new[name], bases, ranks) for name in both),
        settings={name: pair for name, pair in facts.items() if pair[0] != pair[1]},
    )


def ranks_among_systems(standings: Standings) -> Mapping[str, Ranks | None]:
    """The best and the worst place of each system of a board among the systems, overall, best first.

    The reference takes none. None where a system has no place.
    """
    reference = standings.get("reference")
    lines = lines_among_systems(standings["lines"][OVERALL], reference)
    return {line["system"]: _ranks(line["rating"] or {}) for line in lines if line["system"] != reference}


def _expected(name: str, old: Mapping[str, Ranks | None], new: Mapping[str, Ranks | None]) -> Ranks | None:
    """The ranks of before, one better for each who left above, one worse for each who entered above.

    Where the battles leave open who is above, the interval widens.
    """
    before, after = old[name], new[name]
    if before is None or after is None:
        return before
    left = [ranks for one in old.keys() - new.keys() if (ranks := old[one]) is not None]
    came = [ranks for one in new.keys() - old.keys() if (ranks := new[one]) is not None]
    best = (
        before[0] - sum(ranks[0] <= before[1] for ranks in left) + sum(ranks[1] < after[0] for ranks in came)
    )
    worst = (
        before[1] - sum(ranks[1] < before[0] for ranks in left) + sum(ranks[0] <= after[1] for ranks in came)
    )
    return max(1, best), max(1, worst)


def _change(
    name: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    bases: list[float],
    ranks: tuple[Mapping[str, Ranks | None], Mapping[str, Ranks | None]],
) -> Change:
    before, after = _points(old), _points(new)
    shift = None if before is None or after is None else (after - bases[1]) - (before - bases[0])
    return Change(
        system=name,
        ranks_before=ranks[0][name],
        ranks_after=ranks[1][name],
        ranks_expected=_expected(name, *ranks),
        rating_before=before,
        rating_after=after,
        shift=shift,
    )


def _ratings(standings: Standings) -> dict[str, Mapping[str, Any]]:
    return {
        line["system"]: line["rating"] or {}
        for line in standings["lines"][OVERALL]
        if line["system"] != standings.get("reference")
    }


def _points(rating: Mapping[str, Any]) -> float | None:
    value: float | None = rating.get("rating")
    return value


def _ranks(rating: Mapping[str, Any]) -> Ranks | None:
    lower, upper = rating.get("rank_lower"), rating.get("rank_upper")
    return None if lower is None or upper is None else (lower, upper)
