"""The GitHub Action of the gate: its steps run as on a runner, with a real arena and a false GitHub."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import yaml

from arena.container import Arena
from data.records import GateRule
from tests.arena.api.conftest import ROOT, Club, running_worker, without

FOLDER = ROOT / ".github" / "actions" / "gate"
ACTION: Mapping[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
INPUTS = {"set": "tiny", "system": "action", "max_loss": "5", "install": "none"}
BOT = "github-actions[bot]"
EXPRESSION = re.compile(r"\$\{\{ ([a-z._-]{1,60}) \}\}")


class FalseGitHub(ThreadingHTTPServer):
    """Keeps the comments of pull request 7 of `team/system`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.daemon_threads = True
        self.comments: list[dict[str, Any]] = []
        self.refuses = False

    def add(self, author: str, body: str) -> dict[str, Any]:
        """Write a comment."""
        comment = {"id": len(self.comments) + 1, "user": {"login": author}, "body": body}
        self.comments.append(comment)
        return comment

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: FalseGitHub

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        assert parts.path == "/repos/team/system/issues/7/comments"
        asked = parse_qs(parts.query)
        size, page = int(asked["per_page"][0]), int(asked["page"][0])
        self._answer(200, self.server.comments[(page - 1) * size : page * size])

    def do_POST(self) -> None:
        assert self.path == "/repos/team/system/issues/7/comments"
        self._answer(201, None if self.server.refuses else self.server.add(BOT, self._body()["body"]))

    def do_PATCH(self) -> None:
        number = int(self.path.removeprefix("/repos/team/system/issues/comments/"))
        self.server.comments[number - 1]["body"] = self._body()["body"]
        self._answer(200, self.server.comments[number - 1])

    def _body(self) -> dict[str, str]:
        body: dict[str, str] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def _answer(self, status: int, body: object) -> None:
        allowed = self.headers["Authorization"] == "Bearer ghs_token" and not self.server.refuses
        content = json.dumps(body if allowed else {"message": "Resource not accessible"}).encode()
        self.send_response(status if allowed else 403)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def github() -> Iterator[FalseGitHub]:
    """A GitHub with the pull request."""
    server = FalseGitHub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class Runner:
    """Runs the steps of the action one after another, each in a shell of its own, as a runner does."""

    def __init__(self, folder: Path, github: FalseGitHub) -> None:
        self.folder, self._github = folder, github
        self.outputs: dict[str, str] = {}
        self.log = ""
        event = {"pull_request": {"number": 7}}
        (folder / "event.json").write_text(json.dumps(event))
        binary = folder / "bin"
        binary.mkdir()
        (binary / "arena").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m arena "$@"\n')
        (binary / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        for name in ("arena", "python"):
            (binary / name).chmod(0o755)

    def __call__(self, **inputs: str) -> int:
        """Run the action with inputs (`_` for `-`); the exit code of the step that fails, else 0."""
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        values = {name: str(field.get("default", "")) for name, field in ACTION["inputs"].items()} | given
        values["github-token"] = given.get("github-token", "ghs_token")
        required = {name for name, field in ACTION["inputs"].items() if field.get("required")}
        assert required <= given.keys() <= ACTION["inputs"].keys()
        known = {
            "github.action_path": str(FOLDER),
            **{f"inputs.{name}": value for name, value in values.items()},
        }
        self.outputs, self.log = {}, ""
        for step in ACTION["runs"]["steps"]:
            known |= {f"steps.gate.outputs.{name}": value for name, value in self.outputs.items()}
            if self._skips(step.get("if", ""), values):
                continue
            code = self._step(step, known)
            if code:
                return code
        return 0

    def _skips(self, condition: str, values: Mapping[str, str]) -> bool:
        if not condition:
            return False
        name, comparison, wanted = condition.split()
        same = values[name.removeprefix("inputs.")] == wanted.strip("'")
        return same is (comparison == "!=")

    def _step(self, step: Mapping[str, Any], known: Mapping[str, str]) -> int:
        script, output = self.folder / "step.sh", self.folder / "output"
        script.write_text(step["run"])
        output.write_text("")
        variables = without("ARENA_", "GITHUB_")
        environment = {
            **variables,
            "PATH": f"{self.folder / 'bin'}:{variables['PATH']}",
            "PYTHONPATH": str(ROOT),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_REPOSITORY": "team/system",
            "GITHUB_API_URL": self._github.address,
            "RUNNER_TEMP": str(self.folder),
            **{
                name: EXPRESSION.sub(lambda one: known[one.group(1)], text)
                for name, text in step["env"].items()
            },
        }
        ended = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.log += ended.stdout + ended.stderr
        self.outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())
        return ended.returncode


@pytest.fixture
def runner(tmp_path: Path, github: FalseGitHub) -> Runner:
    """A runner in a folder of its own."""
    return Runner(tmp_path, github)


@pytest.fixture
def working(club: Club) -> Iterator[None]:
    """Gates are allowed on `tiny`, and a worker judges them."""
    arena = Arena(club.settings)
    arena.policies.allow_gates("tiny", GateRule(judge="lexical", per_day=50))
    with running_worker(club.settings):
        yield
    arena.policies.allow_gates("tiny", None)
    arena.close()


