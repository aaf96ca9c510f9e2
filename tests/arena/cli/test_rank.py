"""`arena rank`: from answer files to a board, and further rankings."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest
import typer

from arena.container import open_ranking
from arena.services.boards.snapshot import read_board
from arena.site.board_file import board_html
from leaderboard.vocabulary import COMMON_QUESTIONS_NOTE
from tests.arena.conftest import DEAD_ENDPOINT, Commands, Serve, write_lines
from tests.scripted_replies import Fault

QUESTIONS = tuple(f"How does machine {number} work?" for number in range(12))
Files = dict[str, Path]
QUALITY = {"best": 5, "middle": 3, "worst": 0}


def _facts(number: int, count: int) -> str:
    return " ".join(f"Part{part} of machine {number} turns wheel{part}." for part in range(count))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Files `prompt,response` of three systems and one of references."""
    right = [{"question": text, "reference": _facts(number, 5)} for number, text in enumerate(QUESTIONS)]
    made = {"references": write_lines(tmp_path / "right.jsonl", right)}
    for name, count in QUALITY.items():
        made[name] = tmp_path / f"{name}.csv"
        rows = [
            f"{text},{_facts(at, count) or 'A machine is a thing.'}\n" for at, text in enumerate(QUESTIONS)
        ]
        made[name].write_text("".join(["prompt,response\n", *rows]))
    return made


def _systems(files: Files) -> list[Path]:
    return [files[name] for name in QUALITY]


