"""Dense retrieval over a corpus, with whatever embeds texts: an optional extra.

The vectors are a mapped file; the search is a matrix product, which at some hundred thousand chunks is
faster than an approximate index and exact.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from data.corpora.index import AGAIN, Corpus, best_places
from data.errors import StoreError
from data.records import Passage

VECTORS = "vectors.bin"
ABOUT = "vectors.json"
AT_ONCE = 256
ROWS = 65_536
Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors whose inner product is their similarity."""

    @property
    def name(self) -> str:
        """Names the model and its settings; vectors of another name are built anew."""
        ...

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: one row each."""
        ...

    def query(self, text: str) -> Vectors:
        """Embed a query: one vector."""
        ...


class DenseCorpus:
    """Finds chunks of a corpus by the similarity of vectors.

    Args:
        corpus: Gives the chunks.
        folder: Keeps the vectors; they are computed when they are missing or of another corpus or model.
        embedder: Embeds.

    Raises:
        StoreError: The vectors cannot be read.
    """

    def __init__(self, corpus: Corpus, folder: Path, embedder: Embedder) -> None:
        self._corpus = corpus
        self._embedder = embedder
        manifest = corpus.manifest
        about = [embedder.name, manifest.content_hash, manifest.words, manifest.overlap, manifest.chunks]
        if not _same(folder / ABOUT, about):
            _embed_all(corpus, folder, embedder)
            (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        try:
            flat = np.memmap(folder / VECTORS, dtype=np.float16, mode="r")
            self._vectors = flat.reshape(manifest.chunks, -1)
        except (OSError, ValueError) as error:
            message = f"The vectors of the corpus {manifest.name} cannot be read: {error}."
            raise StoreError(message, advice=AGAIN) from error

    def find(self, query: str, k: int) -> tuple[Passage, ...]:
        """Return the `k` most similar chunks, best first."""
        if k < 1:
            return ()
        wanted = self._embedder.query(query).astype(np.float32)
        pieces = [
            np.asarray(self._vectors[first : first + ROWS], dtype=np.float32) @ wanted
            for first in range(0, len(self._vectors), ROWS)
        ]
        scores = np.concatenate(pieces)
        # Similarities may be negative, and the selection keeps what is above 0.
        shifted = scores - scores.min() + np.float32(1)
        return tuple(self._corpus.chunk(int(place)) for place in best_places(shifted, k))


def _same(path: Path, about: Sequence[object]) -> bool:
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")) == list(about))
    except (OSError, ValueError):
        return False


def _embed_all(corpus: Corpus, folder: Path, embedder: Embedder) -> None:
    """Embed all chunks into a mapped file of half-precision rows."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ABOUT).unlink(missing_ok=True)
    rows: np.memmap[tuple[int, ...], np.dtype[np.float16]] | None = None
    for first in range(0, len(corpus), AT_ONCE):
        places = range(first, min(first + AT_ONCE, len(corpus)))
        chunks = [corpus.chunk(place) for place in places]
        vectors = embedder.passages([f"{chunk.title}\n{chunk.text}".strip() for chunk in chunks])
        if rows is None:
            shape = (len(corpus), vectors.shape[1])
            rows = np.memmap(folder / VECTORS, dtype=np.float16, mode="w+", shape=shape)
        rows[first : first + len(chunks)] = vectors
