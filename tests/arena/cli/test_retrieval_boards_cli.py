"""Runs without answers: submitted, judged by qrels of every kind, and read on boards of their own."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from arena.container import Arena
from arena.settings import Settings
from data.records import SubmissionKind
from tests.arena.conftest import write_set

Commands = Any  # what the fixture `run` of tests/arena/conftest.py gives


def write_run(path: Path, rankings: dict[str, list[str]]) -> Path:
    """A TREC run of rankings by question."""
    path.write_text(
        "".join(
            f"{question} Q0 {passage} {rank} {100 - rank} r\n"
            for question, ranking in rankings.items()
            for rank, passage in enumerate(ranking, start=1)
        )
    )
    return path


def write_qrels(path: Path, questions: int = 12) -> Path:
    """Diversity qrels of the small set: each question's two passages answer a subtopic each."""
    path.write_text("".join(f"q{at} {part} q{at}-p{part} 1\n" for at in range(questions) for part in (1, 2)))
    return path


@pytest.fixture(scope="module")
def stocked_folder(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Path:
    """A database with the small set, its qrels, and three systems: all, a half, and noise first."""
    folder = tmp_path_factory.mktemp("retrieval")
    shutil.copyfile(sqlite_template, folder / "arena.sqlite")
    arena = Arena(Settings(home=folder, database_url=f"sqlite:///{folder / 'arena.sqlite'}"))
    arena.sets.import_from(write_set(folder))
    attached = arena.set_qrels.attach("tiny", write_qrels(folder / "qrels", 11)).summary
    assert (attached.name, attached.subtopics, attached.unjudged) == ("diversity", 22, 1)
    wholes = {f"q{at}": [f"q{at}-p1", f"q{at}-p2"] for at in range(12)}
    halves = {name: passages[: 1 + (at % 4 > 0)] for at, (name, passages) in enumerate(wholes.items())}
    noisy = {name: ["x", "y", *wholes[name][at % 2 :]] for at, name in enumerate(wholes) if at}
    for system, rankings in (("whole", wholes), ("half", halves), ("noisy", noisy)):
        file = write_run(folder / f"{system}.trec", rankings)
        arena.submissions.add(file, "tiny", system=system, kind=SubmissionKind.CONTEXTS)
    arena.close()
    return folder


@pytest.fixture
def stocked(run: Commands, stocked_folder: Path) -> Commands:
    """Commands over a copy of it."""
    shutil.copyfile(stocked_folder / "arena.sqlite", run.home / "arena.sqlite")
    return run


def test_a_run_is_checked_and_added_by_command(stocked: Commands, stocked_folder: Path) -> None:
    """`check` and `add` take a run where it is said to hold contexts, and say so in their JSON."""
    file = stocked_folder / "whole.trec"
    checked = stocked.json("submissions", "check", file, "--kind", "contexts", "--set", "tiny", "--json")
    assert (checked["accepted"], checked["kind"], checked["format"]) == (True, "contexts", "trec-run")
    words = ("submissions", "add", file, "--kind", "contexts", "--set", "tiny", "--system", "again")
    assert stocked.json(*words, "--json")["kind"] == "contexts"


def test_board_agrees_with_ir_measures_and_counts_what_is_missing(
    stocked: Commands, stocked_folder: Path
) -> None:
    """Means are those of ir_measures with missing questions as 0; unjudged and missing ones are counted."""
    board = stocked.json("retrieval", "show", "tiny", "--json")
    assert (board["questions"], board["unjudged"], board["without_relevant"]) == (11, 1, 0)
    lines = {line["system"]: line for line in board["lines"]["nDCG@10"]["overall"]}
    assert (lines["noisy"]["missing"], lines["whole"]["mean"], lines["whole"]["rank"]) == (1, 1.0, 1)
    qrels = list(ir_measures.read_trec_qrels(str(stocked_folder / "qrels")))  # type: ignore[no-untyped-call]  # it ships no types
    for name, measure in (("alpha_nDCG@10", ir_measures.alpha_nDCG @ 10), ("AP", ir_measures.AP)):
        own = {line["system"]: line["mean"] for line in board["lines"][name]["overall"]}
        for system, mean in own.items():
            ranked = list(ir_measures.read_trec_run(str(stocked_folder / f"{system}.trec")))  # type: ignore[no-untyped-call]  # as above
            assert mean == pytest.approx(ir_measures.calc_aggregate([measure], qrels, ranked)[measure])
    by_domain = board["lines"]["AP"]
    assert set(by_domain) == {"overall", "d0", "d1", "d2"}
    assert sum(line["questions"] for domain in ("d0", "d1", "d2") for line in by_domain[domain][:1]) == 11
    text = stocked("retrieval", "show", "tiny")[1]
    assert "noisy retrieved nothing for 1 of them, which count as 0." in text


def test_controlled_settings_look_at_as_much_as_the_required_subset(stocked: Commands) -> None:
    """Two passages are required: whoever has noise first covers nothing of them, and lengths need texts."""
    lines = stocked.json("retrieval", "show", "tiny", "--json")["lines"]
    means = {name: {line["system"]: line["mean"] for line in lines[name]["overall"]} for name in lines}
    assert means["Cov@Z"] == {"whole": 1.0, "half": pytest.approx(9.5 / 11, abs=0.05), "noisy": 0.0}
    assert means["Cov@T"]["whole"] == means["Den@Z"]["whole"] == 1.0
    noisy = next(line for line in lines["Cov@T"]["overall"] if line["system"] == "noisy")
    # Nobody knows the texts of x and y; for the missing question there is nothing to measure, which is 0.
    assert (noisy["questions"], noisy["undefined"]) == (1, 10)


def test_systems_are_compared_and_questions_opened(stocked: Commands) -> None:
    """The paired difference has its test; a question lists ranks, grades and what is missed."""
    overall = stocked.json("retrieval", "show", "tiny", "--compare", "whole,noisy", "--json")[0]
    assert overall["separated"]
    assert overall["lower"] > 0
    assert overall["ahead"] == overall["questions"] == 11
    shown = stocked.json("retrieval", "show", "tiny", "--question", "q1", "--k", "2", "--json")
    systems = {system["system"]: system for system in shown["systems"]}
    assert systems["whole"]["passages"][1]["new"] == ["2"]
    assert [(line["id"], line["rank"]) for line in systems["noisy"]["missed"]] == [
        ("q1-p1", None),
        ("q1-p2", 3),
    ]
    assert (systems["noisy"]["unjudged"], systems["noisy"]["unanswered"]) == (2, ["1", "2"])
    assert "missed: q1-p1, q1-p2" in stocked("retrieval", "show", "tiny", "--question", "q1", "--k", "2")[1]
    code, _, error = stocked("retrieval", "show", "tiny", "--question", "q11")
    assert (code, "no question 'q11'" in error) == (1, True)


def test_output_and_files_hold_the_board(stocked: Commands, tmp_path: Path) -> None:
    """`output` prints trec_eval's lines, `export` writes rows a measure and domain, or a question."""
    printed = stocked("retrieval", "export", "tiny", "-", "--system", "noisy")[1].splitlines()
    assert "num_q                 \tall\t11" in printed
    assert "map                   \tq0\t0.0000" in printed
    for ending in ("csv", "json", "parquet"):
        assert stocked("retrieval", "export", "tiny", tmp_path / f"board.{ending}")[0] == 0
    assert stocked("retrieval", "export", "tiny", tmp_path / "rows.csv", "--questions")[0] == 0
    with (tmp_path / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 33
    assert {row["missing"] for row in rows if row["system"] == "noisy" and row["question_id"] == "q0"} == {
        "True"
    }
    board = json.loads((tmp_path / "board.json").read_text())
    assert len(board["rows"]) == 3 * 4 * 18
    assert stocked("retrieval", "export", "tiny", tmp_path / "board.txt")[0] == 1


def test_contexts_enter_no_round_and_keep_their_kind(stocked: Commands, tmp_path: Path) -> None:
    """A round names the kind where a run is asked for, and one name has one kind on a set."""
    code, _, error = stocked(
        "rounds", "plan", "--set", "tiny", "--judge", "lexical", "--pairs", "reference", "--systems", "whole"
    )
    assert (code, "whole submitted contexts to tiny, and a round judges answers." in error) == (1, True)
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"question_id": "q1", "answer": "Item 1 is red."}\n')
    code, _, error = stocked("submissions", "add", answers, "--set", "tiny", "--system", "whole")
    assert (code, "a system submits one kind" in error) == (1, True)
    assert {row["kind"] for row in stocked.json("submissions", "list", "--json")} == {"contexts"}


def test_judgments_keep_their_name_and_follow_the_set(
    stocked: Commands, stocked_folder: Path, tmp_path: Path
) -> None:
    """Other judgments need another name; ratings and a new version of the set bring theirs along."""
    again = stocked.json("sets", "attach", "--kind", "qrels", "tiny", stocked_folder / "qrels", "--json")
    assert not again["created"]
    other = write_qrels(tmp_path / "other", 3)
    assert (
        "other judgments called diversity" in stocked("sets", "attach", "--kind", "qrels", "tiny", other)[2]
    )
    rated = tmp_path / "ratings.jsonl"
    rated.write_text(
        '{"question_id": "q0", "passages": ["q0-p1", "q0-p2"], "ratings": [[5, 0], [2, 3]], "threshold": 3}\n'
        '{"question_id": "zz", "passages": ["p"], "ratings": [[5]], "threshold": 3}\n'
    )
    made = stocked.json("sets", "attach", "--kind", "qrels", "tiny", rated, "--json")
    assert (made["name"], made["relevant_from"], made["relevant"], made["unknown"]) == ("ratings", 3.0, 2, 1)
    names = [row["name"] for row in stocked.json("sets", "show", "--qrels", "tiny", "--json")]
    assert names == ["ratings", "diversity"]
    passages = tmp_path / "passages.jsonl"
    passages.write_text('{"question_id": "q0", "passages": [{"id": "new", "text": "New."}]}\n')
    stocked.json("sets", "attach", "--kind", "passages", "tiny", passages, "--json")
    assert [row["name"] for row in stocked.json("sets", "show", "--qrels", "tiny-v2", "--json")] == names


def test_gold_documents_count_a_document_once_at_its_best_chunk(run: Commands, tmp_path: Path) -> None:
    """Without qrels the set's gold documents are relevant, and chunks stand for theirs."""
    folder = tmp_path / "golden"
    folder.mkdir()
    (folder / "set.toml").write_text('name = "golden"\ntitle = "Golden"\n[domains]\nd = "D"\n')
    rows = [
        {"id": f"g{at}", "domain": "d", "question": f"Q{at}?", "reference": "R.", "gold_doc_ids": ["a", "b"]}
        for at in range(2)
    ]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("sets", "import", folder)[0] == 0
    file = write_run(tmp_path / "run", {"g0": ["a#2", "a#1", "b#1"], "g1": ["x#1", "b#1"]})
    assert run("submissions", "add", file, "--kind", "contexts", "--set", "golden", "--system", "s")[0] == 0
    board = run.json("retrieval", "show", "golden", "--json")
    assert (board["qrels"]["name"], board["by_document"]) == ("gold", True)
    (line,) = board["lines"]["AP"]["overall"]
    assert line["mean"] == pytest.approx((1.0 + 0.25) / 2)
