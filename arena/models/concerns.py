"""What needs an organiser, and disputes of judgments."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from arena.models.base import Value, one_of


class Concern(Value):
    """Something that may be wrong, with what was decided."""

    id: int
    kind: Annotated[
        str,
        one_of(
            "near-copies",
            "judge-directed",
            "same-answers",
            "injections",
            "cap-reached",
            "judge-conduct",
            "dispute",
        ),
    ]
    text: str
    """What happened; of a dispute what the reader wrote."""
    evidence: tuple[str, ...]
    """What shows it, a line each."""
    submission_id: int | None
    system: str
    team: str
    set_name: str
    round_name: str
    judge: str
    presentation: str | None
    raised_by: str
    """The account that disputed a judgment; empty for readers without one, and where the arena found it."""
    decision: Annotated[
        str,
        one_of("open", "accepted", "asked", "excluded", "disqualified", "dismissed", "upheld", "corrected"),
    ]
    reason: str
    """Why it was decided so: the answer to whoever raised it."""
    decided_by: str
    decided_at: datetime | None
    created_at: datetime


class ConcernList(Value):
    """Concerns, in order."""

    concerns: tuple[Concern, ...]
