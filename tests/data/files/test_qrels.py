"""Relevance judgments as files bring them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.errors import InvalidFileError
from data.files.qrels import read_qrels
from data.records.rankings import WHOLE, Qrels, QrelsKind


def _read(folder: Path, text: str) -> Qrels:
    path = folder / "judged"
    path.write_text(text)
    read = read_qrels(path)
    return Qrels(name="q", kind=read.kind, relevant_from=read.relevant_from, judgments=read.judgments)


def test_trec_and_beir_qrels_say_the_same(tmp_path: Path) -> None:
    """One subtopic for all makes graded qrels, with BEIR's header or in TREC's four fields."""
    trec = _read(tmp_path, "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\n")
    beir = _read(tmp_path, "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t-1\n")
    assert trec.kind is beir.kind is QrelsKind.GRADED
    assert trec.judgments == beir.judgments == {"q1": {WHOLE: {"d1": 2, "d2": 0}}, "q2": {WHOLE: {"d1": -1}}}
    assert trec.relevant == {"q1": {"d1"}}


def test_second_fields_that_differ_are_subtopics(tmp_path: Path) -> None:
    """Diversity qrels keep their subtopics; those that nothing answers are no goal."""
    judged = _read(tmp_path, "q1 1 d1 1\nq1 2 d1 1\nq1 2 d2 1\nq1 3 d2 0\n")
    assert judged.kind is QrelsKind.DIVERSITY
    assert judged.answering("q1") == {"1": {"d1"}, "2": {"d1", "d2"}}
    assert judged.grades == {"q1": {"d1": 1, "d2": 1}}


@pytest.mark.parametrize(
    "text",
    [
        '{"question_id": "q1", "passages": ["a", "b"], "ratings": [[5, 1], [0, 3]], "threshold": 3}\n',
        '{"example_id": "q1", "pid": "a", "rating": [5, 1]}\n{"id": "q1", "docid": "b", "rating": [0, 3]}\n',
    ],
)
def test_ratings_of_crux_are_judgments(tmp_path: Path, text: str) -> None:
    """What `sets build` rated, and the public judgments: a sub-question is answered from 3 on."""
    judged = _read(tmp_path, text)
    assert (judged.kind, judged.relevant_from) == (QrelsKind.RATINGS, 3)
    assert judged.answering("q1") == {"1": {"a"}, "2": {"b"}}


def test_nuggets_name_their_passages(tmp_path: Path) -> None:
    """A nugget is a subtopic, with passages that have it, graded or not."""
    judged = _read(
        tmp_path,
        '{"qid": "q1", "nuggets": [{"id": "n", "passages": ["a"]}, {"passages": {"a": 0, "b": 2}}]}\n',
    )
    assert judged.answering("q1") == {"n": {"a"}, "2": {"b"}}


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    """Runs, words for grades, two grades and ratings off the scale are told with their lines."""
    with pytest.raises(InvalidFileError) as caught:
        _read(
            tmp_path,
            "q1 Q0 d1 1 0.5 run\nq1 0 d1 much\nq1 0 d2 1\nq1 0 d2 2\n"
            '{"id": "q1", "docid": "b", "rating": [6]}\n',
        )
    problems = {problem.line: problem.message for problem in caught.value.problems}
    assert "a line of a run" in problems[1]
    assert "'much'" in problems[2]
    assert "grades 1 and 2" in problems[4]
    assert "off the scale" in problems[5]


def test_nuggets_of_every_id_are_nuggets_of_their_own(tmp_path: Path) -> None:
    """0 is an id like 1, and a nugget without one gets a name that no other has."""
    nuggets = '[{"id": 0, "passages": ["p1"]}, {"id": 1, "passages": [0]}, {"id": "3", "passages": ["p3"]}, '
    judged = _read(
        tmp_path, f'{{"qid": "a", "nuggets": {nuggets}{{"passages": [2.0]}}, {{"passages": ["p5"]}}]}}\n'
    )
    assert judged.answering("a") == {"0": {"p1"}, "1": {"0"}, "3": {"p3"}, "4": {"2"}, "5": {"p5"}}
    judged = _read(tmp_path, '{"qid": "a", "nuggets": [{"id": 2, "passages": ["x"]}, {"passages": ["y"]}]}\n')
    assert judged.answering("a") == {"2": {"x"}, "2'": {"y"}}


@pytest.mark.parametrize(
    "nuggets",
    [
        '[{"id": 1, "passages": [null]}]',
        '[{"id": 1, "passages": [["x"]]}]',
        '[{"id": true, "passages": ["x"]}]',
        '[{"id": "", "passages": ["x"]}]',
        '[{"id": 1, "passages": ["x"]}, {"id": "1", "passages": ["y"]}]',
    ],
)
def test_what_is_no_id_is_refused(tmp_path: Path, nuggets: str) -> None:
    """Nothing becomes a name such as None, and two nuggets never fall together."""
    with pytest.raises(InvalidFileError):
        _read(tmp_path, f'{{"qid": "a", "nuggets": {nuggets}}}\n')


def test_tabs_define_the_fields_of_beir(tmp_path: Path) -> None:
    """Ids may hold spaces there, and other headers than BEIR's own are headers."""
    judged = _read(tmp_path, "qid\tcid\tscore\nq 1\td 1\t2\n")
    assert judged.judgments == {"q 1": {WHOLE: {"d 1": 2}}}


def test_an_id_of_another_kind_is_named_as_json_calls_it(tmp_path: Path) -> None:
    """What was seen is null, a list or a boolean, in no words of Python."""
    path = tmp_path / "qrels.jsonl"
    for value, words in ((None, "null"), (["x"], "a list"), (True, "a boolean (true)")):
        path.write_text(json.dumps({"question_id": "1", "nuggets": [{"passages": [value]}]}) + "\n")
        with pytest.raises(InvalidFileError) as caught:
            read_qrels(path)
        (problem,) = caught.value.problems
        assert problem.message.startswith(f"The id of a passage is {words};")
