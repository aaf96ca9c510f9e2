"""Boards: standings, publication, export, verification, notices, retraction."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR, PUBLIC
from arena.services.boards.verification import verify_folder
from arena.services.rounds.export import write_round
from arena.services.rounds.models import RoundRequest
from data.errors import AccessError, ConflictError, FileFormatError, InputError
from data.store.scores import EMBEDDED
from tests.arena.conftest import TEMPLATES, Commands, Fill, Serve, answers_file, log_entries, play, quiet


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["preference", "reference-free"])
def test_exported_round_verifies(filled: Fill, scripted_llm: Serve, tmp_path: Path, judge: str) -> None:
    arena = filled(endpoint=scripted_llm().url)
    play(arena, judge=judge)
    arena.boards.export_round("r", tmp_path / "out")
    assert "battles.jsonl" in verify_folder(tmp_path / "out").files


@pytest.mark.slow
def test_board_metrics_cover_judged_answers(filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    play(arena)
    arena.submissions.add(answers_file(tmp_path, "newer", "Item {n} is nothing."), "tiny", system="full")
    arena.boards.publish("r", report=quiet, score=True)
    scored = Counter(
        (submission.system, submission.version)
        for submission in arena.store.submissions.find(set_name="tiny")
        for _ in arena.store.scores.detailed([submission.id], metric="reference-coverage", judge=EMBEDDED)
    )
    assert scored == {(system, 1): 12 for system in TEMPLATES}


def test_publish_scores_only_metrics_shown_by_default(filled: Fill) -> None:
    arena = filled()
    play(arena)
    notes: list[str] = []
    first, _ = arena.boards.publish("r", report=notes.append)
    assert [note for note in notes if note.startswith("not scoring factuality-fr3: only scores by an LLM")]
    default = set(first.standings["lines"]["overall"][0]["scores"])
    play(arena, "again")
    full, _ = arena.boards.publish("again", report=quiet, score=True)
    assert set(full.standings["lines"]["overall"][0]["scores"]) - default == {"factuality-fr3"}
    assert "comprehensiveness-nli" in default


def _forge(folder: Path, name: str, old: str, new: str) -> None:
    """Change a file of an export and its checksum."""
    path = folder / name
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new))
    sums = json.loads((folder / "checksums.json").read_text())
    sums[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "checksums.json").write_text(json.dumps(sums))


UNREAD = '"outcome": "unreadable", "preference": null'
FORGED = (
    ("judgments.jsonl", '"preference": "a"', '"preference": "b"', "its judgments give"),
    ("judgments.jsonl", '"outcome": "judged", "preference": "a"', UNREAD, "judgments give no verdict"),
    ("outcomes.jsonl", '"judged"', '"failed"', "its judgments give|counts"),
    ("round.json", '"kind": "lexical"', '"kind": "llm"', "does not match its hash"),
    ("round.json", '"hash": "', '"hash": "0', "judge in standings.json"),
    ("round.json", '"judged": ', '"judged": 1', "counts"),
    ("battles.jsonl", '"winner": "model_a"', '"winner": "model_b"', "its judgments give"),
)


@pytest.mark.slow
def test_forged_exports_do_not_verify(filled: Fill, tmp_path: Path) -> None:
    """Any change or addition is detected, even with matching checksums; a changed title by the hash."""
    arena = filled()
    play(arena)
    board, _ = arena.boards.publish("r", report=quiet)
    whole = tmp_path / "whole"
    arena.boards.export_round("r", whole)
    assert verify_folder(whole).content_hash == board.content_hash
    for number, (name, old, new, said) in enumerate(FORGED):
        forged = shutil.copytree(whole, tmp_path / str(number))
        _forge(forged, name, old, new)
        with pytest.raises(FileFormatError, match=said):
            verify_folder(forged)
    titled = shutil.copytree(whole, tmp_path / "titled")
    _forge(titled, "standings.json", '"title": "', '"title": "Better ')
    assert verify_folder(titled).content_hash != board.content_hash
    (whole / "more.jsonl").write_text("{}")
    with pytest.raises(FileFormatError, match="not part of the export"):
        verify_folder(whole)
    (whole / "more.jsonl").unlink()
    with (whole / "outcomes.jsonl").open("a") as file:
        file.write('{"invented": true}\n')
    with pytest.raises(FileFormatError, match="differs from what was exported"):
        verify_folder(whole)


def test_forged_rating_does_not_verify(filled: Fill, tmp_path: Path) -> None:
    """Standings that do not follow from the battles are detected despite matching checksums."""
    arena = filled()
    play(arena)
    standings = arena.boards.standings("r").as_json()
    lines: Any = standings["lines"]
    next(line for line in lines["overall"] if line["rate"])["rate"]["win_rate"] = 0.123
    write_round(arena.store, "r", standings, tmp_path / "out", caller=OPERATOR)
    with pytest.raises(FileFormatError, match="win rate"):
        verify_folder(tmp_path / "out")


def test_published_board_never_changes(filled: Fill) -> None:
    arena = filled()
    play(arena)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", name="planned"))
    with pytest.raises(ConflictError, match="resume"):
        arena.boards.publish("planned", report=quiet)
    first, created = arena.boards.publish("r", report=quiet)
    again, repeated = arena.boards.publish("r", report=quiet)
    assert (created, repeated) == (True, False)
    assert first.content_hash == again.content_hash
    assert arena.boards.retract("r", "A wrong file.").notice == "A wrong file."
    assert arena.boards.published() == ()
    with pytest.raises(ConflictError, match="retracted"):
        arena.boards.publish("r", report=quiet)


def test_reference_cannot_be_withdrawn(filled: Fill) -> None:
    arena = filled()
    play(arena)
    reference = arena.store.submissions.reference("tiny")
    with pytest.raises(ConflictError, match="reference"):
        arena.submissions.withdraw(reference.id)
    submission = arena.submissions.find(set_name="tiny")[0]
    arena.submissions.withdraw(submission.id)
    with pytest.raises(ConflictError, match="already"):
        arena.submissions.withdraw(submission.id)


ERRATUM = "Question q3 was ambiguous; <b>it stays</b> in this round."


@pytest.fixture
def arena(filled: Fill) -> Arena:
    """An arena with a published round named `tiny`."""
    opened = filled()
    play(opened, "tiny", pairs="", publish=True)
    return opened


def test_notice_does_not_change_numbers_or_hash(arena: Arena) -> None:
    audit_log = log_entries()
    before = arena.boards.get("tiny")
    arena.boards.put_notice("tiny", f"  {ERRATUM}\n")
    noted = arena.boards.get("tiny")
    assert (noted.notice, noted.standings, noted.content_hash) == (
        ERRATUM,
        before.standings,
        before.content_hash,
    )
    assert arena.boards.clear_notice("tiny").notice == ""
    put, cleared = [line for line in audit_log if line["event"] == "board-noted"]
    assert (put["notice"], cleared["before"]) == (ERRATUM, ERRATUM)


def test_only_organisers_write_notices(arena: Arena) -> None:
    with pytest.raises(AccessError):
        arena.boards.put_notice("tiny", ERRATUM, caller=PUBLIC)
    for text in (" \n", "x" * 2001):
        with pytest.raises(InputError):
            arena.boards.put_notice("tiny", text)


def test_notice_does_not_replace_retraction_reason(arena: Arena) -> None:
    arena.boards.retract("tiny", "Two files were exchanged.")
    with pytest.raises(ConflictError):
        arena.boards.put_notice("tiny", ERRATUM)
    with pytest.raises(ConflictError):
        arena.boards.clear_notice("tiny")
    assert arena.boards.get("tiny").notice == "Two files were exchanged."


@pytest.mark.usefixtures("arena")
def test_command_adds_and_clears_notice(run: Commands) -> None:
    for notice in (ERRATUM, ""):
        assert run.json("rounds", "publish", "tiny", "--notice", notice, "--json")["notice"] == notice
