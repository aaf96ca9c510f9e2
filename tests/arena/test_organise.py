"""The organisers' services: who may, what is noted, what a hostile zip file meets, how people agree."""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.bootstrap import Arena
from arena.services.annotation import TaskRequest
from arena.services.calibration import labelled_pairs
from arena.services.identity import OPERATOR, PUBLIC, Caller, CallerKind
from arena.services.rounds import RoundRequest
from arena.services.set_desk import frozen, is_frozen
from arena.worker import Worker
from data.errors import (
    AccessError,
    ClosedError,
    ConflictError,
    FileFormatError,
    ForbiddenError,
    InputError,
    NotFoundError,
)
from data.records import Action, Phase, RoundState, SetPolicy, TokenScope

ADA = Caller(kind=CallerKind.SESSION, name="Ada", scopes=frozenset(TokenScope), organiser=True, account="Ada")
BEN = Caller(kind=CallerKind.SESSION, name="Ben", scopes=frozenset({TokenScope.READ}), account="Ben")
REQUEST = RoundRequest(set_name="tiny", judge="lexical", name="spring")


def _work(arena: Arena) -> None:
    Worker(arena, arena.seating.worker).run(once=True)


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
    "bring a set": lambda arena, caller: arena.set_desk.bring("x.jsonl", b"{}", caller=caller),
    "look at a set": lambda arena, caller: arena.set_desk.view("tiny", caller=caller),
    "freeze": lambda arena, caller: arena.set_desk.freeze("tiny", caller=caller),
    "list rounds": lambda arena, caller: arena.desk.rounds(caller=caller),
    "estimate": lambda arena, caller: arena.desk.estimate(REQUEST, caller=caller),
    "try": lambda arena, caller: arena.jobs.trial(REQUEST, caller=caller),
    "launch": lambda arena, caller: arena.desk.launch(REQUEST, caller=caller),
    "watch": lambda arena, caller: arena.desk.watch("r", caller=caller),
    "go on": lambda arena, caller: arena.desk.go_on("r", caller=caller),
    "retry": lambda arena, caller: arena.desk.retry("r", caller=caller),
    "preview": lambda arena, caller: arena.desk.preview("r", caller=caller),
    "pause": lambda arena, caller: arena.rounds.pause("r", caller=caller),
    "cancel": lambda arena, caller: arena.rounds.cancel("r", caller=caller),
    "cap": lambda arena, caller: arena.rounds.set_budget("r", 1.0, caller=caller),
    "publish": lambda arena, caller: arena.jobs.publish("r", caller=caller),
    "retract": lambda arena, caller: arena.boards.retract("r", "Why.", caller=caller),
    "calibrate": lambda arena, caller: arena.calibration_desk.start(b"{}", ["lexical"], caller=caller),
    "open a task": lambda arena, caller: arena.annotation_desk.open(TASK, caller=caller),
    "export labels": lambda arena, caller: arena.annotation_desk.export("people", caller=caller),
}
TASK = TaskRequest(
    name="people", set_name="tiny", systems=("full", "short", "human"), questions=6, overlap=2,
    annotators=("Ada", "Ben", "Cleo"),
)  # fmt: skip


@pytest.mark.parametrize("what", list(CHANGES))
def test_only_organisers_may(filled: Callable[..., Arena], what: str) -> None:
    """The public is told to sign in and anybody else to ask an organiser, whatever page they came by."""
    arena = filled()
    with pytest.raises(AccessError):
        CHANGES[what](arena, PUBLIC)
    with pytest.raises(ForbiddenError):
        CHANGES[what](arena, BEN)
    assert arena.rounds.rounds() == ()


def test_dry_sample_shows_verdicts_and_leaves_no_round(filled: Callable[..., Arena]) -> None:
    """Up to 20 battles are judged by a worker; no round, battle or verdict is stored."""
    arena = filled()
    job = arena.jobs.trial(REQUEST, caller=ADA)
    _work(arena)
    found = arena.desk.trial(job.id, caller=ADA).job.result
    assert found is not None
    assert (found["planned"], found["tried"], len(found["verdicts"])) == (36, 20, 20)
    assert sum(found["outcomes"].values()) == 20
    assert {"full", "short", "wrong"} <= {one["system_a"] for one in found["verdicts"]}
    assert arena.rounds.rounds() == ()


