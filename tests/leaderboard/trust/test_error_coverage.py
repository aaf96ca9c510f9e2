"""Do intervals hold what another round says 95 times in a hundred? A simulation, as in docs/method."""

from __future__ import annotations

import pytest

from leaderboard.vocabulary import ErrorKind
from tests.simulated_judge import JUDGES, Coverage, Judge, coverage, coverage_of_rates, trials

LOW, HIGH = 0.93, 0.97
CHANCE = 2.0
"""Standard errors of a simulation that its figure may lie beyond the band."""


def assert_covers(found: Coverage) -> None:
    """The share of intervals that hold lies in 93–97 %, but for the luck of the simulation."""
    assert LOW - CHANCE * found.error <= found.held <= HIGH + CHANCE * found.error, found


@pytest.mark.slow
@pytest.mark.parametrize("wordings", [4, 6, 10])
@pytest.mark.parametrize("judge", ["wordings weigh much", "wordings weigh some"])
def test_intervals_hold_another_round(judge: str, wordings: int) -> None:
    """200 questions, 6 systems, 2 repeats: `all` and `judge` hold 93–97 %, questions alone less than 75 %."""
    found = coverage(trials(JUDGES[judge], questions=200, wordings=wordings, repeats=2, count=80, seed=5))
    assert_covers(found[ErrorKind.ALL])
    assert_covers(found[ErrorKind.JUDGE])
    assert found[ErrorKind.QUESTIONS].held < 0.75


@pytest.mark.slow
@pytest.mark.parametrize("wordings", [4, 10])
def test_a_retested_sample_stands_for_the_round(wordings: int) -> None:
    """A fifth of the battles asked again in further wordings: intervals around the round's rating hold."""
    rounds = trials(Judge(), questions=200, wordings=wordings, repeats=2, count=80, share=0.2, seed=6)
    found = coverage(rounds)
    assert_covers(found[ErrorKind.ALL])
    assert_covers(found[ErrorKind.JUDGE])
    assert found[ErrorKind.QUESTIONS].held < 0.75


@pytest.mark.slow
@pytest.mark.parametrize("reference", [None, "s05"])
def test_intervals_of_rates_hold_another_round(reference: str | None) -> None:
    """Win rates do as ratings do, against all systems and against one."""
    rounds = trials(Judge(), questions=200, wordings=6, repeats=2, count=80, seed=7)
    found = coverage_of_rates(rounds, reference)
    assert_covers(found[ErrorKind.ALL])
    assert_covers(found[ErrorKind.JUDGE])


def test_questions_alone_do_not_hold_another_wording() -> None:
    """In a few rounds already, intervals of questions alone miss another round where `all` holds it."""
    found = coverage(trials(Judge(), questions=40, wordings=6, repeats=2, count=8, seed=1))
    assert found[ErrorKind.QUESTIONS].held < 0.8 < found[ErrorKind.ALL].held
