from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from arena.api.app import make_api
from arena.container import Arena
from arena.services.accounts.auth import OPERATOR
from arena.services.metrics.factory import MetricRequest
from data.models import TokenScope
from tests.arena.conftest import Fill, answers_file, play, write_lines, write_set

METRIC = "/sets/tiny/metrics/comprehensiveness-nli"


def test_board_is_equal_in_list_and_by_name(public: httpx.Client) -> None:
    listed = public.get("/leaderboards").json()["leaderboards"]
    assert {board["round"] for board in listed} == {"tiny", None}
    for line in listed:
        board = public.get(f"/leaderboards/{line['name']}").json()
        assert board.pop("standings")
        assert board.pop("marks") == {}
        assert board == line


def test_board_is_json_csv_or_parquet(public: httpx.Client, tmp_path: Path) -> None:
    full = public.get("/leaderboards/tiny").json()
    systems = {line["system"] for line in full["standings"]["lines"]["overall"]}
    text = public.get("/leaderboards/tiny", headers={"Accept": "text/csv"})
    assert text.headers["content-type"].startswith("text/csv")
    assert {row["system"] for row in csv.DictReader(io.StringIO(text.text))} == systems
    raw = public.get("/leaderboards/tiny", params={"format": "parquet"}, headers={"Accept": "text/csv"})
    (tmp_path / "board.parquet").write_bytes(raw.content)
    assert set(pq.read_table(tmp_path / "board.parquet").column("system").to_pylist()) == systems
    assert "full" in systems
    grid, as_csv = (public.get(f"/leaderboards/tiny/grid?format={form}") for form in ("json", "csv"))
    rows = list(csv.DictReader(io.StringIO(as_csv.text)))
    assert {cell["system"] for cell in grid.json()["cells"]} == {row["system"] for row in rows}
    assert len(rows) == sum(len(cell["figures"]) for cell in grid.json()["cells"])


def test_unchanged_response_is_304(public: httpx.Client) -> None:
    for path in ("/sets", "/sets/tiny/sample", "/leaderboards/tiny", "/rounds/tiny"):
        etag = public.get(path).headers["etag"]
        again = public.get(path, headers={"If-None-Match": etag})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
        assert public.get(path, headers={"If-None-Match": '"another"'}).status_code == 200


def test_formats_have_distinct_etags(public: httpx.Client) -> None:
    tags = {
        public.get("/leaderboards/tiny", params={"format": form}).headers["etag"] for form in ("json", "csv")
    }
    assert len(tags) == 2
    assert "Accept" in public.get("/leaderboards/tiny").headers["vary"]


def test_long_responses_are_gzipped(public: httpx.Client) -> None:
    with public.stream("GET", "/leaderboards/tiny", headers={"Accept-Encoding": "gzip"}) as response:
        assert response.headers["content-encoding"] == "gzip"
        assert json.loads(response.read())["name"] == "tiny"
    plain = public.get("/leaderboards/tiny", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


def test_metrics_with_scores_are_listed(public: httpx.Client) -> None:
    listed = public.get("/sets/tiny/metrics").json()["metrics"]
    assert listed == [{"metric": "comprehensiveness-nli", "judges": ["embedded"]}]


def test_scores_have_every_format(public: httpx.Client) -> None:
    answers = public.get(f"{METRIC}/scores").json()["scores"]
    assert {answer["details"]["covered"][0] for answer in answers} == {"A covered statement."}
    csv_answer = public.get(f"{METRIC}/scores", params={"format": "csv"})
    assert csv_answer.headers["content-type"].startswith("text/csv")
    assert "tiny-comprehensiveness-nli.csv" in csv_answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(csv_answer.text)))
    parquet = pq.read_table(io.BytesIO(public.get(f"{METRIC}/scores", params={"format": "parquet"}).content))
    assert len(rows) == parquet.num_rows == len(answers)
    assert list(rows[0]) == parquet.column_names


def test_unknown_or_unsuitable_board_is_refused(public: httpx.Client) -> None:
    for path in (
        "/sets/nowhere/metrics",
        "/sets/tiny/metrics/nonsense/scores",
        "/sets/tiny/metrics/factuality-fr3/scores",
        f"{METRIC}/scores?systems=absent",
        f"{METRIC}/scores?judge=gpt",
    ):
        refused = public.get(path)
        assert refused.status_code == 404, path
        assert refused.json()["advice"]
    assert public.get(f"{METRIC}/scores?format=trec").status_code == 422


SECRET = "SECRET reference"
EVIDENCE = "/rounds/first/questions/q1"
SCORES = "/sets/tiny/metrics/comprehensiveness-nli/scores"
PATHS = (
    *("/sets", "/sets/tiny", "/sets/tiny/questions", "/sets/tiny/sample", "/submissions", "/rounds"),
    *("/rounds/first/battles", EVIDENCE, "/leaderboards", "/leaderboards/first", "/sets/tiny/questions/q1"),
)


def reference_of(number: int) -> str:
    return f"{SECRET}: item {number} has been measured, counted, weighed and found at {number}."


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Judged but unpublished round of a set that hides its references."""

    arena: Arena
    public: TestClient
    alpha: TestClient
    olga: TestClient
    number: int


@pytest.fixture
def scene(tmp_path: Path, make_arena: Fill) -> Scene:
    """Make the scene, and clients of its API."""
    folder, arena = write_set(tmp_path), make_arena()
    questions = folder / "questions.jsonl"
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    write_lines(questions, ({**row, "reference": reference_of(at)} for at, row in enumerate(rows)))
    arena.sets.import_from(folder)
    arena.policies.hide_references("tiny", hidden=True)
    arena.teams.add("alpha", caller=OPERATOR)
    arena.teams.add_account("olga", is_organiser=True, caller=OPERATOR)
    alpha = arena.tokens.create(name="a", scopes={TokenScope.SUBMIT}, team="alpha", caller=OPERATOR).secret
    olga = arena.tokens.create(name="o", scopes={TokenScope.ORGANISE}, account="olga", caller=OPERATOR).secret
    numbers = [
        arena.submissions.add(
            answers_file(tmp_path, system, f"{system.title()} says item {{n}} weighs {{weight}} grams."),
            "tiny",
            system=system,
            team="alpha",
            anonymous=system == "veiled",
        ).submission.id
        for system in ("veiled", "plain")
    ]
    play(arena, "first")
    api = make_api(arena)
    public, team, organiser = (
        TestClient(api, headers={"Authorization": f"Bearer {token}"} if token else {})
        for token in ("", alpha, olga)
    )
    return Scene(arena=arena, public=public, alpha=team, olga=organiser, number=numbers[0])


@pytest.mark.slow
def test_round_visibility_follows_state(scene: Scene) -> None:
    """Results are hidden before publication; a retracted round returns only its notice."""
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
    # A team that guesses a hidden reference must not learn how close it is.
    guess = json.dumps({"question_id": "q1", "answer": reference_of(1)})
    checked = scene.alpha.post("/sets/tiny/check", content=guess.encode()).json()
    assert not {"near-copy", "many-near-copies"} & {problem["code"] for problem in checked["problems"]}