def test_dry_sample_of_hidden_references_says_no_reasons(filled: Callable[..., Arena]) -> None:
    """Where a set hides its references, what a judge wrote about them is withheld from the page."""
    arena = filled()
    arena.policies.hide_references("tiny", hidden=True, caller=ADA)
    job = arena.jobs.trial(REQUEST, caller=ADA)
    _work(arena)
    found = arena.desk.trial(job.id, caller=ADA).job.result
    assert found is not None
    assert {one["why"] for one in found["verdicts"]} == {"Not shown: it quotes texts that are not public."}


def test_round_of_one_domain_takes_its_questions_alone(filled: Callable[..., Arena]) -> None:
    """A round may be held to some domains, which its plan remembers."""
    arena = filled()
    assert arena.desk.estimate(replace(REQUEST, domains=("d1",)), caller=ADA)["planned"] == 12
    arena.desk.launch(replace(REQUEST, domains=("d1",)), caller=ADA)
    _work(arena)
    assert {one.domain for one in arena.rounds.battles("spring")} == {"d1"}
    assert arena.rounds.status("spring")[0].plan["domains"] == ["d1"]


def test_llm_round_is_not_launched_without_a_cap(filled: Callable[..., Arena]) -> None:
    """A judge that costs money needs the most that it may spend; nothing is made without."""
    arena = filled()
    with pytest.raises(InputError, match="needs a cap"):
        arena.desk.launch(replace(REQUEST, judge="reference-free"), caller=ADA)
    assert arena.rounds.rounds() == ()


def test_round_is_watched_previewed_published_and_retracted(
    filled: Callable[..., Arena], database_url: str
) -> None:
    """Counters, what changed since the set's last board, and every step in the log under one's name."""
    arena = filled(database_url=database_url)
    arena.desk.launch(REQUEST, caller=ADA)
    waiting = arena.desk.watch("spring", caller=ADA)
    assert (waiting.share, waiting.waiting, waiting.rate) == (0.0, True, 0.0)
    with pytest.raises(ConflictError):
        arena.desk.go_on("spring", caller=ADA)
    _work(arena)
    watch = arena.desk.watch("spring", caller=ADA)
    assert (watch.round.state, watch.share, len(watch.recent)) == (RoundState.FINISHED, 1.0, 5)
    assert arena.desk.preview("spring", caller=ADA).changes is None
    arena.jobs.publish("spring", metrics=False, caller=ADA)
    _work(arena)
    assert arena.boards.get("spring").published_at
    arena.desk.launch(replace(REQUEST, name="summer", systems=("full", "short")), caller=ADA)
    _work(arena)
    preview = arena.desk.preview("summer", caller=ADA)
    assert preview.before == "spring"
    assert preview.changes is not None
    assert preview.changes.left == ("wrong",)
    arena.boards.retract("spring", "A prompt was wrong.", caller=ADA)
    actions = [one.action for one in arena.teams.audit(actor="Ada", caller=ADA)]
    assert Action.BOARD_RETRACTED in actions
    assert actions.count(Action.BOARD_PUBLISHED) == 1
    assert actions.count(Action.ROUND_CREATED) == 2
    assert actions.count(Action.JOB_QUEUED) == 3
    only = arena.teams.audit(action=Action.ROUND_CREATED, caller=ADA)
    assert [one.subject for one in only] == ["round summer", "round spring"]


def test_set_comes_as_a_zip_file(filled: Callable[..., Arena], set_folder: Path) -> None:
    """A packed folder is the set that the folder is, with its checksum; the log says who brought it."""
    arena = filled()
    files = {f"tiny/{one.name}": one.read_bytes() for one in set_folder.iterdir()}
    brought = arena.set_desk.bring("again.zip", _packed(files), caller=ADA)
    assert not brought.created
    other = arena.set_desk.bring("again.zip", _packed(files), name="other", caller=ADA)
    assert (other.created, other.summary.questions) == (True, 12)
    (note,) = arena.teams.audit(action=Action.SET_IMPORTED, actor="Ada", caller=ADA)
    assert note.subject == "set other"
    view = arena.set_desk.view("tiny", caller=ADA)
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
    """Nothing is unpacked elsewhere, nothing grows without bound, and one sentence says what is wrong."""
    arena = filled()
    with pytest.raises(FileFormatError):
        arena.set_desk.bring("set.zip", HOSTILE[what], caller=ADA)
    assert len(arena.sets.summaries()) == 1


def test_frozen_set_takes_nothing(filled: Callable[..., Arena], answers_file: Callable[..., Path]) -> None:
    """Once frozen, a set refuses submissions and keeps those that it has."""
    arena = filled()
    arena.set_desk.freeze("tiny", caller=ADA)
    assert arena.set_desk.view("tiny", caller=ADA).frozen
    with pytest.raises(ClosedError):
        arena.submissions.add(answers_file("late", "{n}"), "tiny", system="late")
    assert len(arena.planner.entrants("tiny")) == 3


