"""Documents cut into chunks and words, some at a time, by whichever process has time for them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.corpora.chunking import Chunking, chunk_id
from data.corpora.terms import Analyser, Vocabulary
from data.records import Passage

CHARACTERS = 1_000_000
"""Of documents that are cut at once, at least."""


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class CutWords:
    """The words of some chunks.

    Attributes:
        distinct: Each word once, as it is first met.
        place: (N,) which of those stands at each place.
        lengths: (C,) how many words each chunk has.
    """

    distinct: tuple[str, ...]
    place: NDArray[np.uint32]
    lengths: NDArray[np.uint32]

    @classmethod
    def of(cls, chunks: Iterable[Iterable[str]]) -> CutWords:
        """Number the words of chunks."""
        numbers, place, lengths = Vocabulary(), list[int](), list[int]()
        for words in chunks:
            before = len(place)
            place.extend(map(numbers.__getitem__, words))
            lengths.append(len(place) - before)
        return cls(
            distinct=tuple(numbers),
            place=np.array(place, dtype=np.uint32),
            lengths=np.array(lengths, dtype=np.uint32),
        )


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class Cut:
    """Some documents as chunks: their lines of JSON, how many bytes each has, and their words."""

    documents: int
    lines: bytes
    sizes: NDArray[np.uint64]
    words: CutWords


def batches(documents: Iterable[Passage]) -> Iterator[tuple[list[Passage]]]:
    """Documents in batches, each the one argument of a task."""
    batch: list[Passage] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if characters >= CHARACTERS:
            yield (batch,)
            batch, characters = [], 0
    if batch:
        yield (batch,)


def cut_documents(chunking: Chunking, analyser: Analyser, documents: Sequence[Passage]) -> Cut:
    """Cut documents into chunks, and those into words."""
    lines: list[bytes] = []
    texts: list[str] = []
    for document in documents:
        for number, text in enumerate(chunking.cut(document.text), start=1):
            row = [chunk_id(document.id, number), document.title, text]
            lines.append(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            texts.append(f"{document.title} {text}")
    return Cut(
        documents=len(documents),
        lines=b"".join(lines),
        sizes=np.fromiter(map(len, lines), dtype=np.uint64, count=len(lines)),
        words=CutWords.of(map(analyser.words, texts)),
    )
