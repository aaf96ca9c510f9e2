"""What every pairwise judge takes and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from data.records import Question, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A battle as a judge sees it: no system names, only a question and two texts.

    Attributes:
        battle_id: Seeds everything random about the judging of this battle.
        question: The question with whatever yardstick it carries.
        answer_a: The text of side a, as submitted.
        answer_b: The text of side b, as submitted.
        reference_side: "a" or "b" where that side *is* the human-written reference, else None. It
            is never shown; a judge whose yardstick is the reference needs it to decline.
    """

    battle_id: str
    question: Question
    answer_a: str
    answer_b: str
    reference_side: str | None = None


@runtime_checkable
class Judge(Protocol):
    """Settles battles. Failures are outcomes, not exceptions, unless judging cannot go on at all."""

    @property
    def name(self) -> str:
        """The name of the judge spec."""
        ...

    async def judge(self, contest: Contest) -> Verdict:
        """Settle one battle.

        Raises:
            JudgeError: Judging as a whole cannot go on (circuit open, replay miss, budget gone).
        """
        ...
