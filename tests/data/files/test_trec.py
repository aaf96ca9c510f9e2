"""Relevance judgments in files."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import InvalidFileError
from data.files.trec import (
    WHOLE,
    Qrels,
    RunLine,
    ids_by_field,
    read_qrels,
    read_run,
    run_field,
    run_lines,
    write_run,
)


def _read(folder: Path, text: str) -> Qrels:
    path = folder / "judged"
    path.write_text(text)
    return read_qrels(path)


def test_trec_and_beir_qrels_are_equal(tmp_path: Path) -> None:
    trec = _read(tmp_path, "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\n")
    beir = _read(tmp_path, "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t-1\n")
    assert trec.judgments == beir.judgments == {"q1": {WHOLE: {"d1": 2, "d2": 0}}, "q2": {WHOLE: {"d1": -1}}}
    assert (trec.has_subtopics, set(trec.questions)) == (False, {"q1"})


def test_different_second_fields_are_subtopics(tmp_path: Path) -> None:
    judged = _read(tmp_path, "q1 1 d1 1\nq1 2 d1 1\nq1 2 d2 1\nq1 3 d2 0\n")
    assert judged.has_subtopics
    assert judged.grades == {"q1": {"d1": 1, "d2": 1}}


@pytest.mark.parametrize(
    "text", ["q1 0.5 d1 2\nq1 1 d2 1\nq1 1 d1 2\n", "q1 1 d1 2\nq1 2 d2 1\n", "q1 0 d1 2\nq1 Q0 d2 1\n"]
)
def test_rounds_in_second_field_are_not_subtopics(tmp_path: Path, text: str) -> None:
    judged = _read(tmp_path, text)
    assert judged.judgments == {"q1": {WHOLE: {"d1": 2, "d2": 1}}}
    assert "are not subtopics" in judged.note


@pytest.mark.parametrize(
    "text",
    [
        '{"question_id": "q1", "passages": ["a", "b"], "ratings": [[5, 1], [0, 3]], "threshold": 3}\n',
        '{"example_id": "q1", "pid": "a", "rating": [5, 1]}\n{"id": "q1", "docid": "b", "rating": [0, 3]}\n',
    ],
)
def test_ratings_of_crux_are_judgments(tmp_path: Path, text: str) -> None:
    judged = _read(tmp_path, text)
    assert judged.relevant_from == 3
    assert judged.judgments == {"q1": {"1": {"a": 5, "b": 0}, "2": {"a": 1, "b": 3}}}


def test_problems_name_every_bad_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError) as caught:
        _read(
            tmp_path,
            "q1 Q0 d1 1 0.5 run\nq1 0 d1 much\nq1 0 d2 1\nq1 0 d2 2\n"
            '{"id": "q1", "docid": "b", "rating": ["x"]}\n{"id": "q1"}\n',
        )
    assert [problem.line for problem in caught.value.problems] == [1, 2, 4, 5, 6]


def test_tabs_define_fields_of_beir(tmp_path: Path) -> None:
    judged = _read(tmp_path, "qid\tcid\tscore\nq 1\td 1\t2\n")
    assert judged.judgments == {"q 1": {WHOLE: {"d 1": 2}}}


NAMES = st.text("a_% 20\t\u00a0\n5F", min_size=1, max_size=6)


@given(NAMES, NAMES)
def test_run_fields_are_unique(name: str, other: str) -> None:
    assert run_field(name).split() == [run_field(name)]
    assert (run_field(name) == run_field(other)) == (name == other)


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_ids_by_field_maps_every_name(names: list[str]) -> None:
    fields = ids_by_field(names)
    assert [fields[name] for name in names] == names
    plain = [name for name in names if "%" not in name]
    assert [ids_by_field(plain)[run_field(name)] for name in plain] == plain


def test_written_run_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    ranking = [RunLine("q 1", "d#1", 2.5), RunLine("q 1", "d 2", 1.25)]
    write_run(path, run_lines({"q 1": ranking}, "bm25 demo"))
    assert path.read_text(encoding="utf-8").splitlines()[0] == "q%201 Q0 d#1 1 2.5 bm25%20demo"
    assert read_run(path) == {"q%201": (RunLine("q%201", "d#1", 2.5), RunLine("q%201", "d%202", 1.25))}


@given(st.lists(st.sampled_from((0.0, 1e-9, 0.3, 0.30000001, 12.5, -2.0)), min_size=2, max_size=30))
def test_written_run_is_strictly_sorted_at_single_precision(scores: list[float]) -> None:
    ranking = [RunLine("q", f"d{place}", score) for place, score in enumerate(scores)]
    scores = [float(line.split()[4]) for line in run_lines({"q": ranking}, "x")]
    single = [struct.unpack("f", struct.pack("f", score))[0] for score in scores]
    assert all(before > after for before, after in pairwise(single))


@pytest.mark.parametrize(
    "line", ["q Q0 d 1 x run", "q Q0 d 1 nan run", "q d 1 2", "q Q0 d 1 1 run\nq Q0 d 2 1 r"]
)
def test_invalid_run_is_refused_with_its_lines(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.trec"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(InvalidFileError) as caught:
        read_run(path)
    assert caught.value.problems[0].line == line.count("\n") + 1
