"""What an organiser has to look at, and what they decided."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from data.records.vocabulary import Presentation


class ConcernKind(StrEnum):
    """What may be wrong."""

    NEAR_COPIES = "near-copies"
    JUDGE_DIRECTED = "judge-directed"
    SAME_ANSWERS = "same-answers"
    INJECTIONS = "injections"
    CAP_REACHED = "cap-reached"
    JUDGE_CONDUCT = "judge-conduct"
    DISPUTE = "dispute"

    @property
    def words(self) -> str:
        """In a few words."""
        return _WORDS[self]


class Decision(StrEnum):
    """What an organiser decided of a concern."""

    OPEN = "open"
    ACCEPTED = "accepted"
    ASKED = "asked"
    EXCLUDED = "excluded"
    DISQUALIFIED = "disqualified"
    DISMISSED = "dismissed"
    UPHELD = "upheld"
    CORRECTED = "corrected"


_WORDS = {
    ConcernKind.NEAR_COPIES: "answers copied from references",
    ConcernKind.JUDGE_DIRECTED: "text that speaks to the judge",
    ConcernKind.SAME_ANSWERS: "answers of another team",
    ConcernKind.INJECTIONS: "injections that a judge obeyed",
    ConcernKind.CAP_REACHED: "a cap that was reached",
    ConcernKind.JUDGE_CONDUCT: "a judge that judges badly",
    ConcernKind.DISPUTE: "a judgment that somebody disputes",
}
OF_SUBMISSIONS = (
    *(Decision.ACCEPTED, Decision.ASKED, Decision.EXCLUDED),
    *(Decision.DISQUALIFIED, Decision.DISMISSED),
)
OF_ROUNDS = (Decision.ACCEPTED, Decision.DISMISSED)
OF_DISPUTES = (Decision.UPHELD, Decision.CORRECTED, Decision.DISMISSED)
CORRECTION = "corrected by the organisers: "
"""What the detail of a verdict begins with that organisers corrected; the reason follows."""
WAITING = (Decision.OPEN, Decision.ASKED)
"""The decisions that leave something to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewConcern:
    """Something to look at.

    Attributes:
        kind: What may be wrong.
        key: Names the occasion: of one key there is one concern, however often it is found.
        text: What happened, in a sentence.
        evidence: What shows it, a line each.
        submission_id: The submission that it is about, if any.
        round_id: The round that it is about, if any.
        battle_id: The battle whose judgment is disputed, if any.
        judge: The judge of that judgment.
        presentation: The order of its answers.
        raised_by: The account that raised it; empty where the arena did, or a reader without one.
        reporter: A pseudonym that tells reporting readers apart; empty where the arena raised it.
    """

    kind: ConcernKind
    key: str
    text: str
    evidence: tuple[str, ...] = ()
    submission_id: int | None = None
    round_id: int | None = None
    battle_id: int | None = None
    judge: str = ""
    presentation: Presentation | None = None
    raised_by: str = ""
    reporter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concern(NewConcern):
    """A concern as it is stored, with the names of what it is about."""

    id: int
    decision: Decision
    reason: str
    decided_by: str
    decided_at: datetime | None
    created_at: datetime
    system: str
    team: str
    set_name: str
    round_name: str

    @property
    def choices(self) -> tuple[Decision, ...]:
        """What may be decided of it."""
        if self.kind is ConcernKind.DISPUTE:
            return OF_DISPUTES
        return OF_ROUNDS if self.submission_id is None else OF_SUBMISSIONS

    @property
    def waits(self) -> bool:
        """Whether somebody has to decide."""
        return self.decision in WAITING
