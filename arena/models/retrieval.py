"""Relevance judgments, and boards of contexts without answers."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from arena.models.base import LOWER, UPPER, Value, one_of

QrelsKind = Annotated[str, one_of("graded", "diversity", "ratings")]


class UsedQrels(Value):
    """The judgments of a board."""

    name: str
    kind: QrelsKind
    relevant_from: float
    """The grade that counts as relevant."""
    content_hash: str


class Qrels(Value):
    """Relevance judgments of a set: what they hold, not what they say."""

    name: str
    kind: QrelsKind
    relevant_from: float
    """The grade that counts as relevant."""
    questions: int
    """Questions of which passages were judged."""
    without_relevant: int
    """Those of them without a relevant passage."""
    unjudged: int
    """Questions of the set without any judgment."""
    judgments: int
    relevant: int
    subtopics: int
    content_hash: str


class Measure(Value):
    """A measure of a board."""

    name: str
    label: str
    about: str
    trec: str = Field(validation_alias=AliasChoices("trec", "trec_name"))
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
    lower: float | None = Field(None, validation_alias=LOWER)
    """95 % t interval over questions."""
    upper: float | None = Field(None, validation_alias=UPPER)
    rank: int
    rank_lower: int
    """The best place that the questions leave open."""
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
    lower: float | None = Field(None, validation_alias=LOWER)
    upper: float | None = Field(None, validation_alias=UPPER)
    p: float | None = Field(validation_alias=AliasChoices("p", "p_value"))
    """Of the paired t test, two-sided."""
    separated: bool = Field(validation_alias=AliasChoices("separated", "significant"))
    questions: int
    ahead: int
    behind: int


class RankedPassage(Value):
    """A passage of a ranking, or a relevant one that is missing from it."""

    rank: int | None
    """From 1; null where it was not retrieved."""
    id: str
    grade: float | None
    """The highest that it was given; null where nobody judged it."""
    relevant: bool
    subtopics: list[str]
    """Those that it answers."""
    new: list[str]
    """Subtopics that no passage before it answers."""
    text: str
    """Empty where it is not known; `title` likewise."""
    title: str


class SystemRanking(Value):
    """What a system retrieved for a question."""

    system: str
    values: dict[str, float | None]
    """By measure; null where it does not exist."""
    shown: bool
    """Whether its passages are shown to you: those of your own team, or published."""
    retrieved: int
    """How many passages in all; 0 where the question is missing from its file."""
    unjudged: int
    """How many of those that are listed nobody judged."""
    passages: list[RankedPassage]
    missed: list[RankedPassage]
    """Relevant passages that are not among those, with their ranks where they come later."""
    unanswered: list[str]
    """Subtopics that none of the listed passages answers."""


class QuestionRankings(Value):
    """A question of a board, and what systems retrieved for it."""

    question_id: str
    domain: str
    question: str
    relevant: int
    """How many passages are relevant."""
    required: list[str]
    """The required subset of passages, Z*; empty without subtopics."""
    subtopics: dict[str, str]
    """What each subtopic asks, by its id; empty texts where that is not known."""
    depth: int
    """How many passages of a ranking are listed."""
    systems: list[SystemRanking]
