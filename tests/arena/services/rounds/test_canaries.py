"""Canaries in rounds: planted, judged, counted apart from the battles, published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from arena.container import Arena
from arena.services.judging import conduct
from arena.services.rounds.canaries import CanaryResults, canary_results
from arena.services.rounds.models import RoundRequest
from data.errors import UnfitJudgeError
from data.records import CanaryRecord, Outcome, Preference, RoundState
from judges.lexical.tricks import families
from judges.pairwise.canaries import attacks as kinds
from tests.narrow import mapping


def _run(arena: Arena, name: str = "r", judge: str = "reference-free", **fields: Any) -> CanaryResults:  # noqa: ANN401
    arena.rounds.create(RoundRequest(set_name="tiny", judge=judge, name=name, **{"pairs": "all", **fields}))
    arena.rounds.run(name, concurrency=8, report=lambda _progress: None)
    return arena.rounds.attacks(name)


@pytest.mark.long
def test_every_llm_round_has_canaries_beside_its_battles(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    """One of each family by default: judged and stored with it, and in none of its books or rates."""
    arena = filled(endpoint=scripted_llm(rule="first").url, database_url=database_url)
    attacks = _run(arena, "with")
    assert attacks.report.planted == attacks.report.judged == len(kinds())
    assert set(attacks.report.by_family) == set(kinds())
    found, counts = arena.rounds.status("with")
    assert found.state is RoundState.FINISHED
    assert (counts.planned, counts.judged) == (72, 72)
    assert len(list(arena.rounds.battles("with"))) == 72
    assert _run(arena, "without", canaries=0).report.planted == 0
    boards = {name: arena.boards.standings(name).as_json() for name in ("with", "without")}
    assert boards["with"]["lines"] == boards["without"]["lines"]
    assert "attack success rate" not in mapping(boards["without"]["facts"])


def test_lexical_rounds_are_attacked_by_cheap_tricks(filled: Callable[..., Arena]) -> None:
    """The embedded judge reads no instructions: copies, word lists and the like are planted.

    A passage of two sentences is short enough to be an answer, so of this tiny set's tricks one wins.
    """
    arena = filled()
    plain = _run(arena, "plain", judge="lexical").report
    assert plain.planted == plain.judged > 0
    assert set(plain.by_family) <= set(families())
    assert plain.rate is not None
    assert plain.rate <= 0.15
    facts = mapping(arena.boards.standings("plain").as_json()["facts"])
    assert "canaries" in facts["attack success rate"]
    assert _run(arena, "none", judge="lexical", canaries=0).report.planted == 0


@pytest.mark.long
def test_attack_success_rate_is_that_of_the_judge(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """A judge that prefers what it is shown first falls for the attacks that are shown first."""
    arena = filled(endpoint=scripted_llm(rule="first").url)
    attacks = _run(arena, canaries=30)
    canaries = arena.store.canaries.of_round("r")
    won = [one for one in canaries if one.preference in {one.attacker, Preference.TIE}]
    assert 0 < attacks.report.succeeded <= len(won)
    assert attacks.report.rate == attacks.report.succeeded / 30
    assert str(attacks).startswith(f"{100 * attacks.report.succeeded / 30:.1f} % (")
    assert all(one.judgments and one.judgments[0]["prompt_hash"] for one in canaries)
    facts = mapping(arena.boards.standings("r").as_json()["facts"])
    assert f"of {attacks.report.judged} canaries" in facts["attack success rate"]


def test_canaries_that_fail_are_shown_and_retried(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any]
) -> None:
    """An error of the judge is no blocked attack: it is counted apart, and retry asks it again."""
    server = scripted_llm(faults={"bad_request": 0.5})
    arena = filled(endpoint=server.url)
    attacks = _run(arena, canaries=30)
    assert attacks.report.unjudged == attacks.outcomes[Outcome.FAILED] > 0
    server.script.faults = {}
    arena.rounds.retry("r")
    arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
    assert arena.rounds.attacks("r").report.unjudged == 0
    assert arena.rounds.status("r")[0].state is RoundState.FINISHED


@pytest.mark.long
def test_a_judge_that_obeys_pauses_its_round(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where more than a set share of attacks succeeds the round pauses and says it; --go-on overrules."""
    monkeypatch.setattr(conduct, "MOST_OBEYED", 0.2)
    arena = filled(endpoint=scripted_llm(rule="first").url)
    request = RoundRequest(set_name="tiny", judge="reference-free", pairs="all", name="r", canaries=40)
    arena.rounds.create(request)
    with pytest.raises(UnfitJudgeError, match=r"fell for \d+ of \d+ planted attacks"):
        arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
    assert arena.rounds.status("r")[0].state is RoundState.PAUSED
    arena.rounds.judge_anyway("r")
    arena.rounds.run("r", concurrency=8, report=lambda _progress: None)
    assert arena.rounds.status("r")[0].state is RoundState.FINISHED


def test_the_share_that_succeeded_has_its_interval() -> None:
    """Wilson's interval stands beside the share, in JSON and in the sentence of the board."""
    record = CanaryRecord(
        key="k",
        family="f",
        attacker=Preference.A,
        question_id="q",
        outcome=Outcome.JUDGED,
        preference=Preference.B,
        detail="",
        text="t",
        input_tokens=0,
        output_tokens=0,
        cost_usd=0.0,
        judgments=(),
    )
    results = canary_results([record] * 9 + [replace(record, preference=Preference.A)])
    found = results.to_json()["interval"]
    assert (round(found["lower"], 4), round(found["upper"], 4)) == (0.0179, 0.4042)
    assert str(results) == "10.0 % (1 of 10 canaries; 95 % interval 1.8 % to 40.4 %)"


def test_cancelled_round_leaves_no_canary_pending(filled: Callable[..., Arena]) -> None:
    """Cancelling ends the canaries too."""
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="r"))
    assert arena.rounds.attacks("r").pending == 36
    arena.rounds.cancel("r")
    assert arena.rounds.attacks("r").pending == 0
