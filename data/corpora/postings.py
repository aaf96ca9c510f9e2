"""Build BM25 scores for more chunks than fit into memory as lists of words.

bm25s scores eagerly: each pair of a term and a chunk that has it gets its score when the index is built. Its
own builder holds all words in memory; here they pass through a file once, and the scores are filled in block
by block in files, in the format that bm25s saves and maps. The scores are those of bm25s's default, Lucene's
BM25.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

K1 = 1.5
B = 0.75
BLOCK = 1_000_000
PAIR = np.dtype([("term", "<u4"), ("count", "<u4")])
DATA, INDICES = "scores.bin", "chunks.bin"


class Vocabulary(dict[str, int]):
    """Numbers terms as they are first asked for."""

    def __missing__(self, term: str) -> int:
        number = len(self)
        self[term] = number
        return number


class Postings:
    """Takes the terms of one chunk after another, then fills in the scores. Use it as a context manager.

    Args:
        folder: Where the working files are kept.
    """

    def __init__(self, folder: Path) -> None:
        self.vocabulary = Vocabulary()
        self._lengths = array("I")
        self._distinct = array("I")
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

    def add(self, terms: Iterable[str]) -> None:
        """Take the terms of the next chunk, repeats included."""
        counts = Counter(terms)
        pairs = np.empty(len(counts), dtype=PAIR)
        pairs["term"] = [self.vocabulary[term] for term in counts]
        pairs["count"] = list(counts.values())
        self._file.write(pairs.tobytes())
        self._lengths.append(counts.total())
        self._distinct.append(len(counts))

    def fill(self) -> Mapping[str, NDArray[np.generic]]:
        """Compute the scores as a sparse matrix by columns (terms).

        Returns:
            `data` (scores), `indices` (chunks) and `indptr`, the first two mapped from files. There must be
            at least one term.
        """
        self._file.close()
        frequencies = np.zeros(len(self.vocabulary), dtype=np.int64)
        for _, terms, _ in self._blocks():
            frequencies += np.bincount(terms, minlength=len(frequencies))
        starts = np.concatenate([[0], np.cumsum(frequencies)])
        total = int(starts[-1])
        data = np.memmap(self._folder / DATA, dtype=np.float32, mode="w+", shape=(total,))
        indices = np.memmap(self._folder / INDICES, dtype=np.int32, mode="w+", shape=(total,))
        idf = np.log(1 + (self.chunks - frequencies + 0.5) / (frequencies + 0.5))
        lengths = np.frombuffer(self._lengths, dtype=np.uint32).astype(np.float64)
        penalty = K1 * (1 - B + B * lengths / lengths.mean())
        filled = starts[:-1].copy()
        for chunk, term, count in self._blocks():
            own, first, size = np.unique(term, return_index=True, return_counts=True)
            place = np.repeat(filled[own] - first, size) + np.arange(len(term))
            data[place] = idf[term] * count / (penalty[chunk] + count)
            indices[place] = chunk
            filled[own] += size
        self._path.unlink()
        return {"data": data, "indices": indices, "indptr": starts}

    def _blocks(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]]:
        """Chunks, terms and counts of the pairs by term, so many at a time, whole chunks together."""
        ends = np.cumsum(np.frombuffer(self._distinct, dtype=np.uint32).astype(np.int64))
        if not len(ends) or not ends[-1]:
            return
        done, first = 0, 0
        while done < len(ends):
            last = max(done + 1, int(np.searchsorted(ends, first + BLOCK, side="right")))
            end = int(ends[last - 1])
            own = np.fromfile(self._path, dtype=PAIR, count=end - first, offset=first * PAIR.itemsize)
            sizes = np.diff(ends[done:last], prepend=first)
            chunk = np.repeat(np.arange(done, last), sizes)
            order = np.argsort(own["term"], kind="stable")
            yield chunk[order], own["term"][order].astype(np.intp), own["count"][order].astype(np.float64)
            done, first = last, end
