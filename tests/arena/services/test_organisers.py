from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC, Caller, CallerKind
from arena.services.question_sets.policies import frozen, is_frozen
from arena.services.rounds.models import RoundRequest
from arena.workers.worker import Worker
from data.errors import (
    AccessError,
    ClosedError,
    ConflictError,
    FileFormatError,
    ForbiddenError,
    InputError,
    NotFoundError,
)
from data.models import Phase, RoundState, SetPolicy, TokenScope
from tests.arena.conftest import Commands, answers_file, write_answers, write_set

ADA = Caller(kind=CallerKind.SESSION, name="Ada", scopes=frozenset(TokenScope), organiser=True, account="Ada")
BEN = Caller(kind=CallerKind.SESSION, name="Ben", scopes=frozenset({TokenScope.READ}), account="Ben")
REQUEST = RoundRequest(set_name="tiny", judge="lexical", name="spring")


def _work(arena: Arena) -> None:
    Worker(arena, arena.job_leases.worker).run(once=True)


def _packed(files: dict[str, bytes], *, link: str = "") -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        if link:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(entry, "/etc/passwd")
    return kept.getvalue()


CHANGES: dict[str, Callable[[Arena, Caller], object]] = {
    "bring a set": lambda arena, caller: arena.set_admin.bring("x.jsonl", b"{}", caller=caller),
    "look at a set": lambda arena, caller: arena.set_admin.view("tiny", caller=caller),
    "freeze": lambda arena, caller: arena.set_admin.freeze("tiny", caller=caller),
    "list rounds": lambda arena, caller: arena.rounds.rounds(caller=caller),
    "estimate": lambda arena, caller: arena.planner.estimate(REQUEST, caller=caller),
    "launch": lambda arena, caller: arena.rounds.launch(REQUEST, caller=caller),
    "watch": lambda arena, caller: arena.rounds.watch("r", caller=caller),
    "go on": lambda arena, caller: arena.rounds.go_on("r", caller=caller),
    "retry": lambda arena, caller: arena.rounds.go_on("r", retry=True, caller=caller),
    "rounds under way": lambda arena, caller: arena.rounds.under_way(caller=caller),
    "preview": lambda arena, caller: arena.boards.preview("r", caller=caller),
    "pause": lambda arena, caller: arena.rounds.pause("r", caller=caller),
    "cancel": lambda arena, caller: arena.rounds.cancel("r", caller=caller),
    "cap": lambda arena, caller: arena.rounds.set_budget("r", 1.0, caller=caller),
    "publish": lambda arena, caller: arena.boards.queue_publishing("r", caller=caller),
    "retract": lambda arena, caller: arena.boards.retract("r", "Why.", caller=caller),
    "calibrate": lambda arena, caller: arena.calibrations.start(
        Path("labels.jsonl"), ["lexical"], caller=caller
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", list(CHANGES))
def test_only_organisers_may(filled: Callable[..., Arena], what: str) -> None:
    arena = filled()
    with pytest.raises(AccessError):
        CHANGES[what](arena, PUBLIC)
    with pytest.raises(ForbiddenError):
        CHANGES[what](arena, BEN)
    assert arena.rounds.rounds() == ()


@pytest.mark.slow
def test_round_of_one_domain_takes_its_questions_alone(filled: Callable[..., Arena]) -> None:
    arena = filled()
    assert arena.planner.estimate(replace(REQUEST, domains=("d1",)), caller=ADA)["planned"] == 12
    arena.rounds.launch(replace(REQUEST, domains=("d1",)), caller=ADA)
    _work(arena)
    assert {one.domain for one in arena.rounds.battles("spring")} == {"d1"}
    assert arena.rounds.status("spring")[0].plan["domains"] == ["d1"]


def test_llm_round_is_not_launched_without_a_cap(filled: Callable[..., Arena]) -> None:
    arena = filled()
    with pytest.raises(InputError, match="has no cap"):
        arena.rounds.launch(replace(REQUEST, judge="reference-free"), caller=ADA)
    assert arena.rounds.rounds() == ()


@pytest.mark.slow
def test_round_is_watched_previewed_published_and_retracted(
    filled: Callable[..., Arena], database_url: str
) -> None:
    arena = filled(database_url=database_url)
    arena.rounds.launch(REQUEST, caller=ADA)
    waiting = arena.rounds.watch("spring", caller=ADA)
    assert (waiting.share, waiting.waiting, waiting.rate) == (0.0, True, 0.0)
    with pytest.raises(ConflictError):
        arena.rounds.go_on("spring", caller=ADA)
    _work(arena)
    watch = arena.rounds.watch("spring", caller=ADA)
    assert (watch.round.state, watch.share) == (RoundState.FINISHED, 1.0)
    assert arena.boards.preview("spring", caller=ADA)["lines"]
    arena.boards.queue_publishing("spring", metrics=False, caller=ADA)
    _work(arena)
    assert arena.boards.get("spring").name == "spring"
    arena.boards.retract("spring", "A prompt was wrong.", caller=ADA)


def test_set_comes_as_a_zip_file(filled: Callable[..., Arena], tmp_path: Path) -> None:
    arena = filled()
    files = {f"tiny/{one.name}": one.read_bytes() for one in write_set(tmp_path).iterdir()}
    brought = arena.set_admin.bring("again.zip", _packed(files), caller=ADA)
    assert not brought.created
    other = arena.set_admin.bring("again.zip", _packed(files), name="other", caller=ADA)
    assert (other.created, other.summary.questions) == (True, 12)
    view = arena.set_admin.view("tiny", caller=ADA)
    assert (view.splits, view.references, len(view.entrants)) == ({"test": 12}, 12, 3)


HOSTILE = {
    "a path upwards": _packed({"../evil.jsonl": b"{}"}),
    "an absolute path": _packed({"/etc/evil.jsonl": b"{}"}),
    "a link": _packed({"questions.jsonl": b"{}"}, link="set.toml"),
    "folders in folders": _packed({"a/b/c/questions.jsonl": b"{}"}),
    "too many files": _packed({f"{number}.txt": b"x" for number in range(300)}),
    "a bomb": _packed({"questions.jsonl": b"0" * (201 * 1024 * 1024)}),
    "no zip file": b"PK\x03\x04 and nothing else",
}


@pytest.mark.parametrize("what", list(HOSTILE))
def test_hostile_zip_file_is_refused(filled: Callable[..., Arena], what: str) -> None:
    arena = filled()
    with pytest.raises(FileFormatError):
        arena.set_admin.bring("set.zip", HOSTILE[what], caller=ADA)
    assert len(arena.sets.summaries()) == 1


def test_frozen_set_takes_nothing(filled: Callable[..., Arena], tmp_path: Path) -> None:
    arena = filled()
    arena.set_admin.freeze("tiny", caller=ADA)
    assert arena.set_admin.view("tiny", caller=ADA).frozen
    with pytest.raises(ClosedError):
        arena.submissions.add(answers_file(tmp_path, "late", "{n}"), "tiny", system="late")
    assert len(arena.planner.entrants("tiny")) == 3


def test_freezing_ends_what_is_open_and_drops_what_would_open() -> None:
    now = datetime.now(UTC)
    day = timedelta(days=1)
    past = Phase(name="past", closes_at=now - day)
    open_ = Phase(name="open", opens_at=now - day / 2)
    later = Phase(name="later", opens_at=now + day)
    policy = frozen(
        SetPolicy(set_name="tiny", phases=(past, replace(open_, closes_at=now + day / 2), later)), now
    )
    assert policy.phases == (past, replace(open_, closes_at=now))
    assert is_frozen(policy, now)
    assert not is_frozen(SetPolicy(set_name="tiny"), now)


def test_bad_labels_are_refused_before_a_worker_sees_them(
    filled: Callable[..., Arena], tmp_path: Path
) -> None:
    arena = filled()
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": 1}\n')
    with pytest.raises(FileFormatError):
        arena.calibrations.start(path, ["lexical"], caller=ADA)
    assert arena.calibrations.all(caller=ADA) == ()


def _calibrated(arena: Arena, judge: str) -> int:
    row = {"id": "1", "question": "Q?", "answer_a": "Item 0 is alpha.", "answer_b": "No.", "label": "a"}
    path = arena.settings.home / "labels.jsonl"
    path.write_text(f"{json.dumps(row)}\n")
    job = arena.calibrations.start(path, [judge], budget_usd=1, caller=ADA)
    _work(arena)
    return job.id


def test_calibration_of_the_site_reaches_the_board(filled: Callable[..., Arena]) -> None:
    """E5: a board published with a calibration's number tells its readers of that agreement with people."""
    arena = filled()
    number = _calibrated(arena, "lexical")
    arena.rounds.launch(REQUEST, caller=ADA)
    _work(arena)
    assert [one.id for one in arena.calibrations.of_judge("lexical", caller=ADA)] == [number]
    assert arena.calibrations.of_judge("pairwise", caller=ADA) == ()
    arena.boards.queue_publishing("spring", metrics=False, calibration=number, caller=ADA)
    _work(arena)
    assert arena.boards.get("spring").standings["health"]["agreement"]["pairs"] == 1


def test_calibration_that_tells_nothing_of_the_judge_is_refused_before_a_job_is_made(
    filled: Callable[..., Arena],
) -> None:
    """E5: what is no finished calibration, or is of another judge, is refused by name and queues nothing."""
    arena = filled()
    arena.rounds.launch(REQUEST, caller=ADA)
    _work(arena)
    (judged,) = arena.jobs.recent()
    with pytest.raises(InputError, match=f"Job {judged.job.id} is no calibration"):
        arena.boards.queue_publishing("spring", calibration=judged.job.id, caller=ADA)
    folder = arena.settings.home / "judges"
    folder.mkdir()
    (folder / "mine.toml").write_text('name = "mine"\nkind = "lexical"\n')
    number = _calibrated(arena, "mine")
    with pytest.raises(InputError, match=f"Calibration {number} tells nothing of the judge lexical"):
        arena.boards.queue_publishing("spring", calibration=number, caller=ADA)
    with pytest.raises(NotFoundError):
        arena.boards.queue_publishing("spring", calibration=999, caller=ADA)
    assert len(arena.jobs.recent()) == 2


def blocks(arena: Arena) -> dict[int, list[str]]:
    return {
        row.submission: [block.why for block in row.blocks]
        for inbox in arena.inbox.waiting(caller=OPERATOR)
        for row in inbox.waiting
    }


def number(arena: Arena, system: str, version: int = 1) -> int:
    rows = arena.store.submissions.find(set_name="tiny", system=system)
    return next(row.id for row in rows if row.version == version)


def plan(arena: Arena, name: str, systems: tuple[str, ...], **fields: Any) -> None:  # noqa: ANN401 - of a request
    request = RoundRequest(set_name="tiny", judge="lexical", systems=systems, name=name)
    arena.rounds.create(replace(request, **fields))


def judge(arena: Arena, name: str) -> None:
    arena.rounds.run(name, concurrency=2, report=lambda _progress: None)


def test_each_submission_says_what_it_waits_for(
    filled: Callable[..., Arena], tmp_path: Path, database_url: str
) -> None:
    arena = filled(database_url=database_url)
    full, short, wrong = (number(arena, name) for name in ("full", "short", "wrong"))
    assert blocks(arena) == {key: ["no round"] for key in (full, short, wrong)}
    partly = write_answers(tmp_path / "partly.jsonl", ("{word}.",), 5)
    checked = arena.submissions.add(partly, "tiny", system="checked", confirm=False).submission.id
    lacking = arena.submissions.add(partly, "tiny", system="lacking").submission.id
    again = write_answers(tmp_path / "again.jsonl", ("It is {word}.",), 12)
    newer = arena.submissions.add(again, "tiny", system="full").submission.id
    arena.submissions.withdraw(wrong)
    assert blocks(arena) == {
        short: ["no round"],
        checked: ["not submitted"],
        lacking: ["no round", "domains"],
        newer: ["no round"],
    }
    (inbox,) = arena.inbox.waiting(caller=OPERATOR)
    assert inbox.plannable == ["short", "lacking", "full"]
    (gap,) = (row for row in inbox.waiting if row.submission == lacking)
    assert gap.blocks[1].text == "It lacks answers: 2 of 4 in Zero, 2 of 4 in One, 3 of 4 in Two."
    plan(arena, "r", ("full", "short"))
    plan(arena, "s", ("lacking",))
    assert blocks(arena)[newer] == blocks(arena)[short] == ["not started"]
    arena.rounds.pause("r")
    assert blocks(arena)[newer] == ["paused"]
    judge(arena, "r")
    assert blocks(arena)[short] == ["not published"]
    arena.boards.publish("r", report=lambda _line: None, score=False)
    assert set(blocks(arena)) == {checked, lacking}
    assert blocks(arena)[lacking] == ["not started", "domains"]
    arena.rounds.cancel("s")
    assert blocks(arena)[lacking] == ["no round", "domains"]


def test_inbox_is_for_organisers(filled: Callable[..., Arena]) -> None:
    arena = filled()
    with pytest.raises(AccessError):
        arena.inbox.waiting(caller=PUBLIC)
    with pytest.raises(NotFoundError):
        arena.inbox.waiting(set_name="nothing", caller=OPERATOR)


def test_command_lists_what_waits_and_how_to_plan_it(run: Commands, tmp_path: Path) -> None:
    assert "Nothing waits." in run("submissions", "show", "--inbox")[2]
    run("sets", "import", write_set(tmp_path))
    run("submissions", "add", answers_file(tmp_path, "one", "{word}."), "--set", "tiny", "--system", "one")
    code, out, err = run("submissions", "show", "--inbox", "--set", "tiny")
    assert code == 0
    assert "no round" in out
    assert "arena rounds plan --set tiny --judge JUDGE --systems one" in err
    (inbox,) = run.json("submissions", "show", "--inbox", "--json")
    assert inbox["set"] == "tiny"
    assert inbox["plannable"] == ["one"]
    (row,) = inbox["waiting"]
    assert (row["system"], row["version"], row["plannable"]) == ("one", 1, True)
    assert [block["why"] for block in row["blocks"]] == ["no round"]
    assert run("submissions", "show", "--inbox", "--set", "nothing")[0] == 1
