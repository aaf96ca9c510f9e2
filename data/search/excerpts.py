"""The part of a text in which words were found, with what was found marked."""

from __future__ import annotations

from dataclasses import dataclass

from data.search.query import SearchQuery
from data.search.words import Terms, composed

REACH = 80
"""Characters that are shown on each side of the first phrase; phrases that follow within twice as many are
shown as well."""
Span = tuple[int, int]


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
