"""The one rule of visibility, as it is seen through the API: unpublished, retracted, hidden, anonymous."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.metrics.factory import MetricRequest
from arena.services.rounds.models import RoundRequest
from arena.settings import Settings
from data.models import TokenScope
from tests.arena.conftest import write_set

SECRET = "SECRET reference"
EVIDENCE = "/rounds/first/questions/q1"
SCORES = "/sets/tiny/metrics/comprehensiveness-nli/scores"
PATHS = (
    *("/sets", "/sets/tiny", "/sets/tiny/questions", "/sets/tiny/sample", "/submissions", "/rounds"),
    *("/rounds/first/battles", EVIDENCE, "/leaderboards", "/leaderboards/first", "/sets/tiny/questions/q1"),
)


def reference_of(number: int) -> str:
    """Return the reference of a question."""
    return f"{SECRET}: item {number} has been measured, counted, weighed and found at {number}."


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A judged round that is not published, of a set that hides its references."""

    arena: Arena
    public: httpx.Client
    alpha: httpx.Client
    olga: httpx.Client
    number: int


@pytest.fixture
def scene(tmp_path: Path, serve: Callable[..., str]) -> Iterator[Scene]:
    """Make the scene, and a server over it."""
    set_folder = write_set(tmp_path)
    settings = Settings(home=tmp_path / "home", database_url=f"sqlite:///{tmp_path / 'home' / 'a.sqlite'}")
    arena = Arena(settings)
    questions = set_folder / "questions.jsonl"
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    for number, row in enumerate(rows):
        row["reference"] = reference_of(number)
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arena.sets.import_from(set_folder)
    arena.policies.hide_references("tiny", hidden=True)
    arena.teams.add("alpha", caller=OPERATOR)
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    alpha = arena.tokens.create(name="a", scopes={TokenScope.SUBMIT}, team="alpha", caller=OPERATOR).secret
    olga = arena.tokens.create(name="o", scopes={TokenScope.ORGANISE}, account="olga", caller=OPERATOR).secret
    numbers = []
    for system in ("veiled", "plain"):
        path = tmp_path / f"{system}.jsonl"
        answers = [
            {"question_id": f"q{n}", "answer": f"{system.title()} says item {n} weighs {n + 10} grams."}
            for n in range(12)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in answers))
        added = arena.submissions.add(path, "tiny", system=system, team="alpha", anonymous=system == "veiled")
        numbers.append(added.submission.id)
    arena.rounds.create(RoundRequest(set_name="tiny", judge="lexical", pairs="all", name="first"))
    arena.rounds.run("first", concurrency=2, report=lambda _progress: None)
    address = serve(settings)
    clients = [
        httpx.Client(base_url=address, timeout=60, headers=headers)
        for headers in ({}, {"Authorization": f"Bearer {alpha}"}, {"Authorization": f"Bearer {olga}"})
    ]
    yield Scene(arena=arena, public=clients[0], alpha=clients[1], olga=clients[2], number=numbers[0])
    for client in clients:
        client.close()
    arena.close()


@pytest.mark.slow
def test_what_is_seen_follows_the_life_of_a_round(scene: Scene) -> None:
    """D13: nothing of results before publication; after it the names; once retracted the notice."""
    scene.arena.metrics.run("tiny", MetricRequest(metric="comprehensiveness-nli"))
    _nothing_before_publication(scene)
    scene.arena.boards.publish("first", report=lambda _note: None, score=False)
    _results_and_names_after(scene)
    scene.arena.boards.retract("first", "A mistake in the set.")
    _notice_once_retracted(scene)
    _references_never(scene)


def _nothing_before_publication(scene: Scene) -> None:
    for client in (scene.public, scene.alpha):
        for path in ("/rounds/first/battles", EVIDENCE, "/leaderboards/first"):
            assert client.get(path).status_code == 404
        assert client.get("/leaderboards").json() == {"leaderboards": []}
    assert scene.olga.get("/rounds/first/battles").json()["battles"]
    for path in ("/submissions", "/rounds", "/rounds/first", f"/submissions/{scene.number}"):
        assert "veiled" not in scene.public.get(path).text
    assert scene.public.get(f"/submissions/{scene.number}").json()["visibility"] == "nameless"
    assert scene.public.get("/sets/tiny/metrics").json() == {"metrics": []}
    assert scene.public.get(SCORES).status_code == 404
    assert {row["system"] for row in scene.alpha.get(SCORES).json()["scores"]} == {"plain", "veiled"}


def _results_and_names_after(scene: Scene) -> None:
    assert scene.public.get("/rounds/first/battles").json()["battles"]
    evidence = scene.public.get(EVIDENCE).json()
    assert {"veiled", "plain"} <= {answer["system"] for answer in evidence["answers"]}
    assert all(battle["judgments"] for battle in evidence["battles"])
    assert evidence["reference"] is None
    _references_never(scene)
    assert "veiled" in scene.public.get("/leaderboards/first").text
    assert scene.public.get(f"/submissions/{scene.number}").json()["system"] == "veiled"
    for client in (scene.public, scene.alpha, scene.olga):
        scores = client.get(SCORES).json()["scores"]
        assert len(scores) == 24
        assert {str(row["details"]) for row in scores} == {"{}"}
        assert client.get(f"{SCORES}?systems=human").status_code == 404


def _notice_once_retracted(scene: Scene) -> None:
    notice = "A mistake in the set."
    for client in (scene.public, scene.alpha):
        board = client.get("/leaderboards/first").json()
        assert (board["retracted"], board["notice"], board["standings"]) == (True, notice, {})
        forms = [f"/leaderboards/first?format={form}" for form in ("json", "csv", "parquet")]
        for path in ("/rounds/first/battles", EVIDENCE, *forms):
            assert client.get(path).status_code == 410
    status = scene.alpha.get(f"/submissions/{scene.number}").json()
    assert status["retracted"] == [{"board": "first", "notice": notice}]
    assert scene.olga.get("/leaderboards/first").json()["standings"]


def _references_never(scene: Scene) -> None:
    for client in (scene.public, scene.alpha, scene.olga):
        for path in (*PATHS, f"/submissions/{scene.number}"):
            assert SECRET not in client.get(path).text
    # A team that guesses a hidden reference does not learn how near it is.
    guess = json.dumps({"question_id": "q1", "answer": reference_of(1)})
    checked = scene.alpha.post("/sets/tiny/check", content=guess.encode()).json()
    assert not {"near-copy", "many-near-copies"} & {problem["code"] for problem in checked["problems"]}
