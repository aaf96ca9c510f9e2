"""What the embedded judge reads of a question: equal texts are read once, whatever the question is called."""

from __future__ import annotations

from dataclasses import dataclass

from data.records import Passage, Question


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with the texts that answers to it may be held against.

    Attributes:
        text: What is asked.
        reference: The reference; empty where there is none, or where it is one of the answers.
        passages: Those that say anything.
        language: The set's.
    """

    text: str
    reference: str
    passages: tuple[Passage, ...]
    language: str


def asked_of(question: Question, *, against_reference: bool) -> AskedQuestion:
    """Return what is read of a question, in a battle against its reference or in any other."""
    return AskedQuestion(
        text=question.question,
        reference="" if against_reference else question.reference or "",
        passages=tuple(passage for passage in question.passages if passage.text.strip()),
        language=question.language,
    )
