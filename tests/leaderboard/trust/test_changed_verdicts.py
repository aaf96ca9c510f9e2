"""Changed verdicts: what is compared with what, shares with intervals, shifts of ratings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.records import Outcome, Preference
from data.records.retests import ORIGINAL, RetestCall
from leaderboard.battles import BattleTable
from leaderboard.ratings import IntervalKind, rate
from leaderboard.trust.causes import Cause
from leaderboard.trust.changed_verdicts import (
    ChangedShare,
    changed_share,
    comparisons_of,
    difference_of_shares,
)
from leaderboard.trust.retest import cause_rows, rating_shifts
from tests.narrow import known

MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)
OWN = RetestCall(
    battle=1,
    question_id="q1",
    domain="d",
    system_a="x",
    system_b="y",
    repeat=0,
    wording=ORIGINAL,
    turned=False,
    order="ab",
    outcome=Outcome.JUDGED,
    preference=Preference.A,
    score=None,
    asked_at=MONDAY,
)


def _again(
    repeat: int,
    at: datetime = MONDAY,
    to: Preference = Preference.A,
    **others: Any,  # noqa: ANN401 - fields of a record
) -> RetestCall:
    return replace(OWN, repeat=repeat, asked_at=at, preference=to, **others)


def _causes(*records: RetestCall) -> list[tuple[Cause, int, int]]:
    listed = comparisons_of((OWN, *records))
    return [(one.cause, one.before.repeat, one.after.repeat) for one in listed]


def test_each_comparison_differs_in_one_thing() -> None:
    """A later day is held against the first verdict, a repeat against its day, as are words and order."""
    assert _causes(_again(1), _again(2)) == [(Cause.SAME, 0, 1), (Cause.SAME, 0, 2)]
    assert _causes(_again(1, TUESDAY), _again(2, TUESDAY)) == [(Cause.DAY, 0, 1), (Cause.SAME, 1, 2)]
    turned, worded = _again(1, TUESDAY, turned=True), _again(1, TUESDAY, wording="short")
    assert _causes(_again(1, TUESDAY), turned, worded)[1:] == [(Cause.ORDER, 1, 1), (Cause.WORDING, 1, 1)]
    assert _causes(turned) == [(Cause.ORDER, 0, 1)]
    (row,) = cause_rows([OWN, turned])
    assert row.other_day == 1, "the day differs too, and is counted"


def test_what_brought_no_verdict_is_compared_with_nothing() -> None:
    """Unread, failed and pending askings stand beside the share, by how they ended."""
    records = [
        OWN,
        _again(1, to=Preference.B),
        replace(_again(2), outcome=Outcome.UNREADABLE, preference=None),
        replace(_again(3), outcome=None, preference=None),
    ]
    (row,) = cause_rows(records)
    assert (row.asked, row.share.comparisons, row.share.changed, row.share.reversed) == (3, 1, 1, 1)
    assert dict(row.unjudged) == {"unreadable": 1, "pending": 1}
    assert cause_rows([OWN]) == []


def _share(changed: int, count: int) -> ChangedShare:
    records = [
        replace(record, battle=number, question_id=f"q{number}")
        for number in range(count)
        for record in (OWN, _again(1, to=Preference.B if number < changed else Preference.A))
    ]
    return changed_share(comparisons_of(records))


def test_difference_of_shares_is_newcombes() -> None:
    """The published example: 56 of 70 against 48 of 80 gives 0.0524 to 0.3339 (Newcombe, 1998, table II)."""
    interval = difference_of_shares(_share(56, 70), _share(48, 80))
    assert interval is not None
    assert interval.as_json() == [pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4)]


def test_battles_of_one_question_count_less_than_battles_of_many() -> None:
    """Where verdicts of a question change together, the interval is that of fewer battles."""
    records = [
        replace(record, battle=10 * question + number, question_id=f"q{question}")
        for question in range(10)
        for number in range(10)
        for record in (OWN, _again(1, to=Preference.TIE if question < 3 else Preference.A))
    ]
    clustered, alone = changed_share(comparisons_of(records)), _share(30, 100)
    assert clustered.share == alone.share == 0.3
    assert known(clustered.interval).width > 2 * known(alone.interval).width


@given(st.integers(0, 40), st.integers(1, 40))
def test_interval_of_a_share_holds_it(changed: int, count: int) -> None:
    """Whatever the counts, 0 and all included, the interval lies in 0–1, has a width and holds the share."""
    share = _share(min(changed, count), count)
    interval = known(share.interval)
    assert 0 <= interval.lower <= known(share.share) <= interval.upper <= 1
    assert interval.width > 0


def _simulated(seed: int, questions: int, flips: float) -> tuple[BattleTable, list[RetestCall]]:
    """Battles of four systems, and one asking of each that changes to something else in a share."""
    random = np.random.default_rng(seed)
    strength = dict(zip("wxyz", (0.0, 0.3, 0.6, 0.9), strict=True))
    records: list[RetestCall] = []
    for number in range(questions * 6):
        a, b = [tuple(pair) for pair in ("wx", "wy", "wz", "xy", "xz", "yz")][number % 6]
        wins = random.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        own = Preference.A if wins else Preference.B
        new = own.flipped if random.random() < flips else own
        fields: dict[str, Any] = {"battle": number, "question_id": f"q{number // 6}"}
        fields |= {"system_a": a, "system_b": b}
        records += [replace(OWN, preference=own, **fields), _again(1, to=new, **fields)]
    own_verdicts = [record for record in records if not record.repeat]
    return _table(own_verdicts), records


def _table(records: list[RetestCall]) -> BattleTable:
    words = {Preference.A: "model_a", Preference.B: "model_b", Preference.TIE: "tie"}
    return BattleTable.from_columns(
        question_id=[one.question_id for one in records],
        domain=["d"] * len(records),
        model_a=[one.system_a for one in records],
        model_b=[one.system_b for one in records],
        winner=[words[one.preference] for one in records if one.preference is not None],
    )


def _points(table: BattleTable) -> dict[str, float]:
    ratings = rate(table, interval=IntervalKind.SANDWICH).ratings
    return {one.system: known(one.rating) for one in ratings}


def test_shift_of_ratings_is_that_of_a_refit() -> None:
    """With everything asked again, the shift is that of ratings fitted to the new verdicts."""
    table, records = _simulated(1, 400, 0.02)
    before, after = _points(table), _points(_table([one for one in records if one.repeat]))
    for shift in rating_shifts(table, before, records):
        assert shift.points == pytest.approx(after[shift.system] - before[shift.system], abs=0.5)


def test_shift_without_changes_has_no_interval() -> None:
    """Nothing changed: the shift is 0, and its spread cannot be seen."""
    table, records = _simulated(2, 30, 0.0)
    shifts = rating_shifts(table, _points(table), records)
    assert [(one.points, one.interval) for one in shifts] == [(0.0, None)] * 4


@pytest.mark.slow
def test_intervals_of_shifts_cover_the_shift_of_all_battles() -> None:
    """Samples of a quarter of the battles: their 95 % intervals hold the shift of all in 92–99 %."""
    covered: list[bool] = []
    for seed in range(60):
        table, records = _simulated(seed, 200, 0.1)
        ratings = _points(table)
        whole = {one.system: one.points for one in rating_shifts(table, ratings, records)}
        random = np.random.default_rng(seed)
        drawn = set(random.choice(1200, 300, replace=False).tolist())
        some = [one for one in records if one.battle in drawn]
        shifts = rating_shifts(table, ratings, some)
        covered += [whole[shift.system] in known(shift.interval) for shift in shifts]
    assert 0.92 <= np.mean(covered) <= 0.995
