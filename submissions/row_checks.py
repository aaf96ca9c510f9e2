"""From a row of a file to an answer, noting everything that is wrong with the row."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from data.errors import FileFormatError
from data.files.text_files import parse_json
from data.records import Answer, Passage, Question
from submissions.formats import FileFormat, Row
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, shown, with_place


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

    @cached_property
    def _by_text(self) -> dict[str, list[Question]]:
        by_text: dict[str, list[Question]] = {}
        for question in self.questions:
            by_text.setdefault(normalised(question.question), []).append(question)
        return by_text


def normalised(text: str) -> str:
    """A text without differences of case, white space and Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


READ_FIELDS = frozenset({"question_id", "answer", "contexts", "query", "pred", "passages", "thinking"})
# Beside what is read, RAG-QA Arena's prediction files carry the prompt, and templates the question.
IGNORED_FIELDS = frozenset({"question", "domain", "prompt"})
KNOWN_FIELDS = READ_FIELDS | IGNORED_FIELDS
NAMES_LISTED = 50


@dataclass(frozen=True, slots=True)
class AcceptedRow:
    """An answer without errors, the question it is for, and where it stands.

    Its text may be empty: whether that is an error depends on how many are.
    """

    line: int
    place: str
    question: Question
    answer: Answer

    @property
    def empty(self) -> bool:
        """Whether a reader would see nothing."""
        # Zero-width characters are no white space to Python.
        return not any(
            character.isprintable() and not character.isspace() for character in self.answer.answer
        )


