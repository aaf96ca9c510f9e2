"""How texts bear on each other, whoever tells: words, an NLI model, or an LLM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from data.models import Passage
from judges.llm.requests import CallFailure

QUESTION_CACHE_SIZE = 64
"""Questions whose own texts a metric keeps as read: answers to one are scored one after the other."""


class Entailment(StrEnum):
    """How a premise bears on a hypothesis."""

    ENTAILMENT = "entailment"
    CONTRADICTION = "contradiction"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Pair:
    """An ordered pair of texts."""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Related:
    """How a premise bears on a hypothesis.

    Attributes:
        stance: Entailment, contradiction or neither.
        probability: How sure that is.
        why: The wording of the premise that decided, where it is known.
    """

    stance: Entailment
    probability: float
    why: str = ""


def text_of(passage: Passage) -> str:
    """A passage as a premise: its title, then its text."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


class RelationModel(Protocol):
    """Tells how texts bear on each other."""

    async def relate(self, pairs: Sequence[Pair], *, question: str) -> list[Related | CallFailure]:
        """Return one relation a pair, in their order.

        Raises:
            JudgeError: Asking as a whole cannot go on.
        """
        ...
