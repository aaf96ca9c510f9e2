"""Split a reference into facts: its sentences, or clauses with facts of their own.

Questions, headings and introductions of lists are not facts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from judges.lexical.reading import names_of, read_terms
from judges.pairwise.cleaning import clean
from judges.text.sentences import CLOSING, read_sentences, states, stating
from judges.text.statements import poles_of
from judges.text.tokens import WORD, bare_figures, is_measured, measured_terms, terms, words

CLAUSE = re.compile(r";\s+")
OWN_FACT = 5
"""A sentence is split only if each clause has this many distinct terms."""
WRITER = re.compile(r"\W{0,3}(?:I|We|My)\b")
"""Openings of sentences about their writer."""
ENDS = (".", "!", "…", "。")
MIN_WORDS = 4
"""Minimum number of words of a line without a full stop that is not a heading."""
CACHE_SIZE = 1 << 6


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a reference.

    Attributes:
        text: Original wording, without citation marks.
        key: Names and figures among the terms, which count twice.
        plain: The same figures without their units, except shares.
    """

    text: str
    terms: frozenset[str]
    key: frozenset[str]
    figures: frozenset[str]
    plain: Mapping[str, str]

    def stated_in(self, sentence: Sequence[str]) -> frozenset[str]:
        """Return the terms of the fact in a sentence, which may omit units and use synonyms of directions."""
        bare = bare_figures(sentence)
        poles = {pole for term in sentence for pole in poles_of(term)}
        return self.terms.intersection(sentence).union(
            (term for term, own in self.plain.items() if own in bare),
            (term for term in self.terms if not poles.isdisjoint(poles_of(term))),
        )


@lru_cache(maxsize=CACHE_SIZE)
def facts_of(reference: str) -> tuple[Fact, ...]:
    """Split a reference into distinct facts, in order."""
    text = clean(reference)
    names = names_of(read_terms(text).sentences)
    facts: dict[str, Fact] = {}
    for sentence in stating(read_sentences(text)):
        for part in _parts(sentence.text):
            if sequence := measured_terms(part) or tuple(words(part)):
                measured = {term: own for term, own in pairwise(sequence) if is_measured(term)}
                bag = frozenset(sequence) - (set(measured.values()) - bare_figures(sequence))
                plain = {term: own for term, own in measured.items() if not term.endswith("share")}
                figures = frozenset(term for term in bag if term[0] == "#")
                facts.setdefault(part, Fact(part, bag, (bag & names) | figures, figures, plain))
    return tuple(facts.values())


def states_fact(sentence: str) -> bool:
    """Return whether a report may list a sentence as a fact.

    Questions, headings, introductions and sentences about the writer are not facts.
    """
    bare = sentence.strip().rstrip(CLOSING)
    if WRITER.match(sentence) or (not bare.endswith(ENDS) and len(WORD.findall(sentence)) < MIN_WORDS):
        return False
    return states(sentence)


def _parts(sentence: str) -> list[str]:
    """Split a sentence into clauses if each has a fact of its own."""
    parts = [part.strip() for part in CLAUSE.split(sentence)]
    return parts if all(len(set(terms(part))) >= OWN_FACT for part in parts) else [sentence]
