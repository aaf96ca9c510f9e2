"""References that people write: drafts, texts with their state, and the audit of batches.

Source: Han et al. (2024), RAG-QA Arena, section 3.1: annotation instruction and quality control.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

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
        writer: Who wrote it.
        text: The text.
        state: How far it is.
        check: Its number in the sample of its last batch; None where it is in none.
        failures: What the last audit found; None where it was not in the sample or is not audited yet.
        remark: What the auditor wrote.
        excluded: Whether the writer's work counts no more.
    """

    label: int
    item: int
    question_id: str
    writer: str
    text: str
    state: ReferenceState
    check: int | None
    failures: tuple[Failure, ...] | None
    remark: str
    excluded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBatch:
    """Texts that are audited together by a random sample.

    Attributes:
        number: Of the task's batches, from 1.
        texts: How many there are.
        drawn: How many are in the sample.
        audited: Of the sample, how many are decided.
        valid: Of those, how many are valid.
        accepted: Whether it was accepted; None until the whole sample is decided.
        seed: Of the sample.
    """

    number: int
    texts: int
    drawn: int
    audited: int
    valid: int
    accepted: bool | None
    seed: int

    @property
    def share(self) -> float | None:
        """Share of the decided sample that is valid, 0–1; None before the first decision."""
        return self.valid / self.audited if self.audited else None

    def to_json(self) -> dict[str, Any]:
        """The batch with what its audit came to."""
        return {**asdict(self), "share": self.share}
