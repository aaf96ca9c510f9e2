"""Uploads: resumed by hash, never a stranger's name in a path, limited and removed in time."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from arena.services.submissions.uploads import UploadService, UploadState
from data.errors import ConflictError, FileFormatError, NotFoundError, RecordError

CONTENT = b'{"question_id": "q1", "answer": "x"}\n' * 100
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def uploads(tmp_path: Path) -> UploadService:
    """A service that takes three files of 10,000 bytes from each owner."""
    return UploadService(tmp_path / "uploads", most_bytes=10_000, per_owner=3, hours=1)


def send(
    uploads: UploadService, content: bytes, *, sha256: str = SHA, start: int = 0, owner: str = "a"
) -> None:
    """Send bytes of an upload."""
    with uploads.receiving(owner, sha256, start=start) as writer:
        writer.write(content)


def test_upload_is_whole_once_its_hash_is_right(uploads: UploadService) -> None:
    """A file becomes an upload under its hash only when its content has that hash."""
    send(uploads, CONTENT)
    assert uploads.state("a", SHA) == UploadState(len(CONTENT), complete=False)
    with pytest.raises(NotFoundError, match="3,700 bytes"):
        uploads.get("a", SHA)
    assert uploads.finish("a", SHA).complete
    assert uploads.get("a", SHA).read_bytes() == CONTENT


def test_upload_goes_on_where_it_stopped(uploads: UploadService) -> None:
    """What came before a break stays, and the rest is appended to it."""
    send(uploads, CONTENT[:1000])
    send(uploads, CONTENT[1000:], start=1000)
    assert uploads.finish("a", SHA).complete


def test_rest_that_does_not_fit_is_refused(uploads: UploadService) -> None:
    """Bytes from elsewhere than where the file ends change nothing."""
    send(uploads, CONTENT[:1000])
    with pytest.raises(ConflictError, match="1,000 bytes are there"):
        send(uploads, CONTENT[900:], start=900)
    assert uploads.state("a", SHA).received == 1000


def test_beginning_anew_drops_what_was_there(uploads: UploadService) -> None:
    """Sending from the first byte starts over."""
    send(uploads, b"rubbish")
    send(uploads, CONTENT)
    assert uploads.finish("a", SHA).complete


def test_wrong_hash_removes_the_file(uploads: UploadService) -> None:
    """A file with another hash is refused and gone."""
    send(uploads, b"something else")
    with pytest.raises(FileFormatError, match="was removed") as raised:
        uploads.finish("a", SHA)
    assert raised.value.code == "wrong-hash"
    assert uploads.state("a", SHA).received == 0


def test_file_over_the_limit_is_refused_where_it_crosses_it(uploads: UploadService) -> None:
    """No byte over the limit is written."""
    with uploads.receiving("a", SHA, start=0) as writer:
        writer.write(b"x" * 9_000)
        with pytest.raises(FileFormatError, match="longer than 10,000"):
            writer.write(b"x" * 1_001)
    assert uploads.state("a", SHA).received == 9_000


def test_two_senders_of_one_file_do_not_mix(uploads: UploadService) -> None:
    """While a file is being sent, another request for it is refused."""
    with uploads.receiving("a", SHA, start=0), pytest.raises(ConflictError, match="another request"):
        send(uploads, CONTENT)


def test_owners_have_their_own_files_and_their_own_limit(uploads: UploadService) -> None:
    """One owner's uploads are neither seen nor counted by another."""
    for number in range(3):
        send(uploads, b"x", sha256=f"{number:064x}")
    with pytest.raises(ConflictError, match="3 uploads wait"):
        send(uploads, CONTENT)
    send(uploads, CONTENT, owner="b")
    assert uploads.state("a", SHA).received == 0
    uploads.remove("a", f"{0:064x}")
    send(uploads, CONTENT)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "A" * 64, "", f"{SHA}/x", f"{SHA}\n", SHA[:-1], "checks"]
)
def test_only_a_hash_names_an_upload(uploads: UploadService, name: str) -> None:
    """Nothing but 64 hex digits reaches a path, and no odd owner either."""
    for owner, sha256 in (("a", name), (f"../{name}", SHA)):
        with pytest.raises(RecordError):
            uploads.state(owner, sha256)


def test_what_waits_too_long_goes(uploads: UploadService, tmp_path: Path) -> None:
    """Uploads and left-over checks are removed after their hours, others stay."""
    send(uploads, CONTENT)
    with uploads.scratch() as (path, _writer):
        for old in (path, tmp_path / "uploads" / "a" / f"{SHA}.part"):
            os.utime(old, (time.time() - 3_700,) * 2)
        send(uploads, b"x", sha256="0" * 64)
        assert not path.exists()
    assert uploads.state("a", SHA).received == 0
    assert uploads.state("a", "0" * 64).received == 1


def test_checked_file_is_gone_after_the_check(uploads: UploadService, tmp_path: Path) -> None:
    """A file that is only checked leaves nothing, and only its owner could read it."""
    with uploads.scratch() as (path, writer):
        writer.write(CONTENT)
        assert path.parent.stat().st_mode & 0o077 == 0
    assert list((tmp_path / "uploads").rglob("*.*")) == []
    assert not path.exists()
