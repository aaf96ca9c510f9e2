"""Files that browsers send to the pages: streamed to the disk, bounded, called as their owners call them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from arena.container import Arena
from arena.services.submissions.browser_files import IN_PLACE, MOST_WAITING, BrowserFiles
from arena.services.submissions.uploads import UploadService
from arena.site.browser_uploads import BrowserUploads
from data.errors import FileFormatError, NotFoundError
from data.files.text_files import file_name

MOST = 3 * 1024 * 1024
PLACE = "/_stcore/upload_file/session/{}"


@pytest.fixture
def files(tmp_path: Path) -> BrowserFiles:
    """Files up to 3 MiB."""
    return BrowserFiles(tmp_path / "browser", most_bytes=MOST)


@pytest.fixture
def client(files: BrowserFiles) -> TestClient:
    """A server that says what reaches Streamlit's own route; of a closed page nothing is read."""

    async def put(request: Request) -> Response:
        if request.path_params["file_id"] == "closed":
            return Response(status_code=400)
        async with request.form() as form:
            return JSONResponse(
                [
                    [one.filename, (await one.read()).decode()]
                    for one in form.values()
                    if isinstance(one, UploadFile)
                ]
            )

    routes = [Route("/_stcore/upload_file/{session}/{file_id}", put, methods=["PUT", "DELETE"])]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(BrowserUploads, files=files)]))


def _put(client: TestClient, file_id: str, content: bytes, name: str = "mine (1).jsonl") -> Any:  # noqa: ANN401 - the test client's own response
    return client.put(PLACE.format(file_id), files={"file": (name, content, "text/plain")})


def test_upload_lies_on_the_disk_and_streamlit_gets_a_few_bytes(
    client: TestClient, files: BrowserFiles
) -> None:
    """E4: the file is on the disk byte by byte, with the name as sent; memory holds a line in its place."""
    content = bytes(range(256)) * 8_192 + b"\r\n--not-the-boundary\r\n"
    answer = _put(client, "one", content)
    assert answer.json() == [["mine (1).jsonl", IN_PLACE.decode()]]
    assert files.require("one").read_bytes() == content
    client.delete(PLACE.format("one"))
    assert files.get("one") is None


def test_upload_above_the_limit_is_told_and_not_kept(client: TestClient, files: BrowserFiles) -> None:
    """E4: a byte above the limit the page learns the size that was sent; nothing of it stays on the disk."""
    assert _put(client, "fits", b"x" * MOST).status_code == 200
    assert files.require("fits").stat().st_size == MOST
    assert _put(client, "long", b"x" * (2 * MOST)).status_code == 200
    with pytest.raises(FileFormatError, match=r"has 6\.0 MiB; up to 3 MiB are taken") as refused:
        files.require("long")
    assert refused.value.code == "too-large"
    assert sum(path.stat().st_size for path in files.require("fits").parent.iterdir()) < MOST + 100


@pytest.mark.parametrize(
    "body", [b"", b"no form", b"--x\r\nA: b\r\n\r\ncut off", b"--x\r\n" + b"A: " + b"b" * 20_000]
)
def test_body_that_is_no_upload_leaves_nothing(client: TestClient, files: BrowserFiles, body: bytes) -> None:
    """E4: what cannot be read as a form reaches Streamlit without a file, and nothing is kept."""
    headers = {"content-type": "multipart/form-data; boundary=x"}
    client.put(PLACE.format("odd"), content=body, headers=headers)
    assert files.get("odd") is None


def test_request_of_no_open_page_is_not_read(client: TestClient, tmp_path: Path) -> None:
    """E4: where Streamlit refuses a request by its head, nothing of its body reaches the disk."""
    assert _put(client, "closed", b"x").status_code == 400
    assert not (tmp_path / "browser").exists()


def test_upload_that_breaks_off_leaves_nothing(files: BrowserFiles, tmp_path: Path) -> None:
    """E4: of a browser that goes away in the middle no part stays."""
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nhalf'
    messages: list[Message] = [
        {"type": "http.request", "body": head, "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        return messages.pop(0)

    async def app(_scope: Scope, inner: Receive, _send: Send) -> None:
        assert (await inner())["body"] == b""

    async def send(_message: Message) -> None:
        """Nobody is there to be answered."""

    scope = {
        "type": "http",
        "method": "PUT",
        "path": PLACE.format("gone"),
        "headers": [(b"content-type", b"multipart/form-data; boundary=x")],
    }
    asyncio.run(BrowserUploads(app, files)(scope, receive, send))
    assert list((tmp_path / "browser").iterdir()) == []


def test_disk_is_bounded_whoever_sends(files: BrowserFiles, tmp_path: Path) -> None:
    """E4: the oldest files make room, so that strangers who open page after page cannot fill the disk."""
    for number in range(MOST_WAITING + 5):
        with files.receiving(str(number)) as writer:
            writer.write(b"x")
    assert len(list((tmp_path / "browser").iterdir())) == MOST_WAITING
    with pytest.raises(NotFoundError, match="not here any more"):
        files.require("0")


@given(st.text(max_size=300))
def test_name_of_a_file_is_never_a_path(given_name: str) -> None:
    """E6: whatever a browser calls a file, its name is one printable part that every file system holds."""
    name = file_name(given_name)
    assert name
    assert Path(name).name == name
    assert name.isprintable()
    assert len(name.encode()) <= 255
    assert file_name(f"C:\\fakepath\\../{name}") == name


def test_file_is_read_under_the_name_of_its_owner(tmp_path: Path) -> None:
    """E6: two files of one name are read at once, each in a folder of its own that goes with it."""
    uploads = UploadService(tmp_path / "uploads", most_bytes=100)
    stored = tmp_path / "stored"
    stored.write_text("one")
    with uploads.named(stored, "my answers.csv") as one, uploads.scratch("my answers.csv") as (other, _):
        assert one.name == other.name == "my answers.csv"
        assert one.read_text() == "one"
        stored.unlink()
        assert one.exists()
    assert list((tmp_path / "uploads" / "checks").iterdir()) == []


def test_checked_file_is_gone_after_the_check(tmp_path: Path) -> None:
    """A file that is read leaves nothing, and what a process that died left goes as well."""
    uploads = UploadService(tmp_path / "uploads", most_bytes=10)
    left = tmp_path / "uploads" / "checks" / "left"
    left.mkdir(parents=True)
    os.utime(left, (0, 0))
    with uploads.scratch() as (path, writer):
        writer.write(b"x" * 9)
        assert path.parent.stat().st_mode & 0o077 == 0
        with pytest.raises(FileFormatError, match="longer than 10 bytes"):
            writer.write(b"xx")
    assert list((tmp_path / "uploads" / "checks").iterdir()) == []


def test_problems_of_a_file_name_it_as_its_owner_does(filled: Callable[..., Arena]) -> None:
    """E6: what a check finds names the user's file, never a temporary name of the server's."""
    arena = filled()
    with arena.uploads.scratch("../my answers (1).csv") as (path, writer):
        writer.close()
        (problem, *_) = arena.submissions.check(path, "tiny").problems
    assert problem.message.startswith("my answers (1).csv is empty")
