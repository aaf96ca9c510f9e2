"""Rounds against a scripted endpoint: books, resume after kill −9, retry, cancel, repeatability."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.rounds.models import RoundRequest
from data.errors import ConflictError, EndpointError, SpecError, StoreError
from data.models import Outcome, RoundState
from data.progress import Progress
from data.store import Store
from tests.arena.conftest import Fill, Serve

ROOT = Path(__file__).parents[4]
IN_FLIGHT = 4


def _quiet(_progress: object) -> None:
    """No progress."""


def _run(arena: Arena, *, judge: str = "reference-free", name: str = "r", **fields: Any) -> Any:  # noqa: ANN401
    request = RoundRequest(set_name="tiny", judge=judge, name=name, **{"pairs": "all", **fields})
    arena.rounds.create(request)
    return arena.rounds.run(name, concurrency=8, report=_quiet)


def test_lexical_round_is_complete_and_repeats_itself(filled: Fill, database_url: str) -> None:
    """On both engines the embedded judge decides every battle, and another round gives the same verdicts."""
    arena = filled(database_url=database_url)
    counts = _run(arena, judge="lexical", name="one")
    assert (counts.planned, counts.judged, counts.pending) == (72, 72, 0)
    assert arena.rounds.status("one")[0].state is RoundState.FINISHED
    _run(arena, judge="lexical", name="two")
    verdicts = [
        [(battle.key, battle.preference, battle.score) for battle in arena.rounds.battles(name)]
        for name in ("one", "two")
    ]
    assert verdicts[0] == verdicts[1]


def test_llm_round_keeps_everything_about_each_judgment(filled: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm()
    arena = filled(endpoint=server.url)
    counts = _run(arena)
    assert (counts.judged, counts.planned) == (72, 72)
    assert counts.input_tokens > 0
    stored = [
        judgment.reply for one in arena.store.verdicts.of_question("r", "q0") for judgment in one.judgments
    ]
    assert {reply and reply.endpoint for reply in stored} == {server.url}
    battles = arena.evidence.question("r", "q0", caller=OPERATOR).battles
    assert len(battles) == 6
    for evidence in battles:
        (judgment,) = evidence.judgments
        assert judgment.reply is not None
        assert judgment.reply.endpoint == ""
        assert judgment.reply.text.endswith("</rating>")
        assert len(judgment.prompt_hash) == 64
        assert judgment.parser
        assert judgment.reply.latency > 0


def test_second_round_on_one_cache_asks_nothing(filled: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm()
    arena = filled(endpoint=server.url)
    _run(arena, name="one")
    asked = server.log.calls
    counts = _run(arena, name="two")
    assert server.log.calls == asked
    assert (counts.judged, counts.cost_usd, counts.input_tokens) == (72, 0.0, 0)


def test_books_balance_whatever_the_endpoint_does(filled: Fill, scripted_llm: Serve) -> None:
    """Refused, unreadable and failed replies are counted as what they are and never as ties."""
    server = scripted_llm(faults={"refusal": 0.15, "wrong_format": 0.5, "bad_request": 0.1})
    arena = filled(endpoint=server.url)
    counts = _run(arena)
    assert counts.pending == 0
    assert min(counts.judged, counts.refused, counts.unreadable, counts.failed) > 0
    for battle in arena.rounds.battles("r"):
        assert (battle.outcome is Outcome.JUDGED) == (battle.preference is not None)
        assert battle.outcome is Outcome.JUDGED or battle.detail


def test_retry_asks_only_what_failed(filled: Fill, scripted_llm: Serve) -> None:
    server = scripted_llm(faults={"bad_request": 0.3})
    arena = filled(endpoint=server.url)
    failed = _run(arena).failed
    assert failed > 0
    server.script.faults = {}
    asked = server.log.calls
    assert arena.rounds.retry("r") == failed
    counts = arena.rounds.run("r", concurrency=8, report=_quiet)
    assert (counts.judged, server.log.calls - asked) == (72, failed)


@pytest.mark.slow
def test_unreachable_endpoint_pauses_the_round_with_one_clear_line(filled: Fill) -> None:
    """Nobody at the address: the run stops, says so, and what is pending stays pending."""
    arena = filled()
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1:9"):
        _run(arena)
    found, counts = arena.rounds.status("r")
    assert found.state is RoundState.PAUSED
    assert counts.pending + counts.failed == 72


def test_cancelled_round_counts_the_rest_as_skipped(filled: Fill) -> None:
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="r"))
    arena.rounds.cancel("r")
    _, counts = arena.rounds.status("r")
    assert (counts.skipped, counts.pending) == (36, 0)
    with pytest.raises(ConflictError, match="cancelled"):
        arena.rounds.run("r", concurrency=1, report=_quiet)


def test_broken_database_ends_the_run_with_one_clear_error(filled: Fill) -> None:
    arena = filled()
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="r"))
    with arena.store.database.begin() as connection:
        connection.execute(
            text("CREATE TRIGGER broken BEFORE UPDATE ON battle BEGIN INSERT INTO nowhere VALUES (1); END")
        )
    with pytest.raises(StoreError, match="nowhere"):
        arena.rounds.run("r", concurrency=2, report=_quiet)
    assert arena.rounds.rounds()[0].state is RoundState.PAUSED


def test_existing_name_is_refused(filled: Fill) -> None:
    """A round is never overwritten; the error says how to go on with it."""
    arena = filled()
    _run(arena, judge="lexical")
    with pytest.raises(ConflictError, match="rounds resume r"):
        _run(arena, judge="lexical")


@pytest.mark.slow
def test_changed_judge_cannot_continue_a_round(filled: Fill, scripted_llm: Serve, tmp_path: Path) -> None:
    server = scripted_llm(latency=0.05)
    arena = filled(endpoint=server.url)
    spec = tmp_path / "mine.toml"
    spec.write_text('kind = "llm"\nmodel = "m"\nprompt = "pairwise"\n')
    arena.rounds.create(RoundRequest(set_name="tiny", judge=str(spec), name="r", pairs="all"))
    spec.write_text('kind = "llm"\nmodel = "another"\nprompt = "pairwise"\n')
    _stopped_after(arena, "r", battles=5)
    assert {body["model"] for body in server.log.bodies} == {"another"}
    assert arena.rounds.get("r").judge["model"] == "another"
    spec.write_text('kind = "llm"\nmodel = "third"\nprompt = "pairwise"\n')
    with pytest.raises(SpecError, match="not what round r began with: model was another, is third"):
        arena.rounds.run("r", concurrency=1, report=_quiet)
    judged = arena.rounds.status("r")[1].judged
    arena.rounds.adopt("r", new_judge=True)
    assert arena.rounds.run("r", concurrency=4, report=_quiet).judged == 72
    assert arena.rounds.warnings("r") == (
        f"The first {judged:,} battles were judged with other settings: model was another, is third.",
    )
    board, _ = arena.boards.publish("r", report=lambda _text: None, score=False)
    assert board.standings["health"]["conduct"]["warnings"] == list(arena.rounds.warnings("r"))


def _stopped_after(arena: Arena, name: str, battles: int) -> None:
    """Judge some battles of a round, then pause it."""

    def pause(progress: Progress) -> None:
        if progress.done >= battles:
            arena.rounds.pause(name)

    with contextlib.suppress(ConflictError):
        arena.rounds.run(name, concurrency=1, report=pause)


def test_a_moved_endpoint_goes_on_with_a_round(filled: Fill, make_arena: Fill, scripted_llm: Serve) -> None:
    first, second = scripted_llm(latency=0.05), scripted_llm()
    arena = filled(endpoint=first.url)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="reference-free", name="r", pairs="all"))
    _stopped_after(arena, "r", battles=5)
    judged = arena.rounds.status("r")[1].judged
    assert 0 < judged < 72
    moved = make_arena(endpoint=second.url)
    assert moved.rounds.run("r", concurrency=8, report=_quiet).judged == 72
    assert 0 < second.log.calls <= 2 * (72 - judged) + 2
    assert moved.rounds.warnings("r") == ()


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "seed"), [(8, 21)])
def test_kills_lose_nothing_and_ask_nothing_twice(
    filled: Fill, scripted_llm: Serve, tmp_path: Path, kills: int, seed: int
) -> None:
    server = scripted_llm(latency=0.12)
    command, go_on, environment = _commands(filled(endpoint=server.url), server.url, tmp_path)
    moments = random.Random(seed)
    for _ in range(kills):
        process = subprocess.Popen(
            command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _wait_for_calls(server, server.log.calls + moments.randint(3, 8), process)
        process.send_signal(signal.SIGKILL)
        process.wait()
        command = go_on
    committed = Store.open(f"sqlite:///{tmp_path / 'home' / 'arena.sqlite'}").rounds.counts("r").judged
    assert 0 < committed < 72
    ended = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, check=True, timeout=120
    )
    books = json.loads(ended.stdout)
    assert (books["state"], books["planned"], books["judged"]) == ("finished", 72, 72)
    assert server.log.calls <= 72 + kills * IN_FLIGHT


@pytest.mark.slow
def test_ctrl_c_finishes_what_is_in_flight_and_pauses(
    filled: Fill, scripted_llm: Serve, tmp_path: Path
) -> None:
    """Every call that began is answered and kept, no traceback is shown, and resuming asks only the rest."""
    server = scripted_llm(latency=0.3)
    command, go_on, environment = _commands(filled(endpoint=server.url), server.url, tmp_path)
    process = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _wait_for_calls(server, 6, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    books = json.loads(out)
    assert (process.returncode, books["state"]) == (1, "paused"), err
    assert "Round r is paused" in err
    assert books["judged"] == server.log.calls == server.log.replied.total() < 72
    assert books["judged"] + books["pending"] == 72
    assert "arena rounds resume r" in err
    assert "Traceback" not in err
    ended = subprocess.run(go_on, env=environment, cwd=tmp_path, capture_output=True, check=True, timeout=120)
    assert json.loads(ended.stdout)["judged"] == server.log.calls == 72


def _commands(arena: Arena, url: str, folder: Path) -> tuple[list[str], list[str], dict[str, str]]:
    """Return the commands that judge a round in a process of its own and resume it, and their environment."""
    arena.close()
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("ARENA_")},  # noqa: TID251
        "ARENA_HOME": str(folder / "home"),
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "none",
        "PYTHONPATH": str(ROOT),
    }
    options = ["--concurrency", str(IN_FLIGHT), "--json"]
    scope = ["--set", "tiny", "--judge", "reference-free", "--pairs", "all", "--name", "r"]
    rounds = [sys.executable, "-m", "arena", "rounds"]
    return [*rounds, "run", *scope, "--no-cap", *options], [*rounds, "resume", "r", *options], environment


def _wait_for_calls(server: Any, calls: int, process: subprocess.Popen[Any]) -> None:  # noqa: ANN401
    end = time.monotonic() + 60
    while server.log.calls < calls and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    assert process.poll() is None, "the round ended before it could be killed"
