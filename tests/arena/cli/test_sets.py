"""Answer files and question sets of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.arena.conftest import Commands, Fill, write_lines


def parquet_folder(folder: Path, count: int = 12) -> Path:
    """Folder of answers to the tiny set with ragas' columns, in two shards."""
    (folder / "data").mkdir(parents=True)
    rows = [
        {
            "user_input": f"What do we know of item {number}{' then' * (number % 2)}?",
            "response": f"Item {number} is well known, and weighs {number + 10} grams.",
            "retrieved_contexts": [f"Item {number} weighs {number + 10} grams."],
        }
        for number in range(count)
    ]
    for shard in range(2):
        table = pa.Table.from_pylist(rows[shard::2])
        pq.write_table(table, folder / "data" / f"test-0000{shard}-of-00002.parquet")
    return folder


def test_folder_is_checked_and_submitted(arena_of: Commands, tmp_path: Path) -> None:
    folder = parquet_folder(tmp_path / "dataset")
    report = arena_of.json("submissions", "check", folder, "--set", "tiny", "--json")
    assert (report["format"], report["layout"], report["answers"]) == ("parquet", "ragas", 12)
    assert (report["errors"], report["with_contexts"]) == (0, 12)
    added = arena_of.json("submissions", "add", folder, "--set", "tiny", "--system", "ragas", "--json")
    assert (added["answers"], added["created"]) == (12, True)


def test_written_sample_is_accepted(arena_of: Commands, tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    written = arena_of.json("sets", "export", "tiny", path, "--format", "sample", "--json")
    report = arena_of.json("submissions", "check", path, "--set", "tiny", "--json")
    assert (written["lines"], report["answers"], report["errors"]) == (5, 5, 0)


def test_check_accepts_passages_of_set(arena_of: Commands, tmp_path: Path) -> None:
    sentences = [{"text": "It is known.", "citations": [0]}]
    row = {"topic_id": "q1", "references": ["q1-p1", "gone"], "answer": sentences}
    path = write_lines(tmp_path / "run.jsonl", [row])
    report = arena_of.json("submissions", "check", path, "--set", "tiny", "--json")
    assert (report["layout"], report["with_contexts"]) == ("trec-rag", 1)
    assert [problem["message"] for problem in report["problems"] if problem["code"] == "empty-context"] == [
        "1 of 2 contexts have no text; they keep their positions."
    ]


def test_problems_of_table_name_their_row(arena_of: Commands, tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    pq.write_table(pa.table({"question_id": ["q1", "nowhere"], "answer": ["It is known.", "So."]}), path)
    code, out, _ = arena_of("submissions", "check", path, "--set", "tiny")
    assert code == 1
    assert "line 2: error unknown-question: Row 2: Question set tiny has no question 'nowhere'." in out


@pytest.mark.parametrize("form", ["beir", "jsonl"])
def test_set_is_written_and_read_in_each_format(form: str, arena_of: Commands, tmp_path: Path) -> None:
    exported = tmp_path / "exported"
    written = arena_of.json("sets", "export", "tiny", exported, "--format", form, "--json")
    imported = arena_of.json("sets", "import", exported, "--name", f"tiny-{form}", "--json")
    assert (imported["created"], imported["content_hash"]) == (True, written["content_hash"])
    if form != "jsonl":
        assert "already contains a set. Choose an empty folder." in arena_of.fails(
            "sets", "export", "tiny", exported, "--format", form
        )


GOLDEN = Path(__file__).parents[2] / "golden" / "rag_qa_arena"


def test_published_files_become_set_and_labels(make_arena: Fill, run: Commands, tmp_path: Path) -> None:
    arena = make_arena()
    run.done("sets", "import", GOLDEN, "--name", "published")
    file = tmp_path / "short.jsonl"
    report = run.json("sets", "export", "--format", "short-answers", "published", file, "--json")
    assert report == {"file": str(file), "answers": 1, "without": 3}
    assert json.loads(file.read_text())["answer"] == "absorbs red\nreflects sky"
    run.done("submissions", "add", file, "--set", "published", "--system", "RobustQA")
    assert arena.store.submissions.find(set_name="published", system="RobustQA")[0].answers == 1
    words = ("judges", "calibrate", "--judge", "lexical", "--labels", GOLDEN / "human_evaluations.json")
    assert run.json(*words, "--json")["pairs"] == 3


def test_set_without_short_answers_reports_it(arena_of: Commands, tmp_path: Path) -> None:
    words = ("sets", "export", "--format", "short-answers", "tiny", tmp_path / "short.jsonl")
    assert "No question of tiny has short answers." in arena_of.fails(*words)
    assert not (tmp_path / "short.jsonl").exists()
