from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from leaderboard.battles import BattleTable
from leaderboard.ratings import Settings
from leaderboard.standings.answer_stats import AnswerFact
from leaderboard.standings.build import build_standings
from leaderboard.standings.model import About
from leaderboard.standings.style import BOTH_ORDERS, NO_TEXTS, JudgeContext, style_section
from leaderboard.vocabulary import COVARIATES, Covariate

SYSTEMS = ("long", "plain", "short")
SETTINGS = Settings(bootstrap=20)


def _table(questions: int = 150) -> BattleTable:
    rng = np.random.default_rng(3)
    rows = [
        (f"q{number}", "d", first, second, "model_a" if rng.random() < 0.6 else "model_b")
        for number in range(questions)
        for first, second in (("long", "plain"), ("long", "short"), ("plain", "short"))
    ]
    return BattleTable.from_columns(*[list(column) for column in zip(*rows, strict=True)])


def _facts(*, laid_out: bool = True) -> dict[str, list[AnswerFact]]:
    rng = np.random.default_rng(4)
    marks = (Covariate.HEADINGS, Covariate.BOLD, Covariate.LISTS)
    return {
        system: [
            AnswerFact(
                question=f"q{number}",
                domain="d",
                words=int(rng.integers(20, 200)),
                form={mark: int(rng.poisson(2)) if laid_out else 0 for mark in marks},
            )
            for number in range(150)
        ]
        for system in SYSTEMS
    }


def _position(battles: int = 450) -> JudgeContext:
    return JudgeContext(position=np.random.default_rng(5).choice([-1.0, 1.0], battles))


def _fit(answers: dict[str, list[AnswerFact]], judge_context: JudgeContext) -> Mapping[str, Any]:
    section = json.loads(json.dumps(style_section(_table(), SETTINGS, answers, judge_context)))
    (fit,) = section["fits"]
    return dict(fit)


def test_fit_has_every_known_term() -> None:
    fit = _fit(_facts(), _position())
    rows = fit["coefficients"]
    assert fit["first"][0] in SYSTEMS
    assert [row["name"] for row in rows] == ["length", "headings", "bold", "lists", "position"]
    for row in rows:
        assert row["lower"] < row["value"] < row["upper"]
        assert row["scale"]
        assert row["vif"] >= 1


def test_terms_without_variation_are_left_out() -> None:
    fit = _fit(_facts(laid_out=False), replace(_position(), position=np.zeros(450)))
    assert [row["name"] for row in fit["coefficients"]] == ["length"]
    reasons = {row["name"]: row["reason"] for row in fit["left_out"]}
    assert "The two answers of every battle are equal in headings" in reasons["headings"]
    assert reasons["position"] == BOTH_ORDERS


def test_unknown_texts_leave_only_position() -> None:
    facts = _facts()
    facts["plain"] = facts["plain"][:-1]
    fit = _fit(facts, _position())
    assert [row["name"] for row in fit["coefficients"]] == ["position"]
    assert {row["reason"] for row in fit["left_out"]} == {NO_TEXTS}


def test_board_from_counts_has_no_style_section() -> None:
    standings = build_standings(_table(), About(name="b", title="B"), settings=SETTINGS)
    assert COVARIATES not in standings.as_json()
