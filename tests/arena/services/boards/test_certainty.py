from __future__ import annotations

from typing import Any

import pytest

from arena.models.boards import OVERALL
from arena.services.boards.judge_health import TrustFigure, as_sentences
from arena.services.boards.sentences import grounds, leading
from arena.services.boards.snapshot import read_board
from tests.battle_tables import paper_board

AGREES = {"pairs": 200, "decisive_accuracy": 0.7, "intervals": {"decisive_accuracy": [0.6, 0.8]}}
LENGTH = {"name": "length", "value": 40.0, "lower": 9.0, "upper": 71.0, "scale": "points"}
BY_JUDGE = "gpt-4o is first by this judge, but not by every check."


def _people(own: float, other: float) -> dict[str, Any]:
    rows = [("LFRQA", 1500), ("gpt-4o", own), ("command-r", other)]
    ratings = [{"system": name, "lower": at - 20, "upper": at + 20} for name, at in rows]
    return {"people": {"ratings": ratings, "annotators": 3, "votes": 90, "advice": ""}}


@pytest.mark.parametrize(
    ("changed", "clause", "lead"),
    [
        (
            {"health": {"planned": 9}},
            "this judge is not checked against people on these answers",
            "gpt-4o is first.",
        ),
        (
            {"health": {"agreement": AGREES}},
            "judge agrees with people on 70 % of 200 pairs",
            "gpt-4o is first.",
        ),
        (
            {"covariates": {"fits": [{"first": ["gpt-4o"], "coefficients": [LENGTH]}]}},
            "also first when",
            "gpt-4o is first.",
        ),
        (
            {"covariates": {"fits": [{"first": ["gpt-4o", "x"], "coefficients": [LENGTH]}]}},
            "shares first place with x",
            BY_JUDGE,
        ),
        ({"health": {"both_orders": 50, "flips": 20}}, "changed 40.0 % of verdicts", BY_JUDGE),
        (
            {"health": {"planned": 400}, "outcomes": {"judged": 360, "failed": 40}},
            "10.0 % of battles have",
            BY_JUDGE,
        ),
        (_people(1100, 1050), "also first by people's votes", "gpt-4o is first."),
        (_people(1100, 1130), "people's votes are too few to confirm it", "gpt-4o is first."),
        (_people(1000, 1100), "people's votes put command-r above gpt-4o", BY_JUDGE),
    ],
)
def test_headline_follows_from_checks(changed: dict[str, Any], clause: str, lead: str) -> None:
    board = paper_board()
    standings = {**board.standings, **changed}
    view = read_board(board.model_copy(update={"round_name": "paper", "standings": standings}))
    assert clause in " · ".join(check.clause for check in grounds(view, OVERALL))
    assert leading(view, OVERALL).startswith(lead)
    assert "statistically tied" in grounds(view, "fiqa")[0].clause
    assert len(grounds(view, "fiqa")) == 1
    votes = "168 votes of 3 people, not applied here"
    assert as_sentences(TrustFigure.VOTES, votes, "") == f"{votes}."
