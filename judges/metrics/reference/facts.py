"""The facts of a reference: its sentences, and clauses that carry a fact of their own.

What states nothing is no fact: questions, headings, and sentences that only announce a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from judges.lexical.reading import CLOSING, QUESTION_MARKS, read_text
from judges.pairwise.cleaning import clean
from judges.text.languages import fold
from judges.text.tokens import WORD, terms

HEADING = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]|\*\*[^*\n]{1,120}\*\*:?[ \t]*$|__[^_\n]{1,120}__:?[ \t]*$).*$", re.MULTILINE
)
CLAUSE = re.compile(r";\s+")
OWN_FACT = 5
"""Different terms that each part of a sentence must have for its parts to be facts of their own."""
ANNOUNCED = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|several|many|multiple|various|different|few|some"
    r"|number of|following)\s(?:\w+\s){0,2}?(?:areas|aspects|categories|causes|changes|considerations"
    r"|differences|examples|factors|groups|kinds|methods|options|parts|points|possibilities|reasons|rules|steps"
    r"|techniques|things|tips|types|ways)\b"
)
"""Openings of sentences that announce a list: "Expect changes in four areas."."""
LONGEST_LEAD = 6
"""Terms that a sentence may have that only announces what follows."""
WRITER = re.compile(r"\W{0,3}(?:I|We|My)\b")
"""Openings of sentences that speak about their writer."""
ENDS = (".", "!", "…", "。")
SHORTEST_FACT = 4
"""Words that a line without an end has at least if it is no heading."""
CACHE_SIZE = 1 << 12


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a reference.

    Attributes:
        text: As written, without citation marks.
        terms: Its different terms.
        key: Those that are names or figures, which count twice.
        figures: Those that are figures.
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
    stating = HEADING.sub("\n", text)
    return tuple(_facts(stating, strict=True)) or tuple(_facts(text, strict=False))


def _facts(text: str, *, strict: bool) -> Iterator[Fact]:
    reading = read_text(text)
    seen: set[str] = set()
    for at, sentence in enumerate(reading.sentences):
        is_last = at == len(reading.sentences) - 1
        if strict and not _states(sentence.text, len(set(sentence.terms)), is_last=is_last):
            continue
        for part in _parts(sentence.text):
            own = frozenset(terms(part))
            if not own or part in seen:
                continue
            seen.add(part)
            figures = frozenset(term for term in own if term[0] == "#")
            yield Fact(part, own, (own & reading.names) | figures, figures)


def states_fact(sentence: str) -> bool:
    """Return whether a sentence by itself is a fact that a report may list.

    Questions, headings, announcements and what its writer did or thinks are none.
    """
    bare = sentence.strip().rstrip(CLOSING)
    if WRITER.match(sentence) or (not bare.endswith(ENDS) and len(WORD.findall(sentence)) < SHORTEST_FACT):
        return False
    return _states(sentence, len(set(terms(sentence))), is_last=False)


def _parts(sentence: str) -> list[str]:
    """Return the clauses of a sentence where each has a fact of its own, else the sentence."""
    parts = [part.strip() for part in CLAUSE.split(sentence)]
    return parts if all(len(set(terms(part))) >= OWN_FACT for part in parts) else [sentence]


def _states(sentence: str, count: int, *, is_last: bool) -> bool:
    """Return whether a sentence with so many terms states something of its own."""
    bare = sentence.rstrip(CLOSING)
    if bare.endswith(QUESTION_MARKS):
        return False
    if is_last or not WORD.search(sentence):
        return True
    return not (bare.endswith(":") or (count <= LONGEST_LEAD and ANNOUNCED.search(fold(sentence))))
