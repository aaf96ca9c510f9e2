"""Cut texts into overlapping chunks of words.

Source: ICAT, section 4.3: up to 128 words with 32 words of overlap.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from data.corpora.terms import Analyser, Vocabulary
from data.errors import RecordError
from data.files.trec_runs import run_field
from data.records import Passage

WORDS = 128
OVERLAP = 32
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")
WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
MARK = "#"
CHARACTERS = 1_000_000
"""Of documents that are cut at once, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """How texts are cut.

    Attributes:
        words: Words of a chunk at most; in scripts without spaces a character is a word.
        overlap: Words that a chunk repeats of the one before.
    """

    words: int = WORDS
    overlap: int = OVERLAP

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.words:
            message = f"Chunks of {self.words} words cannot overlap by {self.overlap}."
            raise RecordError(message, advice="Give at least one word and a smaller overlap, as 128 and 32.")

    def cut(self, text: str) -> Iterator[str]:
        """Yield the chunks of a text, as written; the last one ends the text and says something new.

        A text of at most `words` words is one chunk, one without words none.
        """
        if (text.isascii() or not UNSPACED_SIGN.search(text)) and len(text.split()) <= self.words:
            # Most passages are one chunk, which is quicker to see than to find each word's place.
            if stripped := text.strip():
                yield stripped
            return
        spans = [(match.start(), match.end()) for match in WORD.finditer(text)]
        for first in range(0, max(1, len(spans) - self.overlap), self.words - self.overlap):
            chosen = spans[first : first + self.words]
            if chosen:
                yield text[chosen[0][0] : chosen[-1][1]]

    def joined(self, chunks: Sequence[str]) -> str:
        """The text that was cut, from its chunks in order; what two of them share is written once."""
        if not chunks:
            return ""
        pieces = [chunks[0]]
        for chunk in chunks[1:]:
            spans = [match.end() for match in islice(WORD.finditer(chunk), self.overlap)]
            pieces.append(chunk[spans[-1] :] if spans else f" {chunk}")
        return "".join(pieces)


def chunk_id(document: str, number: int) -> str:
    """The id of a document's chunk, counted from 1."""
    return f"{document}{MARK}{number}"


class Documents:
    """Finds the document that an id of elsewhere belongs to, among known ones.

    An id that is known is a document itself, also where it is written as in a run, or in another Unicode
    form. Where known ids look like chunks' (`wiki#12`), an id of that form is a chunk of a known document or
    a document of its own; else it is a chunk.
    """

    def __init__(self, known: Collection[str]) -> None:
        self._known = known
        self._look_like_chunks = any(document_of(name) != name for name in known)
        self._written: dict[str, str | None] = {}
        for name in known:
            for form in {run_field(name), unicodedata.normalize("NFC", name)} - {name}:
                self._written[form] = None if form in self._written else name

    def of(self, name: str) -> str:
        """The document of an id."""
        name = self.own(name)
        if name in self._known:
            return name
        document = self.own(document_of(name))
        return name if self._look_like_chunks and document not in self._known else document

    def own(self, name: str) -> str:
        """The known id that a name is another writing of, as a whole; else the name itself."""
        if name in self._known:
            return name
        composed = unicodedata.normalize("NFC", name)
        if composed in self._known:
            return composed
        return self._written.get(name) or self._written.get(composed) or name


def document_of(chunk: str) -> str:
    """The document that a chunk's id belongs to; an id of another form is a document's own."""
    document, mark, number = chunk.rpartition(MARK)
    return document if mark and number.isdigit() else chunk


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
