"""Annotation: tasks for people, a pair as they see it, and what they said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from data.records.questions import Question

LARGEST_GRADE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationTask:
    """Pairs that people label; of `wanted` labels `done` are given. Closed ones take no more."""

    id: int
    name: str
    set_name: str
    overlap: int
    closed: bool
    pairs: int
    wanted: int
    done: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPair:
    """A pair of a new task by the store's numbers, with who labels it: account, whether b comes first."""

    question: int
    a: int
    b: int
    annotators: tuple[tuple[int, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindPair:
    """A pair as an annotator sees it: nothing tells whose answers they are."""

    id: int
    question: Question
    first: str
    second: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLabel:
    """One person's label of one pair; `grade` None until given, answers None where a text is gone."""

    position: int
    account: str
    grade: int | None
    comment: str
    question: Question
    system_a: str
    system_b: str
    answer_a: str | None
    answer_b: str | None
