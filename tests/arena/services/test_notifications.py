"""Notifications over real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from arena.container import Arena
from tests.arena.conftest import Fill, play, write_answers

ANSWER = "Item {n} is {word}, as far as I know."
Received = tuple[str, list[dict[str, str]]]


@pytest.fixture
def receiver() -> Iterator[Received]:
    """A web server: its apprise address, and the messages that it gets."""
    messages: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        """Take a message."""

        def do_POST(self) -> None:
            messages.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"json://127.0.0.1:{server.server_address[1]}/secret", messages
    server.shutdown()
    thread.join()
    server.server_close()


def wait_for(messages: list[dict[str, str]], count: int) -> dict[str, str]:
    """Wait for some messages, and return their texts by their titles."""
    until = time.monotonic() + 60
    while len(messages) < count and time.monotonic() < until:
        time.sleep(0.05)
    return {each["title"]: each["message"] for each in messages}


def test_events_reach_the_address(
    filled: Fill, scripted_llm: Callable[..., object], receiver: Received, tmp_path: Path
) -> None:
    """An accepted submission, a cap and the end of a round, with links to the site."""
    address, messages = receiver
    arena = filled()
    settings = replace(
        arena.settings,
        notify=address,
        public_url="https://arena.example",
        endpoint=scripted_llm(rule="hash").url,  # type: ignore[attr-defined]
    )
    arena = Arena(settings)
    path = write_answers(tmp_path / "new.jsonl", (ANSWER,), 12)
    arena.submissions.add(path, "tiny", system="new", team="ours")
    play(arena, judge="reference-free", budget_usd=0.002)
    texts = wait_for(messages, 3)
    arena.close()
    assert set(texts) == {
        f"Answer Arena: {event}" for event in ("submission accepted", "cap reached", "round finished")
    }
    accepted = texts["Answer Arena: submission accepted"]
    assert accepted == "new, version 1 of ours was accepted on tiny.\nhttps://arena.example/team"
    assert "its cap of 0.002 USD" in texts["Answer Arena: cap reached"]


@pytest.mark.parametrize("address", ["json://127.0.0.1:9/secret", "no-address"])
def test_failure_is_logged_and_ends_no_work(
    filled: Fill, tmp_path: Path, capfd: pytest.CaptureFixture[str], address: str
) -> None:
    """A server that is away, and a text that is no address, leave the submission accepted."""
    arena = filled()
    arena = Arena(replace(arena.settings, notify=address))
    path = write_answers(tmp_path / "new.jsonl", (ANSWER,), 12)
    submission = arena.submissions.add(path, "tiny", system="new", team="ours").submission
    for thread in threading.enumerate():
        if thread.name == "notification":
            thread.join()
    logged = "".join(capfd.readouterr())
    arena.close()
    assert submission.state.value == "accepted"
    assert "notification.failed" in logged
    assert "secret" not in logged


def test_no_address_notifies_nobody(filled: Fill, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arena = Arena(replace(filled().settings, notify=""))
    path = write_answers(tmp_path / "new.jsonl", (ANSWER,), 12)
    arena.submissions.add(path, "tiny", system="new", team="ours")
    arena.close()
    assert "notification" not in {thread.name for thread in threading.enumerate()}
    assert "notification.failed" not in "".join(capfd.readouterr())
