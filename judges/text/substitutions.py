"""Notice a word that was exchanged in an otherwise repeated wording.

A paraphrase changes many words, a slip changes one: where two sentences run alike on both sides of a
place and differ in it, the difference is read as a contradiction if the word is no mere synonym, that
is, if it is a name beside another name, the opposite of what stood there, or something that the premise
speaks of elsewhere. Two words that changed places, and a negation that came or went, count too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

from judges.text.folding import fold
from judges.text.polarity import antonyms
from judges.text.statements import Statement
from judges.text.term_weights import TermWeights
from judges.text.tokens import WORD, related, term

FLANKS = 3
LONGEST_SWAP = 3
NEAR = 4
SAME_TEXT = 0.75
ALIKE = 0.6
LEAST_SHARED = 3
LEAST_AROUND = 2
MOST_WORDS = 200
"""Content words of a sentence that are compared one by one, which takes time by their square."""
CACHED_SENTENCES = 1 << 14
PAST_AND_MOST = """
won:win lost:lose rose:rise fell:fall grew:grow shrank:shrink bought:buy sold:sell began:begin hid:hide
forbade:forbid forbidden:forbid cheapest:cheap dearest:dear oldest:old newest:new youngest:young
largest:large smallest:small highest:high lowest:low
"""
BASE_FORMS: Mapping[str, str] = MappingProxyType(dict(pair.split(":") for pair in PAST_AND_MOST.split()))
RATIOS: Mapping[str, str] = MappingProxyType(
    {"half": "half", "twice": "twice", "double": "twice", "doubled": "twice", "halved": "half"}
)
RATIO = re.compile(rf"\b({'|'.join(RATIOS)})\b")
LIMIT = re.compile(r"\bno (?:more|less|fewer|later|earlier) than\b")
TURNING = re.compile(r"\b(?:but|not|than|before|after|from|to|rather|instead|while|over|into)\b")


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of a sentence: its term, whether it is written as a name, and where it stands."""

    term: str
    name: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Substitution:
    """What a hypothesis has in place of what a premise has; `strength` is 0–1."""

    word: str
    instead_of: str
    against: Statement
    strength: float


class SubstitutionFinder:
    """Holds sentences against the sentences of one premise."""

    def __init__(self, premise: Sequence[Statement], weights: TermWeights) -> None:
        self._premise = tuple(premise)
        self._weights = weights

    def find(self, statement: Statement) -> Substitution | None:
        """Return the surest swap, if there is one."""
        candidates = (self._against(statement, other) for other in self._premise)
        return max(filter(None, candidates), key=lambda swap: swap.strength, default=None)

    def _against(self, statement: Statement, other: Statement) -> Substitution | None:
        shared = len(statement.terms & other.terms)
        if shared < LEAST_SHARED:
            return None
        ours, theirs = content(statement.text)[:MOST_WORDS], content(other.text)[:MOST_WORDS]
        pairs = [*_replaced(ours, theirs), *_transposed(statement.text, ours, other.text, theirs)]
        for stretch, instead, flanks in pairs:
            if flanks == 0 or self._differ(stretch, instead, statement, other):
                strength = 0.8 if flanks == 0 else min(1.0, 0.5 + 0.1 * flanks)
                return Substitution(_text(stretch), _text(instead), other, strength)
        return self._multiplied(statement, other) or self._denied(statement, other)

    def _differ(
        self, ours: Sequence[Word], theirs: Sequence[Word], statement: Statement, other: Statement
    ) -> bool:
        """Whether the exchanged words say different things, and are no synonyms."""
        our_roots, their_roots = (
            {related(word.term) for word in ours},
            {related(word.term) for word in theirs},
        )
        if our_roots & their_roots or our_roots <= other.related or their_roots <= statement.related:
            return False
        if any(word.term.startswith("#") for word in (*ours, *theirs)):
            return False
        if all(word.name for word in ours) and all(word.name for word in theirs):
            return True
        return any(_opposite(a.term, b.term) for a in ours for b in theirs)

    def _multiplied(self, statement: Statement, other: Statement) -> Substitution | None:
        """Whether one sentence says half where the other says twice."""
        ours, theirs = _ratios(statement.text), _ratios(other.text)
        close = self._weights.share(statement.terms, other.terms, other.related)
        if len(ours) == len(theirs) == 1 and ours != theirs and close >= ALIKE:
            return Substitution(next(iter(ours)), next(iter(theirs)), other, close)
        return None

    def _denied(self, statement: Statement, other: Statement) -> Substitution | None:
        """Whether one of two nearly equal sentences denies what the other says."""
        if statement.negated == other.negated or LIMIT.search(f"{statement.text} {other.text}".casefold()):
            return None
        denying, plain = (statement, other) if statement.negated else (other, statement)
        close = self._weights.share(plain.terms, denying.terms, denying.related)
        terms_around = max(
            (len(mark.around & plain.terms) for mark in denying.marks if mark.axis == "negation"), default=0
        )
        both = close >= SAME_TEXT and self._weights.share(denying.terms, plain.terms, plain.related) >= ALIKE
        return Substitution("not", "", other, close) if both and terms_around >= LEAST_AROUND else None


@lru_cache(maxsize=CACHED_SENTENCES)
def content(sentence: str) -> tuple[Word, ...]:
    """The content words of a sentence in order; its first word is not taken for a name."""
    words = []
    for match in WORD.finditer(sentence):
        terms = term(fold(match[0]))
        if len(terms) == 1:
            is_name = match[0][:1].isupper() and match.start() > 0
            words.append(Word(terms[0], is_name, match.start(), match.end()))
    return tuple(words)


def _replaced(
    ours: Sequence[Word], theirs: Sequence[Word]
) -> Iterator[tuple[Sequence[Word], Sequence[Word], int]]:
    """Short stretches that differ between stretches that are the same, and how long those are."""
    blocks = SequenceMatcher(
        None, [related(word.term) for word in ours], [related(word.term) for word in theirs], autojunk=False
    ).get_matching_blocks()
    bounds = [(0, 0, 0), *((block.a, block.b, block.size) for block in blocks)]
    for (a, b, before), (next_a, next_b, after) in pairwise(bounds):
        our_stretch, their_stretch = ours[a + before : next_a], theirs[b + before : next_b]
        short = 0 < len(our_stretch) <= LONGEST_SWAP and 0 < len(their_stretch) <= LONGEST_SWAP
        if short and min(before, NEAR) + min(after, NEAR) >= FLANKS:
            yield our_stretch, their_stretch, min(before, NEAR) + min(after, NEAR)


def _transposed(
    text: str, ours: Sequence[Word], other: str, theirs: Sequence[Word]
) -> Iterator[tuple[Sequence[Word], Sequence[Word], int]]:
    """Two neighbours that changed places about a word that gives their order a sense."""
    between = {
        (a.term, b.term): " ".join(other[a.end : b.start].casefold().split()) for a, b in pairwise(theirs)
    }
    for a, b in pairwise(ours):
        joint = " ".join(text[a.end : b.start].casefold().split())
        if a.term != b.term and between.get((b.term, a.term)) == joint and TURNING.search(joint):
            yield (a, b), (b, a), 0


def _ratios(text: str) -> frozenset[str]:
    return frozenset(RATIOS[ratio] for ratio in RATIO.findall(text.casefold()))


def _opposite(a: str, b: str) -> bool:
    return any(
        axis == other and pole != its
        for axis, pole in antonyms(BASE_FORMS.get(a, a))
        for other, its in antonyms(BASE_FORMS.get(b, b))
    )


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.term for word in words)
