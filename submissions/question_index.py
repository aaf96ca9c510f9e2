"""The questions of a set, as a file of answers names them: by id, by text, or by a prompt with the text."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from data.records import Question

_LABEL = re.compile(r"^(?:question|query|user|q):[ \t]{0,4}", re.IGNORECASE)


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
        candidates = self._by_text.get(normalised(text), [])
        within = [question for question in candidates if question.domain == domain]
        return within or candidates

    def named(self, ids: Sequence[object], text: str, *, counted: bool = False) -> list[Question]:
        """The questions that a row of another tool may mean; several where it is ambiguous.

        An id decides. One that the tool `counted` by itself only does where there is no text, or the text
        holds its question; else the text decides, which may be a prompt with the question on a line of its
        own.
        """
        known = [one for one in (self._by_id.get(id_text(name) or "") for name in ids) if one is not None]
        if known and not counted:
            return known[:1]
        candidates = self._held(text) if text else []
        plain = normalised(text)
        agreed = [one for one in known if not plain or one in candidates or normalised(one.question) in plain]
        return agreed[:1] or candidates

    def _held(self, text: str) -> list[Question]:
        """The questions whose text this is, or that stand on lines of it."""
        whole = self._by_text.get(normalised(text), [])
        if whole:
            return whole
        lines = (_LABEL.sub("", line.strip(), count=1) for line in text.splitlines())
        held = [question for line in lines if line for question in self._by_text.get(normalised(line), ())]
        return list({question.id: question for question in held}.values())

    @cached_property
    def _by_text(self) -> dict[str, list[Question]]:
        by_text: dict[str, list[Question]] = {}
        for question in self.questions:
            by_text.setdefault(normalised(question.question), []).append(question)
        return by_text


def normalised(text: str) -> str:
    """A text without differences of case, white space and Unicode form."""
    composed = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(composed.casefold().split())


def id_text(value: object) -> str | None:
    """An id as text, whole numbers too; None where it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int) else None
