"""What answers to one question are held against: a reference, or passages, with their terms' weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from data.records import ENGLISH, GroundTruth, Passage
from judges.lexical.asked import AskedQuestion
from judges.lexical.evidence import Evidence
from judges.lexical.reading import Sentence, TextReading, read_text
from judges.lexical.settings import LexicalSettings
from judges.lexical.sought import Sought
from judges.pairwise.cleaning import clean
from judges.text.contradictions import ContradictionFinder
from judges.text.languages import primary_code
from judges.text.overlap import TermWeights
from judges.text.statements import read_statements
from judges.text.tokens import related, terms

LONE_TOPIC = 0.5
"""What a term of the question weighs at least where the ground truth has no other term."""


@dataclass(frozen=True)
class Point:
    """A sentence of a ground truth, the text that it is from, and how much of the question it speaks of."""

    sentence: Sentence
    source: str
    relevance: float = 1.0


class PointIndex:
    """Finds how much of each of many sentences a text says, without holding it against every one.

    Args:
        points: The sentences.
        weight: What a term weighs.
    """

    def __init__(self, points: Sequence[Point], weight: Callable[[str], float]) -> None:
        self._points = tuple(points)
        self._weight = weight

    @cached_property
    def masses(self) -> tuple[float, ...]:
        """What the different terms of each sentence weigh; summed exactly, so that order does not matter."""
        return tuple(math.fsum(map(self._weight, point.sentence.said)) for point in self._points)

    @cached_property
    def matters(self) -> tuple[float, ...]:
        """What each sentence counts: its weight, by how much of the question it speaks of."""
        return tuple(mass * point.relevance for mass, point in zip(self.masses, self._points, strict=True))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """For each term, the places of the sentences that have it, as the bits of a number.

        Numbers, as lists for every term of every question would be kept, and looked through again and again
        by the collection of garbage.
        """
        found: dict[str, int] = {}
        for place, point in enumerate(self._points):
            bit = 1 << place
            for term in point.sentence.live_terms:
                found[term] = found.get(term, 0) | bit
        return found

    @cached_property
    def _kin(self) -> Mapping[str, str]:
        """For what words are kin by, the terms that are, with spaces between them."""
        found: dict[str, str] = {}
        for term in self.places:
            root = related(term)
            found[root] = f"{found[root]} {term}" if root in found else term
        return found

    def shares(self, text: TextReading, kin: float) -> tuple[float, ...]:
        """The share of each sentence's weight that a text says, 0–1, related words counting `kin`."""
        said, places, known = text.said, self.places, self._kin
        values = [0.0] * len(self._points)
        for root in text.roots:
            for term in known[root].split() if root in known else ():
                worth = self._weight(term) * (1.0 if term in said else kin)
                for place in bits(places[term]):
                    values[place] += worth
        return tuple(min(1.0, value / mass) for value, mass in zip(values, self.masses, strict=True))

    def closest(self, terms: Sequence[tuple[str, float]]) -> tuple[float, int | None]:
        """The first sentence that has most of the weight of some weighed terms, and how much it has."""
        values: dict[int, float] = {}
        for term, weight in terms:
            for place in bits(self.places.get(term, 0)):
                values[place] = values.get(place, 0.0) + weight
        if not values:
            return 0.0, None
        most = max(values.values())
        return most, min(place for place, value in values.items() if value == most)


