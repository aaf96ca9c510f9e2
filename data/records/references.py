"""References that people write: drafts, texts with their state, and the audit of batches.

Source: Han et al. (2024), RAG-QA Arena, section 3.1: annotation instruction and quality control.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

VALID_FROM = 0.9
"""Share of an audited sample that must be valid, or the batch goes back."""


class Failure(StrEnum):
    """What makes a reference invalid.

    Incompleteness: a highlighted answer, or clear relevant information of the passages, is left out.
    Redundancy: there is clear irrelevant information. Incoherence: it is not coherent, or no natural
    language. Citation error: a citation is wrong or missing.
    """

    INCOMPLETENESS = "incompleteness"
    REDUNDANCY = "redundancy"
    INCOHERENCE = "incoherence"
    CITATION_ERROR = "citation-error"


class ReferenceState(StrEnum):
    """How far a text is: written, in a batch that is audited, sent back with its batch, or accepted."""

    WRITTEN = "written"
    IN_AUDIT = "in-audit"
    RETURNED = "returned"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What an LLM wrote for an item, for people to start from."""

    text: str
    model: str
    prompt_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenReference:
    """A text that somebody wrote for an item of a task, with citations in brackets.

    Attributes:
        label: The number under which the item was given to the writer.
        item: The item.
        question_id: Its question.
        domain: Of the question.
        writer: Who wrote it.
        text: The text.
        state: How far it is.
        failures: What the last audit found; None where it was not in the sample or is not audited yet.
        remark: What the auditor wrote.
        seconds: How long it took.
        edits: How often it was changed.
        aside: Whether the writer's work was set aside.
    """

    label: int
    item: int
    question_id: str
    domain: str
    writer: str
    text: str
    state: ReferenceState
    failures: tuple[Failure, ...] | None
    remark: str
    seconds: float
    edits: int
    aside: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBatch:
    """Texts that are audited together by a random sample.

    Attributes:
        id: The store's number.
        number: Of the task's batches, from 1.
        seed: Of the sample.
        texts: How many there are.
        drawn: How many are in the sample.
        audited: Of the sample, how many are decided.
        valid: Of those, how many are valid.
        accepted: Whether it was accepted; None until the whole sample is decided.
    """

    id: int
    number: int
    seed: int
    texts: int
    drawn: int
    audited: int
    valid: int
    accepted: bool | None

    @property
    def share(self) -> float | None:
        """Share of the decided sample that is valid, 0–1; None before the first decision."""
        return self.valid / self.audited if self.audited else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """A text of a batch's sample; `failures` is None until it is decided, and empty where it is valid."""

    id: int
    batch: int
    label: int
    failures: tuple[Failure, ...] | None
    remark: str
    auditor: str
