"""Rounds from the command line: import a set, judge, publish and export."""

from __future__ import annotations

import json
import re
import socket
from datetime import date
from pathlib import Path

import pytest

from arena.container import Arena
from arena.services.boards.snapshot import read_board
from tests.arena.conftest import Commands, answers_file, settings_of, write_set


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_team_submission_is_published(run: Commands, tmp_path: Path) -> None:
    set_folder = write_set(tmp_path)
    assert run.json("sets", "import", set_folder, "--json")["created"] is True
    assert run.json("sets", "import", set_folder, "--json")["created"] is False
    assert run.json("sets", "show", "tiny", "--json")["language"] == "en"
    full = answers_file(tmp_path, "full", "Item {n} is {word}, and it weighs {weight} grams.")
    checked = run.json("submissions", "check", full, "--set", "tiny", "--json")
    assert (checked["answers"], checked["coverage"]) == (12, {"d0": 1.0, "d1": 1.0, "d2": 1.0})
    for file in (full, answers_file(tmp_path, "short", "Item {n} is {word}.", 9)):
        run.done("submissions", "add", file, "--set", "tiny", "--system", file.stem)
    scope = ("--set", "tiny", "--judge", "lexical", "--pairs", "all")
    plan = run.json("rounds", "plan", *scope, "--json")
    assert (plan["planned"], plan["without_judge"], plan["missing"]) == (36, 6, 0)
    plan = run.json("rounds", "plan", *scope, "--missing", "skip", "--json")
    assert (plan["planned"], plan["without_judge"], plan["missing"]) == (36, 0, 6)
    books = run.json("rounds", "run", *scope, "--systems", "full,short", "--name", "r", "--json")
    assert books["state"] == "finished"
    ended = ("judged", "unreadable", "refused", "failed", "skipped", "missing")
    assert sum(books[name] for name in ended) == books["planned"] == 36
    assert (books["judged"], books["without_judge"], books["missing"]) == (36, 6, 0)
    run.done("rounds", "publish", "r")
    board = run.json("leaderboard", "show", "r", "--json")
    best = [line["system"] for line in board["lines"]["overall"]]
    assert best.index("full") < best.index("short")
    assert re.search(r"^ *\d\S* +full", run("leaderboard", "show", "r")[1], re.MULTILINE)
    run.done("rounds", "export", "r", "out")
    assert run.json("rounds", "verify", "out", "--json")["without_judge"] == 6
    rated = run.json("battles", "rate", "out/battles.jsonl", "--bootstrap", "50", "--json")
    assert [row["system"] for row in rated["ratings"]] == best
    none = run("leaderboard", "show", "r", "--between-systems")
    assert "no ratings from battles between systems only" in none[2]
    run.done("leaderboard", "export", "r", "board.csv")
    battles = Path("out/battles.jsonl")
    written = battles.read_text()
    winner, other = ("model_a", "model_b") if 'model_a"}' in written else ("model_b", "model_a")
    battles.write_text(written.replace(f'{winner}"}}', f'{other}"}}', 1))
    assert "battles.jsonl differs" in run.fails("rounds", "verify", "out")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("sets import nowhere", "There is no"),
        ("sets show nothing", "no question set"),
        ("rounds status nothing", "no round"),
        ("submissions show 7", "no submission 7"),
        ("leaderboard show nothing", "no board"),
        ("judges show absent", "Unknown judge"),
        ("jobs 1", "There is no job 1"),
        ("battles rate nowhere.jsonl", "nowhere.jsonl"),
        ("rounds verify nowhere", "nowhere"),
    ],
)
def test_unknown_name_reports_one_line(run: Commands, words: str, message: str) -> None:
    code, out, errors = run(*words.split())
    assert (code, out) == (1, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1


def test_bad_file_lists_every_problem_and_stores_nothing(run: Commands, tmp_path: Path) -> None:
    run("sets", "import", write_set(tmp_path))
    bad = tmp_path / "bad.jsonl"
    bad.write_text(
        '{"question_id": "q0", "answer": "Fine."}\n'
        '{"question_id": "q0", "answer": "Again."}\n'
        '{"question_id": "unknown", "answer": "Who?"}\n'
        '{"question_id": "q2", "answer": 5}\n'
        "{broken\n"
    )
    errors = run.fails("submissions", "add", bad, "--set", "tiny", "--system", "s")
    assert all(f"error: line {line}:" in errors for line in (2, 3, 4, 5))
    assert run.json("submissions", "list", "--json") == []
    problems = json.loads(run("submissions", "check", bad, "--set", "tiny", "--json")[1])["problems"]
    assert {problem["line"] for problem in problems if problem["severity"] == "error"} == {2, 3, 4, 5}


def test_unwritable_home_reports_one_line(run: Commands) -> None:
    run.home = Path("/proc/nowhere")
    assert "ARENA_HOME" in run.fails("db", "upgrade")


@pytest.mark.parametrize("command", ["demo", "serve"])
def test_port_in_use_reports_one_line(run: Commands, command: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        errors = run.fails(command, "--port", port)
    assert port in errors
    assert "--port" in errors


@pytest.mark.slow
def test_demo_prepares_both_boards_reproducibly(run: Commands) -> None:
    first = run.json("demo", "--no-serve", "--json")
    assert first == {"boards": ["demo", "rag-qa-arena"]}
    board = run.json("leaderboard", "show", "demo", "--json")
    assert run.json("demo", "--no-serve", "--json") == first
    assert run.json("leaderboard", "show", "demo", "--json") == board
    figures = _figures(run, "demo")
    assert re.fullmatch(r"\d+\.\d % of [\d,]+", figures["without a verdict"][0])
    assert figures["position flips"][0] == "none, by construction"
    assert figures["people's votes"][0] == "168 votes of 3 people, not applied here"
    assert figures["agreement with people"][0] == "69 % of 168 pairs, κ 0.27"
    former = run.json("leaderboard", "show", "demo-before", "--json")
    then, now = (date.fromisoformat(each["facts"]["finished"]) for each in (former, board))
    assert (now - then).days == 7
    paper = run.json("leaderboard", "show", "rag-qa-arena", "--json")["lines"]["overall"]
    assert {line["rate"]["questions"] for line in paper if line["system"] != "LFRQA"} == {16_099}
    # A missing value has a short label and the reason as a sentence.
    for value, meaning in _figures(run, "rag-qa-arena").values():
        assert re.fullmatch(r"\d+\.\d % of [\d,]+", value) or len(meaning.split(". ")[0].split()) > 5
    assert board["lines"]["overall"][0]["system"] == "meridian"
    between = run("leaderboard", "show", "demo", "--between-systems")[1]
    assert "without those against reference. The judge compared answers with the reference in" in between
    assert re.search(r"^1 +meridian +\d{4} ", between, re.MULTILINE)
    assert not re.search(r"^\d–\d +reference ", between, re.MULTILINE)


def _figures(run: Commands, name: str) -> dict[str, tuple[str, str]]:
    """Return the figures above a board: values and meanings by label."""
    arena = Arena(settings_of(run.home))
    board = arena.boards.get(name)
    arena.close()
    return {label: (value, meaning) for label, value, meaning in read_board(board).health}