def bits(number: int) -> Iterator[int]:
    """The places of a number's bits, from the lowest."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


@dataclass(frozen=True)
class LexicalGroundTruth:
    """A ground truth, read.

    Attributes:
        kind: Whether it is the reference or the passages.
        points: Its sentences.
        passages: The sentences of the passages: the same ones where they are the ground truth.
        topic: The terms of the question.
        topic_weight: What each of them weighs; any other term weighs 1.
        evidence: The question's texts, by which word order and copies are told.
        language: The set's.
        question: The question.
        witnesses: The texts that an answer may contradict.
    """

    kind: GroundTruth
    texts: tuple[TextReading, ...]
    points: tuple[Point, ...]
    passages: tuple[Point, ...]
    topic: frozenset[str]
    topic_weight: float
    evidence: Evidence
    language: str
    question: str
    witnesses: tuple[Passage, ...]

    @cached_property
    def contradictions(self) -> ContradictionFinder | None:
        """Finds what contradicts the question's texts; None where their language has no opposites here."""
        if self.language != ENGLISH:
            return None
        statements = tuple(
            statement
            for witness in self.witnesses
            for statement in read_statements(witness.text, source=witness.id)
        )
        weights = TermWeights.fit([statement.terms for statement in statements], self.question)
        return ContradictionFinder(statements, weights) if statements else None

    def weight(self, term: str) -> float:
        """What a term weighs."""
        return self.topic_weight if term in self.topic else 1.0

    def total(self, some: Iterable[str]) -> float:
        """What terms weigh together; summed exactly, so that their order does not matter."""
        return math.fsum(self.topic_weight if term in self.topic else 1.0 for term in some)

    @cached_property
    def sought(self) -> Sought:
        """What its sentences say, weighed."""
        return self.weigh([point.sentence for point in self.points], live=True)

    def weigh(self, sentences: Sequence[Sentence], *, live: bool) -> Sought:
        """The terms of sentences with what they weigh."""
        return Sought(sentences, self.topic, self.topic_weight, live)

    @cached_property
    def index(self) -> PointIndex:
        """Its sentences by their terms."""
        return PointIndex(self.points, self.weight)

    @cached_property
    def passage_index(self) -> PointIndex:
        """The sentences of the passages by their terms."""
        return PointIndex(self.passages, self.weight) if self.passages != self.points else self.index


def read_ground_truth(
    asked: AskedQuestion, *, preferred: GroundTruth, settings: LexicalSettings
) -> LexicalGroundTruth | None:
    """Read what answers to a question are held against; None where it has nothing to hold them against.

    Unless something is preferred, the reference is the ground truth where there is one and it is no opponent,
    else the passages.

    Args:
        asked: The question with its texts.
        preferred: `passages` to take them before the reference, `reference` to take nothing else.
        settings: The constants.
    """
    code = primary_code(asked.language)
    passages = tuple(read_text(passage.text, code) for passage in asked.passages)
    reference = read_text(clean(asked.reference), code)
    passages_first = preferred is GroundTruth.PASSAGES and any(text.sentences for text in passages)
    use_reference = bool(reference.sentences) and not passages_first
    texts = (reference,) if use_reference else () if preferred is GroundTruth.REFERENCE else passages
    topic = frozenset(terms(asked.text, code))
    of_passages = _points([passage.id for passage in asked.passages], passages, topic)
    points = tuple(
        Point(sentence, "reference") for sentence in reference.sentences if use_reference and sentence.said
    ) or (of_passages if texts else ())
    if not points:
        return None
    lone = all(point.sentence.said <= topic for point in points)
    return LexicalGroundTruth(
        kind=GroundTruth.REFERENCE if use_reference else GroundTruth.PASSAGES,
        texts=texts,
        points=points,
        passages=of_passages,
        topic=topic,
        topic_weight=max(settings.topic, LONE_TOPIC) if lone else settings.topic,
        evidence=Evidence((*texts, *passages) if use_reference else passages, passages),
        language=code,
        question=asked.text,
        witnesses=(
            *([Passage("reference", clean(asked.reference))] if use_reference else []),
            *asked.passages,
        ),
    )


def _points(names: Sequence[str], texts: Sequence[TextReading], topic: frozenset[str]) -> tuple[Point, ...]:
    """The sentences of named texts that say something, with what they have to do with the question."""
    sentences = [
        (sentence, source)
        for source, text in zip(names, texts, strict=True)
        for sentence in text.sentences
        if sentence.said
    ]
    relevance = _relevance([sentence for sentence, _ in sentences], topic)
    return tuple(Point(*each, weight) for each, weight in zip(sentences, relevance, strict=True))


def _relevance(sentences: Sequence[Sentence], topic: frozenset[str]) -> list[float]:
    """How much of the question each sentence has, rare words counting more; the best has 1."""
    having = Counter(term for sentence in sentences for term in sentence.said & topic)
    rarity = {term: math.log((1 + len(sentences)) / (1 + having[term])) + 1 for term in topic}
    shares = [math.fsum(rarity[term] for term in sentence.said & topic) for sentence in sentences]
    most = max(shares, default=0.0)
    return [share / most for share in shares] if most else [1.0] * len(sentences)
