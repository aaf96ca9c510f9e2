"""Cut texts into overlapping chunks of words.

Source: ICAT, section 4.3: up to 128 words with 32 words of overlap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from data.errors import RecordError

WORDS = 128
OVERLAP = 32
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")
WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
MARK = "#"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """The most words of a chunk, and how many it repeats; without spaces a character is a word."""

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


@dataclass(frozen=True, slots=True)
class Analyser:
    """Cuts texts into terms; `name` changes whenever that does.

    Attributes:
        words: The words of a text, repeats included.
        of_word: The term of a word, asked once for each word of a corpus.
    """

    name: str
    words: Callable[[str], Sequence[str]]
    of_word: Callable[[str], Sequence[str]] = lambda word: (word,)

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order, repeats included."""
        return [term for word in self.words(text) for term in self.of_word(word)]


def chunk_id(document: str, number: int) -> str:
    """The id of a document's chunk, counted from 1."""
    return f"{document}{MARK}{number}"


def document_of(chunk: str) -> str:
    """The document that a chunk's id belongs to; an id of another form is a document's own."""
    document, mark, number = chunk.rpartition(MARK)
    return document if mark and number.isdigit() else chunk
