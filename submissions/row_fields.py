"""Fields of a row by native names, for files of any tool."""

import math
from collections.abc import Mapping, Sequence
from operator import attrgetter

from data.errors import FileFormatError
from data.files.tables.columns import NAMES, Column, column_of, renamed, require_columns
from data.files.tables.rows import Row
from data.models import Answer
from submissions.formats.registry import FIGURES, FURTHER_COLUMNS, LeftOut, NamedAnswer, format_of, own_format
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
            self.layout = known.name if known else own_format(value)
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
