"""Parsed texts of the embedded judge: sentences, terms, and which terms assert something new."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress
from typing import TypeAlias

from data import declines
from data.declines import fold
from judges.text.languages import CUT_AT_SPACES, ENGLISH
from judges.text.sentences import CLOSING, MAX_LEAD_TERMS, QUESTION_MARKS, read_sentences, stating
from judges.text.tokens import WORD, measured_terms, related, terms, terms_of

REPEATED_RUN = 8
"""Length of a run of terms that counts as a repetition."""
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
        live: For each term, whether it asserts something: repetitions, questions and sentences such as "it
            is false that …" do not. Empty if unknown.
        leads: Whether it is a short heading or only introduces the next sentences.
    """

    text: str
    terms: tuple[str, ...]
    live: tuple[bool, ...] = ()
    leads: bool = False

    @cached_property
    def live_terms(self) -> tuple[str, ...]:
        """Terms that assert something, in order."""
        return tuple(compress(self.terms, self.live))

    @cached_property
    def live_set(self) -> frozenset[str]:
        """Distinct terms that assert something."""
        return frozenset(self.live_terms)

    @cached_property
    def all_bigrams(self) -> tuple[Pair, ...]:
        """Pairs of neighbouring terms."""
        return tuple(zip(self.terms, self.terms[1:], strict=False))

    @cached_property
    def bigrams(self) -> tuple[Pair, ...]:
        """Pairs of neighbouring terms that both assert something."""
        both = (first and second for first, second in zip(self.live, self.live[1:], strict=False))
        return tuple(compress(self.all_bigrams, both))


@dataclass(frozen=True)
class TextReading:
    """A text with its terms."""

    sentences: tuple[Sentence, ...]
    beginning: str = ""
    names: frozenset[str] = frozenset()

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Terms of all sentences, in order."""
        return tuple(chain.from_iterable(sentence.terms for sentence in self.sentences))

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Frequency of each term."""
        return Counter(self.terms)

    @cached_property
    def live_counts(self) -> Mapping[str, int]:
        """Frequency of each term that asserts something."""
        return Counter(chain.from_iterable(sentence.live_terms for sentence in self.sentences))

    @cached_property
    def roots(self) -> frozenset[str]:
        """Roots of the terms that assert something."""
        return frozenset(map(related, self.live_counts))

    @cached_property
    def bigrams(self) -> Mapping[Pair, int]:
        """Frequency of each pair of neighbours that both assert something."""
        return Counter(chain.from_iterable(sentence.bigrams for sentence in self.sentences))

    @cached_property
    def all_bigrams(self) -> Mapping[Pair, int]:
        """Frequency of each pair of neighbours within a sentence."""
        return Counter(chain.from_iterable(sentence.all_bigrams for sentence in self.sentences))


def without_leads(text: TextReading, known: Container[str]) -> TextReading:
    """Remove headings and introductions without known terms that no other sentence contains."""
    body = {term for sentence in text.sentences if not sentence.leads for term in sentence.terms}
    sentences = tuple(
        sentence
        for sentence in text.sentences
        if not sentence.leads or any(term in known and term not in body for term in sentence.terms)
    )
    return replace(text, sentences=sentences) if sentences and len(sentences) < len(text.sentences) else text


def read_terms(text: str) -> TextReading:
    """Parse an English text for its terms only."""
    rows = ((line.text, terms(line.text)) for line in read_sentences(text))
    return TextReading(tuple(Sentence(part, bag) for part, bag in rows if bag))


def read_text(text: str, code: str = ENGLISH) -> TextReading:
    """Parse a cleaned text in a language."""
    lines = read_sentences(text)
    statements = dict.fromkeys(stating(lines))
    leads = {line.text for line in lines if line.heading or (line not in statements and asserts(line.text))}
    parts = tuple(line.text for line in lines)
    if code in CUT_AT_SPACES:
        parts = tuple(piece for part in parts for piece in part.split())
    rows: list[tuple[str, tuple[str, ...], bool]] = []
    known: set[tuple[str, ...]] = set()
    for part in parts:
        if bag := measured_terms(part, code):
            rows.append((part, bag, bag not in known and asserts(part)))
            known.add(bag)
    fresh = _fresh([term for _, bag, _ in rows for term in bag])
    sentences = tuple(
        Sentence(
            part,
            bag,
            tuple(next(fresh) and asserted for _ in bag),
            part in leads and len(bag) <= MAX_LEAD_TERMS,
        )
        for part, bag, asserted in rows
    )
    first = WORD.search(fold(next(iter(statements)).text)) if statements else None
    return TextReading(sentences, first[0] if first else "", names_of(sentences, code))


def begins_alike(text: str, reference: str) -> bool:
    """Return whether a text begins with all words of a reference."""
    lead, own = (declines.WORD.findall(part.casefold()) for part in (reference, text))
    return bool(lead) and own[: len(lead)] == lead


def asserts(sentence: str) -> bool:
    """Return whether a sentence is a statement: neither a question nor "it is false that …"."""
    if sentence.rstrip(CLOSING).endswith(QUESTION_MARKS):
        return False
    return not DENIAL.match(sentence.lstrip())


def _fresh(terms: Sequence[str]) -> Iterator[bool]:
    """Yield for each term whether it is outside every repeated run."""
    fresh = [True] * len(terms)
    runs: set[tuple[str, ...]] = set()
    for at in range(len(terms) - REPEATED_RUN + 1):
        run = tuple(terms[at : at + REPEATED_RUN])
        if run in runs:
            fresh[at : at + REPEATED_RUN] = [False] * REPEATED_RUN
        runs.add(run)
    return iter(fresh)


def names_of(sentences: Sequence[Sentence], code: str = ENGLISH) -> frozenset[str]:
    """Return terms that are always capitalised, and not only at the start of a sentence."""
    matches = [match for sentence in sentences for match in CAPITAL.finditer(sentence.text)]
    inner = Counter(terms_of([fold(match[0]) for match in matches if match.start()], code))
    opening = Counter(terms_of([fold(match[0]) for match in matches if not match.start()], code))
    counts = Counter([term for sentence in sentences for term in sentence.terms if term in inner])
    return frozenset(term for term, count in inner.items() if count + opening[term] >= counts[term])
