from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, CallerKind
from arena.services.boards.verification import verify_folder
from arena.services.rounds.export import checksum
from arena.services.rounds.models import RoundRequest
from arena.workers.worker import Worker
from data.errors import (
    AccessError,
    ArenaError,
    ConflictError,
    FileFormatError,
    ForbiddenError,
    InputError,
    NotFoundError,
    SpecError,
)
from data.models import BattleRecord, Preference, Role, RoundState, SubmissionState, TokenScope
from data.progress import Progress
from data.store import Store
from leaderboard.vocabulary import BoardForm
from tests.arena.conftest import ADA, Fill, Serve, play, quiet, until, write_answers
from tests.narrow import known
from tests.scripted_llm import ScriptedLLM
from tests.served import program

ROOT = Path(__file__).parents[4]
IN_FLIGHT = 4
LEXICAL = RoundRequest(set_name="tiny", judge="lexical", name="r")
PAID = replace(LEXICAL, judge="reference-free", pairs="all")
COPY = "Item {n} is {word}. It weighs {weight} grams."
TEAM = Caller(
    kind=CallerKind.TOKEN, name="theirs", roles=(("theirs", Role.OWNER),), scopes=frozenset(TokenScope)
)


def work(arena: Arena) -> None:
    Worker(arena, arena.job_leases.worker).run(once=True)


def stopped_after(arena: Arena, llm: ScriptedLLM, battles: int, *, concurrency: int = 1) -> int:
    """Judge some battles, pause the round, and return how many were judged."""
    script = llm.script

    def pause(progress: Progress) -> None:
        if progress.done >= battles:
            # A pause takes effect within a second, so most battles must remain even on a busy machine.
            llm.script = replace(script, latency=0.3)
            arena.rounds.pause("r")

    with contextlib.suppress(ConflictError):
        arena.rounds.run("r", concurrency=concurrency, report=pause)
    llm.script = script
    judged = arena.rounds.status("r")[1].judged
    assert 0 < judged < 60
    return judged


@pytest.mark.slow
def test_round_is_launched_watched_previewed_published_and_retracted(filled: Fill, database_url: str) -> None:
    arena = filled(database_url=database_url)
    arena.rounds.launch(replace(LEXICAL, domains=("d1",)), caller=ADA)
    waiting = arena.rounds.watch("r", caller=ADA)
    assert (waiting.share, waiting.waiting, waiting.rate) == (0.0, True, 0.0)
    assert [row.round.name for row in arena.rounds.under_way(caller=ADA)] == ["r"]
    with pytest.raises(ConflictError):
        arena.rounds.go_on("r", caller=ADA)
    work(arena)
    watch = arena.rounds.watch("r", caller=ADA)
    assert (watch.round.state, watch.share) == (RoundState.FINISHED, 1.0)
    assert {battle.domain for battle in arena.rounds.battles("r")} == {"d1"}
    assert watch.round.plan["domains"] == ["d1"]
    assert arena.boards.preview("r", caller=ADA)["lines"]
    arena.boards.queue_publishing("r", metrics=False, caller=ADA)
    work(arena)
    assert arena.boards.get("r").name == "r"
    arena.boards.retract("r", "A prompt was wrong.", caller=ADA)
    assert arena.rounds.under_way(caller=ADA) == ()


@pytest.mark.parametrize(
    ("how", "changes", "error", "words"),
    [
        ("launch", {"judge": "reference-free"}, InputError, "has no cap"),
        ("launch", {"judge": "./mine.toml"}, NotFoundError, r"mine\.toml"),
        ("create", {"name": "r"}, ConflictError, "rounds resume r"),
        ("create", {"judge": "reference"}, InputError, "can decide none of the"),
        ("create", {"judge": "./mine.toml"}, NotFoundError, r"mine\.toml"),
    ],
)
def test_invalid_rounds_are_refused(
    filled: Fill, how: str, changes: dict[str, Any], error: type[ArenaError], words: str
) -> None:
    arena = filled()
    arena.rounds.create(LEXICAL)
    with pytest.raises(error, match=words):
        getattr(arena.rounds, how)(replace(LEXICAL, **{"name": "other", **changes}), caller=ADA)
    assert [row.name for row in arena.rounds.rounds()] == ["r"]


def test_judgments_keep_reply_prompt_and_parser(filled: Fill, scripted_llm: Serve) -> None:
    llm = scripted_llm()
    arena = filled(endpoint=llm.url)
    counts = play(arena, judge="reference-free")
    assert (counts.judged, counts.planned) == (72, 72)
    assert arena.rounds.warnings("r") == ()
    stored = arena.store.verdicts.of_question("r", "q0")
    assert {known(judgment.reply).endpoint for row in stored for judgment in row.judgments} == {llm.url}
    battles = arena.evidence.question("r", "q0", caller=OPERATOR).battles
    assert len(battles) == 6
    for evidence in battles:
        (judgment,) = evidence.judgments
        reply = known(judgment.reply)
        assert (reply.endpoint, len(judgment.prompt_hash), bool(judgment.parser)) == ("", 64, True)
        assert reply.text.endswith("</rating>")
        assert reply.latency > 0


