"""Approximate search in the vectors of a corpus: a graph of neighbours (HNSW), with its recall measured.

Needs the extra `ann` (usearch, Apache-2.0). The graph stands beside the vectors and goes with them.

Source: Malkov & Yashunin (2018), "Efficient and robust approximate nearest neighbor search using
hierarchical navigable small world graphs".
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from data.corpora.manifests import GRAPH_ABOUT, GraphAbout, read_graph_about
from data.errors import SpecError, StoreError
from data.progress import working

if TYPE_CHECKING:
    from usearch.index import Index

GRAPH = "graph.usearch"
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 32, 128, 128
ADDED_AT_ONCE = 16_384
QUERIES = 500
K = 10
EXTRA = "Install it: `pip install answer-arena[ann]`."
BUILD = "Build it with `arena corpora import --name NAME --embeddings MODEL --approximate`."
HalfVectors = NDArray[np.float16]


def build_graph(folder: Path, vectors: HalfVectors) -> GraphAbout:
    """Build the graph of vectors into their folder, and measure it against exact search.

    Args:
        folder: Of the vectors.
        vectors: One row of unit length a chunk, or of zeros.

    Raises:
        SpecError: The extra is not installed.
        StoreError: The graph cannot be written.
    """
    index = _library().Index(
        ndim=vectors.shape[1],
        metric="ip",
        dtype="f16",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )
    with working("linking vectors", len(vectors)) as work:
        for first in range(0, len(vectors), ADDED_AT_ONCE):
            rows = np.asarray(vectors[first : first + ADDED_AT_ONCE])
            index.add(np.arange(first, first + len(rows)), rows)
            work.done = first + len(rows)
    about = measured(Graph(index), vectors)
    (folder / GRAPH_ABOUT).unlink(missing_ok=True)
    try:
        index.save(folder / GRAPH)
    except (OSError, ValueError, RuntimeError) as error:
        message = f"The approximate index cannot be written: {error}."
        raise StoreError(message, advice="Free some space and run it again.") from error
    (folder / GRAPH_ABOUT).write_text(json.dumps(asdict(about)), encoding="utf-8")
    return about


class Graph:
    """Finds the neighbours of vectors."""

    def __init__(self, index: Index) -> None:
        self._index = index

    @classmethod
    def open(cls, folder: Path, chunks: int) -> Graph:
        """Open the graph in a folder of vectors; it is mapped, not read.

        Raises:
            SpecError: The extra is not installed.
            StoreError: There is no graph, it cannot be read, or it is of other vectors.
        """
        about = read_graph_about(folder)
        if about is None or about.chunks != chunks:
            raise StoreError("The corpus has no approximate index of its vectors.", advice=BUILD)
        library = _library()
        try:
            index = library.Index.restore(folder / GRAPH, view=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise StoreError(f"The approximate index cannot be read: {error}.", advice=BUILD) from error
        if index is None or len(index) != chunks:
            raise StoreError("The approximate index is missing or incomplete.", advice=BUILD)
        return cls(index)

    def near(self, query: NDArray[np.float32], k: int) -> NDArray[np.intp]:
        """The places of about the `k` most similar vectors, in no order that counts."""
        found = self._index.search(query.astype(np.float16), k)
        return np.asarray(found.keys, dtype=np.intp)


def measured(graph: Graph, vectors: HalfVectors) -> GraphAbout:
    """Measure a graph against exact search, over chunks drawn by a fixed seed in the place of queries."""
    own = np.sort(np.random.default_rng(0).permutation(len(vectors))[:QUERIES])
    queries = np.asarray(vectors[own], dtype=np.float32)
    k = min(K, len(vectors) - 1)
    if k < 1:
        return GraphAbout(recall=1.0, k=len(vectors), queries=0, chunks=len(vectors))
    best_scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
    for first in range(0, len(vectors), ADDED_AT_ONCE):
        part = np.asarray(vectors[first : first + ADDED_AT_ONCE], dtype=np.float32)
        scores = queries @ part.T
        mine = (own >= first) & (own < first + len(part))
        scores[np.flatnonzero(mine), own[mine] - first] = -np.inf
        together = np.concatenate([best_scores, scores], axis=1)
        best_scores = np.partition(together, -k, axis=1)[:, -k:]
    hits = [
        _found(vectors, graph.near(query, k + 1), place, query, float(least))
        for query, place, least in zip(queries, own, best_scores.min(axis=1), strict=True)
    ]
    return GraphAbout(
        recall=float(np.minimum(hits, k).mean() / k), k=k, queries=len(queries), chunks=len(vectors)
    )


def _found(
    vectors: HalfVectors,
    places: NDArray[np.intp],
    own: int,
    query: NDArray[np.float32],
    least: float,
) -> int:
    """How many of some places are as near as the k-th nearest, so that equally near ones count alike."""
    others = places[places != own]
    scores = np.asarray(vectors[others], dtype=np.float32) @ query
    return int((scores >= least - np.float32(1e-6)).sum())


def _library() -> Any:  # noqa: ANN401 - a module of an extra
    try:
        from usearch import index  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise SpecError(
            "Approximate search needs the library usearch, which is not installed.", advice=EXTRA
        ) from error
    return index
