"""Ground truths: a reference, or passages, with the weights of their terms."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from data.models import ENGLISH, GroundTruth, Passage, Question
from judges.lexical.guards import Evidence
from judges.lexical.reading import Pair, Sentence, TextReading, read_text
from judges.lexical.settings import LexicalSettings
from judges.pairwise.cleaning import clean
from judges.text.contradictions import ContradictionFinder, TermWeights
from judges.text.languages import primary_code
from judges.text.statements import read_statement, read_statements
from judges.text.tokens import related, terms

LONE_TOPIC = 0.5
"""The least weight of a term of the question where the ground truth has no other term."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A question with the texts that answers to it may be compared with.

    Attributes:
        reference: The reference; empty without one, or where it is one of the answers.
    """

    question: str
    reference: str
    passages: tuple[Passage, ...]
    language: str


def texts_of(question: Question, *, against_reference: bool) -> Texts:
    """Return the texts of a question, in a battle against its reference or in any other."""
    return Texts(
        question=question.question,
        reference="" if against_reference else question.reference or "",
        passages=tuple(passage for passage in question.passages if passage.text.strip()),
        language=question.language,
    )


@dataclass(frozen=True)
class Point:
    """A sentence of a ground truth, the text that it is from, and how much of the question it speaks of."""

    sentence: Sentence
    source: str
    relevance: float = 1.0


@dataclass(frozen=True)
class LexicalGroundTruth:
    """A ground truth, read.

    Attributes:
        reference: The reference, read; None where the passages are the ground truth.
        passages: The sentences of the passages: the same ones where they are the ground truth.
        topic: The terms of the question.
        topic_weight: The weight of each of them; any other term weighs 1.
        evidence: The question's texts, by which word order and copies are told.
        witnesses: The passages, which an answer may contradict beside the reference.
    """

    kind: GroundTruth
    reference: TextReading | None
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
        reference = self.reference.sentences if self.reference else ()
        statements = (
            *(read_statement(sentence.text, "reference") for sentence in reference),
            *(
                statement
                for witness in self.witnesses
                for statement in read_statements(witness.text, source=witness.id)
            ),
        )
        weights = TermWeights.fit([statement.terms for statement in statements], self.question)
        return ContradictionFinder(statements, weights) if statements else None

    def weight(self, term: str) -> float:
        """Return the weight of a term."""
        return self.topic_weight if term in self.topic else 1.0

    def pair_weight(self, pair: Pair) -> float:
        """Return the weight of a pair of neighbouring terms."""
        return (self.weight(pair[0]) + self.weight(pair[1])) / 2

    def total(self, some: Iterable[str]) -> float:
        """Return the weight of terms together; summed exactly, so that their order does not matter."""
        return math.fsum(map(self.weight, some))

    def shares(self, points: Sequence[Point], text: TextReading, kin: float) -> list[float]:
        """Return the share of each sentence's weight that a text says, 0–1, related words counting `kin`."""
        return [
            min(1.0, self.share(point.sentence.said, text, kin) / self.total(point.sentence.said))
            for point in points
        ]

    def share(self, some: Iterable[str], text: TextReading, kin: float) -> float:
        """Return the weight of those of the terms that a text says, related words counting `kin`."""
        said, roots = text.said, text.roots
        return math.fsum(
            self.weight(term) * (1.0 if term in said else kin)
            for term in some
            if term in said or related(term) in roots
        )

    @cached_property
    def terms(self) -> frozenset[str]:
        """Every term of the reference and the passages."""
        return frozenset().union(*(point.sentence.terms for point in (*self.points, *self.passages)))

    @cached_property
    def matters(self) -> tuple[float, ...]:
        """The weight of each sentence of the passages, by how much of the question it speaks of."""
        return tuple(self.total(point.sentence.said) * point.relevance for point in self.passages)

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place, point in enumerate(self.passages):
            for term in point.sentence.said:
                found.setdefault(term, []).append(place)
        return found

    def closest(self, some: Sequence[str]) -> tuple[float, int | None]:
        """Return the passages' first sentence with most of the weight of some terms, and its share."""
        values: dict[int, float] = {}
        for term in some:
            for place in self._places.get(term, ()):
                values[place] = values.get(place, 0.0) + self.weight(term)
        most = max(values.values(), default=0.0)
        return most, min((place for place, value in values.items() if value == most), default=None)


def read_ground_truth(
    texts: Texts, *, preferred: GroundTruth, settings: LexicalSettings
) -> LexicalGroundTruth | None:
    """Read what answers are compared with; None where there is nothing.

    Unless something is preferred, the reference is the ground truth where there is one and it is no opponent,
    else the passages.
    """
    code = primary_code(texts.language)
    passages = tuple(read_text(passage.text, code) for passage in texts.passages)
    reference = read_text(clean(texts.reference), code)
    passages_first = preferred is GroundTruth.PASSAGES and any(text.sentences for text in passages)
    use_reference = bool(reference.sentences) and not passages_first
    topic = frozenset(terms(texts.question, code))
    of_passages = _points([passage.id for passage in texts.passages], passages, topic)
    points = tuple(
        Point(sentence, "reference") for sentence in reference.sentences if use_reference and sentence.said
    ) or (of_passages if use_reference or preferred is not GroundTruth.REFERENCE else ())
    if not points:
        return None
    lone = all(point.sentence.said <= topic for point in points)
    return LexicalGroundTruth(
        kind=GroundTruth.REFERENCE if use_reference else GroundTruth.PASSAGES,
        reference=reference if use_reference else None,
        points=points,
        passages=of_passages,
        topic=topic,
        topic_weight=max(settings.topic, LONE_TOPIC) if lone else settings.topic,
        evidence=Evidence((reference, *passages) if use_reference else passages, passages),
        language=code,
        question=texts.question,
        witnesses=texts.passages,
    )


def _points(names: Sequence[str], texts: Sequence[TextReading], topic: frozenset[str]) -> tuple[Point, ...]:
    """Return the sentences of named texts that say something, with how much of the question each has.

    Rare words count more; the best sentence has 1.
    """
    sentences = [
        (sentence, source)
        for source, text in zip(names, texts, strict=True)
        for sentence in text.sentences
        if sentence.said
    ]
    having = Counter(term for sentence, _ in sentences for term in sentence.said & topic)
    rarity = {term: math.log((1 + len(sentences)) / (1 + having[term])) + 1 for term in topic}
    shares = [math.fsum(rarity[term] for term in sentence.said & topic) for sentence, _ in sentences]
    most = max(shares, default=0.0)
    return tuple(
        Point(sentence, source, share / most if most else 1.0)
        for (sentence, source), share in zip(sentences, shares, strict=True)
    )