@pytest.mark.slow
def test_cancelled_round_can_be_published_or_retried(filled: Fill, scripted_llm: Serve) -> None:
    llm = scripted_llm(latency=0.02)
    arena = filled(endpoint=llm.url)
    arena.rounds.create(PAID)
    judged = stopped_after(arena, llm, 10, concurrency=2)
    with pytest.raises(ConflictError, match="arena rounds cancel r"):
        arena.boards.publish("r", report=quiet, score=False)
    arena.rounds.cancel("r")
    counts = arena.rounds.status("r")[1]
    assert (counts.judged, counts.skipped, counts.pending) == (judged, 72 - judged, 0)
    with pytest.raises(ConflictError, match="arena rounds retry r"):
        arena.rounds.run("r", concurrency=2, report=quiet)
    board, _ = arena.boards.publish("r", report=quiet, score=False, partial=True)
    assert board.standings["partial"]


@pytest.mark.slow
def test_changed_judge_cannot_continue_round(filled: Fill, scripted_llm: Serve, tmp_path: Path) -> None:
    llm = scripted_llm(latency=0.02)
    arena = filled(endpoint=llm.url)
    spec = tmp_path / "mine.toml"
    spec.write_text('kind = "llm"\nmodel = "m"\nprompt = "pairwise"\n')
    arena.rounds.create(replace(PAID, judge=str(spec)))
    spec.write_text('kind = "llm"\nmodel = "another"\nprompt = "pairwise"\n')
    judged = stopped_after(arena, llm, 5)
    assert {body["model"] for body in llm.log.bodies} == {"another"}
    assert arena.rounds.get("r").judge["model"] == "another"
    spec.write_text('kind = "llm"\nmodel = "third"\nprompt = "pairwise"\n')
    with pytest.raises(SpecError, match="has changed since round r began: model was another, is third"):
        arena.rounds.run("r", concurrency=1, report=quiet)
    arena.rounds.adopt("r", new_judge=True)
    assert arena.rounds.run("r", concurrency=8, report=quiet).judged == 72
    warning = f"The first {judged:,} battles were judged with other settings: model was another, is third."
    assert arena.rounds.warnings("r") == (warning,)
    board, _ = arena.boards.publish("r", report=quiet, score=False)
    assert board.standings["health"]["conduct"]["warnings"] == [warning]


def test_moved_endpoint_continues_round(filled: Fill, make_arena: Fill, scripted_llm: Serve) -> None:
    first, second = scripted_llm(latency=0.02), scripted_llm()
    arena = filled(endpoint=first.url)
    arena.rounds.create(PAID)
    judged = stopped_after(arena, first, 5)
    moved = make_arena(endpoint=second.url)
    assert moved.rounds.run("r", concurrency=8, report=quiet).judged == 72
    assert 0 < second.log.calls <= 2 * (72 - judged) + 2
    assert moved.rounds.warnings("r") == ()


@pytest.mark.slow
def test_kills_lose_no_verdict_and_repeat_no_call(filled: Fill, scripted_llm: Serve, tmp_path: Path) -> None:
    kills, moments = 5, random.Random(21)
    llm = scripted_llm(latency=0.12)
    command, go_on, environment = _commands(filled(endpoint=llm.url), llm.url, tmp_path)
    store = Store.open(f"sqlite:///{tmp_path / 'home' / 'arena.sqlite'}")
    for _ in range(kills):
        process = subprocess.Popen(
            command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _wait_for_calls(llm, llm.log.calls + moments.randint(3, 8), process)
        os.kill(max(store.leases.all(), key=lambda lease: lease.id).worker.pid, signal.SIGKILL)
        process.wait()
        command = go_on
    assert 0 < store.rounds.counts("r").judged < 72
    store.close()
    ended = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, check=True, timeout=120
    )
    status = json.loads(ended.stdout)
    assert (status["state"], status["planned"], status["judged"]) == ("finished", 72, 72)
    assert llm.log.calls <= 72 + kills * IN_FLIGHT


