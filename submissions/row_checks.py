"""From a row of a file to an answer, noting everything that is wrong with the row."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass

from data.errors import FileFormatError
from data.files.text_files import parse_json
from data.records import Answer, Passage, Question
from submissions.answer_figures import FIGURES, figure_of
from submissions.formats import FileFormat, Row
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, shown, with_place
from submissions.question_index import QuestionIndex, id_text, normalised
from submissions.row_fields import RowFields


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
    """Reads the rows of one file. It remembers which questions were answered on which line.

    Attributes:
        fields: Reads the fields of the rows, and knows whose they are.
    """

    def __init__(
        self, index: QuestionIndex, limits: IntakeLimits, form: FileFormat, findings: Findings
    ) -> None:
        self._index = index
        self._limits = limits
        self._form = form
        self._findings = findings
        self._lines: dict[str, tuple[int, str]] = {}
        self.fields = RowFields(index, form, findings)

    def read(self, row: Row) -> AcceptedRow | None:
        """Read one row; None where it has an error, or is none of an answer.

        Raises:
            FileFormatError: A table has no column for what every row needs.
        """
        if not isinstance(row.value, Mapping):
            advice = 'Write {"question_id": …, "answer": …}.'
            self._note(row, Code.NOT_OBJECT, f"This is {kind(row.value)}, not an object.", advice)
            return None
        before = self._findings.errors
        fields = self.fields.read(row, row.value, answers=True)
        if fields is None:
            return None
        question = self._question(row, fields)
        text = self._answer(row, fields)
        contexts = self._contexts(row, fields)
        thinking = self._thinking(row, fields)
        tokens, usd, milliseconds = self._figures(row, fields)
        if question is not None and not self._is_first(row, question):
            return None
        if question is None or text is None or self._findings.errors > before:
            return None
        answer = Answer(
            question_id=question.id,
            answer=text,
            contexts=contexts,
            thinking=thinking,
            tokens=None if tokens is None else int(tokens),
            usd=usd,
            milliseconds=milliseconds,
        )
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
        fields = self.fields.read(row, row.value, answers=False)
        if fields is None:
            return None
        question = self._question(row, fields)
        if not {"contexts", "passages"} & fields.keys():
            self._note(row, Code.MISSING_FIELD, "There are no contexts.", "Give every row its contexts.")
        self._require_ids(row, fields)
        passages = self._contexts(row, fields)
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

    def _question(self, row: Row, fields: Mapping[str, object]) -> Question | None:
        value = fields.get("question_id")
        if value is None or value == "":
            return self._by_text(row, fields)
        question_id = id_text(value)
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
        text = fields.get("query", fields.get("question"))
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

    def _figures(self, row: Row, fields: Mapping[str, object]) -> list[float | None]:
        figures: list[float | None] = []
        for name in FIGURES:
            try:
                figures.append(figure_of(name, fields.get(name), from_csv=self._form is FileFormat.CSV))
            except FileFormatError as error:
                self._note(row, Code.BAD_FIGURE, error.message, error.advice)
                figures.append(None)
        return figures

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
        passage_id = id_text(entry.get("id") or f"c{number}")
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
    return names.get(type(value), "a number" if isinstance(value, int | float) else "another value")


def _bad_context(message: str) -> FileFormatError:
    advice = 'Write a list of strings or of {"id": …, "title": …, "text": …}.'
    return FileFormatError(message, advice=advice, code=Code.BAD_CONTEXT)


def _from_cell(cell: str, line: int) -> object:
    if not cell.strip():
        return None
    try:
        return parse_json(cell, line)
    except FileFormatError as error:
        if (value := _python_list(cell)) is not None:
            return value
        message = f"The contexts cell is not JSON: {error.message}"
        example = json.dumps(["text", "text"])
        raise FileFormatError(message, advice=f"Write it as {example}.", code=Code.BAD_CONTEXT) from error


def _python_list(cell: str) -> list[object] | None:
    """A list as Python prints it, which ragas writes into cells; None where it is none."""
    try:
        value = ast.literal_eval(cell.strip()) if cell.lstrip().startswith("[") else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, list) else None
