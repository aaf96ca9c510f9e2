from __future__ import annotations

import numpy as np

from leaderboard.battles import BattleTable
from leaderboard.ratings import Settings
from leaderboard.standings.answer_stats import AnswerFact
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About
from tests.narrow import listed


def _table(*, complete: bool, seed: int = 1) -> BattleTable:
    rng = np.random.default_rng(seed)
    strength = {"good": 0.6, "poor": -0.8, "human": 0.2}
    rows = []
    pairs = [("good", "human"), ("poor", "human"), *([("good", "poor")] if complete else [])]
    for number in range(80):
        for one, other in pairs:
            chance = 1 / (1 + np.exp(strength[other] - strength[one]))
            draw = rng.random()
            winner = "tie" if draw < 0.1 else "model_a" if draw < 0.1 + 0.9 * chance else "model_b"
            rows.append((f"q{number}", "d", one, other, winner))
    return BattleTable.from_columns(*[list(column) for column in zip(*rows, strict=True)])


def _facts(*, alike: bool = False) -> dict[str, list[AnswerFact]]:
    rng = np.random.default_rng(5)
    return {
        system: [
            AnswerFact(question=f"q{number}", domain="d", words=50 if alike else int(rng.integers(20, 200)))
            for number in range(80)
        ]
        for system in ("good", "poor", "human")
    }


SETTINGS = Settings(bootstrap=200)


def test_board_has_ratings_between_systems() -> None:
    about = About(name="b", title="B", reference="human")
    found = build_standings(_table(complete=True), about, settings=SETTINGS, answers=_facts()).as_json()
    assert [one["kind"] for one in listed(found["beside"])] == ["between-systems"]
