"""Finding the question that a row answers."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from data.records import Question


class Questions(Protocol):
    """What a check needs of a question set; `QuestionSet` has it."""

    @property
    def name(self) -> str:
        """The set's name."""
        ...

    @property
    def questions(self) -> Sequence[Question]:
        """The questions in the set's order."""
        ...


class QuestionIndex:
    """The questions of a set by id, and by text where that is asked for."""

    def __init__(self, questions: Questions) -> None:
        self.set_name = questions.name
        self.questions = questions.questions
        self._by_id = {question.id: question for question in self.questions}

    def with_id(self, question_id: str) -> Question | None:
        """The question that bears an id."""
        return self._by_id.get(question_id)

    def with_text(self, text: str, domain: str = "") -> list[Question]:
        """The questions of a text, whatever its case and white space; several where it is ambiguous.

        `domain` chooses among several where it is one of theirs.
        """
        found = self._by_text.get(normalised(text), [])
        within = [question for question in found if question.domain == domain]
        return within or found

    @cached_property
    def _by_text(self) -> dict[str, list[Question]]:
        by_text: dict[str, list[Question]] = {}
        for question in self.questions:
            by_text.setdefault(normalised(question.question), []).append(question)
        return by_text


def normalised(text: str) -> str:
    """A text without differences of case, white space and Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
