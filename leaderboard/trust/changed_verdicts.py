"""Verdicts that change when a judge is asked again: what is compared, in what share, and drift of a judge."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

import numpy as np

from data.records import Preference
from data.records.retests import ORIGINAL, AskingRecord
from data.stats import Interval, bounds_json
from leaderboard.stats.intervals import cluster_variance, effective_count, wilson
from leaderboard.trust.asked_again import Cause, DriftState

FEWEST = 10
"""Verdicts on each side below which nothing is said of drift."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two verdicts on one battle, and what differs between their requests; `wording` is that of the later."""

    cause: Cause
    wording: str
    before: AskingRecord
    after: AskingRecord

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


def comparisons_of(records: Iterable[AskingRecord]) -> list[Comparison]:
    """Compare what was asked anew with what was said before.

    Of the same request, the first verdict of each later day is compared with the battle's own (other day),
    and further ones of a day with the first of that day (same request): n verdicts give n − 1 comparisons.
    What was asked in another order or wording is compared with the same request of that day where there is
    one, so that only one thing differs, else with the battle's own verdict.

    Args:
        records: Verdicts of any battles; those of a battle without a verdict of its own are passed over.
    """
    by_battle: dict[int, list[AskingRecord]] = defaultdict(list)
    for record in records:
        if record.preference is not None:
            by_battle[record.battle].append(record)
    return [comparison for verdicts in by_battle.values() for comparison in _of_battle(verdicts)]


def _of_battle(verdicts: Sequence[AskingRecord]) -> Iterator[Comparison]:
    same = sorted((one for one in verdicts if _is_same(one)), key=lambda one: one.repeat)
    if not same or same[0].repeat:
        return
    own = same[0]
    first_of_day: dict[date | None, AskingRecord] = {day_of(own): own}
    for later in same[1:]:
        earlier = first_of_day.get(day_of(later))
        cause = Cause.DAY if earlier is None else Cause.SAME
        yield Comparison(cause=cause, wording=ORIGINAL, before=earlier or own, after=later)
        first_of_day.setdefault(day_of(later), later)
    for other in verdicts:
        if not _is_same(other):
            before = first_of_day.get(day_of(other), own)
            yield Comparison(cause=asked_cause(other), wording=other.wording, before=before, after=other)


def asked_cause(asking: AskingRecord) -> Cause:
    """What an asking was made for, whenever it was asked."""
    if asking.wording != ORIGINAL:
        return Cause.WORDING
    return Cause.ORDER if asking.turned else Cause.SAME


def _is_same(record: AskingRecord) -> bool:
    return record.wording == ORIGINAL and not record.turned


def day_of(record: AskingRecord) -> date | None:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Whether a judge is the one that judged before.

    Attributes:
        state: `changed` where more verdicts changed than asking again explains, `unknown` where too few were
            asked to say.
        controls: Changed verdicts on control battles.
        repeats: Changed verdicts where the same request was asked again.
        difference: Interval of the first share less the second.
    """

    state: DriftState
    controls: ChangedShare
    repeats: ChangedShare
    difference: Interval | None

    def as_json(self) -> dict[str, object]:
        """The figures by name."""
        return {
            "state": self.state.value,
            "controls": self.controls.as_json(),
            "repeats": self.repeats.as_json(),
            **bounds_json(self.difference, "difference_"),
        }


def drift_of(controls: Sequence[Comparison], repeats: Sequence[Comparison]) -> Drift:
    """Compare what control battles changed with what asking the same request again changes.

    The judge counts as changed where the 95 % interval of the difference of both shares lies above 0.

    Args:
        controls: Control battles: what the judge said before, and what it says now.
        repeats: Comparisons of the same request, of which nobody thinks that the judge changed between.
    """
    share, usual = changed_share(controls), changed_share(repeats)
    difference = difference_of_shares(share, usual)
    if difference is None or min(share.comparisons, usual.comparisons) < FEWEST:
        state = DriftState.UNKNOWN
    else:
        state = DriftState.CHANGED if difference.lower > 0 else DriftState.SAME
    return Drift(state=state, controls=share, repeats=usual, difference=difference)


def control_comparisons(records: Iterable[AskingRecord]) -> list[Comparison]:
    """Each control battle's verdict before beside the one of now, whatever days lie between."""
    by_battle: dict[int, list[AskingRecord]] = defaultdict(list)
    for record in records:
        if record.preference is not None:
            by_battle[record.battle].append(record)
    return [
        Comparison(cause=Cause.DAY, wording=ORIGINAL, before=before, after=after)
        for several in by_battle.values()
        for before, after in pairwise(sorted(several, key=lambda record: record.repeat))
        if not before.repeat
    ]
