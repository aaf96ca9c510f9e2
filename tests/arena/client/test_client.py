"""Handing in files to another machine's arena: lines that break, refusals, addresses that are none."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from arena.client.backends import RemoteBackend, SubmissionRequest, open_backend
from arena.client.http import ApiClient
from arena.client.upload import upload
from data.errors import AccessError, InputError, InvalidFileError, RecordError, ServerError

CONTENT = bytes(range(256)) * 4_096
SHA = hashlib.sha256(CONTENT).hexdigest()


class Breaking(ThreadingHTTPServer):
    """Takes an upload, and breaks off after every so many bytes of it."""

    def __init__(self, most: int, refusal: tuple[int, bytes] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.daemon_threads = True
        self.most = most
        self.refusal = refusal
        self.kept = b""
        self.puts: list[str] = []

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Breaking

    def do_HEAD(self) -> None:
        whole = hashlib.sha256(self.server.kept).hexdigest() == SHA
        self.send_response(200 if self.server.kept else 404)
        self.send_header("Upload-Offset", str(len(self.server.kept)))
        self.send_header("Upload-Complete", f"?{int(whole)}")
        self.end_headers()

    def do_PUT(self) -> None:
        if self.server.refusal is not None:
            status, body = self.server.refusal
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        told = self.headers.get("Content-Range", "")
        self.server.puts.append(told)
        start = int(told.split()[1].split("-")[0]) if told else 0
        asked = int(self.headers["Content-Length"])
        taken = self.rfile.read(min(asked, self.server.most))
        self.server.kept = self.server.kept[:start] + taken
        if len(taken) < asked:
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def breaking() -> Iterator[Callable[..., Breaking]]:
    """Start such servers."""
    started: list[Breaking] = []

    def start(most: int = 10**9, refusal: tuple[int, bytes] | None = None) -> Breaking:
        server = Breaking(most, refusal)
        started.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of a megabyte."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait between tries."""
    monkeypatch.setattr("arena.client.upload.FIRST_WAIT", 0.0)


def test_file_arrives_over_a_line_that_keeps_breaking(breaking: Callable[..., Breaking], file: Path) -> None:
    """Each try goes on from the last byte that arrived, and what moves on is never given up."""
    server = breaking(most=100_000)
    told: list[int] = []
    with ApiClient(server.address, None) as client:
        assert upload(client, file, sent=lambda done, _total: told.append(done)) == SHA
    assert server.kept == CONTENT
    assert len(server.puts) == 11
    assert server.puts[1].startswith("bytes 100000-")
    assert told[-1] == len(CONTENT)


def test_file_that_is_there_is_not_sent_again(breaking: Callable[..., Breaking], file: Path) -> None:
    """Nothing is sent of what the arena has."""
    server = breaking()
    server.kept = CONTENT
    with ApiClient(server.address, None) as client:
        upload(client, file, sent=lambda _done, _total: None)
    assert server.puts == []


def test_line_that_never_moves_is_given_up(breaking: Callable[..., Breaking], file: Path) -> None:
    """A server that takes nothing is an error that says that sending again goes on."""
    server = breaking(most=0)
    with ApiClient(server.address, None) as client, pytest.raises(ServerError, match="goes on where"):
        upload(client, file, sent=lambda _done, _total: None)
    assert len(server.puts) == 6


def test_problems_of_the_arena_are_ours(breaking: Callable[..., Breaking], file: Path) -> None:
    """What the arena refuses is raised as the same kind of error, with its advice and problems."""
    listed = b'{"detail": "d", "advice": "a", "problems": [{"line": 3, "code": "c", "message": "m"}]}'
    for refusal, kind in (
        ((401, b'{"detail": "Not valid.", "advice": "Ask."}'), AccessError),
        ((413, b"{}"), InputError),
        ((422, listed), InvalidFileError),
    ):
        server = breaking(refusal=refusal)
        with ApiClient(server.address, None) as client, pytest.raises(kind) as raised:
            upload(client, file, sent=lambda _done, _total: None)
        if isinstance(raised.value, InvalidFileError):
            assert [(one.line, one.code) for one in raised.value.problems] == [(3, "c")]


@pytest.mark.parametrize(
    "address", ["", "arena.example", "ftp://a.example", "http://", "http://me:pw@a.example"]
)
def test_address_that_is_none_is_refused(address: str) -> None:
    """An address without scheme or host, or with a password in it, is refused with an example."""
    with pytest.raises(InputError, match="https://arena"):
        ApiClient(address, None)


@pytest.mark.parametrize("token", ["aa_x\r\nX-Evil: 1", "aa x", "aa_ä"])
def test_token_cannot_carry_headers(token: str) -> None:
    """A token with line ends, spaces or other signs is refused, and not repeated."""
    with pytest.raises(InputError) as raised:
        ApiClient("https://arena.example", token)
    assert token not in str(raised.value)


def test_token_needs_an_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A token without an address would be for nothing: the command says so."""
    monkeypatch.setenv("ARENA_HOME", str(tmp_path))
    monkeypatch.delenv("ARENA_SERVER", raising=False)

    def sent(_done: int, _total: int) -> None: ...

    arguments: Any = (None, "aa_x_y")
    with pytest.raises(InputError, match="--server"):
        open_backend(*arguments, sent=sent)


@pytest.mark.parametrize("name", ["../tiny", "a?b#c", "tiny/check", ""])
def test_set_that_cannot_be_one_is_not_asked_for(
    breaking: Callable[..., Breaking], file: Path, name: str
) -> None:
    """The name of a set cannot lead to another address: it is refused before anything is sent."""
    server = breaking()
    with ApiClient(server.address, None) as client:
        round_admin = RemoteBackend(client, sent=lambda _done, _total: None)
        with pytest.raises(RecordError, match="Question set"):
            round_admin.check(file, name)
        with pytest.raises(RecordError, match="Question set"):
            round_admin.add(file, SubmissionRequest(set_name=name, system="s"))
    assert server.puts == []
