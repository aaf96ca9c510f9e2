"""Long work of every kind on small input, to compare engines byte by byte."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena.services.battle_files import RatingRequest, correct_file, corrected_rates_of_file, rate_file
from data.errors import InputError
from data.parallel import parallel_map
from leaderboard.vocabulary import Method

SYSTEMS = ("ant", "bee", "cat", "dog", "elk")
QUESTIONS = 60


def write_input(folder: Path) -> None:
    """Write verdicts, and votes on some of them."""
    chance = random.Random(5)
    verdicts, votes = [], []
    for question in range(QUESTIONS):
        for a, b in combinations(range(len(SYSTEMS)), 2):
            named = {
                "question_id": f"q{question}",
                "domain": f"d{question % 2}",
                "model_a": SYSTEMS[a],
                "model_b": SYSTEMS[b],
            }
            winner = chance.choices(["model_a", "model_b", "tie"], [3 + b, 3 + a, 2])[0]
            verdicts.append({**named, "winner": winner})
            if chance.random() < 0.3:
                del named["domain"]
                votes.append({**named, "winner": chance.choice([winner, winner, "model_a", "model_b"])})
    for name, rows in (("battles", verdicts), ("votes", votes)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def results(folder: Path) -> dict[str, str]:
    """Return the hashes of the results of every kind of long task on the input."""
    battles, people = folder / "battles.jsonl", folder / "votes.jsonl"
    resampled = RatingRequest(bootstrap=600, seed=3)
    corrected = corrected_rates_of_file(battles, people, reference=None, by_domain=True)[0]
    values: dict[str, object] = {
        "resamples": rate_file(battles, resampled).as_json(),
        "resamples with ties": rate_file(
            battles, RatingRequest(method=Method.DAVIDSON, bootstrap=300)
        ).as_json(),
        "corrected ratings": correct_file(battles, people, RatingRequest())[0],
        "corrected rates": corrected,
    }
    contents = {name: json.dumps(value).encode() for name, value in values.items()}
    return {name: sha256(content).hexdigest() for name, content in contents.items()}


def squared(offset: int, number: int) -> int:
    """Return squares: quick work."""
    return offset + number * number


def refused(number: int) -> int:
    """Raise expected and unexpected errors for certain numbers."""
    if number == 5:
        raise InputError("Five cannot be used.", advice="Choose another number.")
    if number == 7:
        raise ZeroDivisionError("seven")
    return number


def nested(number: int) -> list[int]:
    """Run parallel work within a task."""
    return list(parallel_map(squared, ((part,) for part in range(number)), (number,)))


def numbers(count: int) -> Iterable[tuple[int]]:
    """Create a task per number."""
    return ((number,) for number in range(count))


def raised(values: NDArray[np.float64], _name: str, number: int) -> float:
    """Add a number to each value, modify the input, and restore it."""
    values += number
    total = float(values.sum())
    values -= number
    return total
