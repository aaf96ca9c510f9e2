"""Dawid and Skene's posteriors: against a slow second implementation, and against the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from data.errors import StatisticsError
from leaderboard.agreement import dawid_skene
from leaderboard.agreement.dawid_skene import PSEUDO_COUNT


def _simulated(seed: int) -> tuple[np.ndarray, ...]:
    """Four careful people and one who answers the opposite; the truth last."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, size=120, p=[0.5, 0.3, 0.2])
    item, person, said = [], [], []
    for number, right in enumerate(truth):
        for who in random.choice(5, size=4, replace=False):
            item.append(number)
            person.append(who)
            if who == 4:
                said.append((right + 1) % 3 if random.random() < 0.8 else right)
            else:
                said.append(right if random.random() < 0.8 else random.integers(3))
    return np.array(item), np.array(person), np.array(said), truth


def _in_words(item: list[int], person: list[int], said: list[int], steps: int) -> list[list[float]]:
    """The same algorithm label by label, in plain Python."""
    items, people, classes = max(item) + 1, max(person) + 1, max(said) + 1
    posterior = []
    for number in range(items):
        mine = [what for one, what in zip(item, said, strict=True) if one == number]
        posterior.append([mine.count(k) / len(mine) for k in range(classes)])
    for _ in range(steps):
        share = [sum(row[k] for row in posterior) + PSEUDO_COUNT for k in range(classes)]
        share = [value / sum(share) for value in share]
        matrix = [[[PSEUDO_COUNT] * classes for _ in range(classes)] for _ in range(people)]
        for one, who, what in zip(item, person, said, strict=True):
            for k in range(classes):
                matrix[who][k][what] += posterior[one][k]
        matrix = [[[cell / sum(row) for cell in row] for row in table] for table in matrix]
        following = []
        for number in range(items):
            logs = [
                math.log(share[k])
                + sum(
                    math.log(matrix[who][k][what])
                    for one, who, what in zip(item, person, said, strict=True)
                    if one == number
                )
                for k in range(classes)
            ]
            weights = [math.exp(value - max(logs)) for value in logs]
            following.append([value / sum(weights) for value in weights])
        posterior = following
    return posterior


def test_posteriors_are_those_of_a_plain_second_implementation() -> None:
    """The arrays compute what the model says, label by label."""
    item, person, said, _ = _simulated(3)
    found = dawid_skene(item, person, said, items=120, people=5, classes=3)
    plain = _in_words(item.tolist(), person.tolist(), said.tolist(), found.steps)
    assert found.converged
    np.testing.assert_allclose(found.items, plain, atol=1e-9)


def test_posteriors_beat_the_majority_where_somebody_errs_systematically() -> None:
    """Whoever says the opposite tells something too: posteriors find more of the truth than the majority."""
    item, person, said, truth = _simulated(7)
    found = dawid_skene(item, person, said, items=120, people=5, classes=3)
    votes = np.zeros((120, 3))
    np.add.at(votes, (item, said), 1)
    by_posterior = (found.items.argmax(axis=1) == truth).mean()
    assert by_posterior > (votes.argmax(axis=1) == truth).mean()
    assert by_posterior > 0.9
    assert found.accuracy[4] < 0.4
    assert found.accuracy[:4].min() > 0.7


def test_items_without_labels_have_the_shares_of_the_classes() -> None:
    """What nobody labelled is not made up."""
    found = dawid_skene(
        np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 1, 0]), items=3, people=2, classes=2
    )
    np.testing.assert_allclose(found.items[2], found.shares, atol=5e-3)


def test_no_labels_and_wrong_codes_are_errors() -> None:
    """Nothing is estimated from nothing, or from codes of no item."""
    none = np.array([], dtype=np.int64)
    with pytest.raises(StatisticsError, match="no labels"):
        dawid_skene(none, none, none, items=1, people=1, classes=2)
    one = np.array([0])
    with pytest.raises(StatisticsError, match="out of range"):
        dawid_skene(one, one, np.array([2]), items=1, people=1, classes=2)
