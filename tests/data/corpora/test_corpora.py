"""Corpora: chunks, the index on disk, import and replacement."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.corpora.documents import WORD, Analyser, Chunking, document_of
from data.corpora.index import Corpus, CorpusLibrary, best_places
from data.errors import FileFormatError, InvalidFileError, NotFoundError, RecordError, StoreError


def terms(text: str) -> list[str]:
    """Return lower-case words."""
    return re.findall(r"\w+", text.lower())


PLAIN = Analyser("plain-1", terms)
DOCUMENTS = [
    {"id": "d1", "title": "Lions", "text": "Lions hunt at dusk. " * 40},
    {"id": "d2", "title": "Bread", "text": "Bread rises in a warm place."},
    {"id": "d3", "text": "面包在温暖的地方发酵。"},
    {"id": 4, "title": "Empty", "text": ""},
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """JSONL file of documents."""
    path = tmp_path / "documents.jsonl"
    path.write_text("\n".join(map(json.dumps, DOCUMENTS)), encoding="utf-8")
    return path


@pytest.fixture
def library(tmp_path: Path) -> CorpusLibrary:
    """Empty library."""
    return CorpusLibrary(tmp_path / "corpora", PLAIN)


@given(st.integers(0, 400), st.integers(1, 130), st.integers(0, 129))
def test_chunks_cover_text_with_their_overlap(length: int, words: int, overlap: int) -> None:
    if overlap >= words:
        with pytest.raises(RecordError):
            Chunking(words=words, overlap=overlap)
        return
    every = [f"w{number}" for number in range(length)]
    chunks = [chunk.split() for chunk in Chunking(words=words, overlap=overlap).cut("  ".join(every))]
    assert all(len(chunk) <= words for chunk in chunks)
    joined = chunks[0] if chunks else []
    for before, chunk in pairwise(chunks):
        assert before[len(before) - overlap :] == chunk[:overlap]
        assert len(chunk) > overlap
        joined = joined + chunk[overlap:]
    assert joined == every


def test_default_chunks_have_128_words_and_overlap_by_32() -> None:
    text = " ".join(f"w{number}" for number in range(225))
    first, second, third = Chunking().cut(text)
    assert (len(first.split()), len(second.split()), len(third.split())) == (128, 128, 33)
    assert first.split()[-32:] == second.split()[:32]
    assert list(Chunking().cut(" \n")) == []
    assert list(Chunking().cut("a\n\n  b")) == ["a\n\n  b"]


def test_scripts_without_spaces_are_chunked_by_characters() -> None:
    assert [len(chunk) for chunk in Chunking(words=4, overlap=1).cut("面包在温暖的地方发酵")] == [4, 4, 4]
    assert len(WORD.findall("ab 面包 c")) == 4


@given(st.text(st.sampled_from("ab.\t\n \u00a0\u1680\u2028\u3000\x1c面é\u0e01'"), max_size=60))
def test_short_texts_are_chunked_like_long_ones(text: str) -> None:
    spans = [match.span() for match in WORD.finditer(text)]
    expected = [text[spans[0][0] : spans[-1][1]]] if spans else []
    assert list(Chunking(words=60, overlap=8).cut(text)) == expected


def test_document_of_parses_chunk_ids() -> None:
    assert document_of("a#b#3") == "a#b"
    assert document_of("a#b") == "a#b"


def search(corpus: Corpus, query: str, k: int) -> list[str]:
    return [passage.id for passage, _ in corpus.search(query, k)]


def test_corpus_import_enables_search(library: CorpusLibrary, source: Path) -> None:
    done = library.add("animals", source)
    assert done.built
    assert (done.manifest.documents, done.manifest.chunks) == (4, 4)
    corpus = library.open("animals")
    assert search(corpus, "warm bread", 5) == ["d2#1"]
    assert set(search(corpus, "hunting lions dusk", 5)) == {"d1#1", "d1#2"}
    assert corpus.search("bread", 1)[0][0].title == "Bread"
    assert search(corpus, "unheard-of", 5) == []
    assert search(corpus, "bread", 0) == []
    assert [manifest.name for manifest in library.list()] == ["animals"]


def test_corpus_is_rebuilt_only_after_changes(library: CorpusLibrary, source: Path) -> None:
    assert library.add("a", source).built
    assert not library.add("a", source).built
    assert library.add("a", source, Chunking(words=64, overlap=8)).built
    source.write_text(json.dumps({"id": "n", "text": "Something new."}), encoding="utf-8")
    open_before = library.open("a")
    assert library.add("a", source).built
    assert search(library.open("a"), "new", 3) == ["n#1"]
    assert search(open_before, "bread", 1) == ["d2#1"]
    assert [path.name for path in (source.parent / "corpora").iterdir()] == ["a"]


def test_changed_analyser_requires_new_import(library: CorpusLibrary, source: Path, tmp_path: Path) -> None:
    library.add("a", source)
    other = CorpusLibrary(tmp_path / "corpora", Analyser("plain-2", terms))
    with pytest.raises(StoreError, match="another analyser"):
        other.open("a")
    assert other.add("a", source).built


def test_folder_of_texts_is_imported_as_corpus(library: CorpusLibrary, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    (folder / "one.txt").write_text("Bread rises.", encoding="utf-8")
    (folder / "deep" / "two.md").write_text("Lions hunt.", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    assert library.add("texts", folder).manifest.documents == 2
    assert search(library.open("texts"), "lions", 1)[0] == "deep/two.md#1"


@pytest.mark.parametrize(
    "lines",
    [
        ['{"id": "a", "text": "x"}', "not json"],
        ['{"id": "a", "text": "x"}', '{"text": "no id"}'],
        ['{"id": "a", "text": "x"}', '{"id": "b", "text": 3}'],
        ['{"id": "a", "text": "x"}', '{"id": "a", "text": "again"}'],
        ['{"id": "a", "text": "x"}', "[1]"],
    ],
)
def test_invalid_file_keeps_old_corpus(library: CorpusLibrary, source: Path, lines: list[str]) -> None:
    library.add("a", source)
    source.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InvalidFileError) as caught:
        library.add("a", source)
    assert [problem.line for problem in caught.value.problems] == [2]
    assert search(library.open("a"), "bread", 1)
    assert [path.name for path in (source.parent / "corpora").iterdir()] == ["a"]


@pytest.mark.parametrize("content", ["", '{"id": "a", "text": " "}\n'])
def test_empty_corpus_is_refused(library: CorpusLibrary, tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError):
        library.add("e", path)
    with pytest.raises(FileFormatError):
        library.add("e", tmp_path / "missing.jsonl")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileFormatError, match="contains no documents"):
        library.add("e", tmp_path / "folder")
    assert library.list() == ()


def test_unknown_corpus_error_lists_known_ones(library: CorpusLibrary, source: Path) -> None:
    library.add("animals", source)
    with pytest.raises(NotFoundError, match="animals"):
        library.open("animal")
    with pytest.raises(RecordError):
        library.open("../corpora/animals")


@pytest.mark.parametrize("name", ["bm25/corpus.jsonl", "manifest.json", "bm25/data.csc.index.npy"])
def test_damaged_corpus_raises_store_error(
    library: CorpusLibrary, source: Path, tmp_path: Path, name: str
) -> None:
    library.add("a", source)
    path = tmp_path / "corpora" / "a" / name
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(StoreError):
        library.open("a")


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), max_size=20), st.integers(1, 25))
def test_best_places_are_sorted_by_score(scores: list[float], k: int) -> None:
    array = np.array(scores, dtype=np.float32)
    expected = [place for place in np.argsort(-array, kind="stable") if array[place] > 0][:k]
    assert best_places(array, k).tolist() == expected
