"""The fields of a row by our names, whichever tool wrote the file."""

import math
from collections.abc import Mapping, Sequence
from operator import attrgetter

from data.errors import FileFormatError
from data.files.tables.columns import NAMES, Column, column_of, renamed, require_columns
from data.files.tables.rows import Row
from data.models import Answer
from submissions.formats.registry import FIGURES, FURTHER_COLUMNS, LeftOut, NamedAnswer, format_of, own_format
from submissions.problem_codes import Code, Findings, listed, shown, with_place
from submissions.question_index import QuestionIndex, normalised

_figures = attrgetter(*FIGURES)
MOST = 1e9


def figure_of(name: str, value: object, *, from_csv: bool) -> float | None:
    """One of `FIGURES` as a row has it; None where it says nothing, which in CSV is an empty cell."""
    if value is None or (from_csv and value == ""):
        return None
    number = _number(value, from_csv=from_csv)
    if number is None or not 0 <= number <= MOST or (name == "tokens" and not number.is_integer()):
        what = "whole number" if name == "tokens" else "number"
        message = f"{name} is {shown(value)}, no {what} from 0 to a billion."
        raise FileFormatError(message, advice="Write a number, or leave it out.", code=Code.BAD_FIGURE)
    return number


def figures_in(answer: Answer) -> list[str]:
    """Return the reported costs of an answer as parts of its hash; none where it reports nothing."""
    said = zip(FIGURES, _figures(answer), strict=True)
    return [f"{name} {value!r}" for name, value in said if value is not None]


def _number(value: object, *, from_csv: bool) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str if from_csv else int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


KNOWN_FIELDS = frozenset({"prompt", "reference", "", *FURTHER_COLUMNS, *FIGURES})
"""Fields besides the known columns: prompts of RAG-QA Arena, references, an index without a name."""
NAMES_LISTED = 50
SUGGESTED = 5


class RowFields:
    """Reads the fields of the rows of one file.

    Attributes:
        layout: Whose fields the first row has; None before there is one.
        unknown: Unread fields, each with its first line.
    """

    def __init__(self, index: QuestionIndex, system: str, findings: Findings) -> None:
        self._index = index
        self._system = system
        self._findings = findings
        self.left_out = LeftOut(findings)
        self.layout: str | None = None
        self.unknown: dict[str, int] = {}

    def read(self, row: Row, value: Mapping[str, object], *, answers: bool) -> Mapping[str, object] | None:
        """Return the fields of a row by our names; None with an error, or where it has no answer."""
        known = format_of(value, self._findings)
        if self.layout is None:
            self.layout = known.name if known else own_format(value)
            if known is not None and known.columns:
                self.require_columns(list(value), 0, answers=answers)
        if known is None:
            own = renamed(value)
            if "answer" not in own and self._system in own:
                own["answer"] = own.pop(self._system)
            self._remember_unknown(row.line, own)
            return self.left_out.first_of(own)
        try:
            named = known.read(value, self._index)
            if named is None or not self.left_out.takes(row, known, named):
                return None
            return self.left_out.first_of(self._by_our_names(named))
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
            others = [name for name in columns if name and column_of(name) is None]
            if (
                content
                and Column.ANSWER in content[0]
                and len(others) > 1
                and "question" not in error.message
            ):
                error.advice += " Where each system has a column of its own, name one: --system NAME."
            raise

    def _by_our_names(self, named: NamedAnswer) -> Mapping[str, object]:
        candidates = self._index.named(named.ids, named.text, counted=named.counted)
        if len(candidates) > 1:
            message = f"{len(candidates)} questions of the set stand in the text {shown(named.text)}."
            names = listed((shown(question.id) for question in candidates), SUGGESTED)
            advice = f"Give the question's id with the sample, one of {names}."
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
        names = "" if named.counted else " or ".join(map(shown, named.ids))
        text = f"with the text {shown(named.text)}" if named.text else ""
        asked = " and none ".join(part for part in (names, text) if part)
        message = f"Question set {self._index.set_name} has no question {asked}."
        if not asked:
            message = "There is nothing that tells which question it answers."
        advice = "Leave it out, or use the ids or the wording of the set."
        return FileFormatError(message, advice=advice, code=Code.UNKNOWN_QUESTION)

    def _remember_unknown(self, line: int, fields: Mapping[str, object]) -> None:
        for name in fields.keys() - KNOWN_FIELDS - NAMES.keys():
            if len(self.unknown) < NAMES_LISTED:
                self.unknown.setdefault(name[:NAMES_LISTED], line)
