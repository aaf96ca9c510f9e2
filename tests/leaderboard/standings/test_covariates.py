"""What a board tells of what biases its judge: a fit for each control, or why there is none."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.battles import BattleTable
from leaderboard.ratings import Settings
from leaderboard.standings.answer_stats import AnswerFact
from leaderboard.standings.build import build_standings
from leaderboard.standings.covariates import (
    BOTH_ORDERS,
    ControlFit,
    JudgeContext,
    control_fits,
    counts_of,
    sides_of,
)
from leaderboard.standings.model import About
from leaderboard.vocabulary import COVARIATES, Control, Covariate
from tests.narrow import listed, mapping

SYSTEMS = ("long", "plain", "short")
SETTINGS = Settings(bootstrap=20)


def _table(questions: int = 150) -> BattleTable:
    rng = np.random.default_rng(3)
    rows = [
        (f"q{number}", "d", one, other, "model_a" if rng.random() < 0.6 else "model_b")
        for number in range(questions)
        for one, other in (("long", "plain"), ("long", "short"), ("plain", "short"))
    ]
    return BattleTable.from_columns(*[list(column) for column in zip(*rows, strict=True)])


def _facts(*, laid_out: bool = True) -> dict[str, list[AnswerFact]]:
    rng = np.random.default_rng(4)
    marks = (Covariate.HEADINGS, Covariate.BOLD, Covariate.LISTS, Covariate.CITATIONS)
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
    return JudgeContext(
        position=np.random.default_rng(5).choice([-1.0, 1.0], battles), no_family="No family."
    )


def _fits(answers: dict[str, list[AnswerFact]], judge_context: JudgeContext) -> tuple[ControlFit, ...]:
    return control_fits(_table(), SETTINGS, counts_of(_table(), answers), judge_context)


def _by_control(fits: tuple[ControlFit, ...]) -> dict[Control, ControlFit]:
    return {fit.control: fit for fit in fits}


def test_every_control_has_its_terms() -> None:
    """Length, form, position and all of them have fits; the family has a reason."""
    found = _by_control(_fits(_facts(), _position()))
    names = {
        control: [effect.covariate for effect in fit.fit.effects] for control, fit in found.items() if fit.fit
    }
    assert names == {
        Control.LENGTH: ["length"],
        Control.STYLE: ["length", "headings", "bold", "lists", "citations"],
        Control.POSITION: ["position"],
        Control.ALL: ["length", "headings", "bold", "lists", "citations", "position"],
    }
    assert found[Control.FAMILY].note == "No family."


def test_a_control_that_would_repeat_another_names_it() -> None:
    """Where answers differ in length alone, style is length; where nothing else is known, all is style."""
    found = _by_control(_fits(_facts(laid_out=False), JudgeContext()))
    assert found[Control.STYLE].fit is None
    assert "The same as control for length" in found[Control.STYLE].note
    assert "The two answers of every battle are alike in headings" in found[Control.STYLE].note
    assert "The same as control for length." in found[Control.ALL].note


def test_without_texts_and_orders_nothing_stands_on_the_board() -> None:
    """A board of published counts has no such section, so that its hash stays what it was."""
    about = About(name="b", title="B")
    standings = build_standings(_table(), about, settings=SETTINGS)
    assert COVARIATES not in standings.as_json()
    facts = _facts()
    facts["plain"] = facts["plain"][:-1]
    found = _by_control(_fits(facts, _position()))
    assert "texts of the answers are not known" in found[Control.LENGTH].note
    assert found[Control.POSITION].fit is not None


def test_both_orders_leave_no_position() -> None:
    """A judge that read every battle in both orders gave nobody the first place."""
    judge_context = replace(_position(), position=np.zeros(450))
    assert _by_control(_fits(_facts(), judge_context))[Control.POSITION].note == BOTH_ORDERS


def test_control_for_length_is_the_one_that_stood_there_before() -> None:
    """The section's ratings under control for length are those beside the board's own, to the last bit."""
    about = About(name="b", title="B")
    standings = build_standings(
        _table(), about, settings=SETTINGS, answers=_facts(), judge_context=_position()
    )
    board = json.loads(json.dumps(standings.as_json()))
    beside = next(table for table in board["beside"] if table["kind"] == "length-controlled")
    fit = next(fit for fit in board[COVARIATES]["fits"] if fit["control"] == "length")
    assert fit["ratings"] == beside["ratings"]
    worth = fit["coefficients"][0]["value"]
    assert worth < 0
    assert f"is worth the longer answer −{-worth:.0f} points" in beside["note"]


@pytest.mark.parametrize("field", ["name", "value", "se", "lower", "upper", "scale", "vif"])
def test_coefficients_stand_in_the_json(field: str) -> None:
    """Each coefficient of each fit has its name, value, interval, scale and inflation."""
    about = About(name="b", title="B")
    standings = build_standings(
        _table(), about, settings=SETTINGS, answers=_facts(), judge_context=_position()
    )
    for fit in listed(mapping(standings.as_json()[COVARIATES])["fits"]):
        assert all(row[field] not in {None, ""} for row in fit.get("coefficients", ()))


def test_sides_are_the_counts_of_both_answers_of_each_battle() -> None:
    """Looked up at once, they are what looking up every battle's answers gives."""
    table, facts = _table(), _facts()
    counts = {
        (system, fact.question): (fact.words, fact.form.get(Covariate.HEADINGS, -1))
        for system, answers in facts.items()
        for fact in answers
    }
    for place, sides in enumerate(sides_of(table, counts_of(table, facts)[:2])):
        assert sides is not None
        for side, codes in zip(sides, (table.a, table.b), strict=True):
            rows = zip(codes.tolist(), table.question.tolist(), strict=True)
            sought = [
                counts[table.systems[code], table.questions[question]][place] for code, question in rows
            ]
            assert side.tolist() == sought or (len(side) == 1 and set(sought) == set(side.tolist()))


