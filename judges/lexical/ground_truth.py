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
from judges.text.tokens import measured_terms, related

LONE_TOPIC = 0.5
"""Minimum weight of terms of the question if the ground truth has no other terms."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A question and the texts that answers may be compared with."""

    question: str
    reference: str
    passages: tuple[Passage, ...]
    language: str


def texts_of(question: Question, *, against_reference: bool) -> Texts:
    """Return the texts of a question, without the reference in a battle against it."""
    return Texts(
        question=question.question,
        reference="" if against_reference else question.reference or "",
        passages=tuple(passage for passage in question.passages if passage.text.strip()),
        language=question.language,
    )


@dataclass(frozen=True)
class Point:
    """A sentence of a ground truth, its source, and its relevance to the question."""

    sentence: Sentence
    source: str
    relevance: float = 1.0


@dataclass(frozen=True)
class LexicalGroundTruth:
    """A parsed ground truth.

    Attributes:
        reference: The parsed reference; None if the passages are the ground truth.
        passages: Sentences of the passages; equal to `points` if they are the ground truth.
        witnesses: Passages that an answer may contradict, in addition to the reference.
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
        """Finder of contradictions with the question's texts; None except in English."""
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

    def total(self, bag: Iterable[str]) -> float:
        """Return the total weight of terms; `fsum` makes it independent of their order."""
        return math.fsum(map(self.weight, bag))

    def shares(self, points: Sequence[Point], text: TextReading, kin: float) -> list[float]:
        """Return the share of each sentence's weight that a text covers, 0–1; related words count `kin`."""
        return [
            min(1.0, self.share(point.sentence.live_set, text, kin) / self.total(point.sentence.live_set))
            for point in points
        ]

    def share(self, bag: Iterable[str], text: TextReading, kin: float) -> float:
        """Return the weight of the terms that a text covers; related words count `kin`."""
        counts, roots = text.live_counts, text.roots
        return math.fsum(
            self.weight(term) * (1.0 if term in counts else kin)
            for term in bag
            if term in counts or related(term) in roots
        )

    @cached_property
    def terms(self) -> frozenset[str]:
        """All terms of the reference and the passages."""
        return frozenset().union(*(point.sentence.terms for point in (*self.points, *self.passages)))

    @cached_property
    def matters(self) -> tuple[float, ...]:
        """Weight of each sentence of the passages, scaled by its relevance."""
        return tuple(self.total(point.sentence.live_set) * point.relevance for point in self.passages)

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, point in enumerate(self.passages):
            for term in point.sentence.live_set:
                places.setdefault(term, []).append(place)
        return places

    def closest(self, bag: Sequence[str]) -> tuple[float, int | None]:
        """Return the largest weight of the terms in one sentence of the passages, and its index."""
        values: dict[int, float] = {}
        for term in bag:
            for place in self._places.get(term, ()):
                values[place] = values.get(place, 0.0) + self.weight(term)
        most = max(values.values(), default=0.0)
        return most, min((place for place, value in values.items() if value == most), default=None)


def read_ground_truth(
    texts: Texts, *, preferred: GroundTruth, settings: LexicalSettings
) -> LexicalGroundTruth | None:
    """Parse the ground truth; None if the question has none.

    By default this is the reference, unless it is missing or an opponent, and otherwise the passages.
    """
    code = primary_code(texts.language)
    passages = tuple(read_text(passage.text, code) for passage in texts.passages)
    reference = read_text(clean(texts.reference), code)
    passages_first = preferred is GroundTruth.PASSAGES and any(text.sentences for text in passages)
    use_reference = bool(reference.sentences) and not passages_first
    topic = frozenset(measured_terms(texts.question, code))
    of_passages = _points([passage.id for passage in texts.passages], passages, topic)
    points = tuple(
        Point(sentence, "reference")
        for sentence in reference.sentences
        if use_reference and sentence.live_set
    ) or (of_passages if use_reference or preferred is not GroundTruth.REFERENCE else ())
    if not points:
        return None
    lone = all(point.sentence.live_set <= topic for point in points)
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
    """Return sentences with their relevance, 1 for the best; rare terms of the question count more."""
    sentences = [
        (sentence, source)
        for source, text in zip(names, texts, strict=True)
        for sentence in text.sentences
        if sentence.live_set
    ]
    frequency = Counter(term for sentence, _ in sentences for term in sentence.live_set & topic)
    rarity = {term: math.log((1 + len(sentences)) / (1 + frequency[term])) + 1 for term in topic}
    shares = [math.fsum(rarity[term] for term in sentence.live_set & topic) for sentence, _ in sentences]
    most = max(shares, default=0.0)
    return tuple(
        Point(sentence, source, share / most if most else 1.0)
        for (sentence, source), share in zip(sentences, shares, strict=True)
    )
