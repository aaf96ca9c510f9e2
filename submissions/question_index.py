"""Questions of a set: found by id, text or prompt, and written as the template of an answer file."""

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


MOST_COMPARED, LONGEST_COMPARED = 1_000, 100


class Questions(Protocol):
    """Facts on a question set that a check needs; `QuestionSet` has them."""

    @property
    def name(self) -> str:
        """The set's name."""

    @property
    def questions(self) -> Sequence[Question]:
        """The questions in the set's order."""


class QuestionIndex:
    """The questions of a set by id, and by text where that is asked for."""

    def __init__(self, questions: Questions) -> None:
        self.set_name = questions.name
        self.questions = questions.questions
        self._by_id = {question.id: question for question in self.questions}

    def with_id(self, question_id: str) -> Question | None:
        """Find the question of an id: exact, else in another Unicode form, else as a whole number.

        A column of numbers with an empty cell is written as `1.0` for 1 by many tools.
        """
        found = self._by_id.get(question_id)
        if found is None:
            composed = unicodedata.normalize("NFC", question_id.strip())
            found = self._by_composed_id.get(composed)
            whole = whole_id(composed)
            found = self._by_id.get(whole) if found is None and whole else found
        return found

    def like(self, question_id: str) -> str:
        """Return the id of the set that is most like another; empty where none is."""
        few = itertools.islice(self._by_id, MOST_COMPARED)
        return next(iter(difflib.get_close_matches(question_id[:LONGEST_COMPARED], few, n=1, cutoff=0.8)), "")

    def with_text(self, text: str, domain: str = "") -> list[Question]:
        """Return the questions of a text, whatever its case and white space; several where it is ambiguous.

        `domain` chooses among several where it is one of theirs.
        """
        candidates = self._by_text.get(normalised(text), [])
        within = [question for question in candidates if question.domain == domain]
        return within or candidates

    def named(self, ids: Sequence[object], text: str, *, counted: bool = False) -> list[Question]:
        """Return the questions that a row of another tool may mean; several where it is ambiguous.

        An id decides. One that the tool `counted` by itself only does where there is no text, or the text
        holds its question; else the text decides, which may be a prompt with the question on a line of its
        own.
        """
        known = [one for one in (self.with_id(id_text(name) or "") for name in ids) if one is not None]
        if known and not counted:
            return known[:1]
        candidates = self.held(text) if text else []
        plain = normalised(text)
        agreed = [one for one in known if not plain or one in candidates or normalised(one.question) in plain]
        return agreed[:1] or candidates

    def held(self, text: str) -> list[Question]:
        """Return the questions whose text this is, or that stand on lines of it."""
        whole = self._by_text.get(normalised(text), [])
        if whole:
            return whole
        lines = (_LABEL.sub("", line.strip(), count=1) for line in text.splitlines())
        held = [question for line in lines if line for question in self._by_text.get(normalised(line), ())]
        return list({question.id: question for question in held}.values())

    @cached_property
    def _by_composed_id(self) -> dict[str, Question | None]:
        """Questions by their ids as NFC; None where two fall together."""
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
    """Return a text without differences of case, white space and Unicode form."""
    composed = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(composed.casefold().split())


def answers_template(questions: Questions) -> Iterator[str]:
    """Yield a JSONL line for each question, its answer and contexts empty.

    The question's text and domain stand in each line for the reader; a check compares the text and
    ignores the domain. References are never in it.
    """
    for question in questions.questions:
        yield _line(question, "", [])


def sample_answers(questions: Questions, *, number: int = 5) -> Iterator[str]:
    """Yield JSONL lines that pass a check: answers to a few questions, spread over the domains.

    Where a question has passages, its first one is the answer and the context; else a sentence that
    says it is a sample.
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
