"""What a metric is given about an answer, and the score that it gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from data.errors import RecordError
from data.records.questions import Passage
from data.records.vocabulary import Outcome

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricItem:
    """One answer with everything that a metric may hold it against.

    Attributes:
        id: Names the item in the scores.
        question: The text of the question.
        answer: The answer as submitted.
        passages: The passages of the question: the yardstick of comprehensiveness and factuality.
        reference: The human-written answer, where there is one.
        contexts: What the system was given: ranked passages, best first.
        aspects: Facets that a good answer addresses.
        sub_questions: What coverage counts.
        short_answers: Brief forms of the right answer.
        domain: The question's domain, for breakdowns.
    """

    id: str
    question: str
    answer: str
    passages: tuple[Passage, ...] = ()
    reference: str | None = None
    contexts: tuple[Passage, ...] = ()
    aspects: tuple[str, ...] = ()
    sub_questions: tuple[str, ...] = ()
    short_answers: tuple[str, ...] = ()
    domain: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one metric says of one answer.

    Attributes:
        id: The id of the item.
        metric: The name of the metric.
        outcome: `judged` exactly where there is a score. `unreadable` where the metric is undefined
            for the item or its LLM's replies could not be read, `refused`, `failed` and `skipped`
            (budget) as in judging.
        score: The value in the metric's own bounds, or None.
        details: What the score rests on, as JSON values; for an item without a score, `reason`.
    """

    id: str
    metric: str
    outcome: Outcome
    score: float | None = None
    details: Mapping[str, Json] = field(default_factory=lambda: NOTHING)

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.JUDGED) != (self.score is not None):
            message = (
                f"A score of {self.metric} for {self.id} that is {self.outcome} has the value {self.score}."
            )
            raise RecordError(message, advice="Only a judged one has a value.")
        if self.score is not None and not math.isfinite(self.score):
            message = f"The score of {self.metric} for {self.id} is {self.score}."
            raise RecordError(message, advice="Give an undefined score as unreadable, with its reason.")
        if self.outcome is not Outcome.JUDGED and not self.details.get("reason"):
            message = f"The score of {self.metric} for {self.id} is {self.outcome} without a reason."
            raise RecordError(message, advice="Put the reason into the details.")

    @property
    def reason(self) -> str:
        """Why there is no score; empty where there is one."""
        return str(self.details.get("reason", ""))


def unscored(item: MetricItem, metric: str, outcome: Outcome, reason: str) -> Score:
    """Return the score of an item that could not be scored, with the reason."""
    return Score(id=item.id, metric=metric, outcome=outcome, details={"reason": reason})