class RowReader:
    """Reads the rows of one file. It remembers which questions were answered on which line."""

    def __init__(
        self, index: QuestionIndex, limits: IntakeLimits, form: FileFormat, findings: Findings
    ) -> None:
        self._index = index
        self._limits = limits
        self._form = form
        self._findings = findings
        self._lines: dict[str, tuple[int, str]] = {}
        self.unknown_fields: dict[str, int] = {}

    def read(self, row: Row) -> AcceptedRow | None:
        """Read one row; None where it has an error."""
        if not isinstance(row.value, Mapping):
            advice = 'Write {"question_id": …, "answer": …}.'
            self._note(row, Code.NOT_OBJECT, f"This is {kind(row.value)}, not an object.", advice)
            return None
        before = self._findings.errors
        self._remember_unknown(row.line, row.value)
        question = self._question(row, row.value)
        text = self._answer(row, row.value)
        contexts = self._contexts(row, row.value)
        thinking = self._thinking(row, row.value)
        if question is not None and not self._is_first(row, question):
            return None
        if question is None or text is None or self._findings.errors > before:
            return None
        answer = Answer(question_id=question.id, answer=text, contexts=contexts, thinking=thinking)
        return AcceptedRow(row.line, row.place, question, answer)

    def contexts_of(self, row: Row) -> tuple[Question, tuple[Passage, ...]] | None:
        """Read the question and the passages of a row without an answer; None where it has an error.

        Every passage needs an id, since judgments name passages by theirs.
        """
        if not isinstance(row.value, Mapping):
            advice = 'Write {"question_id": …, "contexts": […]}.'
            self._note(row, Code.NOT_OBJECT, f"This is {kind(row.value)}, not an object.", advice)
            return None
        before = self._findings.errors
        question = self._question(row, row.value)
        if not {"contexts", "passages"} & row.value.keys():
            self._note(row, Code.MISSING_FIELD, "There are no contexts.", "Give every row its contexts.")
        self._require_ids(row, row.value)
        passages = self._contexts(row, row.value)
        if question is not None and not self._is_first(row, question):
            return None
        return None if question is None or self._findings.errors > before else (question, passages)

    def _require_ids(self, row: Row, fields: Mapping[str, object]) -> None:
        value = fields.get("contexts", fields.get("passages"))
        items = value if isinstance(value, list) else ()
        bare = [
            number
            for number, item in enumerate(items, start=1)
            if not isinstance(item, Mapping) or not item.get("id")
        ]
        if bare:
            message = f"{len(bare):,} contexts have no id, the first is number {bare[0]}."
            self._note(row, Code.BAD_CONTEXT, message, "Relevance judgments name passages by their ids.")

    def _note(self, row: Row, code: Code, message: str, advice: str) -> None:
        self._findings.add(row.line, code, with_place(message, row.place), advice)

    def _remember_unknown(self, line: int, fields: Mapping[str, object]) -> None:
        for name in fields.keys() - KNOWN_FIELDS:
            if len(self.unknown_fields) < NAMES_LISTED:
                self.unknown_fields.setdefault(name[:NAMES_LISTED], line)

    def _question(self, row: Row, fields: Mapping[str, object]) -> Question | None:
        value = fields.get("question_id")
        if value is None or value == "":
            return self._by_text(row, fields)
        question_id = _as_id(value)
        if question_id is None:
            message = f"The question_id is {kind(value)}."
            self._note(row, Code.WRONG_TYPE, message, "Give the question's id as a string.")
            return None
        question = self._index.with_id(question_id) or self._index.with_id(question_id.strip())
        if question is None:
            message = f"Question set {self._index.set_name} has no question {shown(question_id)}."
            self._note(row, Code.UNKNOWN_QUESTION, message, "Use the ids of the set's template.")
            return None
        self._compare_text(row, fields, question)
        return question

    def _by_text(self, row: Row, fields: Mapping[str, object]) -> Question | None:
        text = fields.get("query")
        if text is None or text == "":
            message = "There is no question_id." if "query" not in fields else "The query is empty."
            self._note(row, Code.MISSING_FIELD, message, "Give every answer the id of its question.")
            return None
        if not isinstance(text, str):
            message = f"The query is {kind(text)}."
            self._note(row, Code.WRONG_TYPE, message, "Give the question's text as a string.")
            return None
        domain = fields.get("domain")
        candidates = self._index.with_text(text, domain if isinstance(domain, str) else "")
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            message = f"{len(candidates)} questions of the set have the text {shown(text)}."
            advice = f"Add a question_id: {' or '.join(shown(question.id) for question in candidates[:5])}."
            self._note(row, Code.AMBIGUOUS_QUESTION, message, advice)
            return None
        message = f"Question set {self._index.set_name} has no question with the text {shown(text)}."
        self._note(row, Code.UNKNOWN_QUESTION, message, "Leave it out, or use the set's own wording.")
        return None

    def _compare_text(self, row: Row, fields: Mapping[str, object], question: Question) -> None:
        text = fields.get("question")
        if isinstance(text, str) and text.strip() and normalised(text) != normalised(question.question):
            message = f"Question {shown(question.id)} has another text in the set than in this row."
            advice = "Look whether ids and answers slipped against each other."
            self._note(row, Code.QUESTION_DIFFERS, message, advice)

    def _is_first(self, row: Row, question: Question) -> bool:
        first = self._lines.setdefault(question.id, (row.line, row.place))
        if first == (row.line, row.place):
            return True
        where = first[1].lower() or f"line {first[0]}"
        message = f"Question {shown(question.id)} was answered on {where} already."
        self._note(row, Code.DUPLICATE_ANSWER, message, "Answer every question once.")
        return False

    def _answer(self, row: Row, fields: Mapping[str, object]) -> str | None:
        name = "pred" if "pred" in fields and "answer" not in fields else "answer"
        if name not in fields:
            advice = "Give every row an answer, or leave the row out."
            self._note(row, Code.MISSING_FIELD, "There is no answer.", advice)
            return None
        text = fields[name]
        if not isinstance(text, str):
            message = f"The {name} is {kind(text)}, not a string."
            self._note(row, Code.WRONG_TYPE, message, "Write the answer as text.")
        elif self._form is FileFormat.CSV and text.strip().casefold() == "nan":
            message = f"The {name} is {text.strip()}, which stands for a missing value."
            self._note(row, Code.NOT_FINITE, message, "Leave the row out, or write the answer as text.")
        elif len(text) > self._limits.answer_chars:
            message = f"The {name} has {len(text):,} characters; {self._limits.answer_chars:,} are allowed."
            self._note(row, Code.ANSWER_TOO_LONG, message, "Shorten it.")
        else:
            return text
        return None

    def _thinking(self, row: Row, fields: Mapping[str, object]) -> str:
        text = fields.get("thinking")
        if text is None:
            return ""
        if not isinstance(text, str):
            message = f"The thinking is {kind(text)}, not a string."
            self._note(row, Code.WRONG_TYPE, message, "Write it as text, or leave it out.")
        elif len(text) > self._limits.answer_chars:
            limit = f"{self._limits.answer_chars:,}"
            message = f"The thinking has {len(text):,} characters; {limit} are allowed."
            self._note(row, Code.ANSWER_TOO_LONG, message, "Shorten it, or leave it out.")
        else:
            return text
        return ""

    def _contexts(self, row: Row, fields: Mapping[str, object]) -> tuple[Passage, ...]:
        value = fields.get("contexts", fields.get("passages"))
        try:
            if self._form is FileFormat.CSV and isinstance(value, str):
                value = _from_cell(value, row.line)
            if value is None:
                return ()
            if not isinstance(value, list):
                raise _bad_context(f"contexts is {kind(value)}, not a list.")
            if len(value) > self._limits.contexts:
                raise _bad_context(f"There are {len(value):,} contexts; {self._limits.contexts} are allowed.")
            passages = [self._context(number, item) for number, item in enumerate(value, start=1)]
        except FileFormatError as error:
            self._note(row, Code.BAD_CONTEXT, error.message, error.advice)
            return ()
        filled = tuple(passage for passage in passages if passage is not None)
        if len(filled) < len(passages):
            message = f"{len(passages) - len(filled)} of {len(passages)} contexts are empty and left out."
            self._note(row, Code.EMPTY_CONTEXT, message, "Give only contexts with text.")
        return filled

    def _context(self, number: int, item: object) -> Passage | None:
        entry: object = {"text": item} if isinstance(item, str) else item
        if not isinstance(entry, Mapping):
            raise _bad_context(f"Context {number} is {kind(item)}.")
        text, title = entry.get("text"), entry.get("title")
        passage_id = _as_id(entry.get("id") or f"c{number}")
        if not isinstance(text, str):
            raise _bad_context(f"Context {number} has no text.")
        if passage_id is None or not isinstance(title, str | None):
            raise _bad_context(f"The id or title of context {number} is no string.")
        if len(text) > self._limits.context_chars:
            limit = f"{self._limits.context_chars:,}"
            raise _bad_context(f"Context {number} has {len(text):,} characters; {limit} are allowed.")
        return Passage(passage_id, text, title or "") if text.strip() else None


def kind(value: object) -> str:
    """What a JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _as_id(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int) else None


def _bad_context(message: str) -> FileFormatError:
    advice = 'Write a list of strings or of {"id": …, "title": …, "text": …}.'
    return FileFormatError(message, advice=advice, code=Code.BAD_CONTEXT)


def _from_cell(cell: str, line: int) -> object:
    if not cell.strip():
        return None
    try:
        return parse_json(cell, line)
    except FileFormatError as error:
        message = f"The contexts cell is not JSON: {error.message}"
        example = json.dumps(["text", "text"])
        raise FileFormatError(message, advice=f"Write it as {example}.", code=Code.BAD_CONTEXT) from error
