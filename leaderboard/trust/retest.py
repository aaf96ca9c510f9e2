"""What asking a judge again changes, by cause: shares of verdicts, and shifts of ratings."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from data.intervals import Interval, bounds_json
from data.records.retests import ORIGINAL, RetestCall
from data.stats import Floats
from leaderboard.battles import BattleTable
from leaderboard.ratings.vocabulary import POINTS
from leaderboard.stats.intervals import mean_interval
from leaderboard.trust.causes import Cause
from leaderboard.trust.changed_verdicts import (
    ChangedShare,
    Comparison,
    cause_of,
    changed_share,
    comparisons_of,
    day_of,
    difference_of_shares,
)

FEWEST_CHANGED = 5
"""Questions with a changed verdict below which a shift of ratings has no interval: its spread is not seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRow:
    """How often verdicts change for one cause.

    Attributes:
        wording: The other prompt; `original` for the other causes.
        share: The changed share.
        other_day: Comparisons whose two verdicts are of different days though that is not the cause.
        asked: Calls made for it, pending ones included.
        unjudged: Those without a verdict, by how they ended; `pending` where they have not.
        beyond: Interval of the share less that of the same request; None where that is unknown.
    """

    cause: Cause
    wording: str
    share: ChangedShare
    other_day: int
    asked: int
    unjudged: Mapping[str, int]
    beyond: Interval | None

    def as_json(self) -> dict[str, object]:
        """The row of `arena rounds retest --json`."""
        return {
            "cause": self.cause.value,
            "wording": self.wording,
            "asked": self.asked,
            **self.share.as_json(),
            "unjudged": dict(self.unjudged),
            "other_day": self.other_day,
            **bounds_json(self.beyond, "beyond_"),
        }


def cause_rows(records: Sequence[RetestCall]) -> list[CauseRow]:
    """How often verdicts changed, by cause; a row for each other wording."""
    by_cause: dict[tuple[Cause, str], list[Comparison]] = defaultdict(list)
    for comparison in comparisons_of(records):
        by_cause[comparison.cause, comparison.wording].append(comparison)
    asked: dict[tuple[Cause, str], list[RetestCall]] = defaultdict(list)
    for record in records:
        if record.repeat:
            asked[cause_of(record), record.wording].append(record)
    same = changed_share(by_cause[Cause.SAME, ORIGINAL])
    order = list(Cause)
    keys = sorted({*by_cause, *asked}, key=lambda key: (order.index(key[0]), key[1]))
    return [_row(key, by_cause[key], asked[key], same) for key in keys if by_cause[key] or asked[key]]


def _row(
    key: tuple[Cause, str], listed: Sequence[Comparison], asked: Sequence[RetestCall], same: ChangedShare
) -> CauseRow:
    cause, wording = key
    unjudged = Counter(
        "pending" if record.outcome is None else record.outcome.value
        for record in asked
        if record.preference is None
    )
    days_apart = sum(day_of(comparison.before) != day_of(comparison.after) for comparison in listed)
    share = changed_share(listed)
    return CauseRow(
        cause=cause,
        wording=wording,
        share=share,
        other_day=0 if cause is Cause.DAY else days_apart,
        asked=len(asked) or len(listed),
        unjudged=unjudged,
        beyond=None if cause is Cause.SAME else difference_of_shares(share, same),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingShift:
    """How far a system's rating moves where every battle is asked anew, in points.

    `interval` is None where fewer than five questions have a changed verdict: their spread cannot be seen.
    """

    cause: Cause
    wording: str
    system: str
    points: float
    interval: Interval | None

    def as_json(self) -> dict[str, object]:
        """The figures by name."""
        return {
            "cause": self.cause.value,
            "wording": self.wording,
            "system": self.system,
            "points": self.points,
            **bounds_json(self.interval),
        }


def rating_shifts(
    table: BattleTable, ratings: Mapping[str, float], records: Sequence[RetestCall]
) -> list[RatingShift]:
    """Estimate how far ratings move if all battles were asked anew, by cause.

    The sample's changes of score, scaled up to all battles, are put through the inverse information of the
    Bradley-Terry fit: the first-order change of its solution. Ratings average the same before and after.
    Intervals are t intervals over the sampled questions.

    Args:
        table: Every judged battle of the round.
        ratings: Points by system; systems without a rating are left out with their battles.
        records: What was asked anew, each battle of the sample with the same chance of being drawn.

    Source: Bradley & Terry (1952); Cook & Weisberg (1982), section 5.2, one step from the solution.
    """
    systems = {name: code for code, name in enumerate(sorted(ratings))}
    inverse = _inverse_information(table, ratings, systems)
    by_cause: dict[tuple[Cause, str], list[Comparison]] = defaultdict(list)
    for comparison in comparisons_of(records):
        sides = {comparison.after.system_a, comparison.after.system_b}
        if sides <= systems.keys():
            by_cause[comparison.cause, comparison.wording].append(comparison)
    order = list(Cause)
    return [
        RatingShift(cause=cause, wording=wording, system=system, points=points, interval=interval)
        for cause, wording in sorted(by_cause, key=lambda key: (order.index(key[0]), key[1]))
        for system, points, interval in _shifts(by_cause[cause, wording], inverse, systems, len(table))
    ]


def _inverse_information(
    table: BattleTable, ratings: Mapping[str, float], systems: Mapping[str, int]
) -> Floats:
    """(S, S) pseudo-inverse of the information matrix, in squared natural units."""
    size = len(systems)
    codes = np.array([systems.get(name, -1) for name in table.systems])
    theta = np.array([ratings[name] for name in systems]) / POINTS
    a, b = codes[table.a], codes[table.b]
    rated = (a >= 0) & (b >= 0)
    a, b = a[rated], b[rated]
    chance = 1 / (1 + np.exp(theta[b] - theta[a]))
    weight = chance * (1 - chance) * (1.0 if table.weight is None else table.weight[rated])
    information = np.zeros((size, size))
    for one, other in ((a, a), (b, b)):
        np.add.at(information, (one, other), weight)
    for one, other in ((a, b), (b, a)):
        np.add.at(information, (one, other), -weight)
    # The one flat direction, of equal shifts, is filled up and taken out again: a cut-off may miss it.
    level = np.full((size, size), 1 / size)
    scale = max(float(np.trace(information)) / size, 1e-12)
    return np.asarray(np.linalg.inv(information + scale * level) - level / scale)


def _shifts(
    listed: Sequence[Comparison], inverse: Floats, systems: Mapping[str, int], population: int
) -> Iterator[tuple[str, float, Interval | None]]:
    by_battle: dict[int, list[Comparison]] = defaultdict(list)
    for comparison in listed:
        by_battle[comparison.after.battle].append(comparison)
    scores: dict[str, Floats] = defaultdict(lambda: np.zeros(len(systems)))
    for several in by_battle.values():
        record = several[0].after
        change = sum(comparison.shift for comparison in several) / len(several)
        scores[record.question_id][systems[record.system_a]] += change
        scores[record.question_id][systems[record.system_b]] -= change
    moved = np.stack(list(scores.values())) @ inverse * POINTS * population / len(by_battle)
    questions = len(moved)
    changed = {one.after.question_id for one in listed if one.shift}
    total = moved.sum(axis=0)
    variance = moved.var(axis=0, ddof=1) * questions if questions > 1 else np.zeros(len(systems))
    for system, code in systems.items():
        error = math.sqrt(variance[code]) if len(changed) >= FEWEST_CHANGED else None
        yield system, float(total[code]), mean_interval(float(total[code]), error, questions)
