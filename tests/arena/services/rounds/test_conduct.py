"""Judges that are none: named while a round runs, paused, shown, and asked again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.errors import ConflictError, InputError, UnfitJudgeError
from data.models import OrderPolicy, Outcome, RoundState
from data.progress import Progress
from tests.arena.conftest import Commands, Fill, Serve
from tests.scripted_replies import Ask, answers_of


def _create(arena: Arena, name: str = "r", **fields: Any) -> None:  # noqa: ANN401 - fields of any type
    values = {"pairs": "all", "order": OrderPolicy.BOTH, **fields}
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name=name, **values))


def _quiet(_progress: object) -> None:
    """No progress."""


def test_unreadable_replies_pause_a_round_with_an_example(filled: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm(faults={"wrong_format": 1.0})
    arena = filled(endpoint=server.url)
    _create(arena)
    with pytest.raises(UnfitJudgeError, match="Both have their merits") as caught:
        arena.rounds.run("r", concurrency=2, report=_quiet)
    assert "status r --replies" in str(caught.value)
    assert "--go-on" in str(caught.value)
    round_, counts = arena.rounds.status("r")
    assert round_.state is RoundState.PAUSED
    assert counts.judged == 0 < counts.pending
    # Two replies for each battle, the second order never.
    assert server.log.calls <= 2 * (counts.unreadable + 2)
    assert server.log.calls < 30


def test_a_judge_that_decides_by_position_pauses_a_round(filled: Fill, scripted_llm: Serve) -> None:
    """The place that wins is said, and `--go-on` judges to the end."""
    server = scripted_llm(rule="first")
    arena = filled(endpoint=server.url)
    _create(arena)
    with pytest.raises(UnfitJudgeError, match=r"The answer shown first won (\d+) of \1 readings"):
        arena.rounds.run("r", concurrency=2, report=_quiet)
    arena.rounds.judge_anyway("r")
    assert arena.rounds.run("r", concurrency=8, report=_quiet).judged == 72
    (warning,) = arena.rounds.warnings("r")
    assert "72 of 72 (100 %)" in warning
    assert "The answer shown first won 144 of 144 readings." in warning


def test_an_honest_judge_is_not_doubted(filled: Fill, scripted_llm: Serve) -> None:
    """A judge whose orders agree has no warning, and half-unreadable replies are no reason to pause."""
    server = scripted_llm(faults={"wrong_format": 0.3})
    arena = filled(endpoint=server.url)
    _create(arena)
    counts = arena.rounds.run("r", concurrency=8, report=_quiet)
    assert counts.pending == 0
    assert arena.rounds.warnings("r") == ()


def test_conduct_counted_in_the_database_is_that_of_the_run(filled: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm(rule="first", faults={"wrong_format": 0.2})
    arena = filled(endpoint=server.url)
    _create(arena)
    arena.rounds.judge_anyway("r")
    arena.rounds.run("r", concurrency=8, report=_quiet)
    conduct = arena.rounds.conduct("r")
    evidence = list(arena.store.verdicts.evidence("r"))
    judgments = [judgment for one in evidence for judgment in one.judgments]
    assert conduct.readings == len(judgments)
    assert conduct.unreadable == sum(one.outcome is Outcome.UNREADABLE for one in judgments) > 0
    both = [one for one in evidence if one.battle.flipped is not None]
    assert (conduct.both_orders, conduct.flips) == (len(both), len(both))
    assert (conduct.first, conduct.second) == (2 * len(both), 0)


def test_unreadable_battles_are_asked_again_and_every_attempt_is_exported(
    filled: Fill, scripted_llm: Serve, run: Commands, tmp_path: Path
) -> None:
    server = scripted_llm(faults={"wrong_format": 1.0})
    arena = filled(endpoint=server.url)
    _create(arena, pairs="reference", sample="8")
    arena.rounds.judge_anyway("r")
    counts = arena.rounds.run("r", concurrency=4, report=_quiet)
    assert counts.unreadable == counts.planned
    with pytest.raises(ConflictError, match="has no verdict") as caught:
        arena.boards.publish("r", report=_quiet, score=False, partial=True)
    assert "rounds retry r --unreadable" in str(caught.value)
    asked = server.log.calls
    assert asked == 2 * counts.planned
    shown = run.json("rounds", "status", "r", "--unreadable", "--replies", 100, "--json", endpoint=server.url)
    assert len(shown) == counts.planned
    assert all(len(one["judgments"][0]["replies"]) == 2 for one in shown)
    assert all(one["question"] and one["system_a"] for one in shown)
    server.script.faults = {}
    assert arena.rounds.retry("r") == 0
    again = run.json("rounds", "retry", "r", "--unreadable", "--json", endpoint=server.url)
    assert again["judged"] == counts.planned
    assert server.log.calls == asked + 2 * counts.planned
    arena.boards.export_round("r", tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "judgments.jsonl").read_text().splitlines()]
    replies = [reply for line in lines for reply in (*line["earlier"], line["reply"])]
    assert len(replies) == 4 * counts.planned
    assert arena.rounds.warnings("r") == ()


@pytest.mark.slow
def test_both_orders_of_a_battle_come_before_the_next(filled: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm()
    arena = filled(endpoint=server.url)
    _create(arena, pairs="all")
    arena.rounds.run("r", concurrency=1, report=_quiet)
    shown = [answers_of(Ask(body)) for body in server.log.bodies]
    assert len(shown) == 144
    for first, second in zip(shown[::2], shown[1::2], strict=True):
        assert first is not None
        assert first[::-1] == second


@pytest.mark.slow
def test_a_wait_for_an_endpoint_is_told(filled: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm(first=["fine"] * 0 + ["rate_limit_after"] * 3, retry_after=1.2)
    arena = filled(endpoint=server.url)
    _create(arena, pairs="reference", sample="8")
    notes: set[str] = set()
    arena.rounds.run("r", concurrency=2, report=lambda progress: notes.add(progress.note))
    assert any("HTTP 429, next try in" in one for one in notes)
    assert arena.rounds.status("r")[0].state is RoundState.FINISHED


def test_a_round_that_its_judge_cannot_decide_is_refused(filled: Fill) -> None:
    arena = filled()
    with pytest.raises(InputError, match="can decide none of the"):
        arena.rounds.create(RoundRequest(set_name="tiny", judge="reference", name="r"))


@pytest.mark.slow
def test_a_cancelled_round_can_be_published_or_retried(filled: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm(latency=0.05)
    arena = filled(endpoint=server.url)
    _create(arena)

    def pause(progress: Progress) -> None:
        if progress.done >= 10:
            arena.rounds.pause("r")

    arena.rounds.run("r", concurrency=2, report=pause)
    with pytest.raises(ConflictError, match="arena rounds cancel r"):
        arena.boards.publish("r", report=_quiet, score=False)
    arena.rounds.cancel("r")
    with pytest.raises(ConflictError, match="arena rounds retry r"):
        arena.rounds.run("r", concurrency=2, report=_quiet)
    board, _ = arena.boards.publish("r", report=_quiet, score=False, partial=True)
    assert board.standings["partial"]
