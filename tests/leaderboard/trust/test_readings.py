"""Readings: what several rows of one battle become."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from data.errors import InputError
from data.records import Outcome, Preference
from data.records.retests import ORIGINAL, RetestCall
from leaderboard.battles import BattleTable
from leaderboard.trust.judge_error.readings import Readings


def row(first: str, second: str, share: float, repeat: int, wording: str) -> RetestCall:
    """A verdict of a retest on question q1."""
    return RetestCall(
        battle=1,
        question_id="q1",
        domain="all",
        system_a=first,
        system_b=second,
        repeat=repeat,
        wording=wording,
        turned=False,
        order="ab",
        outcome=Outcome.JUDGED,
        preference=Preference.A if share > 0.5 else Preference.B,
        score=share,
        asked_at=None,
    )


def table(rows: list[tuple[str, str, str, str]]) -> BattleTable:
    """Rows of question, systems and winner."""
    question, first, second, winner = (list(column) for column in zip(*rows, strict=True))
    return BattleTable.from_columns(question, ["all"] * len(rows), first, second, winner)


def test_rows_of_one_battle_wording_and_repeat_are_one_reading() -> None:
    """Both orders of one call are a reading, their mean, whichever system stands first."""
    rows = [("q", "x", "y", "model_a"), ("q", "y", "x", "tie"), ("q", "x", "y", "model_b")]
    readings = Readings.from_table(table(rows), ["w", "w", "w"], ["0", "0", "1"])
    assert readings.rows == 3
    assert len(readings) == 2
    assert sorted(readings.values[:, 0].tolist()) == [0.0, 0.75]
    assert readings.table().share.tolist() == [0.375]


def test_a_row_without_repeat_is_a_call_of_its_own() -> None:
    """Rows that only name their wording are as many readings."""
    rows = [("q", "x", "y", "model_a")] * 3
    assert len(Readings.from_table(table(rows), ["w", "w", "v"])) == 3
    assert len(Readings.from_table(table(rows), None, ["", "", "1"])) == 3
    assert len(Readings.from_table(table(rows), None, ["1", "1", "1"])) == 1


def test_the_mean_counts_every_wording_alike() -> None:
    """A battle's share is the mean over wordings of the means over repeats, not over rows."""
    rows = [("q", "x", "y", word) for word in ("model_a", "model_a", "model_a", "model_b")]
    readings = Readings.from_table(table(rows), ["w", "w", "w", "v"])
    assert readings.table().share.tolist() == [0.5]


def test_rows_that_count_several_times_are_refused() -> None:
    """A count of battles hides which of them was read again."""
    one = table([("q", "x", "y", "model_a")])
    with pytest.raises(InputError, match="hide which"):
        Readings.from_table(replace(one, weight=np.ones(1)))


def test_a_round_and_its_retest_join_by_question_and_pair() -> None:
    """The estimate depends on the round's own verdicts alone; its own rows in the retest count once."""
    judged = table([("q1", "x", "y", "model_a"), ("q2", "y", "x", "model_a"), ("q1", "x", "z", "tie")])
    again = [
        row("x", "y", 1.0, 0, ORIGINAL),
        row("y", "x", 0.75, 1, ORIGINAL),
        row("y", "x", 0.0, 1, "other"),
    ]
    readings = Readings.of_round(judged, again)
    assert len(readings) == 5
    assert int(readings.own.sum()) == 3
    assert readings.wordings == ("original", "other")
    shares = dict(zip(readings.table().question.tolist(), readings.table().share.tolist(), strict=False))
    assert readings.table().share.tolist() == [1.0, 0.5, 0.0]
    assert set(shares) == {0, 1}


def test_a_retest_of_another_round_is_refused() -> None:
    """A retested battle that the round has not is no reading of the round's."""
    judged = table([("q1", "x", "y", "model_a")])
    with pytest.raises(InputError, match="x with z on q1"):
        Readings.of_round(judged, [row("x", "z", 1.0, 1, "v")])
