"""Question sets and what they hold. Values are checked when made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from types import MappingProxyType

from data.errors import RecordError
from data.records.vocabulary import Split

NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
EMPTY: Mapping[str, str] = MappingProxyType({})


def require_name(value: str, what: str) -> str:
    """Return `value` where it can stand in a path, a URL and a command line.

    Raises:
        RecordError: It is empty, longer than 100 characters, or uses other characters.
    """
    if not NAME_PATTERN.fullmatch(value):
        message = f"{what} {value!r} is not a usable name."
        raise RecordError(message, advice="Use 1 to 100 letters, digits, '.', '_', '+' or '-'.")
    return value


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved or given text."""

    id: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of a set.

    Only `id`, `domain` and `question` are always there. `gold_doc_ids` name the documents that the
    reference was written from, and `citation_numbers` say, for each of its sentences, which of them
    (from 1) it cites.
    """

    id: str
    domain: str
    question: str
    reference: str | None = None
    passages: tuple[Passage, ...] = ()
    aspects: tuple[str, ...] = ()
    short_answers: tuple[str, ...] = ()
    sub_questions: tuple[str, ...] = ()
    gold_doc_ids: tuple[str, ...] = ()
    citation_numbers: tuple[tuple[int, ...], ...] = ()
    split: Split = Split.TEST

    def __post_init__(self) -> None:
        for name in ("id", "domain", "question"):
            if not getattr(self, name).strip():
                message = f"A question's {name} is empty (id {self.id!r})."
                raise RecordError(message, advice="Give every question an id, a domain and a text.")


@dataclass(frozen=True, kw_only=True)
class QuestionSet:
    """A versioned set of questions; `questions` keep the order of the file."""

    name: str
    title: str
    version: str = "1"
    licence: str = ""
    source: str = ""
    reference_name: str = "reference"
    domains: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    questions: tuple[Question, ...] = ()

    def __post_init__(self) -> None:
        require_name(self.name, "Question set name")
        require_name(self.reference_name, "Reference name")
        if len(self.by_id) != len(self.questions):
            message = f"Question set {self.name} has two questions with one id."
            raise RecordError(message, advice="Give every question an id of its own.")
        unknown = sorted({question.domain for question in self.questions} - set(self.domains))
        if unknown:
            message = f"Question set {self.name} uses domains it does not declare: {', '.join(unknown)}."
            raise RecordError(message, advice="List every domain under [domains] in set.toml.")

    def with_questions(self, questions: Iterable[Question]) -> QuestionSet:
        """The set with other questions in place of its own."""
        return replace(self, questions=tuple(questions))

    @cached_property
    def by_id(self) -> Mapping[str, Question]:
        """The questions by their ids."""
        return MappingProxyType({question.id: question for question in self.questions})


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSummary:
    """A stored question set without its questions; `counts` are questions by domain."""

    id: int
    name: str
    title: str
    version: str
    licence: str
    source: str
    reference_name: str
    domains: Mapping[str, str]
    counts: Mapping[str, int]
    content_hash: str
    created_at: datetime

    @property
    def questions(self) -> int:
        """How many questions the set has."""
        return sum(self.counts.values())
