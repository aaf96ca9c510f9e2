from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from data.errors import NotFoundError
from leaderboard.paired import deciding, most_divisive, paired_shares
from tests.battle_tables import encoded

STAR = encoded(
    [
        ("q1", "d", "one", "human", "model_a"),
        ("q1", "d", "two", "human", "model_b"),
        ("q2", "d", "one", "human", "tie"),
        ("q2", "d", "human", "two", "tie"),
        ("q3", "e", "human", "one", "model_b"),
        ("q3", "e", "two", "human", "tie"),
        ("q4", "e", "one", "human", "model_a"),
    ]
)


def test_difference_uses_common_opponents_on_common_questions() -> None:
    overall, first, second = paired_shares(STAR, "one", "two")
    assert (overall.difference, overall.questions, overall.ahead, overall.behind) == (0.5, 3, 2, 0)
    assert (first.domain, first.difference, first.questions) == ("d", 0.5, 2)
    assert (second.domain, second.difference, second.interval) == ("e", 0.5, None)


def test_interval_is_t_interval_over_questions() -> None:
    rng = np.random.default_rng(4)
    rows = [
        (f"q{at}", "d", system, "human", str(rng.choice(["model_a", "model_b", "tie"])))
        for at in range(40)
        for system in ("one", "two")
    ]
    shares = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}
    pairs = zip(rows[::2], rows[1::2], strict=True)
    differences = [shares[first[-1]] - shares[second[-1]] for first, second in pairs]
    table = encoded(rows)
    result = paired_shares(table, "one", "two")[0]
    expected = ttest_1samp(differences, 0).confidence_interval()
    assert result.interval is not None
    assert result.interval.lower == pytest.approx(expected.low)
    assert result.interval.upper == pytest.approx(expected.high)


def test_swapped_systems_flip_sign() -> None:
    forward, back = paired_shares(STAR, "one", "two")[0], paired_shares(STAR, "two", "one")[0]
    assert forward.difference == -(back.difference or 0)
    assert (forward.ahead, forward.behind) == (back.behind, back.ahead)


def test_direct_battle_counts_as_difference_of_shares() -> None:
    table = encoded([("q1", "d", "one", "two", "model_b"), ("q2", "e", "one", "two", "tie")])
    overall, lost, tied = paired_shares(table, "one", "two")
    assert (overall.difference, lost.difference, tied.difference) == (-0.5, -1.0, 0.0)


def test_most_divisive_questions_come_first() -> None:
    result = most_divisive(STAR, ("one", "two"), count=2)
    assert result == (("q1", {"one": 1.0, "two": 0.0}), ("q3", {"one": 1.0, "two": 0.5}))


def test_deciding_counts_questions_behind_lead() -> None:
    won = [(f"q{at}", "d", "a", "b", "model_a") for at in range(3)]
    lost = [("q3", "d", "a", "b", "model_b")]
    lead = deciding(encoded([*won, *lost]), "b", "a")
    assert (lead.leader, lead.other, lead.needed, lead.questions) == ("a", "b", 2, 4)
    even = deciding(encoded([*won[:1], *lost]), "a", "b")
    assert (even.leader, even.needed, even.questions) == ("a", None, 2)


def test_unknown_system_raises_error() -> None:
    with pytest.raises(NotFoundError, match="absent"):
        paired_shares(STAR, "one", "absent")
