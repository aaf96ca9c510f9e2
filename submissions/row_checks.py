"""Convert a row of a file of any tool to an answer, and report its problems."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter

from data.errors import FileFormatError
from data.files.tables.columns import NAMES, Column, column_of, list_names, renamed, require_columns
from data.files.tables.rows import FileFormat, Row, TextRow
from data.files.tables.values import PASSAGE_ADVICE, is_missing, kind, list_of_cell, passage_id
from data.models import Answer, Passage, Question, Severity
from data.text import are, counted, is_blank
from submissions.formats.registry import (
    ARENA,
    FIGURES,
    FURTHER_COLUMNS,
    RAG_QA_ARENA,
    LeftOut,
    NamedAnswer,
    format_of,
)
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, listed, quoted, with_place
from submissions.question_index import QuestionIndex, normalised

_figures = attrgetter(*FIGURES)
MAX_FIGURE = 1e9


def figure_of(name: str, value: object, *, from_csv: bool) -> float | None:
    """Parse one of `FIGURES`; None if absent, in CSV also if empty."""
    if value is None or (from_csv and value == ""):
        return None
    number = _number(value, from_csv=from_csv)
    if number is None or not 0 <= number <= MAX_FIGURE or (name == "tokens" and not number.is_integer()):
        what = "whole number" if name == "tokens" else "number"
        message = f"{name} is {quoted(value)}; a {what} from 0 to a billion is expected."
        raise FileFormatError(message, advice="Write a number, or leave it out.", code=Code.BAD_FIGURE)
    return number


def figures_in(answer: Answer) -> list[str]:
    """Return the reported costs of an answer as parts of its hash."""
    costs = zip(FIGURES, _figures(answer), strict=True)
    return [f"{name} {value!r}" for name, value in costs if value is not None]


def _number(value: object, *, from_csv: bool) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str if from_csv else int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


KNOWN_FIELDS = frozenset({"prompt", "reference", "", *FURTHER_COLUMNS, *FIGURES})
"""Ignored fields: prompts of RAG-QA Arena, references, an unnamed index."""
NAMES_LISTED = 50
SUGGESTED = 5


class RowFields:
    """Reads the fields of the rows of one file.

    Attributes:
        layout: Tool that wrote the first row, once it is read.
        unknown: Unread fields, with the number of the first line that has each.
    """

    def __init__(self, index: QuestionIndex, system: str, findings: Findings, *, text_cells: bool) -> None:
        self._index = index
        self._text_cells = text_cells
        self._system = system
        self._findings = findings
        self.left_out = LeftOut(findings)
        self.layout: str | None = None
        self.unknown: dict[str, int] = {}

    def read(self, row: Row, value: Mapping[str, object], *, answers: bool) -> Mapping[str, object] | None:
        """Return the fields of a row by native names; None if it has an error or no answer."""
        known = format_of(value, self._findings)
        if self.layout is None:
            own_layout = RAG_QA_ARENA if "pred" in value and "answer" not in value else ARENA
            self.layout = known.name if known else own_layout
            if known is not None and known.columns:
                self.require_columns(list(value), 0, answers=answers)
        if known is None:
            own = renamed(value)
            own.pop(Column.REFERENCE, None)
            if "answer" not in own and self._system in own:
                own["answer"] = own.pop(self._system)
            self._remember_unknown(row.line, own)
            return self.left_out.first_of(own, of_cells=self._text_cells)
        try:
            named = known.read(value, self._index)
            if named is None or not self.left_out.takes(row, known, named):
                return None
            return self.left_out.first_of(self._by_our_names(named), of_cells=False)
        except FileFormatError as error:
            self._findings.add(row.line, Code(error.code), with_place(error.message, row.place), error.advice)
            return None

    def require_columns(self, columns: Sequence[str], line: int, *, answers: bool) -> None:
        """Refuse a table without questions, or without answers or contexts."""
        known = format_of(dict.fromkeys(columns))
        if known is not None and not known.columns:
            return
        wide = answers and self._system in columns
        content = () if wide else ((Column.ANSWER if answers else Column.CONTEXTS,),)
        try:
            require_columns(columns, (Column.QUESTION_ID, Column.QUESTION), *content, line=line)
        except FileFormatError as error:
            unknown = [name for name in columns if name and column_of(name) is None]
            if (
                content
                and Column.ANSWER in content[0]
                and len(unknown) > 1
                and "question" not in error.message
            ):
                error.advice += " If each system has its own column, select one: --system NAME."
            raise

    def _by_our_names(self, named: NamedAnswer) -> Mapping[str, object]:
        candidates = self._index.named(named.ids, named.text, counted=named.counted)
        if len(candidates) > 1:
            message = f"The text {quoted(named.text)} contains {len(candidates)} questions of the set."
            names = listed((quoted(question.id) for question in candidates), SUGGESTED)
            advice = f"Add the question's id to the sample as one of {names}."
            raise FileFormatError(message, advice=advice, code=Code.AMBIGUOUS_QUESTION)
        if not candidates:
            raise self._unknown_question(named)
        (question,) = candidates
        differs = normalised(question.question) not in normalised(named.text)
        fields = {
            "question_id": question.id,
            "question": named.text if differs else None,
            "answer": named.answer,
            "contexts": named.contexts,
            "thinking": named.thinking,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def _unknown_question(self, named: NamedAnswer) -> FileFormatError:
        names = "" if named.counted else " or ".join(map(quoted, named.ids))
        text = f"with the text {quoted(named.text)}" if named.text else ""
        wanted = " and none ".join(part for part in (names, text) if part)
        message = f"Question set {self._index.set_name} has no question {wanted}."
        if not wanted:
            message = "The row has neither the id nor the text of its question."
        advice = "Leave it out, or use the ids or the wording of the set."
        return FileFormatError(message, advice=advice, code=Code.UNKNOWN_QUESTION)

    def _remember_unknown(self, line: int, fields: Mapping[str, object]) -> None:
        for name in fields.keys() - KNOWN_FIELDS - NAMES.keys():
            if len(self.unknown) < NAMES_LISTED:
                self.unknown.setdefault(name[:NAMES_LISTED], line)


TYPE_ADVICE = "Write it as a string."
WORDS_LISTED = 10


@dataclass(frozen=True, slots=True)
class AcceptedRow:
    """Answer without errors, its question and its location; the text may be empty."""

    line: int
    place: str
    question: Question
    answer: Answer

    @property
    def empty(self) -> bool:
        """True if the answer has no visible text."""
        return is_blank(self.answer.answer)


class RowReader:
    """Reads the rows of one file and detects repeated questions."""

    def __init__(
        self, index: QuestionIndex, limits: IntakeLimits, form: FileFormat, findings: Findings
    ) -> None:
        self._index = index
        self._limits = limits
        self._form = form
        self._findings = findings
        self._lines: dict[str, tuple[int, str]] = {}
        self._broken: frozenset[str] = frozenset()
        self._names = ""
        self._missing: Counter[str] = Counter()
        self.fields = RowFields(index, limits.system, findings, text_cells=form.text_cells)

    def close(self) -> None:
        """Report counts of left-out rows."""
        self.fields.left_out.close(answers=True)
        if self._missing:
            words = listed(map(quoted, self._missing), WORDS_LISTED)
            count = self._missing.total()
            message = f"{counted(count, 'answer')} {are(count)} left out as a missing value: {words}."
            self._findings.add(0, Code.MISSING_VALUE, message, "If they are real answers, use --keep-na.")

    def read(self, row: Row) -> AcceptedRow | None:
        """Read one row; None if it has an error or no answer."""
        before = self._findings.errors
        read = self._fields(row, texts=True)
        if read is None:
            return None
        fields, texts = read
        question = self._question(row, texts)
        if texts.answer is not None and not self._limits.keep_na and is_missing(texts.answer):
            self._missing[texts.answer.strip()] += 1
            return None
        text = self._answer(row, texts)
        contexts = self._contexts(row, texts)
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
        """Read the question and the passages of a row without an answer; None if it has an error.

        Every passage needs an id, which relevance judgments refer to, but no text.
        """
        before = self._findings.errors
        read = self._fields(row, texts=False)
        if read is None:
            return None
        fields, texts = read
        question = self._question(row, texts)
        if Column.CONTEXTS not in texts.columns:
            self._note(row, Code.MISSING_FIELD, "The contexts are missing.", "Add contexts to every row.")
        self._require_ids(row, fields.get("contexts"))
        passages = self._contexts(row, texts)
        if question is not None and not self._is_first(row, question):
            return None
        return None if question is None or self._findings.errors > before else (question, passages)

    def _fields(self, row: Row, *, texts: bool) -> tuple[Mapping[str, object], TextRow] | None:
        if not isinstance(row.value, Mapping):
            content = "answer" if texts else "contexts"
            advice = f'Write {{"question_id": …, "{content}": …}}.'
            self._note(row, Code.NOT_OBJECT, f"This is {kind(row.value)}, not an object.", advice)
            return None
        fields = self.fields.read(row, row.value, answers=texts)
        if fields is None:
            return None
        self._names = list_names(row.value)
        read, problems = TextRow.of(fields, text_cells=self._form.text_cells, texts=texts)
        for problem in problems.values():
            self._note(row, Code(problem.code), problem.message, problem.advice or TYPE_ADVICE)
        self._broken = frozenset(problems)
        return fields, read

    def _require_ids(self, row: Row, value: object) -> None:
        if self._form.text_cells and isinstance(value, str):
            with suppress(FileFormatError):
                value = list_of_cell(value)
        items = value if isinstance(value, list) else ()
        bare = [
            number
            for number, item in enumerate(items, start=1)
            if not isinstance(item, Mapping) or passage_id(item) is None
        ]
        if bare:
            message = f"{len(bare):,} contexts have no id; the first is number {bare[0]}."
            self._note(row, Code.BAD_CONTEXT, message, "Relevance judgments identify passages by id.")

    def _note(self, row: Row, code: Code, message: str, advice: str) -> None:
        self._findings.add(row.line, code, with_place(message, row.place), advice)

    def _question(self, row: Row, texts: TextRow) -> Question | None:
        if Column.QUESTION_ID in self._broken:
            return None
        question_id = texts.question_id
        if question_id is None:
            return self._by_text(row, texts)
        question = self._index.with_id(question_id) or self._with_whole_text(question_id)
        # The id may identify the row, not the question.
        question = question or self._with_whole_text(texts.question or "")
        if question is None:
            message = f"Question set {self._index.set_name} has no question {quoted(question_id)}."
            nearest = self._index.like(question_id)
            advice = f"Did you mean {quoted(nearest)}? " if nearest else ""
            self._note(row, Code.UNKNOWN_QUESTION, message, f"{advice}Use the ids of the set's template.")
            return None
        self._compare_text(row, texts, question)
        return question

    def _with_whole_text(self, text: str) -> Question | None:
        """Return the question whose text is the key of an answer, in objects of answers by question."""
        candidates = self._index.with_text(text) if " " in text else []
        return candidates[0] if len(candidates) == 1 else None

    def _by_text(self, row: Row, texts: TextRow) -> Question | None:
        text = texts.question
        if not text:
            if Column.QUESTION in self._broken:
                return None
            message = (
                "The question is empty."
                if text == ""
                else f"The question_id is missing. The row has: {self._names}."
            )
            advice = "Add the question's id or text to every answer."
            self._note(row, Code.MISSING_FIELD, message, advice)
            return None
        domain = texts.domain
        candidates = self._index.with_text(text, domain or "")
        if len(candidates) == 1:
            return candidates[0]
        # The keys of an object may be ids with spaces.
        if not candidates and (question := self._index.with_id(text)) is not None:
            return question
        if candidates:
            message = f"{len(candidates)} questions of the set have the text {quoted(text)}."
            advice = f"Add a question_id: {' or '.join(quoted(question.id) for question in candidates[:5])}."
            self._note(row, Code.AMBIGUOUS_QUESTION, message, advice)
            return None
        message = f"Question set {self._index.set_name} has no question with the text {quoted(text)}."
        self._note(row, Code.UNKNOWN_QUESTION, message, "Leave it out, or use the set's own wording.")
        return None

    def _compare_text(self, row: Row, texts: TextRow, question: Question) -> None:
        text = texts.question
        if not text or not text.strip() or normalised(text) == normalised(question.question):
            return
        matches = self._index.held(text)
        message = f"Question {quoted(question.id)} has another text in the set than in this row"
        advice = "Check that ids and answers have not been shifted against each other."
        if len(matches) == 1:
            message += f", whose text is that of question {quoted(matches[0].id)}."
            self._findings.add(
                row.line, Code.QUESTION_DIFFERS, with_place(message, row.place), advice, Severity.ERROR
            )
        else:
            self._note(row, Code.QUESTION_DIFFERS, f"{message}.", advice)

    def _is_first(self, row: Row, question: Question) -> bool:
        first = self._lines.setdefault(question.id, (row.line, row.place))
        if first == (row.line, row.place):
            return True
        where = first[1].lower() or f"line {first[0]}"
        message = f"Question {quoted(question.id)} was already answered on {where}."
        self._note(row, Code.DUPLICATE_ANSWER, message, "Answer each question once.")
        return False

    def _answer(self, row: Row, texts: TextRow) -> str | None:
        text = texts.answer
        if text is None:
            if Column.ANSWER not in self._broken:
                null = Column.ANSWER in texts.columns
                fields = "The row has no fields." if not self._names else f"The row has: {self._names}."
                message = "The answer is null, not a string." if null else f"The answer is missing. {fields}"
                code = Code.WRONG_TYPE if null else Code.MISSING_FIELD
                self._note(
                    row, code, message, "Add an answer to every row; a question without one counts as lost."
                )
            return None
        if len(text) > self._limits.answer_chars:
            message = f"The answer has {len(text):,} characters; {self._limits.answer_chars:,} are allowed."
            self._note(row, Code.ANSWER_TOO_LONG, message, "Shorten it.")
            return None
        return text

    def _thinking(self, row: Row, fields: Mapping[str, object]) -> str:
        text = fields.get("thinking")
        if text is None:
            return ""
        if not isinstance(text, str):
            message = f"The thinking is {kind(text)}, not a string."
            self._note(row, Code.WRONG_TYPE, message, "Write it as a string, or leave it out.")
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
                figures.append(figure_of(name, fields.get(name), from_csv=self._form.text_cells))
            except FileFormatError as error:
                self._note(row, Code.BAD_FIGURE, error.message, error.advice)
                figures.append(None)
        return figures

    def _contexts(self, row: Row, texts: TextRow) -> tuple[Passage, ...]:
        passages, most = texts.contexts, self._limits.context_chars
        if len(passages) > self._limits.contexts:
            message = f"There are {len(passages):,} contexts; {self._limits.contexts} are allowed."
            self._note(row, Code.BAD_CONTEXT, message, PASSAGE_ADVICE)
        long = next((at for at, passage in enumerate(passages, start=1) if len(passage.text) > most), None)
        if long is not None:
            count = f"{len(passages[long - 1].text):,}"
            message = f"Context {long} has {count} characters; {most:,} are allowed."
            self._note(row, Code.BAD_CONTEXT, message, PASSAGE_ADVICE)
        empty = sum(not passage.text.strip() for passage in passages)
        if empty:
            message = f"{empty} of {len(passages)} contexts have no text; they keep their positions."
            advice = "Add the text of every context, or attach the passages to the set."
            self._note(row, Code.EMPTY_CONTEXT, message, advice)
        return passages
