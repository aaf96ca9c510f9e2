"""Documents of corpora in the formats of other tools."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.corpora.documents import Analyser, content_hash, document_files, read_documents
from data.corpora.index import CorpusLibrary
from data.errors import FileFormatError, InvalidFileError
from data.models import Passage, ProblemList
from tests.cases import cases

BREAD = "Bread rises in a warm place."
ROWS = {
    "beir": {"_id": "d1", "title": "Baking", "text": BREAD, "metadata": {}},
    "pyserini": {"id": "d1", "contents": BREAD},
    "msmarco-document": {"docid": "d1", "url": "u", "title": "Baking", "headings": "Yeast", "body": BREAD},
    "msmarco-segment": {"docid": "d1", "title": "Baking", "segment": BREAD, "start_char": 0, "end_char": 28},
    "colbert": {"doc_id": "d1", "text": BREAD},
}
TITLES = {"msmarco-document": "Baking Yeast", "pyserini": "", "colbert": ""}
TREC = cases(__file__, "TREC")


def read(path: Path) -> list[Passage]:
    """Read the documents of a path without problems."""
    problems = ProblemList()
    documents = list(read_documents(path, problems))
    assert problems.result() == ()
    return documents


@pytest.mark.parametrize("shape", ROWS)
def test_rows_of_other_tools_become_documents(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text(json.dumps(ROWS[shape]), encoding="utf-8")
    (document,) = read(path)
    assert (document.id, document.text) == ("d1", BREAD)
    assert document.title == TITLES.get(shape, "Baking")


def test_beir_folder_reads_only_its_corpus_file(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps(ROWS["beir"]), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "?"}), encoding="utf-8")
    assert [document.id for document in read(tmp_path)] == ["d1"]
    before = content_hash(tmp_path)
    (tmp_path / "queries.jsonl").write_text("{}", encoding="utf-8")
    assert content_hash(tmp_path) == before


def test_gzipped_parts_are_read_in_order(tmp_path: Path) -> None:
    for part in (1, 0):
        row = {"docid": f"d{part}", "segment": BREAD}
        (tmp_path / f"segments_0{part}.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode()))
    (tmp_path / "README.md").write_text("About these files.", encoding="utf-8")
    assert [document.id for document in read(tmp_path)] == ["d0", "d1"]


def test_trec_elements_become_documents(tmp_path: Path) -> None:
    path = tmp_path / "ft.trec"
    path.write_text(TREC, encoding="utf-8")
    first, second = read(path)
    assert (first.id, first.title) == ("FT-1", "Baking & yeast")
    assert re.sub(r"\s+", " ", first.text) == BREAD
    assert (second.id, second.text) == ("FT-2", "No text element.")


@pytest.mark.parametrize(
    ("element", "code"),
    [("<DOC>\n<TEXT>x</TEXT>\n</DOC>\n", "missing-field"), ("<DOC>\n<DOCNO>1</DOCNO>\nx", "truncated")],
)
def test_invalid_trec_element_is_problem(tmp_path: Path, element: str, code: str) -> None:
    path = tmp_path / "ft.trec"
    path.write_text(f"\n{element}", encoding="utf-8")
    problems = ProblemList()
    assert list(read_documents(path, problems)) == []
    assert [problem.code for problem in problems.result()] == [code]


def test_mixed_formats_are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Text.", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROWS["beir"]), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"several kinds of documents: jsonl, text"):
        document_files(tmp_path)


def test_rows_without_known_fields_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"key": 1, "text": "a"}\n{"id": 1, "words": "a"}\n', encoding="utf-8")
    library = CorpusLibrary(tmp_path / "corpora", Analyser("words", str.split))
    with pytest.raises(InvalidFileError) as caught:
        library.add("rows", path)
    messages = [problem.message for problem in caught.value.problems]
    assert "docno" in messages[0]
    assert "contents" in messages[1]


@given(st.text(alphabet="<>/DOCNOTEXTdocno \n1&;", max_size=200))
def test_trec_reader_accepts_any_text(content: str) -> None:
    from tempfile import TemporaryDirectory  # noqa: PLC0415 - fixtures are shared among hypothesis's examples

    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.trec"
        path.write_text(content or " ", encoding="utf-8")
        list(read_documents(path, ProblemList()))
