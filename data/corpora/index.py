"""A corpus on disk: its chunks, a BM25 index over them, and what both were made from."""

from __future__ import annotations

import json
import mmap
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import bm25s
import numpy as np
from numpy.typing import NDArray

from data.corpora.chunking import Chunking, chunk_id
from data.corpora.postings import DATA, INDICES, K1, B, Postings
from data.errors import FileFormatError, StoreError
from data.records import Passage

FORMAT = 1
MANIFEST = "manifest.json"
CHUNKS = "chunks.jsonl"
OFFSETS = "offsets.npy"
BM25 = "bm25"
AGAIN = "Import the corpus again."


@dataclass(frozen=True, slots=True)
class Analyser:
    """How texts are cut into terms, and a name that changes whenever that does."""

    name: str
    terms: Callable[[str], Iterable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a corpus was made from; a corpus with another one has to be built anew.

    Attributes:
        name: The corpus.
        content_hash: sha256 of the documents.
        analyser: Name of the analyser.
        words: Words of a chunk at most.
        overlap: Words that neighbouring chunks share.
        documents: How many documents it has.
        chunks: How many chunks.
        format: Of the files.
    """

    name: str
    content_hash: str
    analyser: str
    words: int
    overlap: int
    documents: int = 0
    chunks: int = 0
    format: int = FORMAT

    def same_making(self, other: Manifest) -> bool:
        """Whether two corpora were made alike from the same documents."""
        return _making(self) == _making(other)


def _making(manifest: Manifest) -> tuple[object, ...]:
    return (manifest.content_hash, manifest.analyser, manifest.words, manifest.overlap, manifest.format)


def build_corpus(
    folder: Path, documents: Iterable[Passage], manifest: Manifest, analyser: Analyser
) -> Manifest:
    """Write the files of a corpus into an empty folder; memory is bounded by the vocabulary.

    Returns:
        The manifest with its counts.

    Raises:
        FileFormatError: No document has any words.
    """
    with Postings(folder) as postings:
        offsets, count = _write_chunks(folder / CHUNKS, documents, manifest, analyser, postings)
        if not postings.vocabulary:
            message = f"The corpus {manifest.name} has no words in its {count} documents."
            raise FileFormatError(message, advice="Bring documents with text.", code="empty-file")
        np.save(folder / OFFSETS, np.frombuffer(offsets, dtype=np.uint64))
        _save_index(folder, postings)
    made = Manifest(**{**asdict(manifest), "documents": count, "chunks": postings.chunks})
    (folder / MANIFEST).write_text(json.dumps(asdict(made), indent=1), encoding="utf-8")
    return made


def _write_chunks(
    path: Path, documents: Iterable[Passage], manifest: Manifest, analyser: Analyser, postings: Postings
) -> tuple[array[int], int]:
    """Write the chunks, one JSON line each; return where each begins and the number of documents."""
    chunking = Chunking(words=manifest.words, overlap=manifest.overlap)
    offsets = array("Q", [0])
    count = 0
    with path.open("wb") as file:
        for document in documents:
            count += 1
            for number, text in enumerate(chunking.cut(document.text), start=1):
                row = [chunk_id(document.id, number), document.title, text]
                line = json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
                file.write(line)
                offsets.append(offsets[-1] + len(line))
                postings.add(analyser.terms(f"{document.title} {text}"))
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
        whole = len(self._offsets) == self.manifest.chunks + 1 and int(self._offsets[-1]) == len(self._chunks)
        if not whole or self._index.scores["num_docs"] != self.manifest.chunks:
            raise StoreError(f"The files of the corpus {self.manifest.name} are incomplete.", advice=AGAIN)

    def __len__(self) -> int:
        return self.manifest.chunks

    def chunk(self, place: int) -> Passage:
        """One chunk by its place."""
        start, end = int(self._offsets[place]), int(self._offsets[place + 1])
        name, title, text = json.loads(self._chunks[start:end])
        return Passage(name, text, title)

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return at most `k` chunks that share a term with a query, best first, ties in their own order."""
        return tuple(self.chunk(place) for place, _ in self.search(query, k))

    def search(self, query: str, k: int) -> Sequence[tuple[int, float]]:
        """Return the places and scores of what `find` finds."""
        known = self._index.vocab_dict
        wanted = [known[term] for term in self._analyser.terms(query) if term in known]
        if not wanted or k < 1:
            return ()
        scores: NDArray[np.float32] = self._index.get_scores_from_ids(wanted)
        return [(int(place), float(scores[place])) for place in best_places(scores, k)]


def best_places(scores: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    """The places of the k highest scores above 0, best first, ties in their own order."""
    least = np.partition(scores, -k)[-k] if k < len(scores) else np.float32(0)
    found = np.flatnonzero((scores >= least) & (scores > 0))
    best: NDArray[np.intp] = found[np.argsort(-scores[found], kind="stable")][:k]
    return best


def read_manifest(folder: Path) -> Manifest:
    """Read what a corpus was made from.

    Raises:
        StoreError: There is no corpus in the folder, or its manifest is damaged.
    """
    try:
        return Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        message = f"There is no readable corpus in {folder.name}: {error}."
        raise StoreError(message, advice=AGAIN) from error
