"""Files published by the authors of RAG-QA Arena, read unchanged: human evaluations and references."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from data.errors import ArenaError, InvalidFileError
from data.files.labels import read_labels
from data.files.question_sets.registry import load_set
from data.files.text_files import ReadLimits
from tests.data.conftest import problems_of

GOLDEN = Path(__file__).parents[2] / "golden" / "rag_qa_arena"
LIMITS = ReadLimits()


def _by_pair(file: Path) -> dict[str, list[float]]:
    votes = defaultdict(list)
    for label in read_labels(file, LIMITS).labels:
        votes[label.id].append(label.label)
    return dict(votes)


def test_votes_get_texts_from_files_in_same_folder() -> None:
    assert _by_pair(GOLDEN / "human_evaluations.json") == {
        "science_0_LFRQA_RQA": [-1, -1, 0],
        "writing_1_LFRQA_RQA": [-1, 0, 1],
        "science_0_LFRQA_big-model": [-1, -1, 1],
    }
    labels = {label.id: label for label in read_labels(GOLDEN / "human_evaluations.json", LIMITS).labels}
    (first, turned, prompt) = labels.values()
    assert (first.domain, first.question, first.system_a) == ("science", "why is the sea blue?", "LFRQA")
    assert first.answer_b == "absorbs red\nreflects sky"
    assert (turned.domain, turned.system_a, turned.system_b) == ("writing", "RQA", "LFRQA")
    # Without an answers column, the answers are in the judge's prompt; slashes in names are dashes.
    assert (prompt.system_a, prompt.answer_a) == ("org-big-model", "It reflects the sky.")


def test_labels_accept_column_names_of_other_tools(tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    votes = ("model_a", "B", "tie (bothbad)")
    rows = "".join(f"Why?,x,y,{'red' if vote == 'B' else 'it is'},blue,{vote}\n" for vote in votes)
    file.write_text(f"prompt,model_a,model_b,response_a,response_b,winner\n{rows}")
    labels = read_labels(file, LIMITS).labels
    assert [(label.question, label.system_a, label.answer_b, label.label) for label in labels] == [
        ("Why?", "x", "blue", label) for label in (-1, 1, 0)
    ]
    assert labels[0].id == labels[2].id != labels[1].id
    # By name; a system named like the other side is ambiguous.
    file.write_text(file.read_text().replace(",B\n", ",y\n"))
    assert [label.label for label in read_labels(file, LIMITS).labels] == [-1, 1, 0]
    file.write_text(file.read_text().replace(",x,y,", ",B,a,").replace(",y\n", ",B\n"))
    with pytest.raises(InvalidFileError) as refused:
        read_labels(file, LIMITS)
    assert [label.line for label in refused.value.problems] == [3]


def test_columns_of_lists_are_read_row_by_row() -> None:
    assert _by_pair(GOLDEN / "columns.json") == {"1": [-2, -1, 0], "2": [-1, 0, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"science_9_LFRQA_RQA": {"raw": ["LFRQA"]}}, "science_9_LFRQA_RQA has no question"),
        ({"science_0_LFRQA_RQA": {"raw": ["Third"]}}, "the vote 'Third'"),
    ],
)
def test_problems_name_missing_items(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    shutil.copytree(GOLDEN, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "human_evaluations.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(InvalidFileError) as caught:
        read_labels(file, LIMITS)
    assert [message in problem.message for problem in caught.value.problems] == [True]


def test_columns_of_several_lengths_are_refused(tmp_path: Path) -> None:
    columns = json.loads((GOLDEN / "columns.json").read_text())
    (tmp_path / "columns.json").write_text(json.dumps({**columns, "query": columns["query"][:1]}))
    with pytest.raises(ArenaError, match="query 1, response_1 2"):
        read_labels(tmp_path / "columns.json", LIMITS)


def test_references_become_question_set() -> None:
    loaded = load_set(GOLDEN)
    questions = {question.id: question for question in loaded.questions.questions}
    assert list(questions) == ["science-1", "science-forum-test-4", "science-3", "writing-1"]
    assert questions["science-1"].short_answers == ("absorbs red", "reflects sky")
    assert questions["science-1"].gold_doc_ids == ("7", "9")
    assert questions["science-3"].reference is None
    assert [problem.code for problem in loaded.warnings] == ["empty-reference"]
    assert (loaded.questions.reference_name, dict(loaded.questions.domains)) == (
        "LFRQA",
        {"science": "Science", "writing": "Writing"},
    )


def test_invalid_reference_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "references.json").write_text('{"q?": {"answer": "x"}}')
    assert "has no faithful_answer" in problems_of(tmp_path / "references.json")[0].message
    (tmp_path / "references.json").write_text("[]")
    assert problems_of(tmp_path / "references.json")
