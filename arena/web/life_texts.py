"""Where a submission stands, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from arena.services.lives import Life
from data.records import Submission, SubmissionState

NEXT: Mapping[SubmissionState, str] = MappingProxyType(
    {
        SubmissionState.DRAFT: "It has not passed the check.",
        SubmissionState.CHECKED: "Checked and stored, not submitted yet: it does not count. Submit it below.",
        SubmissionState.ACCEPTED: "Accepted. Next, the organisers plan a round that takes it.",
        SubmissionState.QUEUED: "Waiting to be judged, or being judged now.",
        SubmissionState.JUDGED: "Judged. Next, the organisers publish the board; then its report is here.",
        SubmissionState.PUBLISHED: "On a published board. Its report says what to improve.",
        SubmissionState.WITHDRAWN: "Withdrawn: its texts are shown to nobody, and this line stays.",
    }
)


def moment(at: datetime | None) -> str:
    """A moment to the minute, in UTC; a dash where it is not known."""
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def queue_of(life: Life) -> str:
    """Place in the queue; a dash where it is not in it."""
    return "–" if life.position is None else f"{life.position}"


def attempt_of(life: Life) -> str:
    """Which of the judged versions of its system it is."""
    if life.attempt is None:
        return "not judged" if not life.attempts else f"not judged ({life.attempts} others were)"
    return f"{ordinal(life.attempt)} of {life.attempts} judged versions"


def ordinal(number: int) -> str:
    """1 → 1st, 2 → 2nd, 11 → 11th."""
    last, teens = number % 10, 10 <= number % 100 <= 20  # noqa: PLR2004 - 11th to 13th
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th')}"


def next_of(one: Submission, life: Life) -> str:
    """What a submission waits for, in a sentence."""
    if life.state is SubmissionState.WITHDRAWN and one.withdrawn_reason:
        return f"{NEXT[life.state]} Reason: {one.withdrawn_reason}"
    return NEXT[life.state]


def title_of(one: Submission) -> str:
    """A submission's name for people."""
    return f"{one.system}, version {one.version}, on {one.set_name} (submission {one.id})"