def test_one_battle_stands_for_all_where_every_answer_has_the_same_count() -> None:
    """Equal answers make no column of millions of zeros; answers that are not known make none at all."""
    table, facts = _table(), _facts()
    equal = {system: [replace(fact, words=7) for fact in answers] for system, answers in facts.items()}
    sides, *_ = sides_of(table, counts_of(table, equal))
    assert sides is not None
    assert [side.tolist() for side in sides] == [[7], [7]]
    unknown, *_ = sides_of(table, counts_of(table, dict(list(equal.items())[1:])))
    assert unknown is None


def test_a_length_that_settles_every_battle_is_refused_with_its_name() -> None:
    """Controls and length-controlled ratings say why there are none; other controls keep theirs."""
    table, facts = _table(), _facts()
    words = {(name, fact.question): fact.words for name, rows in facts.items() for fact in rows}
    sides = [
        np.array(
            [
                words[table.systems[code], table.questions[question]]
                for code, question in zip(side, table.question, strict=True)
            ]
        )
        for side in (table.a, table.b)
    ]
    longer = np.where(sides[0] == sides[1], 2, (sides[0] < sides[1]).astype(np.int8)).astype(np.int8)
    always = replace(table, winner=longer)
    standings = build_standings(
        always, About(name="b", title="B"), settings=SETTINGS, answers=facts, judge_context=_position()
    )
    board = standings.as_json()
    fits = {fit["control"]: fit for fit in listed(mapping(board[COVARIATES])["fits"])}
    for control in (Control.LENGTH, Control.STYLE, Control.ALL):
        assert "control for length have no finite values" in fits[control]["note"]
        assert "ratings" not in fits[control]
    assert fits[Control.POSITION]["ratings"]
    beside = next(one for one in listed(board["beside"]) if one["kind"] == "length-controlled")
    assert beside["ratings"] == []
    assert "perfect separation" in beside["note"]
