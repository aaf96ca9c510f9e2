"""Statements: sentences with their terms, numbers, directions and negations."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import NamedTuple

from judges.text.languages import AXES, IRREGULAR, LISTS, unit_of
from judges.text.quantities import CACHED_SENTENCES, COUNTING, quantities
from judges.text.sentences import CACHED_TEXTS, MAX_CACHED_LENGTH, split_sentences
from judges.text.tokens import DIGIT, is_content, read_words, related, stem, term, terms

REACH = 4
DENIAL_REACH = 12
CLAUSE_BREAK = re.compile(r"[;:\u2013\u2014]\s")
NEGATION = re.compile(
    r"\b(?:not(?! only| just| merely| least)|never|neither|nor|none|nobody|nothing|cannot|without|hardly|"
    r"barely|no(?!,| doubt| matter| wonder)|fail(?:s|ed)? to|unable|impossible|lacks?)\b|n['’]t\b"
)
IDIOM = re.compile(
    r"\b(?:at (?:least|most|best|worst)|above all|(?:no|any) longer|as long|(?:before|in) (?:long|short)|"
    r"no (?:more|less|fewer|later|earlier)|unlike)\b"
)
"""Idioms whose words have no direction."""
_DENYING = frozenset(LISTS["denying"].split())


class MarkKind(StrEnum):
    """Kinds of marks."""

    QUANTITY = "number"
    DIRECTION = "direction"
    NEGATION = "negation"
    WORDING = "wording"


class Mark(NamedTuple):
    """A part of a statement that another statement could contradict.

    Attributes:
        adjacent: Content terms next to a number; the denied term of a negation.
    """

    kind: MarkKind
    axis: str
    value: float
    text: str
    around: frozenset[str]
    figure: float = 0.0
    adjacent: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Statement:
    """A sentence with its terms, their roots and its marks."""

    text: str
    source: str
    terms: frozenset[str]
    related: frozenset[str]
    marks: tuple[Mark, ...]

    @cached_property
    def negated(self) -> bool:
        """True if it contains a negation."""
        return any(mark.kind is MarkKind.NEGATION for mark in self.marks)

    @cached_property
    def axes(self) -> frozenset[str]:
        """Axes of its numbers and direction words."""
        return frozenset(mark.axis for mark in self.marks if mark.kind is not MarkKind.NEGATION)

    @cached_property
    def figures(self) -> tuple[Mark, ...]:
        """Its numbers."""
        return tuple(mark for mark in self.marks if mark.kind is MarkKind.QUANTITY)


def read_statements(text: str, source: str = "") -> tuple[Statement, ...]:
    """Split a text into statements, skipping sentences without content terms."""
    return _cached(text, source) if len(text) <= MAX_CACHED_LENGTH else _statements(text, source)


@lru_cache(maxsize=CACHED_TEXTS)
def _cached(text: str, source: str) -> tuple[Statement, ...]:
    return _statements(text, source)


def _statements(text: str, source: str) -> tuple[Statement, ...]:
    statements = (read_statement(sentence, source) for sentence in split_sentences(text))
    return tuple(statement for statement in statements if statement.terms)


@lru_cache(maxsize=CACHED_SENTENCES)
def read_statement(sentence: str, source: str = "") -> Statement:
    """Parse one sentence."""
    bag = frozenset(terms(sentence))
    marks = tuple(dict.fromkeys(_marks(*read_words(sentence))))
    return Statement(sentence, source, bag, frozenset(map(related, bag)), marks)


def _marks(sentence: str, folded: str, words: Sequence[str]) -> Iterator[Mark]:
    """Yield numbers, direction words (reversed if denied) and negations."""
    # Checking words is faster than the patterns; most sentences lack numbers and denials.
    odd = "'" in folded or not sentence.isascii()
    figures = quantities(sentence) if odd or not COUNTING.isdisjoint(words) or DIGIT.search(folded) else ()
    negations = NEGATION.finditer(folded) if odd or not _DENYING.isdisjoint(words) else ()
    denials = {match.start(): match for match in negations}
    directed = any(map(poles_of, words))
    if not figures and not denials and not directed:
        return
    places: list[tuple[int, str]] = []
    end = 0
    for word in words:
        # No text between two words looks like the next word.
        places.append((folded.index(word, end), word))
        end = places[-1][0] + len(word)
    content = [(start, own) for start, word in places for own in _content(word)]
    starts = [start for start, _ in content]
    breaks = [-1, *(match.start() for match in CLAUSE_BREAK.finditer(folded)), len(folded)]

    def around(start: int, before: int = REACH, after: int = REACH) -> frozenset[str]:
        here, clause = bisect_left(starts, start), bisect_left(breaks, start)
        opens, closes = breaks[max(0, clause - 1)], breaks[min(clause, len(breaks) - 1)]
        near = content[max(0, here - before) : here + after]
        return frozenset([own for at, own in near if opens < at < closes])

    for figure in figures:
        noun = stem(figure.noun) if figure.noun and is_content(figure.noun) else ""
        axis = f"{figure.dimension}:{noun}"
        near, adjacent = around(figure.start), around(figure.start, before=2, after=1)
        yield Mark(MarkKind.QUANTITY, axis, figure.value, figure.text, near, figure.figure, adjacent)
    idioms = [match.span() for match in IDIOM.finditer(folded)] if directed else []
    for start, word in places if directed else ():
        if not poles_of(word) or any(first <= start < last for first, last in idioms):
            continue
        denied = any(0 < start - denial <= DENIAL_REACH for denial in denials)
        for number, pole in poles_of(word):
            near = around(start).difference(term(word))
            yield Mark(MarkKind.DIRECTION, f"axis {number}", 1 - pole if denied else pole, word, near)
    for at, match in denials.items():
        near, adjacent = around(at, before=1), around(match.end(), before=0, after=1)
        yield Mark(MarkKind.NEGATION, "negation", 1.0, match[0], near, adjacent=adjacent)


@lru_cache(maxsize=1 << 14)
def _content(word: str) -> tuple[str, ...]:
    """Return the terms of a folded word that is neither a unit nor a number."""
    if len(word) > 1 and unit_of(word):
        return ()
    return tuple(own for own in term(word) if own[0] != "#")


@lru_cache(maxsize=1)
def _poles() -> Mapping[str, tuple[tuple[int, int], ...]]:
    poles_by_word: dict[str, set[tuple[int, int]]] = {}
    for axis, sides in enumerate(AXES):
        for pole, words in enumerate(sides):
            for word in words:
                for form in (word, stem(word)):
                    poles_by_word.setdefault(form, set()).add((axis, pole))
    return {word: tuple(sorted(poles)) for word, poles in poles_by_word.items()}


@lru_cache(maxsize=1 << 15)
def poles_of(word: str) -> tuple[tuple[int, int], ...]:
    """Return the (axis, pole) pairs of a folded word; opposites share an axis but not a pole."""
    verb = IRREGULAR.get(word, word)
    return _poles().get(verb) or _poles().get(stem(verb)) or ()
