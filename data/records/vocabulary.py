"""The closed sets of words that records use (glossary: docs/glossary.md)."""

from __future__ import annotations

from enum import StrEnum


class Preference(StrEnum):
    """Which of a battle's two answers is better."""

    A = "a"
    B = "b"
    TIE = "tie"

    @property
    def flipped(self) -> Preference:
        """The same preference with the two answers exchanged."""
        match self:
            case Preference.A:
                return Preference.B
            case Preference.B:
                return Preference.A
            case Preference.TIE:
                return Preference.TIE


class Importance(StrEnum):
    """Whether a good answer must have a nugget, or may (the grades of TREC's RAG track)."""

    VITAL = "vital"
    OKAY = "okay"


class Outcome(StrEnum):
    """How a planned battle or judgment ended; these add up to what was planned."""

    JUDGED = "judged"
    UNREADABLE = "unreadable"
    REFUSED = "refused"
    FAILED = "failed"
    SKIPPED = "skipped"
    MISSING = "missing"


class Presentation(StrEnum):
    """Which answer the judge was shown first."""

    A_FIRST = "ab"
    B_FIRST = "ba"

    @property
    def other(self) -> Presentation:
        """The swapped presentation."""
        return Presentation.B_FIRST if self is Presentation.A_FIRST else Presentation.A_FIRST


class OrderPolicy(StrEnum):
    """How a judge chooses presentations."""

    PAPER = "paper"
    RANDOM = "random"
    BOTH = "both"


class GroundTruth(StrEnum):
    """What a judge holds answers against, beside each other."""

    NONE = "none"
    REFERENCE = "reference"
    PASSAGES = "passages"


class JudgeKind(StrEnum):
    """The families of judges."""

    LLM = "llm"
    PANEL = "panel"
    LEXICAL = "lexical"
    FUNCTION = "function"


class RoundState(StrEnum):
    """The states of a round."""

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    FINISHED = "finished"
    PUBLISHED = "published"
    RETRACTED = "retracted"


class JobKind(StrEnum):
    """What a worker does for a job."""

    JUDGE = "judge"
    PUBLISH = "publish"
    CALIBRATE = "calibrate"
    JUDGE_TEST = "judge-test"


class JobState(StrEnum):
    """The states of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


DISQUALIFIED = "disqualified"
"""First word of the reason for which organisers withdrew a disqualified submission."""


class SubmissionState(StrEnum):
    """The status of a submission."""

    DRAFT = "draft"
    CHECKED = "checked"
    ACCEPTED = "accepted"
    QUEUED = "queued"
    JUDGED = "judged"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"


class SubmissionKind(StrEnum):
    """What a submission holds."""

    ANSWERS = "answers"
    CONTEXTS = "contexts"
    """Retrieved passages without answers; they enter no round."""


class Severity(StrEnum):
    """Whether a problem stops a submission."""

    ERROR = "error"
    WARNING = "warning"


class Split(StrEnum):
    """Which part of a question set a question belongs to."""

    TEST = "test"
    DEV = "dev"
