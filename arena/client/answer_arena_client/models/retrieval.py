"""Relevance judgments, and boards of contexts without answers."""

from __future__ import annotations

from .base import Value


class Qrels(Value):
    """Relevance judgments of a set: what they hold, not what they say."""

    name: str
    kind: str
    relevant_from: float
    """The grade that counts as relevant."""
    questions: int
    without_relevant: int
    unjudged: int
    judgments: int
    relevant: int
    subtopics: int
    content_hash: str


class UsedQrels(Value):
    """The judgments of a board."""

    name: str
    kind: str
    relevant_from: float
    content_hash: str


class Measure(Value):
    """A measure of a board."""

    name: str
    label: str
    about: str
    trec: str
    """Its name in `trec_eval -q` output."""


class RetrievalEntrant(Value):
    """A system of a board."""

    system: str
    team: str
    version: int
    judged: float
    """Share of its first ten passages that were judged, 0-1."""


class RetrievalLine(Value):
    """A system by one measure in one domain."""

    system: str
    mean: float | None
    lower: float | None
    """95 % t interval over questions."""
    upper: float | None
    rank: int
    rank_lower: int
    rank_upper: int
    letters: str | None
    """Shared exactly by systems that no test separates."""
    questions: int
    missing: int
    """Questions that it retrieved nothing for; they count as 0."""
    undefined: int
    """Questions for which the measure does not exist."""


class RetrievalBoard(Value):
    """A board of contexts."""

    set: str
    qrels: UsedQrels
    choices: list[str]
    """The judgments that the set has."""
    content_hash: str
    questions: int
    without_relevant: int
    unjudged: int
    by_document: bool
    """Whether chunks count as their documents."""
    domains: list[str]
    measures: list[Measure]
    systems: list[RetrievalEntrant]
    lines: dict[str, dict[str, list[RetrievalLine]]]
    """By measure and domain."""


class RetrievalDifference(Value):
    """How much higher the first of two systems scores, in one domain."""

    domain: str
    difference: float | None
    lower: float | None
    upper: float | None
    p: float | None
    """Of the paired t test, two-sided."""
    separated: bool
    questions: int
    ahead: int
    behind: int


class RankedPassage(Value):
    """A passage of a ranking, or a relevant one that is missing from it."""

    rank: int | None
    id: str
    grade: float | None
    """None where nobody judged it."""
    relevant: bool
    subtopics: list[str]
    new: list[str]
    """Subtopics that no passage before it answers."""
    text: str
    title: str


class SystemRanking(Value):
    """What a system retrieved for a question."""

    system: str
    values: dict[str, float | None]
    shown: bool
    """Whether its passages are shown to you."""
    retrieved: int
    unjudged: int
    passages: list[RankedPassage]
    missed: list[RankedPassage]
    unanswered: list[str]


class QuestionRankings(Value):
    """A question of a board, and what systems retrieved for it."""

    question_id: str
    domain: str
    question: str
    relevant: int
    required: list[str]
    """The required subset of passages."""
    subtopics: dict[str, str]
    depth: int
    systems: list[SystemRanking]
