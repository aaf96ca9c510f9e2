"""Corpora: chunks, the index on disk, import and replacement."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from data.corpora import index as postings
from data.corpora import terms as term_numbers
from data.corpora.approximate import Graph, measured
from data.corpora.chunking import WORD, Chunking, CutWords, document_of
from data.corpora.dense import VectorIndex, Vectors, VectorWriter
from data.corpora.index import Corpus, best_places
from data.corpora.library import CorpusLibrary
from data.corpora.manifests import VectorsAbout, read_about
from data.corpora.terms import Analyser
from data.errors import FileFormatError, InvalidFileError, NotFoundError, RecordError, StoreError


def terms(text: str) -> list[str]:
    """Lower-case words."""
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
    """A JSONL file of documents."""
    path = tmp_path / "documents.jsonl"
    path.write_text("\n".join(map(json.dumps, DOCUMENTS)), encoding="utf-8")
    return path


@pytest.fixture
def library(tmp_path: Path) -> CorpusLibrary:
    """An empty library."""
    return CorpusLibrary(tmp_path / "corpora", PLAIN)


@given(st.integers(0, 400), st.integers(1, 130), st.integers(0, 129))
def test_chunks_cover_a_text_with_their_overlap(length: int, words: int, overlap: int) -> None:
    """Neighbours share exactly the overlap, no word is lost, and the last chunk adds something."""
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


def test_a_paper_sized_chunk_has_128_words_and_shares_32() -> None:
    """The defaults are the paper's; text is kept as written."""
    text = " ".join(f"w{number}" for number in range(225))
    first, second, third = Chunking().cut(text)
    assert (len(first.split()), len(second.split()), len(third.split())) == (128, 128, 33)
    assert first.split()[-32:] == second.split()[:32]
    assert list(Chunking().cut(" \n")) == []
    assert list(Chunking().cut("a\n\n  b")) == ["a\n\n  b"]


def test_scripts_without_spaces_are_cut_by_characters() -> None:
    """A Chinese text is no single word."""
    assert [len(chunk) for chunk in Chunking(words=4, overlap=1).cut("面包在温暖的地方发酵")] == [4, 4, 4]
    assert len(WORD.findall("ab 面包 c")) == 4


@given(st.text(st.sampled_from("ab.\t\n \u00a0\u1680\u2028\u3000\x1c面é\u0e01'"), max_size=60))
def test_short_texts_are_cut_as_long_ones(text: str) -> None:
    """A text that is one chunk begins with its first word and ends with its last, whatever spaces it has."""
    spans = [match.span() for match in WORD.finditer(text)]
    expected = [text[spans[0][0] : spans[-1][1]]] if spans else []
    assert list(Chunking(words=60, overlap=8).cut(text)) == expected


def test_a_chunk_names_its_document() -> None:
    """Ids of chunks lead back to the document, whatever its own id looks like."""
    assert document_of("a#b#3") == "a#b"
    assert document_of("a#b") == "a#b"


def test_a_corpus_is_imported_and_searched(library: CorpusLibrary, source: Path) -> None:
    """Documents are cut, indexed with their titles, and found, best first."""
    done = library.add("animals", source)
    assert done.built
    assert (done.manifest.documents, done.manifest.chunks) == (4, 4)
    corpus = library.open("animals")
    assert [passage.id for passage in corpus.find("warm bread", 5)] == ["d2#1"]
    assert {passage.id for passage in corpus.find("hunting lions dusk", 5)} == {"d1#1", "d1#2"}
    assert corpus.find("bread", 1)[0].title == "Bread"
    assert corpus.find("unheard-of", 5) == ()
    assert corpus.find("bread", 0) == ()
    assert [manifest.name for manifest in library.list()] == ["animals"]


def test_a_corpus_is_rebuilt_only_when_something_changed(library: CorpusLibrary, source: Path) -> None:
    """The same documents are left as they are; other documents, chunks or analysers are built anew."""
    assert library.add("a", source).built
    assert not library.add("a", source).built
    assert library.add("a", source, Chunking(words=64, overlap=8)).built
    source.write_text(json.dumps({"id": "n", "text": "Something new."}), encoding="utf-8")
    open_before = library.open("a")
    assert library.add("a", source).built
    assert [passage.id for passage in library.open("a").find("new", 3)] == ["n#1"]
    assert open_before.find("bread", 1)[0].id == "d2#1"
    assert [path.name for path in (source.parent / "corpora").iterdir()] == ["a"]


def test_another_analyser_needs_a_new_import(library: CorpusLibrary, source: Path, tmp_path: Path) -> None:
    """Terms cut in another way would find nothing, so the corpus is refused instead."""
    library.add("a", source)
    other = CorpusLibrary(tmp_path / "corpora", Analyser("plain-2", terms))
    with pytest.raises(StoreError, match="plain-1"):
        other.open("a")
    assert other.add("a", source).built


