"""Verdicts that change when a judge is asked again: what is compared, and in what share."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from data.intervals import Interval, bounds_json, wilson
from data.records import Preference
from data.records.retests import ORIGINAL, RetestCall
from leaderboard.stats.intervals import cluster_variance, effective_count
from leaderboard.trust.causes import Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two verdicts on one battle, and what differs between their requests; `wording` is that of the later."""

    cause: Cause
    wording: str
    before: RetestCall
    after: RetestCall

    @property
    def changed(self) -> bool:
        """Whether the verdict is another one."""
        return self.before.preference is not self.after.preference

    @property
    def is_reversed(self) -> bool:
        """Whether the other answer wins."""
        decided = Preference.TIE not in {self.before.preference, self.after.preference}
        return decided and self.changed

    @property
    def shift(self) -> float:
        """The later share of the win of side a less the earlier, −1…1."""
        return (self.after.share_a or 0.0) - (self.before.share_a or 0.0)


def comparisons_of(records: Iterable[RetestCall]) -> list[Comparison]:
    """Compare what was asked anew with what was said before.

    Of the same request, the first verdict of each later day is compared with the battle's own (other day),
    and further ones of a day with the first of that day (same request): n verdicts give n − 1 comparisons.
    What was asked in another order or wording is compared with the same request of that day where there is
    one, so that only one thing differs, else with the battle's own verdict.

    Args:
        records: Verdicts of any battles; those of a battle without a verdict of its own are passed over.
    """
    by_battle: dict[int, list[RetestCall]] = defaultdict(list)
    for record in records:
        if record.preference is not None:
            by_battle[record.battle].append(record)
    return [comparison for verdicts in by_battle.values() for comparison in _of_battle(verdicts)]


def _of_battle(verdicts: Sequence[RetestCall]) -> Iterator[Comparison]:
    same = sorted((one for one in verdicts if _is_same(one)), key=lambda one: one.repeat)
    if not same or same[0].repeat:
        return
    own = same[0]
    first_of_day: dict[date | None, RetestCall] = {day_of(own): own}
    for later in same[1:]:
        earlier = first_of_day.get(day_of(later))
        cause = Cause.DAY if earlier is None else Cause.SAME
        yield Comparison(cause=cause, wording=ORIGINAL, before=earlier or own, after=later)
        first_of_day.setdefault(day_of(later), later)
    for other in verdicts:
        if not _is_same(other):
            before = first_of_day.get(day_of(other), own)
            yield Comparison(cause=cause_of(other), wording=other.wording, before=before, after=other)


def cause_of(call: RetestCall) -> Cause:
    """What a call was made for, whenever it was made."""
    if call.wording != ORIGINAL:
        return Cause.WORDING
    return Cause.ORDER if call.turned else Cause.SAME


def _is_same(record: RetestCall) -> bool:
    return record.wording == ORIGINAL and not record.turned


def day_of(record: RetestCall) -> date | None:
    """The day of a verdict in UTC; None where it is not known."""
    return None if record.asked_at is None else record.asked_at.date()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedShare:
    """A share of verdicts that changed, 0–1, with a 95 % interval; both None without comparisons.

    `effective` is how many independent battles say as much.
    """

    comparisons: int
    battles: int
    questions: int
    changed: int
    reversed: int
    share: float | None
    interval: Interval | None
    effective: float

    def as_json(self) -> dict[str, object]:
        """The figures by name."""
        return {
            "comparisons": self.comparisons,
            "battles": self.battles,
            "questions": self.questions,
            "changed": self.changed,
            "reversed": self.reversed,
            "share": self.share,
            **bounds_json(self.interval),
        }


def changed_share(comparisons: Sequence[Comparison]) -> ChangedShare:
    """The share of comparisons whose verdict changed.

    The interval is Wilson's for as many battles as say as much as these, which share questions: it holds for
    small counts and at 0 and 1 too.

    Source: Wilson (1927); Korn & Graubard (1998).
    """
    count = len(comparisons)
    changed = sum(comparison.changed for comparison in comparisons)
    by_question: dict[str, list[bool]] = defaultdict(list)
    for comparison in comparisons:
        by_question[comparison.after.question_id].append(comparison.changed)
    share = changed / count if count else None
    effective, interval = 0.0, None
    if share is not None:
        sums = np.array([sum(changes) - share * len(changes) for changes in by_question.values()])
        variance = cluster_variance(sums, count) or 0.0
        effective = effective_count(share, count, len(by_question), variance)
        interval = wilson(share, effective)
    return ChangedShare(
        comparisons=count,
        battles=len({comparison.after.battle for comparison in comparisons}),
        questions=len(by_question),
        changed=changed,
        reversed=sum(comparison.is_reversed for comparison in comparisons),
        share=share,
        interval=interval,
        effective=effective,
    )


def difference_of_shares(first: ChangedShare, second: ChangedShare) -> Interval | None:
    """The 95 % interval of the first share less the second, of independent samples; None without either.

    Source: Newcombe (1998), method 10, the square-and-add of Wilson's limits.
    """
    if first.share is None or second.share is None or first.interval is None or second.interval is None:
        return None
    gap = first.share - second.share
    below = math.hypot(first.share - first.interval.lower, second.interval.upper - second.share)
    above = math.hypot(first.interval.upper - first.share, second.share - second.interval.lower)
    return Interval(max(-1.0, gap - below), min(1.0, gap + above))
