from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import pytest

from arena.services.jobs.cancellation import StopEvent
from arena.services.rounds.models import RoundRequest
from data.errors import NotFoundError, StoppedError
from data.models import JobState, RoundState
from tests.arena.conftest import Fill, Serve, play, start, until

LABEL = {"domain": "x", "question": "Q?", "answer_a": "a b c", "answer_b": "a", "label": "a"}
LABELS = "".join(json.dumps({**LABEL, "id": str(n), "question": f"Q{n}?"}) + "\n" for n in range(200))


@pytest.mark.slow
def test_llm_job_ends_after_cancel_and_requeues_after_stop(
    filled: Fill, scripted_llm: Serve, database_url: str
) -> None:
    server = scripted_llm(latency=0.5)
    arena = filled(database_url=database_url, endpoint=server.url)
    job = arena.jobs.calibrate(["reference-free"], LABELS, concurrency=2, budget_usd=5.0)
    worker = start(arena, "worker")
    until(lambda: server.log.calls > 0)
    arena.jobs.cancel(job.id)
    until(lambda: not arena.store.leases.all())
    assert arena.store.jobs.get(job.id).state is JobState.CANCELLED
    assert server.log.calls < 20
    again = arena.jobs.calibrate(["reference-free"], LABELS, concurrency=2, budget_usd=5.0)
    before = server.log.calls
    until(lambda: server.log.calls > before)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert (arena.store.jobs.get(again.id).state, arena.store.leases.all()) == (JobState.QUEUED, ())
    assert server.log.calls < 40
    assert server.log.asked_twice == {}


@pytest.mark.slow
@pytest.mark.parametrize("step", ["scoring", "computing"])
def test_stopped_publishing_leaves_no_board(filled: Fill, step: str) -> None:
    arena, stop_event = filled(), StopEvent()
    play(arena, pairs="")

    def report(text: str) -> None:
        if text.startswith(step):
            stop_event.set()

    with pytest.raises(StoppedError):
        arena.boards.publish("r", report=report, stop_event=stop_event)
    assert arena.rounds.status("r")[0].state is RoundState.FINISHED
    with pytest.raises(NotFoundError):
        arena.boards.get("r")
    assert arena.boards.publish("r", report=report)[1]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["pause", "cancel"])
def test_round_stopped_by_another_process_fails(
    filled: Fill, scripted_llm: Serve, tmp_path: Path, end: str
) -> None:
    server = scripted_llm(latency=0.3)
    arena = filled(endpoint=server.url)
    words = "rounds run --set tiny --judge reference-free --pairs all --name r --concurrency 2 --no-cap"
    process = start(arena, *words.split())
    until(lambda: server.log.calls > 4)
    getattr(arena.rounds, end)("r")
    assert process.wait(60) == 1
    err = (tmp_path / "log-0").read_text()
    state, verb = {"pause": ("paused", "resume"), "cancel": ("cancelled", "retry")}[end]
    assert f"Round r is {state}" in err
    assert f"arena rounds {verb} r" in err


def test_lost_lease_after_last_verdict_leaves_finished_round(filled: Fill, database_url: str) -> None:
    arena = filled(database_url=database_url)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="r"))
    round_ = arena.store.rounds.get("r")
    job, lease = arena.job_leases.begin(round_.id)
    with arena.job_leases.held(lease, attempts=job.attempts):
        asyncio.run(
            arena.rounds.judge(
                "r", lease, concurrency=2, report=lambda _: None, stop=asyncio.Event(), shared=False
            )
        )
        assert arena.store.leases.give_up(lambda _worker: True) == 1
    round_, counts = arena.rounds.status("r")
    assert (round_.state, counts.pending) == (RoundState.FINISHED, 0)
    assert arena.store.jobs.get(job.id).state is JobState.DONE
