"""Retrieval: the passages that a system found for a question, and which passages are relevant to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType

from data.errors import RecordError
from data.records.questions import require_name

WHOLE = "0"
"""The subtopic of a judgment of the question as a whole, as TREC writes it."""
RELEVANT = 1.0
Grades = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage at its place in a ranking; its text is empty where the file had ids alone."""

    id: str
    score: float
    text: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The passages that a system retrieved for a question, best first, each once."""

    question_id: str
    passages: tuple[RankedPassage, ...]


class QrelsKind(StrEnum):
    """What relevance judgments judge."""

    GRADED = "graded"
    """Each passage for the question as a whole."""
    DIVERSITY = "diversity"
    """Each passage for subtopics (nuggets) of the question."""
    RATINGS = "ratings"
    """Each passage for sub-questions, on CRUX's scale of 0 to 5."""


@dataclass(frozen=True, kw_only=True)
class Qrels:
    """Relevance judgments of the questions of a set.

    Attributes:
        name: Its name among those of the set.
        kind: What was judged.
        relevant_from: The grade from which on a passage is relevant; CRUX's η for ratings.
        judgments: Grades by question, subtopic and passage; without subtopics all stand under `WHOLE`.
        content_hash: sha256 of the judgments.
        created_at: When they were attached; None for those that the set itself brings.
    """

    name: str
    kind: QrelsKind
    relevant_from: float = RELEVANT
    judgments: Mapping[str, Mapping[str, Grades]]
    content_hash: str = ""
    created_at: datetime | None = None

    def __post_init__(self) -> None:
        require_name(self.name, "Name of the judgments")
        if self.relevant_from <= 0:
            message = f"Passages would be relevant from the grade {self.relevant_from:g}."
            raise RecordError(message, advice="Give a grade above 0.")

    @property
    def has_subtopics(self) -> bool:
        """Whether passages are judged for subtopics."""
        return self.kind is not QrelsKind.GRADED

    @cached_property
    def grades(self) -> Mapping[str, Grades]:
        """The grade of each judged passage by question: the highest over its subtopics."""
        best: dict[str, dict[str, float]] = {}
        for question, subtopics in self.judgments.items():
            own = best.setdefault(question, {})
            for grades in subtopics.values():
                for passage, grade in grades.items():
                    own[passage] = max(own.get(passage, grade), grade)
        return MappingProxyType(best)

    @cached_property
    def relevant(self) -> Mapping[str, frozenset[str]]:
        """The relevant passages of each question that has any."""
        relevant = {
            question: frozenset(passage for passage, grade in grades.items() if grade >= self.relevant_from)
            for question, grades in self.grades.items()
        }
        return MappingProxyType({question: found for question, found in relevant.items() if found})

    def answering(self, question: str) -> dict[str, frozenset[str]]:
        """The relevant passages of each subtopic of a question that has any."""
        found = {
            subtopic: frozenset(passage for passage, grade in grades.items() if grade >= self.relevant_from)
            for subtopic, grades in self.judgments.get(question, {}).items()
        }
        return {subtopic: passages for subtopic, passages in found.items() if passages}
