"""When a set takes submissions, and how many: phases and quotas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from data.errors import RecordError
from data.models.questions import DEFAULT_PHASE, require_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A span of time in which a set takes submissions, with its limits.

    Attributes:
        name: Its name within the set.
        opens_at: From when on; None since always.
        closes_at: Until when, that moment excluded; None for ever.
        daily_quota: Submissions of one team a day (UTC) that count; None without limit.
        total_quota: Submissions of one team in the phase that count; None without limit.
        file_mb: Largest file in MiB, decompressed; None as the installation says.
        answer_chars: Longest answer in characters; None as the checker says.
    """

    name: str = DEFAULT_PHASE
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    daily_quota: int | None = None
    total_quota: int | None = None
    file_mb: int | None = None
    answer_chars: int | None = None

    def __post_init__(self) -> None:
        require_name(self.name, "Phase name")
        for moment in (self.opens_at, self.closes_at):
            if moment is not None and moment.tzinfo is None:
                raise RecordError(
                    f"A moment of phase {self.name} has no time zone.", advice="Write 2026-05-01T12:00Z."
                )
        if self.opens_at and self.closes_at and self.opens_at >= self.closes_at:
            raise RecordError(f"Phase {self.name} closes before it opens.", advice="Mend the two moments.")
        for label in ("daily_quota", "total_quota", "file_mb", "answer_chars"):
            value = getattr(self, label)
            if value is not None and value < 1:
                raise RecordError(f"{label} of phase {self.name} is {value}.", advice="Use 1 or more.")

    def opened(self, at: datetime) -> bool:
        """Whether submissions are taken at a moment."""
        return (self.opens_at is None or self.opens_at <= at) and (
            self.closes_at is None or at < self.closes_at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPolicy:
    """What holds for submissions to a set; without phases it is always open, without quotas.

    `public_texts` is False where its licence forbids showing texts to everybody.
    """

    set_name: str
    phases: tuple[Phase, ...] = ()
    hidden_references: bool = False
    public_texts: bool = True

    def __post_init__(self) -> None:
        require_apart(self.phases)

    def current(self, at: datetime) -> Phase | None:
        """The phase that is open at a moment; None where none is."""
        if not self.phases:
            return Phase()
        return next((phase for phase in self.phases if phase.opened(at)), None)

    def nearest(self, at: datetime) -> Phase:
        """The phase that is open at a moment, else the next to open, else the last; for its limits."""
        later = [phase for phase in self.phases if phase.opens_at is not None and phase.opens_at > at]
        upcoming = sorted(later, key=lambda phase: phase.opens_at or at)
        return self.current(at) or (upcoming[0] if upcoming else self.phases[-1])


def require_apart(phases: Sequence[Phase]) -> None:
    """Refuse phases of one name, or of which two are open at once.

    Raises:
        RecordError: There are such.
    """
    for place, one in enumerate(phases):
        for other in phases[place + 1 :]:
            if one.name == other.name:
                raise RecordError(f"Two phases are called {one.name}.", advice="Give each its own name.")
            if _begins_before_end(one, other) and _begins_before_end(other, one):
                raise RecordError(
                    f"The phases {one.name} and {other.name} are open at the same time.",
                    advice="Close one before the other opens.",
                )


def _begins_before_end(one: Phase, other: Phase) -> bool:
    return one.opens_at is None or other.closes_at is None or one.opens_at < other.closes_at
