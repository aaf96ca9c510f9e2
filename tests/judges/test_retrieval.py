"""Rankings of documents, and TREC runs."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.errors import InvalidFileError
from data.files.trec import RunLine, read_run, run_lines, write_run
from data.models import Passage
from judges.retrieval import Hit, by_document


def test_a_document_has_the_place_of_its_best_chunk() -> None:
    hits = [Hit(Passage(name, "text"), 1.0 / place) for place, name in enumerate(("x#2", "y#1", "x#1"), 1)]
    assert [hit.passage.id for hit in by_document(hits, 5)] == ["x", "y"]


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    ranking = [RunLine("q 1", "d#1", 2.5), RunLine("q 1", "d 2", 1.25)]
    write_run(path, run_lines({"q 1": ranking}, "bm25 demo"))
    assert path.read_text(encoding="utf-8").splitlines()[0] == "q%201 Q0 d#1 1 2.5 bm25%20demo"
    assert read_run(path) == {"q%201": (RunLine("q%201", "d#1", 2.5), RunLine("q%201", "d%202", 1.25))}


@given(st.lists(st.sampled_from((0.0, 1e-9, 0.3, 0.30000001, 12.5, -2.0)), min_size=2, max_size=30))
def test_a_written_run_has_one_order_at_single_precision(scores: list[float]) -> None:
    ranking = [RunLine("q", f"d{place}", score) for place, score in enumerate(scores)]
    written = [float(line.split()[4]) for line in run_lines({"q": ranking}, "x")]
    single = [struct.unpack("f", struct.pack("f", score))[0] for score in written]
    assert all(before > after for before, after in pairwise(single))


def test_the_order_of_a_run_is_that_of_its_scores(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q Q0 low 1 0.5 x\nq Q0 high 2 7 x\n", encoding="utf-8")
    assert [line.passage for line in read_run(path)["q"]] == ["high", "low"]


@pytest.mark.parametrize(
    "line", ["q Q0 d 1 x run", "q Q0 d 1 nan run", "q d 1 2", "q Q0 d 1 1 run\nq Q0 d 2 1 r"]
)
def test_a_faulty_run_is_refused_with_its_lines(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.trec"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(InvalidFileError) as caught:
        read_run(path)
    assert caught.value.problems[0].line == line.count("\n") + 1
