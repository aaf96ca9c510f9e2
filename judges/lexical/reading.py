"""Texts as the embedded judge reads them: sentences of terms, and which of them assert something new."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress
from typing import TypeAlias

from data.declines import fold
from judges.text.languages import CUT_AT_SPACES, ENGLISH
from judges.text.sentences import CLOSING, LONGEST_LEAD, QUESTION_MARKS, read_sentences, stating
from judges.text.tokens import WORD, related, terms, terms_of

REPEATED_RUN = 8
"""Terms in a row that say nothing new where they have stood in the text before."""
CAPITAL = re.compile(r"\b[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]\w*")
DENIAL = re.compile(
    r"(?:it|that|this) (?:(?:is|was) (?:simply |just )?not |(?:is|was)n['’]t )"
    r"(?:true|correct|so|the case) that\b|"
    r"(?:it|that|this) (?:is|was) (?:simply |just )?(?:false|untrue|wrong|incorrect) that\b",
    re.IGNORECASE,
)

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Sentence:
    """A sentence of a text.

    Attributes:
        text: As written, without citation marks.
        live: For each term, whether it says something: not where the text has said it before, and in no
            sentence that asks or that denies all of what follows.
        leads: Whether it is a short heading, or only announces what follows.
    """

    text: str
    terms: tuple[str, ...]
    live: tuple[bool, ...]
    leads: bool = False

    @cached_property
    def live_terms(self) -> tuple[str, ...]:
        """The terms that say something, in order."""
        return tuple(compress(self.terms, self.live))

    @cached_property
    def said(self) -> frozenset[str]:
        """The different terms that say something."""
        return frozenset(self.live_terms)

    @cached_property
    def all_bigrams(self) -> tuple[Pair, ...]:
        """Its neighbouring terms."""
        return tuple(zip(self.terms, self.terms[1:], strict=False))

    @cached_property
    def bigrams(self) -> tuple[Pair, ...]:
        """Its neighbouring terms that both say something."""
        both = (first and second for first, second in zip(self.live, self.live[1:], strict=False))
        return tuple(compress(self.all_bigrams, both))


@dataclass(frozen=True)
class TextReading:
    """A text with its terms.

    Attributes:
        beginning: The first word, folded.
        names: Terms of words that are written as names.
    """

    sentences: tuple[Sentence, ...]
    beginning: str
    names: frozenset[str]

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The terms of all sentences in order."""
        return tuple(chain.from_iterable(sentence.terms for sentence in self.sentences))

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Frequency of each term in the text."""
        return Counter(self.terms)

    @cached_property
    def said(self) -> Mapping[str, int]:
        """Frequency of each term in statements."""
        return Counter(chain.from_iterable(sentence.live_terms for sentence in self.sentences))

    @cached_property
    def roots(self) -> frozenset[str]:
        """The roots of the terms that say something."""
        return frozenset(map(related, self.said))

    @cached_property
    def bigrams(self) -> Mapping[Pair, int]:
        """Neighbours within a sentence that both say something, to how often they do."""
        return Counter(chain.from_iterable(sentence.bigrams for sentence in self.sentences))

    @cached_property
    def all_bigrams(self) -> Mapping[Pair, int]:
        """Neighbours within a sentence, to how often they stand so."""
        return Counter(chain.from_iterable(sentence.all_bigrams for sentence in self.sentences))


def without_leads(text: TextReading, known: Container[str]) -> TextReading:
    """Leave out headings and announcements that say nothing known, or nothing that no other sentence says."""
    said = {single for sentence in text.sentences if not sentence.leads for single in sentence.terms}
    sentences = tuple(
        sentence
        for sentence in text.sentences
        if not sentence.leads or any(single in known and single not in said for single in sentence.terms)
    )
    return replace(text, sentences=sentences) if sentences and len(sentences) < len(text.sentences) else text


def read_text(text: str, code: str = ENGLISH) -> TextReading:
    """Read a cleaned text in a language."""
    read = read_sentences(text)
    stated = dict.fromkeys(stating(read))
    leads = {one.text for one in read if one.heading or (one not in stated and asserts(one.text))}
    parts = tuple(one.text for one in read)
    if code in CUT_AT_SPACES:
        parts = tuple(part for each in parts for part in each.split())
    kept: list[tuple[str, tuple[str, ...], bool]] = []
    known: set[tuple[str, ...]] = set()
    for sentence in parts:
        found = terms(sentence, code)
        if found:
            kept.append((sentence, found, found not in known and asserts(sentence)))
            known.add(found)
    fresh = _fresh([single for _, found, _ in kept for single in found])
    sentences = tuple(
        Sentence(
            sentence,
            found,
            tuple(next(fresh) and asserted for _ in found),
            sentence in leads and len(found) <= LONGEST_LEAD,
        )
        for sentence, found, asserted in kept
    )
    first = WORD.search(fold(next(iter(stated)).text)) if stated else None
    return TextReading(sentences, first[0] if first else "", _names(sentences, code))


def asserts(sentence: str) -> bool:
    """Return whether a sentence is a statement: neither a question nor a denial of all of it."""
    if sentence.rstrip(CLOSING).endswith(QUESTION_MARKS):
        return False
    return not DENIAL.match(sentence.lstrip())


def _fresh(terms: Sequence[str]) -> Iterator[bool]:
    """For each term of a text, whether it stands in no run that was there before."""
    fresh = [True] * len(terms)
    runs: set[tuple[str, ...]] = set()
    for at in range(len(terms) - REPEATED_RUN + 1):
        run = tuple(terms[at : at + REPEATED_RUN])
        if run in runs:
            fresh[at : at + REPEATED_RUN] = [False] * REPEATED_RUN
        runs.add(run)
    return iter(fresh)


def _names(sentences: Sequence[Sentence], code: str) -> frozenset[str]:
    """Terms of words written as names: always with a capital, and not only as first of a sentence."""
    matches = [match for sentence in sentences for match in CAPITAL.finditer(sentence.text)]
    written = Counter(terms_of([fold(match[0]) for match in matches if match.start()], code))
    opening = Counter(terms_of([fold(match[0]) for match in matches if not match.start()], code))
    counts = Counter([single for sentence in sentences for single in sentence.terms if single in written])
    return frozenset(single for single, count in written.items() if count + opening[single] >= counts[single])