def test_freezing_ends_what_is_open_and_drops_what_would_open() -> None:
    """Phases of the past stay as they were."""
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


def _people(arena: Arena) -> None:
    for name in ("Ada", "Ben", "Cleo"):
        arena.teams.add_account(name, is_organiser=name == "Ada", caller=OPERATOR)


def test_annotators_label_blindly_and_their_labels_calibrate_judges(
    filled: Callable[..., Arena], database_url: str, tmp_path: Path
) -> None:
    """Nothing tells whose answers a pair shows; labels are turned back and exported as human labels."""
    arena = filled(database_url=database_url)
    _people(arena)
    task = arena.annotation_desk.open(TASK, caller=ADA)
    assert (task.pairs, task.wanted, task.done) == (6, 12, 0)
    orders = set()
    for name in TASK.annotators:
        caller = replace(BEN, name=name, account=name)
        while (pair := arena.annotation_desk.next("people", caller=caller)) is not None:
            # Everybody prefers the longer answer, by two grades.
            longer = 2 if len(pair.second) > len(pair.first) else -2
            orders.add(longer)
            arena.annotation_desk.label(pair.id, longer, caller=caller)
    assert orders == {-2, 2}
    found = arena.annotation_desk.agreement("people", caller=ADA)
    assert (found.complete, found.unanimous) == (6, 1.0)
    assert found.labelled == {"Ada": (4, 4), "Ben": (4, 4), "Cleo": (4, 4)}
    labels = arena.annotation_desk.export("people", caller=ADA)
    assert (labels.labels, labels.left_out) == (12, 0)
    path = tmp_path / "labels.jsonl"
    path.write_bytes(labels.content)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert all((row["label"] > 0) == (len(row["answer_b"]) > len(row["answer_a"])) for row in rows)
    assert {len(pair.labels) for pair in labelled_pairs(path)} == {2}
    job = arena.calibration_desk.start(labels.content, ["lexical"], caller=ADA)
    _work(arena)
    result = arena.calibration_desk.get(job.id, caller=ADA).job.result
    assert result is not None
    (report,) = result["reports"]
    assert sum(sum(row.values()) for row in report["confusion"].values()) == report["pairs"] == 6


def test_annotator_labels_own_pairs_until_the_task_is_closed(filled: Callable[..., Arena]) -> None:
    """A pair of somebody else is not found; a closed task takes nothing; others do not see the task."""
    arena = filled()
    _people(arena)
    arena.annotation_desk.open(replace(TASK, annotators=("Ada", "Ben")), caller=ADA)
    pair = arena.annotation_desk.next("people", caller=BEN)
    assert pair is not None
    cleo = replace(BEN, name="Cleo", account="Cleo")
    with pytest.raises(NotFoundError):
        arena.annotation_desk.label(pair.id, 1, caller=cleo)
    assert arena.annotation_desk.tasks(caller=cleo) == ()
    assert [one.name for one in arena.annotation_desk.tasks(caller=BEN)] == ["people"]
    arena.annotation_desk.close("people", caller=ADA)
    assert arena.annotation_desk.next("people", caller=BEN) is None
    with pytest.raises(ConflictError):
        arena.annotation_desk.label(pair.id, 1, caller=BEN)


def test_hidden_references_are_not_shown_to_annotators(filled: Callable[..., Arena]) -> None:
    """A set that hides its references cannot have them labelled, and its labels leave without them."""
    arena = filled()
    _people(arena)
    arena.policies.hide_references("tiny", hidden=True, caller=ADA)
    with pytest.raises(InputError, match="hides its references"):
        arena.annotation_desk.open(TASK, caller=ADA)
    arena.annotation_desk.open(replace(TASK, systems=("full", "short")), caller=ADA)
    pair = arena.annotation_desk.next("people", caller=BEN)
    assert pair is not None
    arena.annotation_desk.label(pair.id, 0, caller=BEN)
    (row,) = map(json.loads, arena.annotation_desk.export("people", caller=ADA).content.splitlines())
    assert row["reference"] is None


def test_bad_labels_are_refused_before_a_worker_sees_them(filled: Callable[..., Arena]) -> None:
    """Every problem of a label file is told at once, and no job is made."""
    arena = filled()
    with pytest.raises(FileFormatError):
        arena.calibration_desk.start(b'{"id": 1}\n', ["lexical"], caller=ADA)
    assert arena.calibration_desk.all(caller=ADA) == ()
