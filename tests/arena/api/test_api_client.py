"""The Python client: it covers the routes of the API, and its wheel works against an arena."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from packaging.requirements import Requirement

from arena.api.app import operations
from arena.client.answer_arena_client import Client, NotFoundError
from arena.client.answer_arena_client.client import BoardFormat, ScoreFormat, TableFormat
from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.settings import Settings
from data.records import TokenScope
from tests.arena.api.conftest import running_server

ROOT = Path(__file__).parents[3]
RECORDED = ROOT / "tests" / "golden" / "api_answers.json"
PAGE = ROOT / "docs" / "python-client.md"
READ = frozenset(
    {
        "GET /sets",
        "GET /sets/{name}",
        "GET /sets/{name}/questions",
        "GET /sets/{name}/statistics",
        "GET /sets/{name}/votes",
        "POST /sets/{name}/check",
        "POST /sets/{name}/submissions",
        "GET /submissions",
        "GET /submissions/{number}",
        "POST /submissions/{number}/confirm",
        "POST /submissions/{number}/select",
        "POST /submissions/{number}/withdraw",
        "GET /submissions/{number}/file",
        "GET /submissions/{number}/report",
        "GET /submissions/{number}/comparison",
        "GET /leaderboards",
        "GET /leaderboards/{name}",
        "GET /leaderboards/{name}/snapshots",
        "GET /rounds",
        "GET /rounds/{name}",
        "GET /rounds/{name}/battles",
        "GET /rounds/{name}/questions",
        "GET /rounds/{name}/questions/{question_id}",
        "GET /rounds/{name}/compare",
        "GET /sets/{name}/metrics",
        "GET /sets/{name}/metrics/{metric}",
        "GET /sets/{name}/qrels",
        "GET /sets/{name}/retrieval",
        "GET /sets/{name}/retrieval/compare",
        "GET /sets/{name}/retrieval/questions/{question_id}",
        "GET /me",
        "GET /sets/{name}/template",
        "GET /sets/{name}/sample",
        "GET /sets/{name}/metrics/{metric}/scores",
    }
)
"""The routes that the client has methods for."""
# Work of organisers, annotators and team owners, who have the site and the commands.
LEFT_OUT = (
    "/concerns",
    "/disputes",
    "/health",
    "/labels",
    "/teams",
    "/tokens",
    "/notifications",
    "/registrations",
    "/gates",
    "/rounds/plan",
    "/rounds/{name}/disputes",
    "/rounds/{name}/publish",
    "/sets/{name}/votes",
)

Json = dict[str, Any]


def test_answers_have_the_fields_that_they_had(nobody: httpx.Client) -> None:
    """Each route answers with the fields and types that are recorded, so that written programs go on."""
    document = nobody.get("/openapi.json").json()
    found = {
        f"{method} {path}": {
            status: {kind: _plain(one["schema"], document) for kind, one in answer["content"].items()}
            for status, answer in operation["responses"].items()
            if status < "400" and "application/json" in answer.get("content", {})
        }
        for method, path, operation in operations(document)
    }
    assert found == json.loads(RECORDED.read_text(encoding="utf-8"))


def test_every_route_is_covered_or_left_out_on_purpose(nobody: httpx.Client) -> None:
    """A new route of the API needs a method of the client, or a place among what is left out."""
    document = nobody.get("/openapi.json").json()
    existing = {f"{method} {path}" for method, path, _ in operations(document)}
    assert existing >= READ
    left = existing - READ
    assert [route for route in left if not route.split(" ")[1].startswith(LEFT_OUT)] == []


def test_formats_of_files_are_those_of_the_document(nobody: httpx.Client) -> None:
    """Every format that a route writes can be asked for in the client, and no other."""
    document = nobody.get("/openapi.json").json()
    described = {f"{method} {path}": operation for method, path, operation in operations(document)}
    for route, formats in (
        ("GET /leaderboards/{name}", {"json", *get_args(BoardFormat)}),
        ("GET /sets/{name}/retrieval", {"json", "trec", *get_args(TableFormat)}),
        ("GET /sets/{name}/metrics/{metric}/scores", set(get_args(ScoreFormat))),
    ):
        (asked,) = (one for one in described[route]["parameters"] if one["name"] == "format")
        text = json.dumps(asked["schema"])
        reference = re.search(r"#/components/schemas/(\w+)", text)
        assert reference is not None, text
        assert set(document["components"]["schemas"][reference[1]]["enum"]) == formats, route


def _plain(schema: Json, document: Json) -> Any:  # noqa: ANN401 - part of a schema
    """A schema without names, prose and limits: kinds of fields alone; words of a list are texts."""
    if "$ref" in schema:
        place: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            place = place[part]
        return _plain(place, document)
    if "enum" in schema or "const" in schema:
        return {"type": "string"}
    if "anyOf" in schema:
        kinds = [_plain(kind, document) for kind in schema["anyOf"]]
        return {"anyOf": sorted(kinds, key=lambda kind: json.dumps(kind, sort_keys=True))}
    plain: Json = {name: schema[name] for name in ("type", "format") if name in schema}
    if "properties" in schema:
        plain["properties"] = {
            name: _plain(field, document) for name, field in sorted(schema["properties"].items())
        }
    if "items" in schema:
        plain["items"] = _plain(schema["items"], document)
    if isinstance(schema.get("additionalProperties"), dict):
        plain["additionalProperties"] = _plain(schema["additionalProperties"], document)
    return plain


@pytest.fixture(scope="module")
def live(
    program: Path, published: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """A server over the published round `tiny`: its address, and a token of the team `alpha`."""
    arena = Arena(published)
    arena.teams.add("alpha", caller=OPERATOR)
    scopes = {TokenScope.READ, TokenScope.SUBMIT}
    token = arena.tokens.create(name="notebook", team="alpha", scopes=scopes, caller=OPERATOR).secret
    arena.close()
    with running_server(program, published, tmp_path_factory.mktemp("live") / "log") as address:
        yield address, token


def test_boards_read_as_standings(live: tuple[str, str]) -> None:
    """Boards of rounds and of published figures alike have typed lines; the reference has no rate."""
    with Client(live[0]) as client:
        board = client.boards.get("tiny")
        reference = next(line for line in board.lines() if line.system == "human")
        assert reference.rate is None
        assert reference.rating is not None
        assert {row["domain"] for row in board.rows()} == {"overall", "d0", "d1", "d2"}
        paper = client.boards.get("rag-qa-arena")
        assert len(paper.lines()) > 3
        assert any(line.rate is not None for line in paper.lines())
        assert paper.lines("no such domain") == []
        (snapshot,) = client.boards.snapshots("tiny")
        assert client.boards.get(f"tiny@{snapshot.content_hash[:12]}").standings == board.standings
        assert client.boards.table("tiny", "parquet").startswith(b"PAR1")
        assert b"toprule" in client.boards.table("tiny", "latex")


def test_rounds_read_to_their_evidence(live: tuple[str, str]) -> None:
    """From a round to a judgment, in small pages; what is not there is an error of its kind."""
    with Client(live[0]) as client:
        (round_,) = client.rounds.all()
        assert client.rounds.get(round_.name) == round_
        battles = list(client.rounds.battles("tiny", page=7))
        assert len({battle.battle for battle in battles}) == round_.planned
        questions = list(client.rounds.questions("tiny", domain="d1", page=3))
        assert {question.domain for question in questions} == {"d1"}
        assert len(questions) == 4
        evidence = client.rounds.evidence("tiny", questions[0].id)
        of_question = [battle for battle in battles if battle.question_id == questions[0].id]
        assert sorted(battle.battle for battle in evidence.battles) == sorted(
            battle.battle for battle in of_question
        )
        (full,) = (answer for answer in evidence.answers if answer.system == "full")
        assert full.scores[0].details["missing"] == ["A missing statement."]
        with pytest.raises(NotFoundError):
            client.rounds.evidence("tiny", "no-such-question")
        with pytest.raises(NotFoundError):
            client.rounds.compare("tiny", "full", "nobody")


def test_scores_read_as_tables_and_files(live: tuple[str, str]) -> None:
    """What answers were scored by, their means, and a row an answer in each format."""
    with Client(live[0]) as client:
        (scored,) = client.metrics.all("tiny")
        assert (scored.metric, scored.judges) == ("comprehensiveness-nli", ["embedded"])
        table = client.metrics.table("tiny", scored.metric, systems=["full"])
        assert table.rows[-1]["answers"] == 12
        assert client.metrics.table("tiny", scored.metric, by="domain").by == "domain"
        assert client.metrics.export("tiny", scored.metric, "parquet").startswith(b"PAR1")
        assert b"full" in client.metrics.export("tiny", scored.metric)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment that has the client's wheel and what it requires, nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    built = folder / "dist"
    source = ROOT / "arena" / "client"
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(built), str(source))
    (wheel,) = built.glob("answer_arena_client-*.whl")
    assert list(built.glob("answer_arena_client-*.tar.gz"))
    home = folder / "env"
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    site = Path(_run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    _run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel))
    (metadata,) = site.glob("answer_arena_client-*.dist-info")
    assert (metadata / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    for needed in _closure(Distribution.at(metadata)):
        for file in needed.files or ():
            if file.suffix in {".py", ".so", ".pem"} or file.parts[0].endswith(".dist-info"):
                target = site / file
                if not target.exists() and ".." not in file.parts:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.symlink_to(Path(str(needed.locate_file(file))))
    return python


def _closure(wanted: Distribution) -> list[Distribution]:
    """What a distribution requires, directly or not, as it is installed here."""
    reached: dict[str, Distribution] = {}
    waiting = [wanted]
    while waiting:
        for text in waiting.pop().requires or ():
            requirement = Requirement(text)
            if requirement.name not in reached and (
                requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            ):
                reached[requirement.name] = distribution(requirement.name)
                waiting.append(reached[requirement.name])
    return list(reached.values())


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


EXAMPLES = """
import doctest, pathlib, sys
from answer_arena_client import Client
page, server, token, path = sys.argv[1:]
given = {"server": server, "token": token, "path": pathlib.Path(path)}
failed, tried = doctest.testfile(page, module_relative=False, globs=given)
sys.exit(failed or not tried)
"""


@pytest.mark.long
def test_wheel_alone_runs_every_example_of_its_page(
    installed: Path, live: tuple[str, str], tmp_path: Path
) -> None:
    """In a fresh environment with the wheel, httpx and pydantic, docs/python-client.md is true as printed."""
    address, token = live
    _run(str(installed), "-c", EXAMPLES, str(PAGE), address, token, str(tmp_path / "answers.jsonl"))


def test_wheel_is_typed_and_needs_no_arena(installed: Path, tmp_path: Path) -> None:
    """Mypy in strict mode reads the installed types; nothing of the arena is there to lean on."""
    script = tmp_path / "script.py"
    script.write_text(
        "from answer_arena_client import Client\n\n"
        "def first(client: Client) -> float:\n"
        '    line = client.boards.get("demo").lines()[0]\n'
        "    reveal_type(client.rounds.evidence)\n"
        "    return line.rating\n"
    )
    # In the module's place, so that a cache of the whole project is not needed.
    command = ["-m", "mypy", "--strict", "--no-error-summary", f"--python-executable={installed}"]
    done = subprocess.run(
        [sys.executable, *command, f"--cache-dir={tmp_path}", str(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "QuestionEvidence" in done.stdout
    assert '(got "Rating | None", expected "float")' in done.stdout, done.stdout + done.stderr
    assert "import-untyped" not in done.stdout
    found = _run(str(installed), "-c", "import importlib.util as u; print(u.find_spec('arena'))")
    assert found.strip() == "None"
