"""The fields of a row by our names, whichever tool wrote the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from data.errors import FileFormatError
from submissions.answer_figures import FIGURES
from submissions.formats import FileFormat, Layout, Row
from submissions.formats.harnesses import NamedAnswer
from submissions.formats.layouts import (
    ANSWER_COLUMNS,
    CONTEXT_COLUMNS,
    QUESTION_COLUMNS,
    KnownLayout,
    layout_of,
    missing_columns,
    own_layout,
)
from submissions.problem_codes import Code, Findings, listed, shown, with_place
from submissions.question_index import QuestionIndex, normalised

READ_FIELDS = frozenset(
    {"question_id", "answer", "contexts", "query", "pred", "passages", "thinking", *FIGURES}
)
# Beside what is read, RAG-QA Arena's prediction files carry the prompt, and templates the question.
IGNORED_FIELDS = frozenset({"question", "domain", "prompt"})
KNOWN_FIELDS = READ_FIELDS | IGNORED_FIELDS
NAMES_LISTED = 50
SUGGESTED = 5


TABLES = frozenset({Layout.ARENA, Layout.RAG_QA_ARENA, Layout.RAGAS})
"""Layouts whose rows all have the same columns."""


class RowFields:
    """Reads the fields of the rows of one file.

    Attributes:
        layout: Whose fields the first row has; None before there is one.
        unknown: Fields that nobody reads, each with its first line.
    """

    def __init__(self, index: QuestionIndex, form: FileFormat, findings: Findings) -> None:
        self._index = index
        self._form = form
        self._findings = findings
        self._samples: set[str] = set()
        self._left_out: Counter[str] = Counter()
        self.layout: Layout | None = None
        self.unknown: dict[str, int] = {}

    def close(self) -> None:
        """Note what was left out on purpose."""
        for repeats, count in self._left_out.items():
            rows = "row is left out" if count == 1 else "rows are left out"
            message = f"{count:,} {rows}: further {repeats} of samples that have an answer."
            self._findings.add(0, Code.LEFT_OUT, message, "The first of each sample counts.")

    def read(self, row: Row, value: Mapping[str, object], *, answers: bool) -> Mapping[str, object] | None:
        """The fields of a row by our names; None where they have an error, or it is none of an answer.

        Raises:
            FileFormatError: A table has no column for what every row needs.
        """
        known = layout_of(value)
        if self.layout is None:
            self.layout = known.layout if known else own_layout(value)
            self._require_columns(value, self.layout, answers=answers)
        if known is None:
            self._remember_unknown(row.line, value)
            return value
        try:
            named = known.read(value, self._index)
            if named is None or self._is_repeated(known, named):
                return None
            fields = self._by_our_names(named)
        except FileFormatError as error:
            self._findings.add(row.line, Code(error.code), with_place(error.message, row.place), error.advice)
            return None
        self._warn_of_references(row, named)
        return fields

    def _require_columns(self, value: Mapping[str, object], layout: Layout, *, answers: bool) -> None:
        is_table = self._form in {FileFormat.PARQUET, FileFormat.ARROW}
        if layout not in TABLES or not (is_table or layout is Layout.RAGAS):
            return
        if missing := missing_columns(value, answers=answers):
            given = listed(map(shown, value), NAMES_LISTED)
            wanted = ", ".join((*QUESTION_COLUMNS, *(ANSWER_COLUMNS if answers else CONTEXT_COLUMNS)))
            message = f"There is no column {missing}; there are: {given}."
            advice = f"Name the columns of question and {'answer' if answers else 'contexts'}: {wanted}."
            raise FileFormatError(message, advice=advice, code=Code.MISSING_COLUMN)

    def _is_repeated(self, known: KnownLayout, named: NamedAnswer) -> bool:
        """Whether a sample was there already, whose first row counts."""
        if not named.sample:
            return False
        if named.sample in self._samples:
            self._left_out[known.repeats] += 1
            return True
        self._samples.add(named.sample)
        return False

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

    def _warn_of_references(self, row: Row, named: NamedAnswer) -> None:
        if named.unknown_references:
            count = f"{named.unknown_references:,}"
            message = f"{count} references are no passages of the question, so nothing is known of them."
            message = with_place(message, row.place)
            self._findings.add(row.line, Code.EMPTY_CONTEXT, message, "Attach the passages to the set.")

    def _remember_unknown(self, line: int, fields: Mapping[str, object]) -> None:
        for name in fields.keys() - KNOWN_FIELDS:
            if len(self.unknown) < NAMES_LISTED:
                self.unknown.setdefault(name[:NAMES_LISTED], line)
