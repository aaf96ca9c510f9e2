"""What teams bring: answers, cards, submissions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from data.records.policies import DEFAULT_PHASE
from data.records.questions import Passage, require_name
from data.records.vocabulary import SubmissionState


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A system's text for one question, with the passages it was given (its context)."""

    question_id: str
    answer: str
    contexts: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCard:
    """What a team says of its system; every field is optional."""

    model: str = ""
    retriever: str = ""
    passages: str = ""
    organisation: str = ""
    licence: str = ""
    link: str = ""
    contact: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One system's file of answers to one question set, without the answers themselves.

    Attributes:
        team: Name of the team, empty for none.
        state: What is stored of its life: `checked`, `accepted` or `withdrawn`; the rest is derived.
        phase: The phase of the set in which it came.
        anonymous: Whether its names are hidden from others until a board with it is published.
        selected: Whether the team chose this version to stand for the system.
        withdrawn_at: When it was withdrawn, None otherwise.
        withdrawn_reason: Why, in the team's words; may be empty.
    """

    id: int
    set_name: str
    system: str
    team: str
    version: int
    state: SubmissionState
    card: SystemCard
    content_hash: str
    answers: int
    no_answers: int
    created_at: datetime
    phase: str = DEFAULT_PHASE
    anonymous: bool = False
    selected: bool = False
    withdrawn_at: datetime | None = None
    withdrawn_reason: str = ""

    def __post_init__(self) -> None:
        require_name(self.system, "System name")
