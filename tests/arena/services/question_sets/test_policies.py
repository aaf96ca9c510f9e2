from __future__ import annotations

import io
import stat
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.services.question_sets.policies import frozen, is_frozen
from data.errors import ClosedError, FileFormatError
from data.models import Phase, SetPolicy
from tests.arena.conftest import ADA, Fill, answers_file, write_set


def packed(files: dict[str, bytes], *, link: str = "") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in files.items():
            archive.writestr(name, member)
        if link:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(entry, "/etc/passwd")
    return content.getvalue()


def test_set_is_imported_from_zip_file(filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    files = packed({f"tiny/{path.name}": path.read_bytes() for path in write_set(tmp_path).iterdir()})
    assert not arena.set_admin.upload("again.zip", files, caller=ADA).created
    other = arena.set_admin.upload("again.zip", files, name="other", caller=ADA)
    assert (other.created, other.summary.questions) == (True, 12)
    view = arena.set_admin.view("tiny", caller=ADA)
    assert (view.splits, view.references, len(view.entrants)) == ({"test": 12}, 12, 3)


HOSTILE = {
    "a path upwards": packed({"../evil.jsonl": b"{}"}),
    "an absolute path": packed({"/etc/evil.jsonl": b"{}"}),
    "a link": packed({"questions.jsonl": b"{}"}, link="set.toml"),
    "folders in folders": packed({"a/b/c/questions.jsonl": b"{}"}),
    "too many files": packed({f"{number}.txt": b"x" for number in range(300)}),
    "a bomb": packed({"questions.jsonl": b"0" * (201 * 1024 * 1024)}),
    "no zip file": b"PK\x03\x04 and nothing else",
}


def test_hostile_zip_files_are_refused(filled: Fill) -> None:
    arena = filled()
    for name, content in HOSTILE.items():
        with pytest.raises(FileFormatError):
            arena.set_admin.upload("set.zip", content, caller=ADA)
        assert len(arena.sets.summaries()) == 1, name


def test_frozen_set_refuses_submissions(filled: Fill, tmp_path: Path) -> None:
    arena = filled()
    arena.set_admin.freeze("tiny", caller=ADA)
    assert arena.set_admin.view("tiny", caller=ADA).frozen
    with pytest.raises(ClosedError):
        arena.submissions.add(answers_file(tmp_path, "late", "{n}"), "tiny", system="late")
    assert len(arena.planner.entrants("tiny")) == 3


def test_freezing_ends_open_phases_and_drops_later_ones() -> None:
    now, day = datetime.now(UTC), timedelta(days=1)
    past = Phase(name="past", closes_at=now - day)
    open_ = Phase(name="open", opens_at=now - day / 2)
    later = Phase(name="later", opens_at=now + day)
    phases = (past, replace(open_, closes_at=now + day / 2), later)
    policy = frozen(SetPolicy(set_name="tiny", phases=phases), now)
    assert policy.phases == (past, replace(open_, closes_at=now))
    assert is_frozen(policy, now)
    assert not is_frozen(SetPolicy(set_name="tiny"), now)
