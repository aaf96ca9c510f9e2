"""The sentences of a text with what each of them cites, in any of the styles of `data.citations`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from data.citations import Citation, citations, removed
from judges.text.sentences import split_sentences

_FIRST_MARK = 0x100000
"""Private characters stand for citations while a text is cut; texts that hold some lose those."""
_PRIVATE = re.compile("[\U00100000-\U0010fffd]")
_BEHIND = re.compile(
    "([.!?\u3002\uff01\uff1f\u0964][\"')\u201d\u2019\u300d]*+)[^\\S\n]*+([\U00100000-\U0010fffd](?:[^\\S\n]*+[\U00100000-\U0010fffd])*+)"
)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its citations, and the places of the contexts that it cites, each once, in order."""

    text: str
    numbers: tuple[int, ...]


def without_citations(text: str, ids: Sequence[str] = ()) -> str:
    """The text without citations, and without the space that they leave; `ids` are those of its contexts."""
    return removed(text, citations(text, ids))


def cited_sentences(text: str, ids: Sequence[str] = ()) -> tuple[CitedSentence, ...]:
    """The sentences of a text with what each cites; what stands behind a full stop belongs to what is before.

    Args:
        text: An answer.
        ids: Of the contexts that it may cite, in order.
    """
    plain = _PRIVATE.sub("\ufffd", text)
    found = citations(plain, ids)[: 0x10FFFD - _FIRST_MARK]
    marked = _with_marks(plain, found)
    moved = _BEHIND.sub(lambda match: f" {match[2]}{match[1]} ", marked)
    sentences = []
    for sentence in split_sentences(moved):
        marks = list(_PRIVATE.finditer(sentence))
        own = [found[ord(mark.group()) - _FIRST_MARK].numbers for mark in marks]
        bare = removed(sentence, [Citation(mark.start(), mark.end(), ()) for mark in marks]).strip()
        if any(character.isalnum() for character in bare):
            numbers = dict.fromkeys(number for numbers in own for number in numbers)
            sentences.append(CitedSentence(bare, tuple(numbers)))
    return tuple(sentences)


def _with_marks(text: str, found: Sequence[Citation]) -> str:
    def parts() -> Iterator[str]:
        at = 0
        for place, one in enumerate(found):
            yield text[at : one.start] + chr(_FIRST_MARK + place)
            at = one.end
        yield text[at:]

    return "".join(parts())
