"""Two systems question by question."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from data.errors import NotFoundError
from leaderboard.paired import deciding, paired_shares, spread_most
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


def test_difference_is_between_the_same_opponents_on_the_same_question() -> None:
    overall, first, second = paired_shares(STAR, "one", "two")
    assert (overall.difference, overall.questions, overall.ahead, overall.behind) == (0.5, 3, 2, 0)
    assert (first.domain, first.difference, first.questions) == ("d", 0.5, 2)
    assert (second.domain, second.difference, second.interval) == ("e", 0.5, None)


def test_interval_is_the_t_interval_of_the_questions_differences() -> None:
    rng = np.random.default_rng(4)
    rows = [
        (f"q{at}", "d", system, "human", str(rng.choice(["model_a", "model_b", "tie"])))
        for at in range(40)
        for system in ("one", "two")
    ]
    shares = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}
    differences = [shares[one[-1]] - shares[two[-1]] for one, two in zip(rows[::2], rows[1::2], strict=True)]
    table = encoded(rows)
    found = paired_shares(table, "one", "two")[0]
    expected = ttest_1samp(differences, 0).confidence_interval()
    assert found.interval is not None
    assert found.interval.lower == pytest.approx(expected.low)
    assert found.interval.upper == pytest.approx(expected.high)


def test_exchanging_the_two_turns_the_sign() -> None:
    there, back = paired_shares(STAR, "one", "two")[0], paired_shares(STAR, "two", "one")[0]
    assert there.difference == -(back.difference or 0)
    assert (there.ahead, there.behind) == (back.behind, back.ahead)


def test_direct_battle_counts_as_the_difference_of_its_shares() -> None:
    table = encoded([("q1", "d", "one", "two", "model_b"), ("q2", "e", "one", "two", "tie")])
    overall, lost, tied = paired_shares(table, "one", "two")
    assert (overall.difference, lost.difference, tied.difference) == (-0.5, -1.0, 0.0)


def test_questions_are_ordered_by_how_far_the_systems_are_apart() -> None:
    found = spread_most(STAR, ("one", "two"), most=2)
    assert found == (("q1", {"one": 1.0, "two": 0.0}), ("q3", {"one": 1.0, "two": 0.5}))


def test_questions_that_decide_are_those_without_which_the_lead_is_gone() -> None:
    won = [(f"q{at}", "d", "a", "b", "model_a") for at in range(3)]
    lost = [("q3", "d", "a", "b", "model_b")]
    lead = deciding(encoded([*won, *lost]), "b", "a")
    assert (lead.leader, lead.other, lead.needed, lead.questions) == ("a", "b", 2, 4)
    even = deciding(encoded([*won[:1], *lost]), "a", "b")
    assert (even.leader, even.needed, even.questions) == ("a", None, 2)


def test_unknown_system_is_named() -> None:
    with pytest.raises(NotFoundError, match="nobody"):
        paired_shares(STAR, "one", "nobody")
