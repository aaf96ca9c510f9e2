"""Look up questions of a set by id, text or prompt, and write answer file templates."""

import difflib
import itertools
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

from data.files.tables.values import id_text, whole_id
from data.models import Question

_LABEL = re.compile(r"^(?:question|query|user|q):[ \t]{0,4}", re.IGNORECASE)


MAX_COMPARED, MAX_COMPARED_LENGTH = 1_000, 100


class Questions(Protocol):
    """Protocol for a named set of questions, such as `QuestionSet`."""

    @property
    def name(self) -> str:
        """Name of the set."""

    @property
    def questions(self) -> Sequence[Question]:
        """Questions in the order of the set."""


class QuestionIndex:
    """Index of the questions of a set by id and text."""

    def __init__(self, questions: Questions) -> None:
        self.set_name = questions.name
        self.questions = questions.questions
        self._by_id = {question.id: question for question in self.questions}

    def with_id(self, question_id: str) -> Question | None:
        """Return the question of an id: exact, else in another Unicode form, else as an integer.

        Many tools write 1 as `1.0` in a column with an empty cell.
        """
        question = self._by_id.get(question_id)
        if question is None:
            composed = unicodedata.normalize("NFC", question_id.strip())
            question = self._by_composed_id.get(composed)
            whole = whole_id(composed)
            question = self._by_id.get(whole) if question is None and whole else question
        return question

    def like(self, question_id: str) -> str:
        """Return the most similar id of the set; empty if none is similar."""
        ids = itertools.islice(self._by_id, MAX_COMPARED)
        return next(
            iter(difflib.get_close_matches(question_id[:MAX_COMPARED_LENGTH], ids, n=1, cutoff=0.8)), ""
        )

    def with_text(self, text: str, domain: str = "") -> list[Question]:
        """Return the questions of a text, ignoring case and white space; several if it is ambiguous.

        `domain` selects among several.
        """
        candidates = self._by_text.get(normalised(text), [])
        within = [question for question in candidates if question.domain == domain]
        return within or candidates

    def named(self, ids: Sequence[object], text: str, *, counted: bool = False) -> list[Question]:
        """Return the questions that a row of another tool may mean; several if it is ambiguous.

        Ids take precedence, except running numbers of the tool (`counted`), which must agree with the text if
        there is one. The text may be a prompt with the question on a line of its own.
        """
        matches = [self.with_id(id_text(name) or "") for name in ids]
        known = [question for question in matches if question is not None]
        if known and not counted:
            return known[:1]
        candidates = self.held(text) if text else []
        plain = normalised(text)
        agreeing = [
            question
            for question in known
            if not plain or question in candidates or normalised(question.question) in plain
        ]
        return agreeing[:1] or candidates

    def held(self, text: str) -> list[Question]:
        """Return the questions with this text, or with the text of one of its lines."""
        whole = self._by_text.get(normalised(text), [])
        if whole:
            return whole
        lines = (_LABEL.sub("", line.strip(), count=1) for line in text.splitlines())
        questions = [
            question for line in lines if line for question in self._by_text.get(normalised(line), ())
        ]
        return list({question.id: question for question in questions}.values())

    @cached_property
    def _by_composed_id(self) -> dict[str, Question | None]:
        by_id: dict[str, Question | None] = {}
        for key, question in self._by_id.items():
            composed = unicodedata.normalize("NFC", key)
            by_id[composed] = None if composed in by_id else question
        return by_id

    @cached_property
    def _by_text(self) -> dict[str, list[Question]]:
        by_text: dict[str, list[Question]] = {}
        for question in self.questions:
            by_text.setdefault(normalised(question.question), []).append(question)
        return by_text


def normalised(text: str) -> str:
    """Normalise case, white space and Unicode form of a text."""
    composed = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(composed.casefold().split())


def answers_template(questions: Questions) -> Iterator[str]:
    """Yield a JSONL line for each question, with empty answer and contexts and without reference.

    A check compares the question's text and ignores the domain.
    """
    for question in questions.questions:
        yield _line(question, "", [])


def sample_answers(questions: Questions, *, number: int = 5) -> Iterator[str]:
    """Yield JSONL lines that pass a check: answers to a few questions, spread over the domains.

    The answer is the first passage of the question if it has passages, else a sample sentence.
    """
    for question in _spread(questions, number):
        if question.passages:
            first = question.passages[0]
            context = {"id": first.id, "title": first.title, "text": first.text}
            yield _line(question, first.text, [context])
        else:
            yield _line(question, f"This sample is not a real answer to: {question.question}", [])


def _spread(questions: Questions, number: int) -> list[Question]:
    by_domain: dict[str, list[Question]] = {}
    for question in questions.questions:
        by_domain.setdefault(question.domain, []).append(question)
    most = max(map(len, by_domain.values()), default=0)
    rounds = (group[place] for place in range(most) for group in by_domain.values() if place < len(group))
    return [question for _, question in zip(range(number), rounds, strict=False)]


def _line(question: Question, answer: str, contexts: list[dict[str, str]]) -> str:
    row = {
        "question_id": question.id,
        "domain": question.domain,
        "question": question.question,
        "answer": answer,
        "contexts": contexts,
    }
    return json.dumps(row, ensure_ascii=False)