def test_rank_ranks_files_with_references(run: Commands, files: Files, tmp_path: Path) -> None:
    out = tmp_path / "board"
    code, text, err = run(
        "rank", *_systems(files), "--references", files["references"], "--out", out, "--json"
    )
    assert code == 0, err
    ranking = json.loads(text)
    assert [line["system"] for line in ranking["systems"]] == list(QUALITY)
    assert ranking["sentence"].startswith("best ")
    assert all(line["questions"] == 12 for line in ranking["systems"])
    assert "3 systems, 12 questions, complete; 12 with a reference; joined by text." in err
    assert "read prompt as the question, response as the answer" in err
    assert "best: 12 of 12 answers copy the reference word for word." in err
    assert "worst: 12" not in err
    page = (out / "board.html").read_text()
    assert "<script" not in page
    assert ranking["sentence"] in page
    with (out / "comparisons.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 12
    clear = [row for row in rows if {row["system_a"], row["system_b"]} == {"best", "worst"}]
    assert all(row["winner"] == "best" and "covers" in row["reason"] for row in clear)
    with (out / "board.csv").open() as file:
        table = {row["system"]: row for row in csv.DictReader(file)}
    # The name "Facts covered" is the same as on boards.
    assert '<th class="n">Facts covered</th>' in page
    for entry in ranking["systems"]:
        assert entry["covered_by"] == "reference-coverage"
        assert entry["covered"] == float(table[entry["system"]]["reference-coverage"])
    duel = run.json("compare", out, "best", "worst", "--json")
    assert [duel[name] for name in ("significant", "worse", "wins", "better")] == [True, False, 12, "best"]
    code, text, _ = run("compare", out, "worst", "best", "--fail-if-worse")
    assert code == 3
    assert text.startswith("best is better than worst")
    assert run("compare", out, "best", "worst", "--fail-if-worse")[0] == 0
    lost = run.json("losses", out, "worst", "best", "--json")
    assert len(lost) == 12
    assert all(battle["winner"] == "best" for battle in lost)
    assert "This ranking has no system 'absent'" in run.fails("compare", out, "best", "absent")


def test_rank_adds_another_file(run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve) -> None:
    llm, out = scripted_llm(), tmp_path / "board"
    options = ("--judge", "some-model", "--endpoint", llm.url, "--yes")
    run.done("rank", files["best"], files["worst"], "--out", out, *options)
    assert llm.log.calls == 12
    assert "3 systems" in run.stderr("rank", out, files["middle"], "--dry-run")
    assert len(run.json("rank", out, "--json", "--yes")["systems"]) == 2
    ranking = run.json("rank", out, files["middle"], "--json", "--yes")
    assert llm.log.calls == 3 * 12
    assert {line["system"] for line in ranking["systems"]} == set(QUALITY)
    run.done("rank", out, "--yes")
    assert llm.log.calls == 3 * 12


def test_rank_prefers_explicit_system_names(run: Commands, files: Files, tmp_path: Path) -> None:
    rows = [{"model": "gpt", "question": question, "answer": "A machine."} for question in QUESTIONS]
    for name, more in {"one": [], "two": [], "both": [{**rows[0], "model": "llama"}]}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("".join(json.dumps(row) + "\n" for row in [*rows, *more]))
    rank = ("rank", "--references", files["references"], "--out", tmp_path / "board", "--json", "--yes")
    one, two = tmp_path / "one" / "a", tmp_path / "two" / "a"
    ranking = run.json(*rank, f"old={one}", f"new={two}")
    assert {row["system"] for row in ranking["systems"]} == {"old", "new"}
    assert "a and a both have an answer of gpt" in run.fails(*rank, one, two)
    for path in (one, two):
        path.write_text(path.read_text().replace('"model": "gpt", ', ""))
    ranking = run.json(*rank[:3], *rank[5:], "--out", tmp_path / "new", one, two)
    assert {row["system"] for row in ranking["systems"]} == {"one/a", "two/a"}
    for name in ("x", "y"):
        shutil.copytree(tmp_path / "one", tmp_path / name / "run")
    twins = run.json(*rank[:3], "--out", tmp_path / "twins", "--json", *tmp_path.glob("[xy]/run/a"))
    assert {row["system"] for row in twins["systems"]} == {"x/run/a", "y/run/a"}
    assert "a is listed twice" in run.fails(*rank, one, one)
    err = run.fails(*rank, f"old={tmp_path / 'both' / 'a'}")
    assert "a contains the answers of 2 systems, so it cannot be named 'old'" in err


def test_single_system_has_no_leader(
    run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve
) -> None:
    words = ("rank", files["worst"], "--references", files["references"], "--out", tmp_path / "board")
    assert "compare it with the references: --vs reference" in run.fails(*words)
    judge = ("--judge", "m", "--endpoint", scripted_llm(rule="longer").url, "--yes")
    text = run.done(*words, *judge, "--vs", "reference")
    share = "won or tied 0.0 % of its battles against the reference"
    assert text.splitlines()[-1] == f"worst is the only system, and {share}."


def test_rank_advises_on_unusable_files(run: Commands, files: Files, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "board")
    err = run.fails("rank", files["best"], files["worst"], *out)
    assert "--judge gpt-5-mini" in err
    assert "--endpoint http://localhost:11434/v1" in err
    assert "answers of at least two systems (got best)" in run.fails("rank", files["best"], *out)
    assert "nosuch.csv" in run.fails("rank", tmp_path / "nosuch.csv", *out)
    assert "contains no ranking" in run.fails("losses", tmp_path, "a", "b")
    assert "--yes" in run.fails("rank", *_systems(files), "--judge", "gpt-4.1", *out)
    # The embedded judge without references or passages decides nothing, so no round is created.
    assert "cannot decide" in run.fails("rank", *_systems(files), "--judge", "lexical", *out)
    assert not out[1].exists()


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@patch("judges.llm.prices.is_private", lambda _: False)
def test_cached_replies_cost_nothing(
    run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve
) -> None:
    """A further system costs only its own pairs, estimated by earlier replies; a repetition costs nothing."""
    llm, out = scripted_llm(), tmp_path / "board"
    options = ("--judge", "gpt-4.1", "--endpoint", llm.url, "--out", out)
    two, three = [files["best"], files["worst"]], _systems(files)
    before = run.json("rank", *two, *options, "--dry-run", "--json")
    assert (before["requests"], before["cached"]) == (12, 0)
    assert before["output_tokens"] == 12 * 150
    assert 0 < before["cost_usd"] < before["cost_usd_most"]
    run.done("rank", *two, *options, "--yes")
    replied = llm.log.calls
    plan = run.json("rank", *three, *options, "--dry-run", "--json")
    assert (plan["planned"], plan["requests"], plan["cached"]) == (36, 24, 12)
    assert plan["output_tokens"] < 24 * 150
    run.done("rank", *three, *options, "--yes")
    assert llm.log.calls - replied == plan["requests"]
    again = run.stderr("rank", *three, *options, "--dry-run")
    assert "36 comparisons by gpt-4.1: 0 requests, 36 more are in the cache; they cost nothing." in again


@patch("judges.llm.prices.is_private", lambda _: False)
def test_declined_confirmation_stores_nothing(
    run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm, out = scripted_llm(), tmp_path / "board"
    options = ("--judge", "gpt-4.1", "--endpoint", llm.url, "--out", out)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    questions: list[str] = []

    def declined(text: str, **_: object) -> None:
        questions.append(text)
        raise typer.Abort

    monkeypatch.setattr("typer.confirm", declined)
    err = run.fails("rank", files["best"], files["worst"], *options)
    assert "12 requests; about $" in err
    assert len(questions) == 1
    assert not out.exists()
    assert run("rank", files["best"], files["worst"], *options, "--yes")[0] == 0
    stored, calls = _tree(out), llm.log.calls
    assert run("rank", out, files["middle"])[0] == 1
    assert _tree(out) == stored
    assert llm.log.calls == calls == 12


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["key", "model", "path", "no-server"])
def test_wrong_setting_fails_at_first_request_and_can_be_corrected(
    run: Commands, files: Files, tmp_path: Path, scripted_llm: Serve, fault: str
) -> None:
    """A wrong key, model or address costs one request and prints one line; then the same folder continues."""
    llm, out = scripted_llm(), tmp_path / "board"
    words = ("rank", *_systems(files), "--yes", "--out", out, "--judge", "some-model")
    endpoint = {"path": f"{llm.url}/nowhere", "no-server": DEAD_ENDPOINT}.get(fault, llm.url)
    if fault in {"key", "model"}:
        llm.script.faults = {"key": {Fault.UNAUTHORISED: 1.0}, "model": {Fault.NOT_FOUND: 1.0}}[fault]
    assert "Gave up on" in run.fails(*words, "--endpoint", endpoint)
    assert llm.log.calls <= 1
    llm.script.faults = {}
    before = llm.log.calls
    run.done(*words, "--endpoint", llm.url)
    assert llm.log.calls - before == 36


def test_system_with_few_answers_does_not_lead(run: Commands, files: Files, tmp_path: Path) -> None:
    """Table, page and files list it last, without a rank, with the reason."""
    short, out = tmp_path / "short.csv", tmp_path / "board"
    short.write_text("".join(files["best"].read_text().splitlines(keepends=True)[:4]))
    text = run.done(
        "rank", short, files["middle"], files["worst"], "--references", files["references"], "--out", out
    )
    reason = "It answered 3 of 12 questions, too few for a rank."
    assert f"short: {reason}" in text
    assert text.splitlines()[-1].startswith("middle is first.")
    assert reason in (out / "board.html").read_text()
    with (out / "board.csv").open() as file:
        rows = {row["system"]: row for row in csv.DictReader(file) if row["domain"] == "overall"}
    assert rows["short"]["unranked"] == reason
    assert rows["short"]["rank_lower"] == ""


@pytest.mark.slow
@pytest.mark.parametrize("blank", [None, "", "  \u200b —", "<think>Too hard.</think>"])
def test_missing_answers_lose(run: Commands, files: Files, tmp_path: Path, blank: str | None) -> None:
    """Deleted rows, empty texts and reasoning without an answer are missing: the best system loses rank."""
    lines = files["best"].read_text().splitlines()
    blanks = [] if blank is None else [f"{question},{blank}" for question in QUESTIONS[7:]]
    files["best"].write_text("\n".join([*lines[:8], *blanks]) + "\n")
    files["references"].write_text(files["references"].read_text().replace(_facts(0, 5), "Unanswerable."))
    scope = ("rank", *_systems(files), "--references", files["references"])
    ranking = run.json(*scope, "--out", tmp_path / "lose", "--json")
    best = next(line for line in ranking["systems"] if line["system"] == "best")
    assert ranking["systems"][0]["system"] == "middle"
    assert (best["partial"], best["answers"], best["asked"]) == ("partial (7 of 12)", 7, 12)
    assert best["covered"] == pytest.approx(6 / 11)
    assert best["declined"]["where_should"] == {**best["declined"]["where_should"], "count": 0, "of": 1}
    with (tmp_path / "lose" / "comparisons.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["reason"] == "no answer was handed in"]
    assert len(rows) == 10
    assert all(row["winner"] in {"middle", "worst"} and row["outcome"] == "judged" for row in rows)
    for part in ("board.html", "board.csv"):
        assert "partial (7 of 12)" in (tmp_path / "lose" / part).read_text()
    skipped = run(*scope, "--out", tmp_path / "skip", "--missing", "skip")
    assert "10 comparisons missing" in skipped[2]
    sentence = "No system is first: best [partial (7 of 12)] is ahead only on the questions that it answered."
    assert f"{sentence} {COMMON_QUESTIONS_NOTE}" in skipped[1]
    arena = open_ranking(tmp_path / "skip")
    page = board_html(read_board(arena.boards.get(arena.ranking_results.last_board().name)))
    assert f"{sentence} {COMMON_QUESTIONS_NOTE}" in page
    assert all(text in page for text in (">partial (7 of 12)", "Declined rightly", "0 of 1"))


def test_equal_answers_have_no_leader(run: Commands, files: Files, tmp_path: Path) -> None:
    same = tmp_path / "same.csv"
    same.write_text(files["best"].read_text())
    words = ("--references", files["references"], "--out", tmp_path / "board", "--json")
    sentence = run.json("rank", files["best"], same, *words)["sentence"]
    assert sentence == "No system is first: all differences may be due to chance."
