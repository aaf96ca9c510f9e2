"""Vectors of a corpus's chunks on disk, and search in them.

The vectors are a mapped file of half-precision rows of unit length; the search is a matrix product, which is
exact, or goes by a graph of neighbours. They stand beside the BM25 index, in a folder that goes with the
corpus when its content changes.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

from data.corpora.approximate import Graph, build_graph
from data.corpora.index import Corpus, best_places
from data.corpora.manifests import VECTORS_ABOUT, VECTORS_FOLDER, GraphAbout, VectorsAbout, read_about
from data.errors import StoreError
from data.records import Passage

BUILDING = ".dense-"
VECTORS = "vectors.bin"
ROWS = 65_536
EMBED = "Embed it with `arena corpora import --name NAME --embeddings MODEL`."
Vectors = NDArray[np.float32]


class VectorWriter:
    """Writes vectors row by row and puts them in place when all are there. Use it as a context manager.

    Args:
        corpus_folder: The corpus's own.
        about: What is written.
    """

    def __init__(self, corpus_folder: Path, about: VectorsAbout) -> None:
        self._target = corpus_folder / VECTORS_FOLDER
        self._about = about
        self._place = Path(mkdtemp(prefix=BUILDING, dir=corpus_folder))
        self._file: IO[bytes] = (self._place / VECTORS).open("wb")
        self._rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        shutil.rmtree(self._place, ignore_errors=True)

    def add(self, vectors: Vectors) -> None:
        """Write the rows of the next chunks, scaled to unit length; a row of zeros stays one.

        Raises:
            StoreError: They have other dimensions than the rows before.
        """
        width = vectors.shape[1]
        if self._rows and width != self._about.dimensions:
            message = f"The model {self._about.model} gave vectors of {self._about.dimensions} and {width}."
            raise StoreError(message, advice="Use a model whose vectors all have the same length.")
        self._about = replace(self._about, dimensions=width)
        self._file.write(unit_rows(vectors).astype(np.float16).tobytes())
        self._rows += len(vectors)

    def finish(self) -> VectorsAbout:
        """Put the vectors in the place of older ones.

        Raises:
            StoreError: Rows are missing.
        """
        if self._rows != self._about.chunks or not self._about.dimensions:
            raise StoreError(f"There are {self._rows} vectors for {self._about.chunks} chunks.", advice=EMBED)
        self._file.close()
        text = json.dumps(asdict(self._about))
        (self._place / VECTORS_ABOUT).write_text(text, encoding="utf-8")
        shutil.rmtree(self._target, ignore_errors=True)
        self._place.replace(self._target)
        return self._about


class VectorIndex:
    """Finds chunks of a corpus by the similarity of vectors.

    Args:
        corpus: Gives the chunks.
        corpus_folder: Keeps the vectors.
        approximate: Whether the graph of neighbours is asked; by default the search is exact.

    Raises:
        SpecError: The extra for graphs is not installed.
        StoreError: There are no vectors or no graph, they are of another content, or they cannot be read.
    """

    def __init__(self, corpus: Corpus, corpus_folder: Path, *, approximate: bool = False) -> None:
        about = read_about(corpus_folder)
        name = corpus.manifest.name
        if about is None:
            raise StoreError(f"The corpus {name} has no vectors.", advice=EMBED)
        of_corpus = VectorsAbout.of(corpus.manifest, model="", endpoint="", fingerprint="")
        if not about.same_texts(of_corpus):
            raise StoreError(f"The vectors of the corpus {name} are of another content.", advice=EMBED)
        self.about = about
        self._corpus = corpus
        try:
            flat = np.memmap(corpus_folder / VECTORS_FOLDER / VECTORS, dtype=np.float16, mode="r")
            self._vectors = flat.reshape(about.chunks, about.dimensions)
        except (OSError, ValueError) as error:
            message = f"The vectors of the corpus {name} cannot be read: {error}."
            raise StoreError(message, advice=EMBED) from error
        self._graph = Graph.open(corpus_folder / VECTORS_FOLDER, about.chunks) if approximate else None

    def build_graph(self, corpus_folder: Path) -> GraphAbout:
        """Build the graph of neighbours; errors as of `approximate.build_graph`."""
        return build_graph(corpus_folder / VECTORS_FOLDER, self._vectors)

    def search(self, vector: Vectors, k: int) -> tuple[tuple[Passage, float], ...]:
        """Return the `k` most similar chunks with their cosine similarities, best first, ties in order.

        Raises:
            StoreError: The vector has other dimensions than the chunks'.
        """
        if len(vector) != self.about.dimensions:
            message = (
                f"The query's vector has {len(vector)} dimensions, the corpus's {self.about.dimensions}."
            )
            raise StoreError(message, advice=EMBED)
        if k < 1:
            return ()
        query = vector.astype(np.float32)
        # A graph does not lead to every chunk, so all of them are compared where all are asked for.
        if self._graph is not None and k < len(self._vectors):
            near = np.sort(self._graph.near(query, k))
            found = np.asarray(self._vectors[near], dtype=np.float32) @ query
            order = np.argsort(-found, kind="stable")
            return tuple((self._corpus.chunk(int(near[at])), float(found[at])) for at in order)
        pieces = [
            np.asarray(self._vectors[first : first + ROWS], dtype=np.float32) @ query
            for first in range(0, len(self._vectors), ROWS)
        ]
        scores = np.concatenate(pieces)
        # Similarities may be negative, and the selection keeps what is above 0.
        shifted = scores - scores.min() + np.float32(1)
        places = best_places(shifted, k)
        return tuple((self._corpus.chunk(int(place)), float(scores[place])) for place in places)


def unit_rows(vectors: Vectors) -> Vectors:
    """Rows of length 1, so that their inner product is the cosine; rows of zeros stay as they are."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return scaled