def test_a_folder_of_texts_is_a_corpus(library: CorpusLibrary, tmp_path: Path) -> None:
    """Text files anywhere in the folder are documents named by their path; other files are not."""
    folder = tmp_path / "texts"
    (folder / "deep").mkdir(parents=True)
    (folder / "one.txt").write_text("Bread rises.", encoding="utf-8")
    (folder / "deep" / "two.md").write_text("Lions hunt.", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    assert library.add("texts", folder).manifest.documents == 2
    assert library.open("texts").find("lions", 1)[0].id == "deep/two.md#1"


def test_a_gzipped_corpus_is_read(library: CorpusLibrary, source: Path, tmp_path: Path) -> None:
    """JSONL may be compressed."""
    packed = tmp_path / "documents.jsonl.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    assert library.add("packed", packed).manifest.chunks == 4


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
def test_a_faulty_file_changes_nothing(library: CorpusLibrary, source: Path, lines: list[str]) -> None:
    """Problems are listed with their lines, and the corpus of that name stays as it was."""
    library.add("a", source)
    source.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InvalidFileError) as caught:
        library.add("a", source)
    assert [problem.line for problem in caught.value.problems] == [2]
    assert library.open("a").find("bread", 1)
    assert [path.name for path in (source.parent / "corpora").iterdir()] == ["a"]


@pytest.mark.parametrize("content", ["", '{"id": "a", "text": " "}\n'])
def test_an_empty_corpus_is_refused(library: CorpusLibrary, tmp_path: Path, content: str) -> None:
    """Without a word there is nothing to search."""
    path = tmp_path / "empty.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError):
        library.add("e", path)
    with pytest.raises(FileFormatError):
        library.add("e", tmp_path / "missing.jsonl")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileFormatError, match="holds no documents"):
        library.add("e", tmp_path / "folder")
    assert library.list() == ()


def test_an_unknown_corpus_is_refused_with_the_known_ones(library: CorpusLibrary, source: Path) -> None:
    """A misspelt name is answered with the names there are; a path is no name."""
    library.add("animals", source)
    with pytest.raises(NotFoundError, match="animals"):
        library.open("animal")
    with pytest.raises(RecordError):
        library.open("../corpora/animals")


@pytest.mark.parametrize("name", ["chunks.jsonl", "offsets.npy", "manifest.json", "bm25/data.csc.index.npy"])
def test_a_damaged_corpus_says_so(library: CorpusLibrary, source: Path, tmp_path: Path, name: str) -> None:
    """A file that was cut off is an error with advice, and importing again mends it."""
    library.add("a", source)
    path = tmp_path / "corpora" / "a" / name
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(StoreError):
        library.open("a")


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=30).filter(any),
    st.lists(st.sampled_from("abcdefghz"), min_size=1, max_size=4),
)
def test_scores_are_those_of_bm25s(
    tmp_path_factory: pytest.TempPathFactory, bags: list[list[str]], query: list[str]
) -> None:
    """The index built through files scores as bm25s's own does in memory, in blocks of any size."""
    folder = tmp_path_factory.mktemp("postings")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "BLOCK", 7)
        patch.setattr(term_numbers, "MOST_WORDS", 3)
        with postings.Postings(folder) as own:
            for bag in bags:
                own.add(CutWords.of([bag]))
            filled = own.fill()
    known = [own.vocabulary[term] for term in query if term in own.vocabulary]
    plain = bm25s.BM25()
    plain.index(bags, show_progress=False, create_empty_token=False)
    theirs = plain.get_scores([term for term in query if term in own.vocabulary]) if known else 0
    mine = np.zeros(len(bags))
    for term in known:
        held = slice(int(filled["indptr"][term]), int(filled["indptr"][term + 1]))
        mine[np.asarray(filled["indices"][held], dtype=np.intp)] += np.asarray(
            filled["data"][held], dtype=np.float64
        )
    assert np.allclose(mine, theirs, rtol=1e-4, atol=1e-6)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), max_size=20), st.integers(1, 25))
def test_the_best_are_chosen_in_order(scores: list[float], k: int) -> None:
    """The k highest above 0, ties in their own order, as a full stable sort has them."""
    array = np.array(scores, dtype=np.float32)
    expected = [place for place in np.argsort(-array, kind="stable") if array[place] > 0][:k]
    assert best_places(array, k).tolist() == expected


def letters(texts: Sequence[str]) -> Vectors:
    """Texts as how often they have each of a few letters, one row a text."""
    return np.array([[text.lower().count(letter) for letter in "abdhilnorsu"] for text in texts], np.float32)


def embed(corpus: Corpus, folder: Path) -> VectorsAbout:
    """Write the vectors of a corpus."""
    about = VectorsAbout.of(corpus.manifest, model="letters", endpoint="", fingerprint="f")
    with VectorWriter(folder, about) as writer:
        for place in range(len(corpus)):
            writer.add(letters([corpus.chunk(place).text]))
        return writer.finish()