@pytest.mark.slow
def test_ctrl_c_finishes_calls_in_flight_and_pauses(
    filled: Fill, scripted_llm: Serve, tmp_path: Path
) -> None:
    """Started calls finish and are stored, no traceback is printed, and resuming judges only the rest."""
    llm = scripted_llm(latency=0.3)
    command, go_on, environment = _commands(filled(endpoint=llm.url), llm.url, tmp_path)
    process = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _wait_for_calls(llm, 6, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    status = json.loads(out)
    assert (process.returncode, status["state"]) == (1, "paused"), err
    assert "Round r is paused" in err
    assert status["judged"] == llm.log.calls == llm.log.replied.total() < 72
    assert status["judged"] + status["pending"] == 72
    assert "arena rounds resume r" in err
    assert "Traceback" not in err
    llm.script.latency = 0.0
    ended = subprocess.run(go_on, env=environment, cwd=tmp_path, capture_output=True, check=True, timeout=120)
    assert json.loads(ended.stdout)["judged"] == llm.log.calls == 72


def _commands(arena: Arena, url: str, folder: Path) -> tuple[list[str], list[str], dict[str, str]]:
    """Return commands that judge and resume a round in another process, with their environment."""
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
    rounds = [str(program()), "rounds"]
    return [*rounds, "run", *scope, "--no-cap", *options], [*rounds, "resume", "r", *options], environment


def _wait_for_calls(llm: Any, calls: int, process: subprocess.Popen[Any]) -> None:  # noqa: ANN401
    until(lambda: llm.log.calls >= calls or process.poll() is not None, 60)
    assert process.poll() is None, "the round ended before it could be killed"


def published(filled: Fill, **options: Any) -> tuple[Arena, BattleRecord]:  # noqa: ANN401 - settings of any type
    """Judge and publish a round; return the arena and a battle that its first system won."""
    arena = filled(published=True, **options)
    return arena, next(
        row.battle for row in arena.store.verdicts.evidence("r") if row.battle.preference is Preference.A
    )


def correct(arena: Arena, battle: BattleRecord, caller: Caller = OPERATOR, **changes: str) -> None:
    arena.rounds.correct(
        changes.get("round_name", "r"),
        battle.question_id,
        (battle.system_b, battle.system_a),
        winner=changes.get("winner", battle.system_b),
        reason=changes.get("reason", "It does."),
        caller=caller,
    )


def test_disqualified_system_is_withdrawn_and_marked(filled: Fill, database_url: str, tmp_path: Path) -> None:
    """The reason is on the board, in files and in sentences; the board's hash stays."""
    arena = filled(database_url=database_url)
    arena.teams.ensure("theirs")
    path = write_answers(tmp_path / "copycat.jsonl", (COPY,), 12)
    number = arena.submissions.add(path, "tiny", system="copycat", team="theirs", caller=TEAM).submission.id
    play(arena, publish=True)
    before = arena.boards.get("r")
    with pytest.raises(ForbiddenError):
        arena.submissions.withdraw(number, reason="So.", disqualify=True, caller=TEAM)
    with pytest.raises(InputError, match="reason is missing"):
        arena.submissions.withdraw(number, disqualify=True)
    arena.submissions.withdraw(number, reason="It copies.", disqualify=True)
    assert arena.store.submissions.get(number).state is SubmissionState.WITHDRAWN
    board = arena.boards.get("r")
    assert (board.marks, board.content_hash) == ({"copycat": "disqualified: It copies."}, before.content_hash)
    assert arena.boards.notices("r") == ("copycat was disqualified: It copies.",)
    rows = list(csv.DictReader(arena.boards.file("r", BoardForm.CSV).content.decode().splitlines()))
    assert {row["system"]: row["mark"] for row in rows if row["mark"]} == dict(board.marks)


@pytest.mark.slow
def test_corrected_verdict_changes_republished_board(filled: Fill, database_url: str) -> None:
    arena, battle = published(filled, database_url=database_url)
    before = arena.boards.get("r")
    correct(arena, battle)
    corrected = next(row.battle for row in arena.store.verdicts.evidence("r") if row.battle.key == battle.key)
    assert (corrected.preference, corrected.detail) == (Preference.B, "corrected by the organisers: It does.")
    after, changed = arena.boards.publish("r", report=quiet, score=False)
    assert changed
    assert before.content_hash in {head.content_hash for head in arena.boards.former()}
    assert arena.boards.publish("r", report=quiet, score=False)[1] is False
    assert after.standings["lines"] == dict(arena.boards.standings("r").as_json())["lines"]


def test_invalid_corrections_are_refused(filled: Fill) -> None:
    """Corrections need an organiser, a reason, a winner of the battle and an existing round."""
    arena, battle = published(filled)
    cases: tuple[tuple[Caller, dict[str, str], type[ArenaError]], ...] = (
        (PUBLIC, {}, AccessError),
        (TEAM, {}, ForbiddenError),
        (OPERATOR, {"winner": "absent"}, InputError),
        (OPERATOR, {"reason": " "}, InputError),
        (OPERATOR, {"round_name": "none"}, NotFoundError),
    )
    for caller, changes, error in cases:
        with pytest.raises(error):
            correct(arena, battle, caller, **changes)


def test_exports_verify_with_corrected_verdicts(filled: Fill, tmp_path: Path) -> None:
    """`rounds verify` counts corrected verdicts separately; without a reason they must match judgments."""
    arena, battle = published(filled)
    correct(arena, battle)
    arena.boards.publish("r", report=quiet, score=False)
    arena.boards.export_round("r", tmp_path / "out")
    verified = verify_folder(tmp_path / "out")
    judged = arena.store.rounds.counts("r").judged
    assert (verified.battles, verified.corrected) == (judged - 1, 1)
    outcomes, sums = tmp_path / "out" / "outcomes.jsonl", tmp_path / "out" / "checksums.json"
    before = checksum(outcomes)
    outcomes.write_text(outcomes.read_text().replace("corrected by the organisers: It does.", ""))
    sums.write_text(sums.read_text().replace(before, checksum(outcomes)))
    with pytest.raises(FileFormatError, match="its judgments give model_a"):
        verify_folder(tmp_path / "out")
