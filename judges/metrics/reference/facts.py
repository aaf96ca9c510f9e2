"""The facts of a reference: its sentences, and clauses that carry a fact of their own.

What states nothing is not a fact: questions, headings, and sentences that only announce a list.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from judges.lexical.reading import read_text
from judges.pairwise.cleaning import clean
from judges.text.sentences import CLOSING, read_sentences, states, stating
from judges.text.tokens import WORD, terms

CLAUSE = re.compile(r";\s+")
OWN_FACT = 5
"""Different terms that each part of a sentence must have for its parts to be facts of their own."""
WRITER = re.compile(r"\W{0,3}(?:I|We|My)\b")
"""Openings of sentences that speak about their writer."""
ENDS = (".", "!", "…", "。")
SHORTEST_FACT = 4
"""Words that a line without an end has at least if it is not a heading."""
CACHE_SIZE = 1 << 6


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a reference.

    Attributes:
        text: As written, without citation marks.
        key: Those that are names or figures, which count twice.
    """

    text: str
    terms: frozenset[str]
    key: frozenset[str]
    figures: frozenset[str]

    @property
    def weight(self) -> int:
        """Total weight of its terms."""
        return len(self.terms) + len(self.key)


@lru_cache(maxsize=CACHE_SIZE)
def facts_of(reference: str) -> tuple[Fact, ...]:
    """Cut a reference into its facts, each once, in order, the same for every system.

    A reference of nothing but headings, questions or announcements is taken as it is.
    """
    text = clean(reference)
    names = read_text(text).names
    facts: dict[str, Fact] = {}
    for sentence in stating(read_sentences(text)):
        for part in _parts(sentence.text):
            own = frozenset(terms(part))
            if own:
                figures = frozenset(term for term in own if term[0] == "#")
                facts.setdefault(part, Fact(part, own, (own & names) | figures, figures))
    return tuple(facts.values())


def states_fact(sentence: str) -> bool:
    """Return whether a sentence by itself is a fact that a report may list.

    Questions, headings, announcements and what its writer did or thinks are none.
    """
    bare = sentence.strip().rstrip(CLOSING)
    if WRITER.match(sentence) or (not bare.endswith(ENDS) and len(WORD.findall(sentence)) < SHORTEST_FACT):
        return False
    return states(sentence)


def _parts(sentence: str) -> list[str]:
    """Return the clauses of a sentence where each has a fact of its own, else the sentence."""
    parts = [part.strip() for part in CLAUSE.split(sentence)]
    return parts if all(len(set(terms(part))) >= OWN_FACT for part in parts) else [sentence]