def test_a_corpus_can_be_searched_by_vectors(library: CorpusLibrary, source: Path) -> None:
    """All chunks are found, the most similar first; vectors remember what they were made from."""
    library.add("a", source)
    corpus, folder = library.open("a"), library.folder_of("a")
    assert embed(corpus, folder).dimensions == 11
    index = VectorIndex(corpus, folder)
    (query,) = letters(["lions hunt dusk"])
    assert index.search(query, 2)[0][0].id.startswith("d1")
    assert len(index.search(query, 10)) == 4
    assert index.search(query, 0) == ()
    with pytest.raises(StoreError, match="dimensions"):
        index.search(query[:3], 2)


def test_vectors_can_be_searched_approximately(library: CorpusLibrary, tmp_path: Path) -> None:
    """The graph finds what exact search finds, with the same scores, and its recall is measured and kept."""
    pytest.importorskip("usearch", reason="NO USEARCH: approximate search is not tested")
    rows = [
        {"id": f"d{number}", "text": f"{'ab' * (number % 17)} {'dhil'[: number % 5]} {number}"}
        for number in range(300)
    ]
    source = tmp_path / "many.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    library.add("a", source)
    corpus, folder = library.open("a"), library.folder_of("a")
    with pytest.raises(StoreError, match="has no vectors"):
        VectorIndex(corpus, folder, approximate=True)
    with VectorWriter(
        folder, VectorsAbout.of(corpus.manifest, model="m", endpoint="", fingerprint="")
    ) as writer:
        writer.add(np.random.default_rng(3).normal(size=(300, 16)).astype(np.float32))
        writer.finish()
    with pytest.raises(StoreError, match="no approximate index"):
        VectorIndex(corpus, folder, approximate=True)
    exact = VectorIndex(corpus, folder)
    about = exact.build_graph(folder)
    assert (about.k, about.queries, about.chunks) == (10, 300, 300)
    assert 0.95 < about.recall <= 1
    assert library.graph("a") == about
    near = VectorIndex(corpus, folder, approximate=True)
    query = np.random.default_rng(4).normal(size=16).astype(np.float32)
    assert len({*near.search(query, 10)} & {*exact.search(query, 10)}) >= 8
    assert len(near.search(query, 1000)) == 300
    (folder / "dense" / "graph.usearch").write_bytes(b"x" * 100)
    with pytest.raises(StoreError, match="cannot be read"):
        VectorIndex(corpus, folder, approximate=True)


def test_the_library_of_graphs_can_be_loaded_beside_that_of_models() -> None:
    """Approximate search and an NLI model work in one process, whichever is loaded first."""
    pytest.importorskip("usearch", reason="NO USEARCH: approximate search is not tested")
    pytest.importorskip("onnxruntime", reason="NO ONNXRUNTIME: NLI models are not tested")
    for names in ("usearch.index, onnxruntime", "onnxruntime, usearch.index"):
        subprocess.run([sys.executable, "-c", f"import {names}"], check=True)


def test_recall_counts_what_the_graph_misses() -> None:
    """A graph that returns the first chunks whatever is asked has the recall of chance, not 1."""

    class Blind(Graph):
        """Finds the first chunks."""

        def __init__(self) -> None: ...

        def near(self, query: NDArray[np.float32], k: int) -> NDArray[np.intp]:
            """Find."""
            return np.arange(k) + 0 * len(query)

    vectors = np.random.default_rng(5).normal(size=(400, 8)).astype(np.float16)
    about = measured(Blind(), vectors)
    assert 0 < about.recall < 0.1


def test_vectors_go_with_the_content_that_they_were_made_from(
    library: CorpusLibrary, source: Path, tmp_path: Path
) -> None:
    """A corpus with other documents has no vectors until it is embedded again; damaged ones are refused."""
    library.add("a", source)
    with pytest.raises(StoreError, match="has no vectors"):
        VectorIndex(library.open("a"), library.folder_of("a"))
    embed(library.open("a"), library.folder_of("a"))
    kept = tmp_path / "dense"
    shutil.copytree(library.folder_of("a") / "dense", kept)
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(DOCUMENTS[1]))
    library.add("a", other)
    with pytest.raises(StoreError, match="has no vectors"):
        VectorIndex(library.open("a"), library.folder_of("a"))
    shutil.copytree(kept, library.folder_of("a") / "dense")
    with pytest.raises(StoreError, match="another content"):
        VectorIndex(library.open("a"), library.folder_of("a"))
    embed(library.open("a"), library.folder_of("a"))
    (library.folder_of("a") / "dense" / "vectors.bin").write_bytes(b"123")
    with pytest.raises(StoreError, match="cannot be read"):
        VectorIndex(library.open("a"), library.folder_of("a"))


def test_incomplete_vectors_are_not_put_in_place(library: CorpusLibrary, source: Path) -> None:
    """Vectors of some chunks leave the older ones as they are, and no rest behind."""
    library.add("a", source)
    corpus, folder = library.open("a"), library.folder_of("a")
    made = embed(corpus, folder)
    about = VectorsAbout.of(corpus.manifest, model="other", endpoint="", fingerprint="")
    with VectorWriter(folder, about) as writer:
        writer.add(letters(["x"]))
        with pytest.raises(StoreError, match="1 vectors for 4 chunks"):
            writer.finish()
    assert read_about(folder) == made
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
