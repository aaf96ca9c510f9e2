"""Canaries in rounds: planted, judged, counted apart from the battles, published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.canaries import CanaryResults
from arena.services.rounds.models import RoundRequest
from data.records import Outcome, Preference, RoundState
from judges.lexical.tricks import families
from tests.narrow import mapping


def _run(arena: Arena, name: str = "r", judge: str = "reference-free", **fields: Any) -> CanaryResults:  # noqa: ANN401
    arena.rounds.create(RoundRequest(set_name="tiny", judge=judge, name=name, **{"pairs": "all", **fields}))
    arena.rounds.run(name, concurrency=8, report=lambda _progress: None)
    return arena.rounds.attacks(name)


@pytest.mark.long
def test_every_llm_round_has_canaries_beside_its_battles(
    filled: Callable[..., Arena], scripted_llm: Callable[..., Any], database_url: str
) -> None:
    """A tenth of a small round by default: judged and stored with it, and in none of its books or rates."""
    arena = filled(endpoint=scripted_llm(rule="first").url, database_url=database_url)
    attacks = _run(arena, "with")
    assert attacks.report.planted == 8
    assert attacks.report.judged == 8
    assert len(attacks.report.by_family) == 8
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


def test_cancelled_round_leaves_no_canary_pending(filled: Callable[..., Arena]) -> None:
    """Cancelling ends the canaries too."""
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="r"))
    assert arena.rounds.attacks("r").pending == 4
    arena.rounds.cancel("r")
    assert arena.rounds.attacks("r").pending == 0
