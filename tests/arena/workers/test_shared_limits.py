"""Limits that an endpoint sets, kept by workers that share a round; counted in the endpoint's own log."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.rounds.models import RoundRequest
from data.models import Question, RoundState
from judges.llm.token_counting import MESSAGE_OVERHEAD, REQUEST_OVERHEAD, TokenCounter

BATTLES = 72
MINUTE = 60.0


def _launch(arena: Arena, **options: int) -> None:
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all"))
    arena.jobs.judge("r", options=options)


def _judged(arena: Arena) -> tuple[RoundState, int, int]:
    found, counts = arena.rounds.status("r")
    return found.state, counts.judged, counts.pending


def _most_above(times: Sequence[float], per_minute: float) -> float:
    """Return the largest excess of calls over the rate in any stretch of time."""
    rate = per_minute / MINUTE
    # Both ends of a stretch are calls: `worst` is the best start so far, each call being an end in turn.
    worst, most = float("inf"), 0.0
    for number, moment in enumerate(times):
        worst = min(worst, number - rate * moment)
        most = max(most, number + 1 - rate * moment - worst)
    return most


def _tokens_of_a_call(arena: Arena, server: Any) -> int:  # noqa: ANN401 - a ScriptedLLM
    """The most tokens that a call on the small set can use; its texts differ by a few."""
    question = Question(id="q", domain="d0", question="What do we know of item 99 then?")
    texts = ("Item 99 is beta, and it weighs 11 grams.", "Item 99 is beta.")
    arena.judges.try_on(arena.judges.spec("reference-free"), question, *texts)
    body, counter = server.log.bodies[-1], TokenCounter()
    given = sum(
        (counter.text(body["model"], message["content"]) or len(message["content"])) + MESSAGE_OVERHEAD
        for message in body["messages"]
    )
    server.reset()
    return given + REQUEST_OVERHEAD + int(body.get("max_tokens") or body["max_completion_tokens"])


@pytest.mark.slow
@pytest.mark.parametrize("what", ["rpm", "tpm"])
def test_workers_keep_a_limit_a_minute_between_them(
    filled: Callable[..., Arena],
    scripted_llm: Callable[..., Any],
    database_url: str,
    start: Callable[..., subprocess.Popen[str]],
    until: Callable[..., None],
    tmp_path: Path,
    what: str,
) -> None:
    """A worker that joins another takes a share of the rate at once: in no stretch do both exceed it.

    The rate allows a second's worth at once; one more is granted for calls that travel at different speeds.
    """
    server = scripted_llm()
    arena = filled(database_url=database_url, endpoint=server.url)
    rpm = 300
    limit = rpm if what == "rpm" else rpm * _tokens_of_a_call(arena, server)
    names = ("first", "second")
    for name in names:
        start(arena, "worker", "--name", name)
    until(lambda: all("worker.started" in (tmp_path / f"log-{one}").read_text() for one in (0, 1)))
    _launch(arena, concurrency=16, **{what: limit})
    until(lambda: {lease.worker.name for lease in arena.store.leases.all()} == set(names))
    until(lambda: arena.rounds.status("r")[0].state is RoundState.FINISHED)
    assert _judged(arena) == (RoundState.FINISHED, BATTLES, 0)
    assert server.log.calls == BATTLES
    assert _most_above(server.log.times, rpm) <= 2 * rpm / MINUTE


@pytest.mark.slow
def test_workers_that_are_turned_away_both_slow_down(
    filled: Callable[..., Arena],
    scripted_llm: Callable[..., Any],
    database_url: str,
    start: Callable[..., subprocess.Popen[str]],
    until: Callable[..., None],
    tmp_path: Path,
) -> None:
    """An endpoint with room for four calls turns both workers away; both go slower, and all is judged."""
    server = scripted_llm(latency=0.4, capacity=4)
    arena = filled(database_url=database_url, endpoint=server.url)
    names = ("first", "second")
    for name in names:
        start(arena, "worker", "--name", name, OPENAI_API_KEY=name)
    until(lambda: all("worker.started" in (tmp_path / f"log-{one}").read_text() for one in (0, 1)))
    _launch(arena, concurrency=16)
    until(lambda: arena.rounds.status("r")[0].state is RoundState.FINISHED)
    assert _judged(arena) == (RoundState.FINISHED, BATTLES, 0)
    told = [(name, status) for name in names for status in (200, 429)]
    assert all(server.log.told[f"Bearer {name}", status] for name, status in told)
    assert server.log.asked_twice == {}
    # Without a word to each other, 32 calls for four places would be turned away seven times each.
    assert server.log.calls <= 3 * BATTLES
