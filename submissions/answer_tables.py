"""Read tables of answers without a question set: detect their systems and questions."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, count
from pathlib import Path
from typing import Any, NamedTuple

from data.errors import FileFormatError, InputError, InvalidFileError
from data.files.tables.columns import Column, column_of, read_columns
from data.files.tables.rows import Block, Row, TextRow
from data.files.tables.values import has_value, id_text, is_missing, texts_of
from data.models import Passage, Problem, QuestionSet, Severity
from data.text import are, counted, is_blank
from submissions.formats.reading import RowFile
from submissions.formats.registry import AnswerFormat, LeftOut, NamedAnswer, format_of, system_names
from submissions.limits import IntakeLimits
from submissions.problem_codes import ANSWER_ADVICE, Code, Findings, listed, quoted, with_place
from submissions.question_index import QuestionIndex
from submissions.shapes import Layout, Shape, UnnamedSystemsError, asked_in, in_doubt, layout_of, no_answers

MAX_UNREAD, MAX_NAMED = 5, 8
"""Maximum number of columns or systems listed in a sentence."""
ODD = re.compile(r"\A(?:\s*+[{\[]|Thinking:)")
"""Start of a text that may contain structured data or reasoning."""
ODD_TEXTS = {
    **dict.fromkeys((Column.QUESTION, Column.ANSWER, Column.REFERENCE), ODD),
    Column.CONTEXTS: re.compile(r"\A[\s\S]"),
}


class AnswerRow(NamedTuple):
    """One row of a table of answers.

    Attributes:
        line: First line in the file.
        question_id: Id of the question; empty if unknown.
        answer: Text of the answer; None if missing.
        reference: Reference answer, if any.
    """

    line: int
    question_id: str = ""
    question: str = ""
    answer: str | None = None
    reference: str | None = None
    domain: str = ""
    contexts: tuple[Passage, ...] = ()


class AnswerRows(Sequence[AnswerRow]):
    """Rows in columns, which are built when they are read."""

    def __init__(self, columns: Sequence[Sequence[Any]]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401 - an index or a slice
        return AnswerRow(*(cells[place] for cells in self._columns))

    def __iter__(self) -> Iterator[AnswerRow]:
        return map(AnswerRow._make, zip(*self._columns, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """Parsed answer file or references.

    Attributes:
        columns: Names in the file of known columns.
        shape: Layout of the systems.
        problems: Warnings.
        header: All columns of the file, in order.
        unread: Columns that are not read.
        tool: Format of the tool that wrote the rows; empty for a table.
    """

    file: str
    systems: Mapping[str, Sequence[AnswerRow]]
    columns: Mapping[Column, str] = field(default_factory=dict)
    shape: Shape = Shape.ONE
    problems: tuple[Problem, ...] = ()
    header: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    tool: str = ""

    def called(self, name: str) -> "AnswerTable":
        """Rename the only system of the table."""
        if len(self.systems) > 1:
            count = f"{len(self.systems):,} systems"
            message = f"{self.file} contains the answers of {count}, so it cannot be named {quoted(name)}."
            raise InputError(message, advice="Omit the name, or use one file per system.")
        systems = {name: next(iter(self.systems.values()), ())}
        columns = {ours: name for ours, name in self.columns.items() if ours != "system"}
        return replace(self, systems=systems, shape=Shape.ONE, columns=columns)

    @property
    def sentence(self) -> str:
        """Sentence on how the file was read."""
        read = ", ".join(
            f"{theirs} as the {ours.replace('_', ' ')}"
            for ours, theirs in self.columns.items()
            if theirs != ours.value
        )
        names = listed(map(quoted, self.systems), MAX_NAMED)
        name = "" if any(map(self.file.startswith, self.systems)) else f" ({names})"
        content = {
            Shape.ONE: f"one system{name}",
            Shape.LONG: f"{counted(len(self.systems), 'system')}, a row each ({names})",
            Shape.WIDE: f"{len(self.systems):,} systems, a column each ({names})",
            Shape.REFERENCES: "references",
        }[self.shape]
        unread = f"; not read: {listed(map(quoted, self.unread), MAX_UNREAD)}" if self.unread else ""
        read = f"as {self.tool} writes it" if self.tool else read and f"read {read}"
        return f"{self.file}: {content}{f'; {read}' if read else ''}{unread}."


def header_of(path: Path) -> tuple[str, ...]:
    """Return the columns of a file; none if it has no rows."""
    limits = IntakeLimits()
    columns: list[str] = []
    with RowFile(path, limits, Findings(limits.errors), lambda names, _: columns.extend(names)) as rows:
        first = next(iter(rows), None)
    if not columns and first is not None and isinstance(first.value, Mapping):
        columns.extend(map(str, first.value))
    return tuple(columns)


def read_answer_table(
    path: Path,
    *,
    system: str = "",
    answers: bool = True,
    called: Mapping[Column, str] | None = None,
    repeats: bool = False,
    keep_na: bool = False,
) -> AnswerTable:
    """Read an answer file in any format of `submissions.formats`, of one system or several.

    Rows without a system get `system`; rows of references (not `answers`) get none. `called` maps our columns
    to the file's names. A file without a column of systems is of one system. With `repeats`, numbers in rows
    may count answers; with `keep_na`, words for missing values are answers.
    """
    limits = IntakeLimits()
    findings = Findings(limits.errors)
    reader = _Rows(findings, called or {}, repeats=repeats)
    with RowFile(path, limits, findings, lambda names, _: reader.header.extend(names)) as rows:
        reader.text_cells = rows.format.text_cells
        reader.na = reader.text_cells and not keep_na
        for part in rows.parts:
            reader.add(part)
            if reader.count > limits.answers:
                message = f"{path.name} has more than {limits.answers:,} rows."
                raise FileFormatError(message, advice="Use fewer rows.", code=Code.TOO_MANY_ANSWERS)
    return reader.table(path.name, system=system, answers=answers)


def answer_table_of(
    rows: Iterable[Mapping[str, object]],
    *,
    name: str,
    system: str = "",
    answers: bool = True,
    called: Mapping[Column, str] | None = None,
    repeats: bool = False,
) -> AnswerTable:
    """Return the table of rows in memory; lines count from 1."""
    reader = _Rows(Findings(IntakeLimits().errors), called or {}, repeats=repeats)
    for number, row in enumerate(rows, 1):
        reader.add(Row(number, row))
    return reader.table(name, system=system, answers=answers)


class _Rows:
    """Collects the rows of a table, then groups them by system."""

    def __init__(self, findings: Findings, called: Mapping[Column, str], *, repeats: bool) -> None:
        self.text_cells = self.na = False
        self.header: list[str] = []
        self.count = 0
        self._systems: dict[str, Sequence[AnswerRow]] = {}
        self._tool = ""
        self._findings = findings
        self._called = called
        self._lines: list[int] = []
        self._cells: dict[str, list[object]] = {}
        self._foreign: dict[tuple[str, str], list[tuple[int, dict[str, object], str]]] = {}
        self._tests: dict[str, set[str]] = defaultdict(set)
        self._repeats = repeats
        self._left_out = LeftOut(findings, keep_repeats=True)
        # Without questions, rows of harnesses are read by their own fields.
        self._nobody = QuestionIndex(QuestionSet(name="none", title="none"))

    def add(self, part: Row | Block) -> None:
        """Add a row, or rows that have the same columns."""
        rows = iter((part,)) if isinstance(part, Row) else part.rows()
        first = next(rows, None)
        if first is None or self._reads_foreign(first):
            for row in rows:
                self.add(row)
        elif isinstance(part, Block):
            self._extend(part.lines, part.columns)
        elif isinstance(first.value, Mapping):
            self._extend([first.line], {name: [cell] for name, cell in first.value.items()})

    def _reads_foreign(self, row: Row) -> bool:
        """Read a row that is not part of a table: another tool's or an invalid one; return whether it was."""
        value = row.value
        if not isinstance(value, Mapping):
            self.count += 1
            self._findings.add(
                row.line, Code.WRONG_SHAPE, "This row is not an object.", "Write one object per row."
            )
            return True
        # Rows of a table have the same columns, so formats are compared only once.
        known = None if value.keys() == self._cells.keys() else format_of(value, self._findings)
        if known is None or (known.columns and self._called):
            return False
        self.count += 1
        self.header = self.header or list(map(str, value))
        try:
            self._add_foreign(row, known, known.read(value, self._nobody))
        except FileFormatError as error:
            message = with_place(error.message, row.place)
            self._findings.add(row.line, Code(error.code), message, error.advice)
        return True

    def _extend(self, lines: Sequence[int], columns: Mapping[str, Sequence[object]]) -> None:
        if columns.keys() - self._cells.keys():
            before: list[object] = [None] * len(self._lines)
            self._cells = {**{name: [*before] for name in columns}, **self._cells}
        none = [None] * len(lines)
        for name, cells in self._cells.items():
            cells.extend(columns.get(name, none))
        self._lines += lines
        self.count += len(lines)

    def table(self, name: str, *, system: str, answers: bool) -> AnswerTable:
        """Return the table after the last row."""
        layout = Layout(Shape.ONE, {})
        self.header += (column for column in self._cells if column not in self.header)
        self._require_columns(name)
        names = system_names(self._foreign)
        for whose, rows in self._foreign.items():
            for _, fields, test in rows:
                if len(self._tests[str(fields[Column.QUESTION])]) > 1:
                    fields[Column.QUESTION] = test
            columns = {column.value: [fields.get(column) for _, fields, _ in rows] for column in Column}
            self._sort([names[whose]] * len(rows), [line for line, _, _ in rows], columns)
        try:
            layout = self._layout(answers=answers)
        except UnnamedSystemsError as error:
            error.message = f"{name}: {error.message}"
            raise
        except FileFormatError as error:
            self._findings.add(0, Code(error.code), error.message, error.advice)
        self._left_out.close(answers=bool(self._systems))
        if not self.count and not self._findings.errors:
            self._findings.add(0, Code.EMPTY_FILE, f"{name} has no rows.", "Add at least one row.")
        if answers and not self._findings.errors:
            self._require_answers()
        if self._findings.errors:
            count = "a problem" if self._findings.errors == 1 else f"{self._findings.errors:,} problems"
            message = f"{name} has {count}."
            advice = "Correct the file and try again."
            raise InvalidFileError(message, self._findings.result(), advice=advice)
        systems = {own or system: rows for own, rows in self._systems.items()}
        known = {"", *(theirs.strip() for theirs in layout.known.values()), *systems}
        return AnswerTable(
            file=name,
            systems=systems,
            columns=layout.known,
            shape=Shape.LONG if len(names) > 1 and any(names.values()) else layout.shape,
            header=tuple(self.header),
            # Rows of harnesses are not read by column.
            unread=()
            if self._tool
            else tuple(column for column in self.header if column.strip() not in known),
            tool=self._tool,
            problems=tuple(
                problem for problem in self._findings.result() if problem.severity is Severity.WARNING
            ),
        )

    def _require_columns(self, name: str) -> None:
        """Refuse names of absent columns, and drop other columns of the same kind."""
        for column, theirs in self._called.items():
            if theirs in self.header:
                for duplicate in [key for key in self._cells if column_of(key) is column and key != theirs]:
                    del self._cells[duplicate]
            elif column is not Column.SYSTEM:
                has = listed(map(quoted, self.header), 20)
                message = f"{name} has no column {quoted(theirs)}; it has {has}."
                advice = "Use an existing column; FILE:COLUMN applies to one file only."
                raise FileFormatError(message, advice=advice, code=Code.MISSING_COLUMN)

    def _layout(self, *, answers: bool) -> Layout:
        """Read rows that no known tool wrote, by the shape of their table."""
        cells = self._cells
        called = {column: name for column, name in self._called.items() if name in cells}
        if not answers:
            layout = Layout(Shape.REFERENCES, asked_in(cells, {**read_columns(cells), **called}))
        elif cells:
            layout = layout_of(cells, called, repeats=self._repeats)
        else:
            return Layout(Shape.ONE, {})
        shared = {ours.value: cells[theirs] for ours, theirs in layout.known.items()}
        others = [
            column
            for column in cells
            if column_of(column) is Column.ANSWER and column not in layout.known.values()
        ]
        if layout.shape in {Shape.ONE, Shape.LONG} and Column.ANSWER not in called:
            others += in_doubt(cells, layout.known)
        if others and layout.shape in {Shape.ONE, Shape.LONG}:
            read = layout.known[Column.ANSWER]
            columns = listed(map(quoted, [read, *others]), MAX_UNREAD)
            message = f"Several columns contain answers, but only one is read: {columns}. {ANSWER_ADVICE}"
            self._findings.add(0, Code.UNKNOWN_FIELD, message, "")
        if layout.shape is Shape.WIDE:
            for name in layout.answers:
                self._sort([name] * len(self._lines), self._lines, {**shared, "answer": cells[name]})
            return layout
        named = shared.get("system") if answers else None
        systems = [id_text(name) or "" for name in named] if named else [""] * len(self._lines)
        self._sort(systems, self._lines, shared)
        return layout

    def _require_answers(self) -> None:
        """Report a table without answers or questions, and rows without a system."""
        rows = self._systems.values()
        if not any(row.answer is not None for part in rows for row in part):
            error = no_answers(self.header)
            self._findings.add(0, Code.MISSING_COLUMN, error.message, error.advice)
        if not any(row.question_id or row.question for part in rows for row in part):
            columns = listed(map(quoted, self.header), 20) or "none"
            message = f"No row names a question; the columns are: {columns}."
            advice = "Rename the column of the questions to question or prompt, or use --question COLUMN."
            self._findings.add(0, Code.MISSING_COLUMN, message, advice)
        for row in self._systems.get("", ()) if len(self._systems) > 1 else ():
            if row.answer is not None:
                message = "The row has an answer but no system."
                self._findings.add(row.line, Code.MISSING_FIELD, message, "Add the system's name.")

    def _sort(
        self, systems: Sequence[str], lines: Sequence[int], columns: Mapping[str, Sequence[object]]
    ) -> None:
        """Group rows by system, with unchanged texts."""
        none, na = [None] * len(lines), self.text_cells
        cells: dict[Column, list[Any]] = {column: [*columns.get(column, none)] for column in Column}
        odd = sorted({at for column in Column for at in _odd(cells[column], ODD_TEXTS.get(column))})
        wrong, others = set[int](), dict[int, list[str]]()
        for at in odd:
            others[at] = texts_of(cells[Column.ANSWER][at], of_cell=na)[1:]
            whole = {name.value: texts[at] for name, texts in cells.items()}
            fields = self._left_out.first_of(whole, of_cells=na)
            read, problems = TextRow.of(fields, text_cells=na, ours=True)
            for problem in problems.values():
                self._findings.add(lines[at], Code(problem.code), problem.message, problem.advice)
                wrong.add(at)
            for column in Column:
                cells[column][at] = getattr(read, column)
        answers = [_answer(text, na=self.na) for text in cells[Column.ANSWER]]
        if self.na and (words := [text.strip() for text in cells[Column.ANSWER] if is_missing(text)]):
            message = f"{counted(len(words), 'answer')} {are(len(words))} left out as a missing value: "
            message += f"{listed(map(quoted, dict.fromkeys(words)), MAX_NAMED)}."
            self._findings.add(0, Code.MISSING_VALUE, message, "If they are real answers, use --keep-errors.")
        rows: list[Sequence[Any]] = [
            lines,
            [name or "" for name in cells[Column.QUESTION_ID]],
            [(text or "").strip() for text in cells[Column.QUESTION]],
            answers,
            [text if text and text.strip() else None for text in cells[Column.REFERENCE]],
            [name or "" for name in cells[Column.DOMAIN]],
            [passages or () for passages in cells[Column.CONTEXTS]],
        ]
        if odd:
            every = [(at, text) for at, text in enumerate(answers) if at not in wrong]
            every = [(at, one) for at, text in every for one in (text, *others.get(at, ()))]
            rows = [[texts[at] for at, _ in every] for texts in rows]
            rows[AnswerRow._fields.index("answer")] = [text for _, text in every]
            systems = [systems[at] for at, _ in every]
        places: dict[str, list[int]] = defaultdict(list)
        for at, system in enumerate(systems):
            places[system].append(at)
        for system, some in places.items():
            own = rows if len(places) == 1 else [[texts[at] for at in some] for texts in rows]
            before = self._systems.get(system)
            self._systems[system] = [*before, *AnswerRows(own)] if before else AnswerRows(own)

    def _add_foreign(self, row: Row, known: AnswerFormat, named: NamedAnswer | None) -> None:
        self._tool = self._tool or known.name
        if named is None or not self._left_out.takes(row, known, named):
            return
        identifier = next((id_text(name) for name in named.ids if has_value(name)), None)
        fields: dict[str, object] = {
            Column.QUESTION_ID.value: None if named.counted and named.text else identifier,
            Column.QUESTION.value: named.text,
            Column.CONTEXTS.value: named.contexts,
            Column.REFERENCE.value: named.reference,
        }
        self._tests[named.text].add(named.test)
        rows = self._foreign.setdefault((named.system, named.variant), [])
        for answer in (named.answer, *named.others):
            rows.append((row.line, {**fields, Column.ANSWER.value: answer}, named.test))


def _odd(cells: Sequence[object], pattern: re.Pattern[str] | None) -> Iterable[int]:
    """Yield the places of cells that are not plain text: of other types, or beginning with a pattern."""
    kinds = {*map(type, cells)}
    if kinds <= {str, type(None)}:
        texts = (str(cell or "") for cell in cells)
        return compress(count(), map(pattern.match, texts)) if pattern and str in kinds else ()
    plain = (isinstance(cell, str) and not (pattern and pattern.match(cell)) for cell in cells)
    return (
        at for at, (cell, text) in enumerate(zip(cells, plain, strict=True)) if cell is not None and not text
    )


def _answer(text: str | None, *, na: bool) -> str | None:
    """Return an answer; None for a blank one or, with `na`, a word for a missing value."""
    if not text or (na and is_missing(text)):
        return None
    return text if text[0].isalnum() or not is_blank(text) else None