def _file(folder: Path, text: str) -> str:
    path = folder / "answers.jsonl"
    rows = [{"question_id": f"q{n}", "answer": text.format(n=n, weight=n + 10)} for n in range(12)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.long
@pytest.mark.usefixtures("working")
def test_action_gates_and_keeps_one_comment(
    club: Club,
    alpha: httpx.Client,
    answers: Callable[..., bytes],
    submit: Callable[..., httpx.Response],
    runner: Runner,
    github: FalseGitHub,
) -> None:
    """It passes, is undecided, fails where worse, and each time the same comment says so; others' stay."""
    submit(alpha, answers("first"), system="action").raise_for_status()
    inputs = {**INPUTS, "server": club.address, "token": club.tokens["alpha"]}
    forged = "<!-- answer arena gate tiny action -->\nforged by somebody"
    github.add("mallory", forged)
    for number in range(120):
        github.add("chatty", f"comment {number}")
    same = answers("first").decode()
    (runner.folder / "same.jsonl").write_text(same)
    assert runner(**inputs, file=str(runner.folder / "same.jsonl")) == 0, runner.log
    assert (runner.outputs["verdict"], runner.outputs["exit-code"]) == ("pass", "0")
    assert json.loads(Path(runner.outputs["report"]).read_text())["verdict"] == "pass"
    assert "The comment is created." in runner.log
    own = github.comments[-1]
    assert own["body"].startswith("<!-- answer arena gate tiny action -->\n### ✅ `action` passes on `tiny`")
    worse = _file(runner.folder, "I couldn't find an answer.")
    assert runner(**inputs, file=worse) == 3, runner.log
    assert runner.outputs["verdict"] == "worse"
    assert "### ❌ `action` is worse" in own["body"]
    assert runner(**{**inputs, "max_loss": "99"}, file=worse) == 0, runner.log
    assert (runner.outputs["verdict"], "::warning::The gate is undecided." in runner.log) == (
        "undecided",
        True,
    )
    assert (
        runner(**{**inputs, "max_loss": "99"}, file=worse, fail_when_undecided="true", comment="false") == 4
    )
    assert "### ❔ `action` is undecided" in own["body"]
    assert (len(github.comments), github.comments[0]["body"]) == (122, forged)
    summary = (runner.folder / "summary").read_text()
    assert summary.count("### ") == 4


@pytest.mark.long
def test_action_says_what_went_wrong(club: Club, runner: Runner, github: FalseGitHub) -> None:
    """Without a token, with a wrong file or names that would be code, it fails in words and runs nothing."""
    inputs = {**INPUTS, "server": club.address}
    inputs["file"] = _file(runner.folder, "Item {n} weighs {weight} grams.")
    assert runner(**inputs, token="") == 1
    assert "::error::The input token is empty." in runner.log
    assert "forks are given no secrets" in github.comments[0]["body"]
    touched = runner.folder / "touched"
    hostile = f'"; touch {touched}; $(touch {touched}) `touch {touched}`'
    assert runner(**{**inputs, "system": hostile, "judge": hostile}, token=club.tokens["alpha"]) == 1
    assert not touched.exists()
    (runner.folder / "bad.jsonl").write_text('{"question_id": "nowhere", "answer": "x"}\n')
    bad = {**inputs, "file": str(runner.folder / "bad.jsonl")}
    assert runner(**bad, token=club.tokens["alpha"]) == 1
    assert (runner.outputs["verdict"], runner.outputs["report"]) == ("error", "")
    assert "unknown-question" in (runner.folder / "summary").read_text()


@pytest.mark.long
def test_action_goes_on_without_a_comment(club: Club, runner: Runner, github: FalseGitHub) -> None:
    """Where comments are not allowed, or there is no pull request, the job says so and is not lost for it."""
    inputs = {**INPUTS, "server": club.address, "file": "nowhere.jsonl"}
    github.refuses = True
    assert runner(**inputs, token="aa_x_y") == 1
    assert "::warning::The comment was not written: GitHub answers 403." in runner.log
    (runner.folder / "event.json").write_text("{}")
    runner(**inputs, token="aa_x_y")
    assert "No pull request to comment on." in runner.log


def test_action_is_well_formed() -> None:
    """No script has an expression in it, every input is used, and the example fits the inputs."""
    steps = ACTION["runs"]["steps"]
    assert [step["name"] for step in steps] == ["Install", "Gate", "Comment", "Decide"]
    used = set()
    for step in steps:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        used |= {name for text in step["env"].values() for name in EXPRESSION.findall(text)}
        used |= set(re.findall(r"inputs\.[a-z-]+", step.get("if", "")))
    assert {name.removeprefix("inputs.") for name in used if name.startswith("inputs.")} == set(
        ACTION["inputs"]
    )
    example = yaml.safe_load((FOLDER / "example.yml").read_text(encoding="utf-8"))
    given = example["jobs"]["gate"]["steps"][-1]["with"]
    required = {name for name, field in ACTION["inputs"].items() if field.get("required")}
    assert required <= given.keys() <= ACTION["inputs"].keys()
    assert shutil.which("bash")
