"""What a judge gives a system beyond people."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.agreement.bias import HeldBattle, system_biases


def battle(question: str, judge: float, people: float, domain: str = "d") -> HeldBattle:
    """One against two."""
    return HeldBattle(
        question=question, domain=domain, system_a="one", system_b="two", judge=judge, people=people
    )


def test_bias_is_the_difference_of_mean_shares_and_sums_to_nothing_over_a_pair() -> None:
    """What one of two systems gains by the judge, the other loses, overall and in each domain."""
    held = [battle("q1", 1.0, 0.5), battle("q2", 1.0, 1.0, "e"), battle("q3", 0.5, 0.0, "e")]
    found = {(one.system, one.domain): one for one in system_biases(held)}
    assert set(found) == {(name, domain) for name in ("one", "two") for domain in ("overall", "d", "e")}
    assert found["one", "overall"].bias == pytest.approx(1 / 3)
    assert found["two", "overall"].bias == pytest.approx(-1 / 3)
    assert (found["one", "e"].judge, found["one", "e"].people) == (0.75, 0.5)
    assert found["one", "d"].lower is None


def test_pairs_on_one_question_count_as_one_observation() -> None:
    """Copies of every pair on its own question leave the interval as wide as it was."""
    held = [battle(f"q{number}", float(number % 2), 0.5 * (number % 3)) for number in range(30)]
    once, thrice = system_biases(held)[0], system_biases(held * 3)[0]
    assert (once.questions, once.pairs, thrice.pairs) == (30, 30, 90)
    assert once.lower == pytest.approx(thrice.lower)
    assert once.upper == pytest.approx(thrice.upper)


def test_intervals_hold_what_they_promise() -> None:
    """Over samples of questions with effects of their own, about 95 % of the intervals hold the true bias."""
    draw, held = np.random.default_rng(7), 0
    for _ in range(400):
        effect = draw.normal(0, 0.15, 25)
        rows = [
            battle(f"q{number}", float(np.clip(0.5 + 0.1 + effect[number] + draw.normal(0, 0.1), 0, 1)), 0.5)
            for number in range(25)
            for _ in range(4)
        ]
        one = next(row for row in system_biases(rows) if row.system == "one")
        assert one.lower is not None
        assert one.upper is not None
        held += one.lower <= 0.1 <= one.upper
    assert 370 <= held <= 392
