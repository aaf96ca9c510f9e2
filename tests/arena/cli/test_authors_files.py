"""RAG-QA Arena's published files on the command line: a set, its short answers as a system, labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]
GOLDEN = Path(__file__).parents[2] / "golden" / "rag_qa_arena"


def test_published_files_become_a_set_a_system_and_labels(make_arena: Run, run: Run, tmp_path: Path) -> None:
    """References are imported, short answers entered as a system, and a judge held against the votes."""
    arena = make_arena()
    assert run("sets", "import", GOLDEN, "--name", "published")[0] == 0
    file = tmp_path / "short.jsonl"
    code, out, _ = run("sets", "export", "--format", "short-answers", "published", file, "--json")
    assert (code, json.loads(out)) == (0, {"file": str(file), "answers": 1, "without": 3})
    assert json.loads(file.read_text())["answer"] == "absorbs red\nreflects sky"
    assert run("submissions", "add", file, "--set", "published", "--system", "RobustQA")[0] == 0
    assert arena.store.submissions.find(set_name="published", system="RobustQA")[0].answers == 1
    words = ("judges", "calibrate", "--judge", "lexical", "--labels", GOLDEN / "human_evaluations.json")
    code, out, _ = run(*words, "--json")
    held = json.loads(out)
    assert (code, held["pairs"]) == (0, 3)


def test_a_set_without_short_answers_says_so(
    make_arena: Run, run: Run, set_folder: Path, tmp_path: Path
) -> None:
    """Nothing is written where no question has short answers."""
    make_arena().sets.import_from(set_folder)
    code, _, err = run("sets", "export", "--format", "short-answers", "tiny", tmp_path / "short.jsonl")
    assert (code, (tmp_path / "short.jsonl").exists()) == (1, False)
    assert "No question of tiny has short answers." in err
