"""A corpus on disk: its chunks, a BM25 index over them, and what both were made from."""

from __future__ import annotations

import json
import mmap
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import IO, Self

import bm25s
import numpy as np
from numpy.typing import NDArray

from data.corpora.chunking import Chunking, CutWords, batches, cut_documents, document_of
from data.corpora.manifests import AGAIN, MANIFEST, Manifest, read_manifest
from data.corpora.terms import Analyser, TermNumbers, Vocabulary, itself
from data.errors import FileFormatError, StoreError
from data.parallel import parallel_map
from data.progress import counted, working
from data.records import Passage

K1 = 1.5
B = 0.75
BLOCK = 1_000_000
PAIR = np.dtype([("term", "<u4"), ("chunk", "<u4"), ("count", "<u4")])
DATA, INDICES = "scores.bin", "chunks.bin"


class Postings:
    """Takes the words of chunks in their order, then fills in the scores. Use it as a context manager.

    Args:
        folder: Where the working files are kept.
        of_word: The terms that a word stands for.
    """

    def __init__(self, folder: Path, of_word: Callable[[str], Sequence[str]] = itself) -> None:
        self.vocabulary = Vocabulary()
        self._numbers = TermNumbers(self.vocabulary, of_word)
        self._lengths = array("I")
        self._waiting: list[NDArray[np.int64]] = []
        self._first = 0
        self._frequencies: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._blocks = array("Q")
        self._path = folder / "pairs.bin"
        self._folder = folder
        self._file: IO[bytes] = self._path.open("wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def chunks(self) -> int:
        """How many chunks were taken."""
        return len(self._lengths)

    def add(self, words: CutWords) -> None:
        """Take the words of the next chunks, repeats included."""
        of_word = [self._numbers[word] for word in words.distinct]
        sizes = np.fromiter(map(len, of_word), dtype=np.int64, count=len(of_word))
        flat = np.fromiter(chain.from_iterable(of_word), dtype=np.int64, count=int(sizes.sum()))
        counts = sizes[words.place]
        ends = np.concatenate([[0], np.cumsum(counts)])
        first = (np.cumsum(sizes) - sizes)[words.place]
        terms = flat[np.repeat(first - ends[:-1], counts) + np.arange(ends[-1])]
        edges = ends[np.concatenate([[0], np.cumsum(words.lengths, dtype=np.int64)])]
        self._lengths.frombytes(np.diff(edges).astype(np.uint32).tobytes())
        self._waiting.append(terms)
        if sum(map(len, self._waiting)) >= BLOCK:
            self._count()

    def _count(self) -> None:
        """Write how often each chunk that is waiting has each of its terms, by term and chunk."""
        terms = np.concatenate([*self._waiting, np.zeros(0, dtype=np.int64)])
        lengths = np.frombuffer(self._lengths, dtype=np.uint32)[self._first :]
        chunks = np.repeat(np.arange(len(lengths)), lengths)
        keys, counts = np.unique(terms * len(lengths) + chunks, return_counts=True)
        pairs = np.empty(len(keys), dtype=PAIR)
        pairs["term"], pairs["chunk"] = np.divmod(keys, max(1, len(lengths)))
        pairs["chunk"] += self._first
        pairs["count"] = counts
        pairs.tofile(self._file)
        found = np.bincount(pairs["term"], minlength=len(self.vocabulary))
        found[: len(self._frequencies)] += self._frequencies
        self._frequencies = found
        self._blocks.append(len(pairs))
        self._first = len(self._lengths)
        self._waiting = []

    def fill(self) -> Mapping[str, NDArray[np.generic]]:
        """Compute the scores as a sparse matrix by columns (terms).

        Returns:
            `data` (scores), `indices` (chunks) and `indptr`, the first two mapped from files. There must be
            at least one term.
        """
        self._count()
        self._file.close()
        self._numbers.clear()
        starts = np.concatenate([[0], np.cumsum(self._frequencies)])
        total = int(starts[-1])
        data = np.memmap(self._folder / DATA, dtype=np.float32, mode="w+", shape=(total,))
        indices = np.memmap(self._folder / INDICES, dtype=np.int32, mode="w+", shape=(total,))
        idf = np.log(1 + (self.chunks - self._frequencies + 0.5) / (self._frequencies + 0.5))
        lengths = np.frombuffer(self._lengths, dtype=np.uint32).astype(np.float64)
        penalty = K1 * (1 - B + B * lengths / lengths.mean())
        filled = starts[:-1].copy()
        with self._path.open("rb") as file:
            for size in self._blocks:
                pairs = np.fromfile(file, dtype=PAIR, count=size)
                term, count = pairs["term"].astype(np.intp), pairs["count"].astype(np.float64)
                first = np.flatnonzero(np.diff(term, prepend=-1))
                times = np.diff(first, append=len(term))
                present = term[first]
                place = np.repeat(filled[present] - first, times) + np.arange(len(term))
                data[place] = idf[term] * count / (penalty[pairs["chunk"]] + count)
                indices[place] = pairs["chunk"]
                filled[present] += times
        self._path.unlink()
        return {"data": data, "indices": indices, "indptr": starts}


CHUNKS = "chunks.jsonl"
OFFSETS = "offsets.npy"
BM25 = "bm25"


def build_corpus(
    folder: Path, documents: Iterable[Passage], manifest: Manifest, analyser: Analyser
) -> Manifest:
    """Write the files of a corpus into an empty folder; memory is bounded by the vocabulary.

    Returns:
        The manifest with its counts.

    Raises:
        FileFormatError: No document has any words.
    """
    with Postings(folder, analyser.of_word) as postings:
        offsets, count = _write_chunks(folder / CHUNKS, documents, manifest, analyser, postings)
        if not postings.vocabulary:
            message = f"The corpus {manifest.name} has no words in its {count} documents."
            raise FileFormatError(message, advice="Give documents with text.", code="empty-file")
        np.save(folder / OFFSETS, np.frombuffer(offsets, dtype=np.uint64))
        with working("writing the index"):
            _save_index(folder, postings)
    completed = Manifest(**{**asdict(manifest), "documents": count, "chunks": postings.chunks})
    (folder / MANIFEST).write_text(json.dumps(asdict(completed), indent=1), encoding="utf-8")
    return completed


def _write_chunks(
    path: Path, documents: Iterable[Passage], manifest: Manifest, analyser: Analyser, postings: Postings
) -> tuple[array[int], int]:
    """Write the chunks, one JSON line each; return where each begins and the number of documents."""
    chunking = Chunking(words=manifest.words, overlap=manifest.overlap)
    offsets = array("Q", [0])
    count = 0
    with path.open("wb") as file:
        some = batches(counted(documents, "indexing documents"))
        for cut in parallel_map(cut_documents, some, (chunking, analyser)):
            count += cut.documents
            file.write(cut.lines)
            offsets.frombytes((np.uint64(offsets[-1]) + np.cumsum(cut.sizes, dtype=np.uint64)).tobytes())
            postings.add(cut.words)
    return offsets, count


def _save_index(folder: Path, postings: Postings) -> None:
    index = bm25s.BM25(k1=K1, b=B)
    index.scores = {**postings.fill(), "num_docs": postings.chunks}
    index.vocab_dict = postings.vocabulary
    index.nonoccurrence_array = None
    index.save(folder / BM25, show_progress=False)
    del index.scores
    for name in (DATA, INDICES):
        (folder / name).unlink()


class Corpus:
    """Finds chunks of a corpus by BM25; its files are mapped, not read into memory.

    Args:
        folder: As written by `build_corpus`.
        analyser: The one that it was built with.

    Raises:
        StoreError: Files are missing or damaged, or were made with another analyser.
    """

    def __init__(self, folder: Path, analyser: Analyser) -> None:
        self.manifest = read_manifest(folder)
        if self.manifest.analyser != analyser.name:
            message = f"The corpus {self.manifest.name} was indexed with {self.manifest.analyser!r}."
            raise StoreError(message, advice=AGAIN)
        self._analyser = analyser
        try:
            self._index = bm25s.BM25.load(folder / BM25, mmap=True, show_progress=False)
            self._offsets: NDArray[np.uint64] = np.load(folder / OFFSETS, mmap_mode="r")
            with (folder / CHUNKS).open("rb") as file:
                self._chunks = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError, KeyError) as error:
            message = f"The files of the corpus {self.manifest.name} cannot be read: {error}."
            raise StoreError(message, advice=AGAIN) from error
        complete = len(self._offsets) == self.manifest.chunks + 1 and int(self._offsets[-1]) == len(
            self._chunks
        )
        if not complete or self._index.scores["num_docs"] != self.manifest.chunks:
            raise StoreError(f"The files of the corpus {self.manifest.name} are incomplete.", advice=AGAIN)

    def __len__(self) -> int:
        return self.manifest.chunks

    def chunk(self, place: int) -> Passage:
        """One chunk by its place."""
        start, end = int(self._offsets[place]), int(self._offsets[place + 1])
        name, title, text = json.loads(self._chunks[start:end])
        return Passage(name, text, title)

    def named(self, ids: Collection[str]) -> dict[str, Passage]:
        """The chunks with these ids, and the documents, put together from their chunks without repeats.

        Ids that are neither are left out. Reads every chunk once.
        """
        wanted, chunks = set(ids), {}
        documents: dict[str, list[Passage]] = {}
        for place in range(len(self)):
            chunk = self.chunk(place)
            if chunk.id in wanted:
                chunks[chunk.id] = chunk
            if (document := document_of(chunk.id)) in wanted:
                documents.setdefault(document, []).append(chunk)
        cut = Chunking(words=self.manifest.words, overlap=self.manifest.overlap)
        whole = {
            name: Passage(name, cut.joined([part.text for part in parts]), parts[0].title)
            for name, parts in documents.items()
        }
        return {**whole, **chunks}

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` chunks that share a term with a query, best first, ties in their own order."""
        return tuple(self.chunk(place) for place, _ in self.search(query, k))

    def search(self, query: str, k: int) -> Sequence[tuple[int, float]]:
        """Return the places and scores of what `find` finds."""
        vocabulary = self._index.vocab_dict
        term_ids = [vocabulary[term] for term in self._analyser.terms(query) if term in vocabulary]
        if not term_ids or k < 1:
            return ()
        scores: NDArray[np.float32] = self._index.get_scores_from_ids(term_ids)
        return [(int(place), float(scores[place])) for place in best_places(scores, k)]


def best_places(scores: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    """The places of the k highest scores above 0, best first, ties in their own order."""
    least = np.partition(scores, -k)[-k] if k < len(scores) else np.float32(0)
    candidates = np.flatnonzero((scores >= least) & (scores > 0))
    best: NDArray[np.intp] = candidates[np.argsort(-scores[candidates], kind="stable")][:k]
    return best
