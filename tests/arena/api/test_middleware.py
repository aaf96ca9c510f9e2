from __future__ import annotations

import contextlib
import csv
import gzip
import io
import itertools
import json
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from arena.container import Arena
from tests.arena.api.conftest import Club, answers, api_of, submit
from tests.arena.conftest import settings_of, until

MEGABYTE = 1024 * 1024
SUBMIT = "/sets/tiny/submissions?system=hostile&file_name=hostile.bin"


def bomb(megabytes: int) -> bytes:
    """Return a small gzip file with a single very long line."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(b'{"question_id": "q1", "answer": "')]
    parts += [packer.compress(b"a" * MEGABYTE) for _ in range(megabytes)]
    return b"".join([*parts, packer.compress(b'"}\n'), packer.flush()])


CASES = {
    "bomb": (bomb(300), {"too-large", "gzip-bomb"}),
    "cut-off gzip": (
        gzip.compress(b'{"question_id": "q1", "answer": "x"}\n' * 999)[:-20],
        {"truncated-gzip"},
    ),
    "zip": (b"PK\x03\x04" + b"\0" * 50, {"bad-archive"}),
    "damaged table": (b"PAR1" + b"\x00" * 40 + b"PAR1", {"damaged-file"}),
    "utf-16": ('{"question_id": "q1", "answer": "x"}\n'.encode("utf-16"), {"not-utf8"}),
    "nothing": (b"", {"empty-file"}),
    "deep": (b"[" * 5_000 + b"]" * 5_000, {"too-deep", "not-json", "wrong-shape", "not-object"}),
}


@pytest.mark.parametrize("name", CASES)
def test_invalid_file_creates_no_submission(club: Club, name: str) -> None:
    content, codes = CASES[name]
    checked, sent = (
        club.alpha.post("/sets/tiny/check", content=content),
        club.alpha.post(SUBMIT, content=content),
    )
    assert (checked.status_code, sent.status_code) == (200, 422)
    assert not checked.json()["accepted"]
    for response in (checked, sent):
        assert {problem["code"] for problem in response.json()["problems"]} & codes
        assert str(club.settings.home) not in response.text
        assert "sys." not in response.text
    assert "hostile" not in club.alpha.get("/submissions").text
    assert not list(club.settings.home.rglob("*hostile.bin*"))


def test_file_name_is_not_path(club: Club) -> None:
    before = sorted(club.settings.home.rglob("*"))
    for name in ("../../../etc/passwd", "/etc/passwd", "a\x00b", "\n", "x" * 255):
        response = club.alpha.post("/sets/tiny/check", params={"file_name": name}, content=b"x")
        assert (response.status_code, response.json()["accepted"]) == (200, False)
    assert sorted(club.settings.home.rglob("*")) == before


def test_oversized_content_length_is_rejected(club: Club) -> None:
    answered = _raw(club, f"POST /api/v1{SUBMIT}", {"Content-Length": str(300 * MEGABYTE)})
    assert answered.startswith(b"HTTP/1.1 413")
    assert b"application/problem+json" in answered
    assert b"Wrong" not in answered


def test_body_without_length_is_cut_at_limit(club: Club) -> None:
    """A chunked body above the limit is refused with 413, and leaves no file."""

    def blocks() -> Iterator[bytes]:
        for _ in range(48):
            yield b"a" * (64 * 1024)

    # The server may respond and close while the client is still sending.
    with contextlib.suppress(httpx.WriteError, httpx.ReadError):
        assert club.alpha.post(SUBMIT, content=blocks()).status_code == 413
    until(lambda: not list(club.settings.home.rglob("*hostile.bin*")))


@pytest.mark.slow
def test_slow_senders_are_disconnected(club: Club) -> None:
    for path in (f"POST /api/v1{SUBMIT}", "POST /api/v1/submissions/1/withdraw"):
        headers = {"Content-Length": "1000", "Content-Type": "application/json"}
        answered = _raw(club, path, headers, body=b"{")
        assert answered.startswith(b"HTTP/1.1 408")
        assert b"connection: close" in answered.lower()
    trickle = _raw(club, f"POST /api/v1{SUBMIT}", {"Content-Length": "1000000"}, body=b"x" * 40, pause=0.2)
    assert trickle.startswith(b"HTTP/1.1 408")


def _raw(club: Club, line: str, headers: dict[str, str], body: bytes = b"", pause: float = 0) -> bytes:
    """Send the start of a request and its body byte by byte, and return the response."""
    parts = urlsplit(club.address)
    fields = {"Host": parts.netloc, "Authorization": f"Bearer {club.tokens['alpha']}", **headers}
    head = f"{line} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
    with socket.create_connection((parts.hostname, parts.port), timeout=pause or 30) as connection:
        connection.sendall(head.encode())
        for byte in body:
            connection.sendall(bytes([byte]))
            if pause:
                try:
                    return connection.recv(65_536)
                except TimeoutError:
                    continue
        connection.settimeout(30)
        answered = b""
        while block := connection.recv(65_536):
            answered += block
        return answered


def test_malformed_query_and_body_are_rejected(club: Club) -> None:
    for wish in ({}, {"system": ""}, {"system": "s", "hold": "maybe"}, {"system": "s", "x": "1"}):
        response = club.alpha.post("/sets/tiny/submissions", params=wish, content=b"{}")
        assert (response.status_code, bool(response.json()["problems"])) == (422, True)
    for body in (b"[]", b'"x"', b"{", b"\xff\xfe", b'{"reason": 1}'):
        assert club.alpha.post("/submissions/999999/withdraw", content=body).status_code == 422
    large = b'{"reason": "' + b"a" * 300_000 + b'"}'
    assert club.alpha.post("/submissions/1/withdraw", content=large).status_code == 413


def test_exported_cells_are_escaped(public: httpx.Client) -> None:
    rows = list(csv.reader(io.StringIO(public.get("/leaderboards/tiny?format=csv").text)))
    assert len(rows) > 1
    for cell in itertools.chain.from_iterable(rows):
        assert not cell.startswith(("=", "@", "\t", "+")), cell
        assert not cell.startswith("-") or float(cell) < 0


def test_user_markup_is_not_interpreted(club: Club) -> None:
    card = {"notes": "<script>alert(1)</script>"}
    number = submit(club.alpha, answers("markup"), system="markup", card=card).json()["id"]
    response = club.alpha.get(f"/submissions/{number}")
    assert response.json()["card"]["notes"] == card["notes"]
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in response.headers["content-security-policy"]


@pytest.mark.slow
def test_internal_errors_return_only_an_id(tmp_path: Path) -> None:
    settings = settings_of(tmp_path / "secret-place")
    arena = Arena(settings)
    arena.store.sets.summaries()
    arena.close()
    with api_of(settings, tmp_path / "log") as address:
        (settings.home / "arena.sqlite").write_bytes(b"this is no database" * 1000)
        response = httpx.get(f"{address}/sets")
    assert response.status_code in {500, 503}
    assert "secret-place" not in response.text
    assert "sqlite" not in response.text.lower()
    assert json.loads(response.text)["status"] == response.status_code
    log = (tmp_path / "log").read_text()
    assert "arena.api" in log or "database" in log
