"""Control battles: some of a judge's first round, asked again beside its later ones: does the judge drift?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from arena.services.rounds.retest_plan import RetestRequest
from arena.site.boards.snapshot_reader import read_board
from data.records import Board, Outcome, RoundState
from leaderboard.trust.asked_again import drift_warning
from tests.scripted_llm import Fault


def judged(arena: Arena, name: str, **fields: Any) -> None:  # noqa: ANN401 - fields of a request
    """Judge a round of 72 battles."""
    usual = {"judge": "reference-free", "pairs": "all", "canaries": 0}
    arena.rounds.create(RoundRequest(set_name="tiny", name=name, **{**usual, **fields}))
    arena.rounds.run(name, concurrency=16, report=lambda _progress: None)


def ask_again(arena: Arena, name: str) -> None:
    """Ask a round's battles again."""
    retest, _ = arena.retests.begin(name, RetestRequest(battles="72", swap=False))
    arena.retests.run(retest, concurrency=16, report=lambda _progress: None)


def board(arena: Arena, name: str) -> Board:
    """Publish a round."""
    return arena.boards.publish(name, report=lambda _text: None, score=False)[0]


@pytest.mark.long
def test_later_rounds_ask_a_tenth_again(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    """The first round has none; later ones of its judge ask some again, in their cost and in no rate."""
    server = scripted_llm(rule="hash")
    arena = filled(endpoint=server.url, database_url=database_url)
    judged(arena, "one")
    assert arena.rounds.controls("one").planted == 0
    before, cost = server.log.calls, arena.rounds.status("one")[1].cost_usd
    judged(arena, "two", controls=30)
    results = arena.rounds.controls("two")
    assert (results.planted, results.judged, results.changed, results.pending) == (30, 30, 0, 0)
    assert server.log.calls - before == 30, "battles come from the cache, control battles never"
    found, counts = arena.rounds.status("two")
    assert found.state is RoundState.FINISHED
    assert (counts.planned, counts.judged) == (72, 72)
    assert counts.cost_usd == pytest.approx(results.cost_usd)
    assert cost is not None
    assert 0 < (counts.cost_usd or 0.0) < cost
    boards = {name: arena.boards.standings(name).as_json() for name in ("one", "two")}
    assert boards["one"]["lines"] == boards["two"]["lines"]
    judged(arena, "three")
    assert arena.rounds.controls("three").planted == 7
    drawn = [
        {(one.question_id, one.system_a, one.system_b) for one in arena.store.controls.of_round(name)}
        for name in ("two", "three")
    ]
    assert drawn[1] < drawn[0]


@pytest.mark.long
def test_other_judges_have_no_controls(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """The embedded judge, another prompt, a first round and `controls` 0 plant none."""
    arena = filled(endpoint=scripted_llm(rule="hash").url)
    judged(arena, "one")
    judged(arena, "off", controls=0)
    judged(arena, "other", judge="five-grade")
    for name in ("lexical", "lexical-again"):
        judged(arena, name, judge="lexical", controls=10)
    planted = {name: arena.rounds.controls(name).planted for name in ("off", "other", "lexical-again")}
    assert set(planted.values()) == {0}
    assert "drift" not in board(arena, "off").standings
    request = RoundRequest(set_name="tiny", judge="reference-free", pairs="all", controls=20)
    plain = RoundRequest(set_name="tiny", judge="reference-free", pairs="all", controls=0)
    plans = [arena.planner.estimate(one) for one in (request, plain)]
    assert [plan["controls"] for plan in plans] == [20, 0]
    assert plans[0]["requests"] > plans[1]["requests"]


@pytest.mark.long
def test_same_judge_raises_no_warning(filled: Callable[..., Arena], scripted_llm: Callable[..., Any]) -> None:
    """A judge that changes its mind as often as it always did is the same judge."""
    arena = filled(endpoint=scripted_llm(rule="hash", changes=0.1).url)
    judged(arena, "one")
    ask_again(arena, "one")
    judged(arena, "two", controls=50)
    found = board(arena, "two")
    drift = found.standings["drift"]
    assert (drift["state"], drift["planted"]) == ("same", 50)
    assert drift["controls"]["comparisons"] == 50
    assert drift["repeats"]["comparisons"] == 72
    assert drift["difference_lower"] < 0 < drift["difference_upper"]
    view = read_board(found)
    assert view.drift == ""
    assert any(label == "same judge as before" and "no sign" in value for label, value, _ in view.health)
    (why,) = [meaning for _, value, meaning in view.health if value == "not asked again yet"]
    assert "arena rounds retest two" in why


@pytest.mark.long
def test_swapped_model_is_warned_of(filled: Callable[..., Arena], scripted_llm: Callable[..., Any]) -> None:
    """The provider puts another model behind the same name, and the board says so."""
    server = scripted_llm(rule="hash", changes=0.05)
    arena = filled(endpoint=server.url)
    judged(arena, "one")
    ask_again(arena, "one")
    server.script.rule = "tie"
    judged(arena, "two", controls=30)
    found = board(arena, "two")
    warning = drift_warning(found.standings)
    assert warning.startswith("Today's judge is not the one that judged before")
    assert read_board(found).drift == warning
    assert any("it judges otherwise" in value for _, value, _ in read_board(found).health)
    assert drift_warning(board(arena, "one").standings) == ""


@pytest.mark.long
def test_too_few_controls_say_nothing(filled: Callable[..., Arena], scripted_llm: Callable[..., Any]) -> None:
    """Seven battles, or no retest to compare with, are not enough, whatever they say."""
    server = scripted_llm(rule="hash")
    arena = filled(endpoint=server.url)
    judged(arena, "one")
    server.script.rule = "tie"
    judged(arena, "two", controls=40)
    assert board(arena, "two").standings["drift"]["state"] == "unknown"
    ask_again(arena, "one")
    judged(arena, "three")
    assert board(arena, "three").standings["drift"]["state"] == "unknown"
    assert drift_warning(board(arena, "three").standings) == ""


def test_controls_that_fail_are_shown_and_retried(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """An error is no changed verdict: it is counted apart, and retry asks it again; cancelling ends them."""
    server = scripted_llm(rule="hash")
    arena = filled(endpoint=server.url)
    judged(arena, "one")
    server.script.faults = {Fault.BAD_REQUEST: 0.5}
    judged(arena, "two", controls=30)
    failed = arena.rounds.controls("two").unjudged[Outcome.FAILED]
    assert 0 < failed < 30
    server.script.faults = {}
    assert arena.rounds.retry("two") == failed
    arena.rounds.run("two", concurrency=8, report=lambda _progress: None)
    assert arena.rounds.controls("two").judged == 30
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="three", controls=5))
    assert arena.rounds.controls("three").pending == 5
    arena.rounds.cancel("three")
    assert arena.rounds.controls("three").pending == 0
