"""Statements: sentences with their terms and the marks that another statement could contradict."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import chain
from typing import TypeAlias

from judges.text.folding import fold
from judges.text.polarity import antonyms, is_idiom, negations
from judges.text.quantities import is_unit, quantities
from judges.text.sentences import CACHED_TEXTS, LONGEST_CACHED, split_sentences
from judges.text.tokens import WORD, related, terms_by_word

REACH = 4
Spot: TypeAlias = tuple[int, str, tuple[str, ...]]
CLAUSE_BREAK = re.compile(r"[;:\u2013\u2014]\s")
DENIAL_REACH = 12
CACHED_SENTENCES = 1 << 14


class MarkKind(StrEnum):
    """What a mark says."""

    QUANTITY = "number"
    DIRECTION = "direction"
    NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class Mark:
    """A spot where another statement could say otherwise.

    Attributes:
        kind: A number, a direction word or a negation.
        axis: What two marks must share to be comparable.
        value: The number, or the pole of the direction.
        text: As written.
        around: The content terms near it.
        figure: For a number, its value without the unit.
        next_to: For a number, the content terms right beside it.
    """

    kind: MarkKind
    axis: str
    value: float
    text: str
    around: frozenset[str]
    figure: float = 0.0
    next_to: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Statement:
    """One sentence, its terms, what those are kin to, and its marks."""

    text: str
    source: str
    terms: frozenset[str]
    related: frozenset[str]
    marks: tuple[Mark, ...]

    @cached_property
    def negated(self) -> bool:
        """Whether it negates anything."""
        return any(mark.kind is MarkKind.NEGATION for mark in self.marks)

    @cached_property
    def axes(self) -> frozenset[str]:
        """On what it has a number or a direction word."""
        return frozenset(mark.axis for mark in self.marks if mark.kind is not MarkKind.NEGATION)

    @cached_property
    def figures(self) -> tuple[Mark, ...]:
        """Its numbers."""
        return tuple(mark for mark in self.marks if mark.kind is MarkKind.QUANTITY)


def read_statements(text: str, source: str = "") -> tuple[Statement, ...]:
    """Split a text into statements; those without a content term are left out."""
    return _cached(text, source) if len(text) <= LONGEST_CACHED else _statements(text, source)


@lru_cache(maxsize=CACHED_TEXTS)
def _cached(text: str, source: str) -> tuple[Statement, ...]:
    """The statements of a text of usual length: every metric, and every pair, reads the same passages."""
    return _statements(text, source)


def _statements(text: str, source: str) -> tuple[Statement, ...]:
    found = (_read(sentence, source) for sentence in split_sentences(text))
    return tuple(statement for statement in found if statement.terms)


def read_statement(sentence: str, source: str = "") -> Statement:
    """Read one sentence."""
    # The cache knows a call by how it is written: one with the default is another than one that names it.
    return _read(sentence, source)


@lru_cache(maxsize=CACHED_SENTENCES)
def _read(sentence: str, source: str) -> Statement:
    folded = fold(sentence)
    places = [(match.start(), match[0]) for match in WORD.finditer(folded)]
    found = terms_by_word([word for _, word in places])
    spots = [(start, word, own) for (start, word), own in zip(places, found, strict=True)]
    bag = frozenset(chain.from_iterable(found))
    marks = tuple(dict.fromkeys(_marks(sentence, folded, spots)))
    return Statement(sentence, source, bag, frozenset(map(related, bag)), marks)


def _marks(sentence: str, folded: str, spots: list[Spot]) -> Iterator[Mark]:
    """Find the numbers, the direction words (turned round where denied) and the negations."""
    figures, denials = quantities(sentence), negations(sentence)
    directed = [(at, poles) for at, (_, word, _) in enumerate(spots) if (poles := antonyms(word))]
    if not figures and not denials and not directed:
        return
    near = _Neighbours(folded, spots)
    for found in figures:
        yield Mark(
            MarkKind.QUANTITY,
            f"{found.dimension}:{found.noun}",
            found.value,
            found.text,
            near.around(found.start),
            found.figure,
            near.around(found.start, before=2, after=1),
        )
    words = ["", *(word for _, word, _ in spots), ""] if directed else ()
    for place, poles in directed:
        start, word, own = spots[place]
        if is_idiom(words[place], word, words[place + 2]):
            continue
        earlier = bisect_left(denials, start)
        denied = earlier > 0 and start - denials[earlier - 1] <= DENIAL_REACH
        around = near.around(start).difference(own)
        for axis, pole in poles:
            yield Mark(MarkKind.DIRECTION, f"axis {axis}", 1 - pole if denied else pole, word, around)
    for at in denials:
        yield Mark(MarkKind.NEGATION, "negation", 1.0, "not", near.around(at, before=1))


class _Neighbours:
    """The content terms of a sentence by place, without its numbers and units of measure."""

    def __init__(self, folded: str, spots: list[Spot]) -> None:
        # Made for sentences with a mark alone: many have none.
        self._content = [
            (start, single)
            for start, word, found in spots
            if found and not is_unit(word)
            for single in found
            if single[0] != "#"
        ]
        self._starts = [start for start, _ in self._content]
        self._breaks = [match.start() for match in CLAUSE_BREAK.finditer(folded)]

    def around(self, start: int, *, before: int = REACH, after: int = REACH) -> frozenset[str]:
        """The terms next to a spot within its clause."""
        here = bisect_left(self._starts, start)
        near = self._content[max(0, here - before) : here + after]
        if not self._breaks:
            return frozenset([single for _, single in near])
        following = bisect_right(self._breaks, start)
        opens = self._breaks[following - 1] if following else -1
        closes = self._breaks[following] if following < len(self._breaks) else math.inf
        return frozenset([single for at, single in near if opens < at < closes])


def merge_statements(statements: Sequence[Statement]) -> Statement:
    """Read several statements as one: everything that any of them has."""
    return Statement(
        " ".join(one.text for one in statements),
        "",
        frozenset().union(*(one.terms for one in statements)),
        frozenset().union(*(one.related for one in statements)),
        tuple(dict.fromkeys(mark for one in statements for mark in one.marks)),
    )
