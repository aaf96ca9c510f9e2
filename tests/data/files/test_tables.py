"""Tables of texts: ids, passages, lists in cells and sets of questions as people's tools write them."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import FileFormatError, InvalidFileError
from data.files.labelled_pairs import read_items, read_passages
from data.files.question_sets.registry import load_set
from data.files.tables.columns import NAMES, Column, column_of
from data.files.tables.rows import TextRow
from data.files.tables.values import given as is_given
from data.files.tables.values import id_text, is_missing, list_of_cell, passages_of
from data.files.text_files import ReadLimits


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=30), min_size=1, max_size=5
    )
)
def test_printed_lists_are_lists(texts: list[str]) -> None:
    """JSON, Python and NumPy print lists each in its way; the same texts come back, never joined ones."""
    array = np.array(texts, dtype=object)
    for cell in (json.dumps(texts), repr(texts), np.array2string(array, threshold=10**6)):
        assert list_of_cell(cell) == texts


@pytest.mark.parametrize("cell", ["['a' ... 'b']", "[{'text': 'a' 'b'}]", "['a' 5]", "text", "{}", "[a]"])
def test_what_is_no_list_is_refused(cell: str) -> None:
    """A list that was shortened, or texts that stand side by side within an object, are no list."""
    with pytest.raises(FileFormatError, match="list"):
        list_of_cell(cell)


def test_absent_empty_and_zero_are_told_apart() -> None:
    """0 and "0" are ids, null and an empty text are none; whole numbers have one id."""
    assert [id_text(value) for value in (0, "0", 1.0, 10**20, True, 1.5, None, ["x"])] == [
        *("0", "0", "1", str(10**20)),
        *(None, None, None, None),
    ]
    assert [is_given(value) for value in (0, "0", "", None, math.nan)] == [True, True, False, False, False]


def test_passages_keep_their_ids_and_places() -> None:
    """Given ids are kept under each of their names, and counted ones never meet them."""
    entries: list[Any] = [
        {"id": 0, "text": "a"},
        {"doc_id": "d", "text": ""},
        "plain",
        {"_id": "c3", "text": "x"},
        {"docid": 5.0, "text": "y"},
        {"context_id": "z", "text": "w"},
    ]
    passages = passages_of(entries, "c")
    assert [passage.id for passage in passages] == ["0", "d", "c3'", "c3", "5", "z"]
    with pytest.raises(FileFormatError, match="Passages 1 and 3 have one id, 'd'"):
        passages_of([{"id": "d", "text": "a"}, "b", {"doc_id": "d", "text": "c"}], "c")
    with pytest.raises(FileFormatError, match="neither a text nor a whole number"):
        passages_of([{"id": True, "text": "a"}], "c")


def test_words_for_missing_values_are_known() -> None:
    """What R, pandas, SQL and Excel write for a missing value is one, as the whole text."""
    words = ["NA", "N/A", "None", "NaN", "<NA>", "NULL", "NaT", "#N/A", "#NAME?", " nan "]
    assert all(map(is_missing, words))
    assert not any(map(is_missing, ["None of them.", "Na", "none", "", None, 0]))


def test_names_of_columns_mean_one_thing() -> None:
    """No name stands for two columns, and case, spaces and underscores make no difference."""
    names = [name for group in NAMES.values() for name in group]
    assert len({column_of(name) for name in names}) == len(Column)
    assert column_of("User Input") is column_of("user_input") is Column.QUESTION
    row, problems = TextRow.of({"Prompt": "Why?", "Completion": 5, "QID": 2.0})
    assert (row.question, row.question_id, row.answer) == ("Why?", "2", None)
    assert [one.message for one in problems] == ["The answer is a number (5), not a string."]


def test_float_ids_of_a_dataset_are_whole_numbers(tmp_path: Path) -> None:
    """Nullable numbers that became floats keep their questions; a row without an id is a problem."""
    frame = pd.DataFrame({"question_id": [10.0, 20.0], "question": ["Qa?", "Qb?"]})
    for name, write in (("s.parquet", frame.to_parquet), ("s.csv", frame.to_csv), ("s.json", frame.to_json)):
        write(tmp_path / name)
        assert [one.id for one in load_set(tmp_path / name).questions.questions] == ["10", "20"]
    frame.loc[2] = [None, "Qc?"]
    for name, write in (("s.parquet", frame.to_parquet), ("s.csv", frame.to_csv), ("s.json", frame.to_json)):
        write(tmp_path / name)
        with pytest.raises(InvalidFileError) as caught:
            load_set(tmp_path / name)
        assert [one.code for one in caught.value.problems if one.code != "unknown-field"] == ["missing-field"]


def test_questions_without_ids_are_counted_and_that_is_said(tmp_path: Path) -> None:
    """Nothing is given a made-up id without a word."""
    path = tmp_path / "q.csv"
    path.write_text("prompt,refrence\nWhy?,So.\nHow?,Thus.\n", encoding="utf-8")
    loaded = load_set(path)
    assert [one.id for one in loaded.questions.questions] == ["test-1", "test-2"]
    assert [one.code for one in loaded.warnings] == ["no-ids", "unknown-field"]
    path.write_text('{"Why is it?": "So it is."}', encoding="utf-8")
    (only,) = load_set(path).questions.questions
    assert (only.id, only.question, only.reference) == ("test-1", "Why is it?", "So it is.")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("answer", ["a", "b"], "The reference is a list, not a string."),
        ("contexts", '["p"]', "There is a string"),
        ("contexts", {"title": ["t"]}, "There is an object"),
        ("gold_doc_ids", [0, None], "gold_doc_ids holds null"),
        ("gold_doc_ids", [True], "gold_doc_ids holds a boolean (true)"),
        ("id", [1], "The id is a list"),
    ],
)
def test_cells_of_another_kind_are_problems(tmp_path: Path, field: str, value: object, words: str) -> None:
    """A value of another type is named with what was seen; it is never taken for an absent one."""
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"id": "1", "question": "Why?", field: value}) + "\n", encoding="utf-8")
    with pytest.raises(InvalidFileError) as caught:
        load_set(path)
    assert any(words in one.message for one in caught.value.problems)


def test_gold_documents_and_passages_have_the_same_ids(tmp_path: Path) -> None:
    """A passage 0 is what the gold document 0 names, as a number and as a text."""
    path = tmp_path / "q.jsonl"
    row = {"id": 1, "question": "Why?", "gold_doc_ids": [0, 1.0, "d"], "passages": [{"id": 0, "text": "x"}]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    (question,) = load_set(path).questions.questions
    assert (question.gold_doc_ids, question.passages[0].id) == (("0", "1", "d"), "0")


def test_items_and_attached_passages_keep_zero(tmp_path: Path) -> None:
    """An id 0 of an item or of a passage stays 0."""
    path = tmp_path / "f.jsonl"
    passages = [{"id": 0, "text": "zero"}, {"doc_id": "d9", "text": "nine"}]
    path.write_text(json.dumps({"id": 0, "question": "q", "answer": "a", "passages": passages}) + "\n")
    (item,) = read_items(path, ReadLimits())
    assert (item.id, [one.id for one in item.passages]) == ("0", ["0", "d9"])
    (given_passages,) = read_passages(path, ReadLimits())
    assert (given_passages.question, [one.id for one in given_passages.passages]) == ("0", ["0", "d9"])


def test_citations_of_nothing_and_questions_of_one_text_are_warned_of(tmp_path: Path) -> None:
    """A citation of no document and a text that two questions have are said when a set comes in."""
    path = tmp_path / "q.jsonl"
    rows: list[dict[str, Any]] = [
        {"id": "1", "question": "Why?", "passages": [{"id": "p", "text": "x"}], "citations": [["zz"]]},
        {"id": "2", "question": "Why? ", "gold_doc_ids": ["p"], "citation_numbers": [[7]]},
        {
            "id": "3",
            "question": "How?",
            "gold_doc_ids": ["p"],
            "citation_numbers": [[1]],
            "citations": [["p"]],
        },
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert [one.message for one in load_set(path).warnings] == [
        "2 questions have the text of another, so that answers need their ids: '1', '2'.",
        "2 references cite documents that the question does not have: '1', '2'.",
    ]


@pytest.mark.parametrize("ids", [(" 1 ", "1"), ("caf\u00e9", "cafe\u0301")])
def test_ids_that_look_the_same_are_refused(ids: tuple[str, str], tmp_path: Path) -> None:
    """Two questions whose ids differ in outer spaces or Unicode form cannot be told apart."""
    path = tmp_path / "q.jsonl"
    path.write_text(
        "".join(json.dumps({"id": key, "question": f"{at}?"}) + "\n" for at, key in enumerate(ids))
    )
    with pytest.raises(InvalidFileError) as caught:
        load_set(path)
    (problem,) = caught.value.problems
    assert problem.message == f"The ids {ids[0]!a} and {ids[1]!a} look the same."


def test_a_file_is_named_without_its_folder(tmp_path: Path) -> None:
    """What stands in a pipe is copied to a folder that nobody knows."""
    path = tmp_path / "stdin"
    path.write_text('{"question": 5}\n')
    for read in (load_set, lambda file: read_items(file, ReadLimits())):
        with pytest.raises(InvalidFileError) as caught:
            read(path)
        assert str(tmp_path) not in caught.value.message


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_answers_of_squad_are_short_answers(suffix: str, tmp_path: Path) -> None:
    """SQuAD's `answers`, texts beside where they begin, are a question's short answers and its reference."""
    frame = pd.DataFrame(
        {
            "id": ["a", "b"],
            "question": ["Who?", "What?"],
            "answers": [
                {"text": ["Ann", "Ann", "Ann Lee"], "answer_start": [1, 1, 1]},
                {"text": [], "answer_start": []},
            ],
        }
    )
    path = tmp_path / f"questions.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    first, second = load_set(path).questions.questions
    assert (first.short_answers, first.reference) == (("Ann", "Ann Lee"), "Ann")
    assert (second.short_answers, second.reference) == ((), None)


def test_a_packed_workbook_says_what_to_do(tmp_path: Path) -> None:
    """What is a file of its own inside a compressed one is to be unpacked, not to be written otherwise."""
    path = tmp_path / "questions.xlsx.gz"
    path.write_bytes(gzip.compress(b"PK\x03\x04" + bytes(100)))
    with pytest.raises(InvalidFileError) as refused:
        load_set(path)
    (problem,) = refused.value.problems
    assert problem.message == "questions.xlsx.gz is a workbook or zip file inside a compressed file."
    assert problem.advice == "Unpack it first."
