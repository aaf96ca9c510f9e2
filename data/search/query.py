"""What a reader searches for: words and phrases, read from any text; and the part of a text that has them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from data.errors import InputError
from data.search.words import Terms, composed

MOST_PHRASES = 20
_PARTS = re.compile(r'"([^"]*)"|([^\s"]+)')
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u00ab": '"', "\u00bb": '"'})
WANTED = 'Write other words, or a "phrase in quotation marks".'
REACH = 80
"""Characters that are shown on each side of the first phrase; phrases that follow within twice as many are
shown as well."""
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """Phrases that a text must all have: runs of terms, most of one term.

    Terms have letters and digits alone, so that no database can take them for anything else.
    """

    phrases: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> SearchQuery:
        """Read words, and phrases in quotation marks; a word such as `self-employed` is a phrase too.

        Raises:
            InputError: No word is left that can be searched for, or there are too many.
        """
        terms = Terms()
        found: dict[tuple[str, ...], None] = {}
        for quoted, word in _PARTS.findall(text.translate(_QUOTES)):
            if run := tuple(terms.of(quoted or word)):
                found[run] = None
        if not found:
            message = "There is no word to search for: words that nearly every text has do not count."
            raise InputError(message, advice=WANTED)
        if len(found) > MOST_PHRASES:
            raise InputError(f"At most {MOST_PHRASES} words are searched for at once.", advice=WANTED)
        return cls(tuple(found))

    def starts(self, terms: list[str]) -> list[tuple[int, tuple[str, ...]]]:
        """Where phrases begin in a text's terms, in order, and which."""
        return [
            (at, phrase)
            for at in range(len(terms))
            for phrase in self.phrases
            if tuple(terms[at : at + len(phrase)]) == phrase
        ]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Pieces of a text in their order, and of each whether it was searched for."""

    pieces: tuple[tuple[str, bool], ...]

    def __str__(self) -> str:
        return "".join(piece for piece, _ in self.pieces)


def excerpt(text: str, query: SearchQuery, *, reach: int = REACH) -> Excerpt:
    """The part of a text with the most of the phrases of a query, on one line, cut at spaces with dots.

    Where nothing is found it is the beginning of the text.
    """
    line = " ".join(composed(text).split())
    places = list(Terms().places(line))
    found = [
        ((places[at].start, places[at + len(phrase) - 1].end), phrase)
        for at, phrase in query.starts([place.term for place in places])
    ]
    spans = _joined([span for span, _ in found])
    first, last = _densest(found, 2 * reach)
    start, end = max(first - reach, 0), min(last + reach, len(line))
    if start:
        start = line.find(" ", start, first) + 1 or start
    if end < len(line):
        end = max(line.rfind(" ", last, end), last) or end
    pieces: list[tuple[str, bool]] = [("… ", False)] if start else []
    at = start
    for begin, stop in spans:
        if start <= begin and stop <= end:
            pieces += [(line[at:begin], False), (line[begin:stop], True)]
            at = stop
    pieces += [(line[at:end], False), (" …" if end < len(line) else "", False)]
    return Excerpt(tuple(piece for piece in pieces if piece[0]))


def _densest(found: list[tuple[Span, tuple[str, ...]]], width: int) -> Span:
    """From the first to the last of the most different phrases that stand within so many characters."""
    best, most = (0, 0), 0
    for (start, end), _ in found:
        within = [(span, phrase) for span, phrase in found if start <= span[0] and span[1] <= start + width]
        count = len({phrase for _, phrase in within})
        if count > most:
            best, most = (start, max([end, *(span[1] for span, _ in within)])), count
    return best


def _joined(spans: list[Span]) -> list[Span]:
    """Spans in order of their start, with those that overlap made one."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
