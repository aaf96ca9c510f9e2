"""`/labels`: people label over HTTP, organisers watch; labels survive a server that is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.settings import Settings
from data.records import TokenScope

ROOT = Path(__file__).parents[3]
TASK = {
    "name": "people",
    "set": "tiny",
    "systems": ["full", "short"],
    "overlap": 2,
    "annotators": ["ann", "bob"],
    "count": 4,
}


@pytest.fixture
def labelling(filled: Callable[..., Arena]) -> tuple[Arena, dict[str, str]]:
    """An arena with people, and their tokens."""
    arena = filled()
    tokens = {}
    for name in ("olga", "ann", "bob", "eve"):
        arena.teams.add_account(name, is_organiser=name == "olga", caller=OPERATOR)
        scope = TokenScope.ORGANISE if name == "olga" else TokenScope.READ
        tokens[name] = arena.tokens.create(name=name, scopes={scope}, account=name, caller=OPERATOR).secret
    return arena, tokens


class _Server:
    """A server that can be killed and started again on the same database."""

    def __init__(self, program: Path, settings: Settings, log: Path) -> None:
        self._program, self._settings, self._log = program, settings, log
        self.process: subprocess.Popen[bytes] | None = None
        self.address = ""

    def start(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ARENA_")},  # noqa: TID251
            "ARENA_HOME": str(self._settings.home),
            "ARENA_DATABASE_URL": self._settings.database_url,
            "ARENA_API_RATE": "100000",
        }
        with self._log.open("ab") as out:
            self.process = subprocess.Popen(
                [self._program, "serve", "--no-worker", "--port", str(port)],
                cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip
        self.address = f"http://127.0.0.1:{port}/api/v1"
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                if httpx.get(f"{self.address}/health", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise RuntimeError(self._log.read_text())

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def _serving(program: Path, settings: Settings, log: Path) -> Iterator[_Server]:
    server = _Server(program, settings, log)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def _client(server: _Server, token: str | None) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=server.address, headers=headers, timeout=60)


def _label_all(client: httpx.Client, longer: int) -> None:
    """Give one value where the longer answer is shown first, else its opposite."""
    while (item := client.post("/labels/tasks/people/next").json()["item"]) is not None:
        assert not {"system", "model_a", "system_a"} & set(item)
        value = longer if len(item["first"]) > len(item["second"]) else -longer
        path = f"/labels/tasks/people/items/{item['number']}"
        assert client.put(f"{path}/label", json={"value": value}).status_code == 204


@pytest.mark.long
def test_people_label_over_http_and_organisers_watch(
    labelling: tuple[Arena, dict[str, str]], program: Path, tmp_path: Path
) -> None:
    """Open, agree, next, label, go back, skip, quality, adjudicate, export, delete; nobody else may."""
    arena, tokens = labelling
    with _serving(program, arena.settings, tmp_path / "log") as server, ExitStack() as stack:
        olga, ann, bob, eve, nobody = (
            stack.enter_context(_client(server, tokens.get(name)))
            for name in ("olga", "ann", "bob", "eve", "nobody")
        )
        assert ann.post("/labels/tasks", json=TASK).status_code == 403
        assert nobody.get("/labels/tasks").status_code == 401
        assert olga.post("/labels/tasks", json={**TASK, "systems": ["full"]}).status_code == 422
        opened = olga.post("/labels/tasks", json=TASK)
        assert (opened.status_code, opened.json()["items"]) == (201, 4)
        assert olga.post("/labels/tasks", json=TASK).status_code == 409
        assert eve.get("/labels/tasks").json() == {"tasks": []}
        assert eve.post("/labels/tasks/people/next").status_code == 404
        (task,) = ann.get("/labels/tasks").json()["tasks"]
        assert "deleted" in task["consent"]
        assert ann.post("/labels/tasks/people/next").status_code == 403
        for client in (ann, bob):
            assert client.post("/labels/tasks/people/consent").status_code == 204
        for client, longer in ((ann, -2), (bob, 2)):
            _label_all(client, longer)
        progress = ann.get("/labels/tasks/people/progress").json()
        assert (progress["labelled"], progress["total"], len(progress["labels"])) == (4, 4, 4)
        path = f"/labels/tasks/people/items/{progress['labels'][0]}"
        assert bob.get(path).status_code == 404
        assert bob.put(f"{path}/label", json={"value": 1}).status_code == 404
        assert ann.get(path).json()["value"] in {-2, 2}
        assert ann.put(f"{path}/label", json={"value": 3}).status_code == 422
        without = ann.put(f"{path}/label", json={"comment": "Neither."})
        assert (without.status_code, "A missing value" in without.text) == (422, True)
        assert ann.put(f"{path}/skip", json={"reason": "Changed my mind."}).status_code == 204
        assert ann.put(f"{path}/label", json={"value": 0}).status_code == 204
        quality = olga.get("/labels/tasks/people/quality").json()
        assert (quality["labels"], quality["complete"], quality["disputed"]) == (8, 4, 4)
        assert ann.get("/labels/tasks/people/quality").status_code == 403
        queue = olga.get("/labels/tasks/people/disputed").json()["disputed"]
        decided = olga.put(f"/labels/tasks/people/disputed/{queue[0]['item']}", json={"value": 2})
        assert decided.status_code == 204
        assert len(olga.get("/labels/tasks/people/disputed").json()["disputed"]) == 3
        votes = olga.get("/labels/tasks/people/labels")
        assert len(votes.text.splitlines()) == 8
        posted = olga.post("/labels/tasks/people/labels", content=votes.content)
        assert posted.json() == {"labels": 0}
        assert olga.post("/labels/tasks/people/labels", content=b"{").status_code == 422
        exclusion = "/labels/tasks/people/people/bob/exclusion"
        assert olga.put(exclusion, json={"reason": "Hasty."}).json() == {"labels": 4}
        assert bob.post("/labels/tasks/people/next").status_code == 403
        assert olga.put(exclusion, json={"reason": None}).json() == {"labels": 4}
        assert ann.delete("/labels/tasks/people/mine?confirm=true").status_code == 204
        assert olga.delete("/labels/tasks/people/people/bob?confirm=true").json() == {"labels": 4}
        assert olga.get("/labels/tasks/people").json()["done"] == 0
        assert olga.post("/labels/tasks/people/close").status_code == 204
        assert ann.get("/labels/tasks/people").json()["closed"]


@pytest.mark.slow
def test_labels_survive_a_server_that_is_killed(
    labelling: tuple[Arena, dict[str, str]], program: Path, tmp_path: Path
) -> None:
    """Kill -9 after every label: what was answered with 204 is there, and the queue goes on where it was."""
    arena, tokens = labelling
    server = _Server(program, arena.settings, tmp_path / "log")
    server.start()
    try:
        with _client(server, tokens["olga"]) as olga:
            assert olga.post("/labels/tasks", json=TASK).status_code == 201
        with _client(server, tokens["ann"]) as ann:
            ann.post("/labels/tasks/people/consent")
        for done in range(4):
            with _client(server, tokens["ann"]) as ann:
                item = ann.post("/labels/tasks/people/next").json()["item"]
                # Killed between being given and being labelled: the same item is still held.
                if done == 2:
                    server.kill()
                    server.start()
                    with _client(server, tokens["ann"]) as again:
                        assert again.post("/labels/tasks/people/next").json()["item"] == item
            with _client(server, tokens["ann"]) as ann:
                path = f"/labels/tasks/people/items/{item['number']}/label"
                assert ann.put(path, json={"value": done - 2, "comment": str(done)}).status_code == 204
            server.kill()
            server.start()
            given = arena.store.labels.given(1)
            assert [label.comment for label in sorted(given, key=lambda one: one.comment)] == [
                str(number) for number in range(done + 1)
            ]
        with _client(server, tokens["ann"]) as ann:
            assert ann.post("/labels/tasks/people/next").json()["item"] is None
    finally:
        server.kill()


def test_labels_that_cannot_be_read_are_refused_over_http(
    labelling: tuple[Arena, dict[str, str]], program: Path, tmp_path: Path
) -> None:
    """Half a character, a number without end and a ranking are the sender's fault, never the server's."""
    arena, tokens = labelling
    pair = {"question_id": "q1", "model_a": "full", "model_b": "short"}
    left = {"type": "pairwise", "from_name": "preference", "value": {"selected": "left"}}
    surrogate = {"type": "textarea", "from_name": "comment", "value": {"text": ["\ud83d"]}}
    grade = {"type": "number", "from_name": "grade", "value": {"number": 7}}

    def studio(*results: object) -> bytes:
        return json.dumps([{"data": pair, "annotations": [{"completed_by": 5, "result": results}]}]).encode()

    ranking = {"preference": [{"value": [{"value": "a", "rank": 1}], "user_id": "u"}]}
    files = (
        ("label-studio", studio(left, surrogate)),
        ("label-studio", studio(grade).replace(b"7", b"1e400")),
        ("argilla", json.dumps([{"metadata": pair, "responses": ranking}]).encode()),
    )
    with (
        _serving(program, arena.settings, tmp_path / "log") as server,
        _client(server, tokens["olga"]) as olga,
    ):
        assert olga.post("/labels/tasks", json=TASK).status_code == 201
        for form, content in files:
            found = olga.post("/labels/tasks/people/labels", params={"format": form}, content=content)
            assert (found.status_code, "went wrong" in found.text) == (422, False), found.text
