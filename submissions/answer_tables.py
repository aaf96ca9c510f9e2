"""Tables of answers that no question set is named for: whose answers they hold, and to which questions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from statistics import median

from data.errors import FileFormatError, InputError, InvalidFileError
from data.files.tables.columns import Column, column_of, folded, read_columns, renamed
from data.files.tables.rows import Row, TextRow
from data.files.tables.values import given, id_text, is_missing
from data.models import Passage, Problem, QuestionSet, Severity
from data.text import counted, is_blank
from submissions.formats.reading import RowFile
from submissions.formats.registry import AnswerFormat, LeftOut, NamedAnswer, format_of, system_names
from submissions.limits import IntakeLimits
from submissions.problem_codes import ANSWER_ADVICE, Code, Findings, listed, shown, with_place
from submissions.question_index import QuestionIndex


class Shape(StrEnum):
    """Layout of systems in a table: one alone, a row for each and question, a column for each, or none."""

    ONE = "one"
    LONG = "long"
    WIDE = "wide"
    REFERENCES = "references"


DATUM = re.compile(
    r"(?:https?://|www\.|/)\S+|\d[\d\s.:,/%TZ+-]*|[0-9a-f]{8,}(?:-[0-9a-f]+)*|true|false", re.IGNORECASE
)
"""Links, paths, dates, numbers with units, hashes, and yes or no."""
REMARKS = frozenset(
    (
        *("note", "notes", "comment", "comments", "remark", "remarks", "url", "link", "source", "sources"),
        *("date", "time", "timestamp", "createdat", "tag", "tags", "label", "labels", "difficulty", "split"),
        *("language", "lang", "author", "annotator", "status", "type", "metadata", "sessionid", "rationale"),
        *("reasoning", "explanation", "evidence", "error", "title", "run", "runid", "traceid"),
    )
)
"""Columns that stand beside answers."""
LABEL_WORDS, FEW = 3, 4
MOST_UNREAD, MOST_NAMED = 5, 8
"""Columns and systems that a sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One row of a table of answers.

    Attributes:
        line: Where it begins in its file.
        question_id: The question's id; empty where it has none.
        answer: What the system wrote; None where nothing is there.
        reference: The answer that is known to be right, where there is one.
    """

    line: int
    question_id: str = ""
    question: str = ""
    answer: str | None = None
    reference: str | None = None
    domain: str = ""
    contexts: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """A file of answers, or of references, as it was understood.

    Attributes:
        systems: Rows by system, in the order of the file.
        columns: What each of our columns is called in the file.
        shape: How systems stand in it.
        problems: What else was noticed, all of it warnings.
        header: Every column of the file, in its order.
        unread: Those of them that nothing was taken from.
        tool: The format of another tool by which its rows were read; empty of a table.
    """

    file: str
    systems: Mapping[str, Sequence[AnswerRow]]
    columns: Mapping[Column, str] = field(default_factory=dict)
    shape: Shape = Shape.ONE
    problems: tuple[Problem, ...] = ()
    header: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    tool: str = ""

    def called(self, name: str) -> AnswerTable:
        """Return the table, its one system by the name that was given for it, whatever its rows say."""
        if len(self.systems) > 1:
            count = f"{len(self.systems):,} systems"
            message = f"{self.file} has the answers of {count}, so it cannot be called {shown(name)}."
            raise InputError(message, advice="Leave out the name, or give a file for each system.")
        systems = {name: next(iter(self.systems.values()), ())}
        columns = dict(self.columns)
        columns.pop(Column.SYSTEM, None)
        return replace(self, systems=systems, shape=Shape.ONE, columns=columns)

    @property
    def sentence(self) -> str:
        """A sentence on how the file was read."""
        read = ", ".join(
            f"{theirs} as the {ours.replace('_', ' ')}"
            for ours, theirs in self.columns.items()
            if theirs != ours.value
        )
        named = listed(map(shown, self.systems), MOST_NAMED)
        alone = "" if any(map(self.file.startswith, self.systems)) else f" ({named})"
        whose = {
            Shape.ONE: f"one system{alone}",
            Shape.LONG: f"{counted(len(self.systems), 'system')}, a row each ({named})",
            Shape.WIDE: f"{len(self.systems):,} systems, a column each ({named})",
            Shape.REFERENCES: "references",
        }[self.shape]
        unread = f"; not read: {listed(map(shown, self.unread), MOST_UNREAD)}" if self.unread else ""
        read = f"as {self.tool} writes it" if self.tool else read and f"read {read}"
        return f"{self.file}: {whose}{f'; {read}' if read else ''}{unread}."


def header_of(path: Path) -> tuple[str, ...]:
    """Return the columns of a file; none where it has no rows."""
    limits = IntakeLimits()
    columns: list[str] = []

    def header(names: Sequence[str], line: int) -> None:
        del line
        columns.extend(names)

    with RowFile(path, limits, Findings(limits.errors), header) as rows:
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
) -> AnswerTable:
    """Read a file of answers in any format of `submissions.formats`, of one system or several.

    The answers are of `system` where the file names nobody; rows of a file of references (not `answers`) are
    nobody's. `called` says what columns of ours are called in the file, where their names do not.
    """
    limits = IntakeLimits()
    findings = Findings(limits.errors)
    columns: list[str] = []
    ours = {theirs: column.value for column, theirs in (called or {}).items()}

    def header(names: Sequence[str], line: int) -> None:
        del line
        columns.extend(names)

    reader = _Rows(findings, text_cells=False)
    with RowFile(path, limits, findings, header) as rows:
        reader.text_cells = rows.format.text_cells
        for row in rows:
            if not columns and isinstance(row.value, Mapping):
                columns.extend(map(str, row.value))
            reader.add(_as_called(row, ours), split=answers)
            if reader.count > limits.answers:
                message = f"{path.name} has more than {limits.answers:,} rows."
                raise FileFormatError(message, advice="Give fewer.", code=Code.TOO_MANY_ANSWERS)
    absent = [theirs for theirs in (called or {}).values() if theirs not in columns]
    if absent:
        message = f"{path.name} has no column {shown(absent[0])}; it has {listed(map(shown, columns), 20)}."
        raise FileFormatError(message, advice="Name a column that is there.", code=Code.MISSING_COLUMN)
    table = _table(reader, path.name, columns, findings, system=system, answers=answers)
    unread = tuple(one for one in table.unread if one not in ours)
    return replace(table, columns={**table.columns, **(called or {})}, unread=unread)


def _as_called(row: Row, ours: Mapping[str, str]) -> Row:
    """Return the row with our names in place of the file's; another column of that name is left out."""
    if not ours or not isinstance(row.value, Mapping):
        return row
    taken = set(ours.values())
    value = {
        ours.get(name, name): cell for name, cell in row.value.items() if name in ours or name not in taken
    }
    return Row(row.line, value)


def answer_table_of(
    rows: Iterable[Mapping[str, object]], *, name: str, system: str = "", answers: bool = True
) -> AnswerTable:
    """Return the same of rows that are there already; a line counts from 1."""
    findings = Findings(IntakeLimits().errors)
    reader, columns = _Rows(findings, text_cells=False), list[str]()
    for number, row in enumerate(rows, 1):
        columns = columns or list(row)
        reader.add(Row(number, row), split=answers)
    return _table(reader, name, columns, findings, system=system, answers=answers)


def _table(
    reader: _Rows, name: str, columns: Sequence[str], findings: Findings, *, system: str, answers: bool
) -> AnswerTable:
    reader.close()
    if not reader.count and not findings.errors:
        findings.add(0, Code.EMPTY_FILE, f"{name} holds no rows.", "Write at least one.")
    if answers and not findings.errors:
        _require_answers(reader, columns, findings)
    if findings.errors:
        count = "a problem" if findings.errors == 1 else f"{findings.errors:,} problems"
        message = f"{name} has {count}."
        raise InvalidFileError(message, findings.result(), advice="Correct the file and try again.")
    systems = {own or system: found for own, found in reader.systems.items()}
    others = [one for one in columns if column_of(one) is Column.ANSWER]
    columns_read = read_columns(columns)
    if reader.alone:
        columns_read[Column.ANSWER] = reader.alone
    if not reader.tool and reader.shape is not Shape.WIDE and len(others) > 1 and answers:
        named = listed(map(shown, others), MOST_UNREAD)
        message = f"Several columns hold answers, and only one is read: {named}. {ANSWER_ADVICE}"
        findings.add(0, Code.UNKNOWN_FIELD, message, "")
    used = {
        ours: theirs
        for ours, theirs in ({} if reader.tool else columns_read).items()
        if ours is not Column.SYSTEM or reader.shape is Shape.LONG
    }
    known = {"", *(theirs.strip() for theirs in used.values()), *systems}
    return AnswerTable(
        file=name,
        systems=systems,
        columns=used,
        shape=reader.shape if answers else Shape.REFERENCES,
        header=tuple(columns),
        # What a harness's log has is read by what it is, not by columns.
        unread=() if reader.tool else tuple(one for one in columns if one.strip() not in known),
        tool=reader.tool,
        problems=tuple(one for one in findings.result() if one.severity is Severity.WARNING),
    )


def _require_answers(reader: _Rows, columns: Sequence[str], findings: Findings) -> None:
    """Note that a table has no answers, or no questions, naming the columns that it has."""
    found = listed(map(shown, columns), 20) or "none"
    rows = [row for some in reader.systems.values() for row in some]
    if not any(row.answer is not None for row in rows):
        message = f"No row has an answer; the columns are: {found}."
        findings.add(0, Code.MISSING_COLUMN, message, "Name the column of the answers answer or response.")
    if not any(row.question_id or row.question for row in rows):
        message = f"No row names a question; the columns are: {found}."
        findings.add(0, Code.MISSING_COLUMN, message, "Name the column of the questions question or prompt.")


class _Rows:
    """Sorts the rows of a table by system."""

    def __init__(self, findings: Findings, *, text_cells: bool) -> None:
        self.text_cells = text_cells
        self.systems: dict[str, list[AnswerRow]] = {}
        self.shape = Shape.ONE
        self.count = 0
        self.tool = ""
        self.alone = ""
        self._findings = findings
        self._wide: list[tuple[int, Mapping[str, object], Mapping[str, object]]] = []
        self._foreign: dict[tuple[str, str], list[tuple[int, Mapping[str, object], str]]] = {}
        self._tests: dict[str, set[str]] = defaultdict(set)
        self._left_out = LeftOut(findings)
        # Of no questions: rows of harnesses are read by what they say themselves.
        self._nobody = QuestionIndex(QuestionSet(name="none", title="none"))

    def add(self, row: Row, *, split: bool) -> None:
        """Read a row, for each system that it has an answer of."""
        self.count += 1
        value = row.value
        if not isinstance(value, Mapping):
            self._findings.add(row.line, Code.WRONG_SHAPE, "This is no row.", "Write one object a row.")
            return
        known = format_of(value, self._findings)
        if known is not None:
            try:
                self._add_foreign(row, known, known.read(value, self._nobody))
            except FileFormatError as error:
                message = with_place(error.message, row.place)
                self._findings.add(row.line, Code(error.code), message, error.advice)
            return
        if not split:
            self._read("", row.line, value)
            return
        fields = renamed(value)
        system = id_text(fields.get(Column.SYSTEM))
        texts = {
            name: cell
            for name, cell in fields.items()
            if name and column_of(name) is None and isinstance(cell, str)
        }
        if system:
            self.shape = Shape.LONG
        if Column.ANSWER in fields or not texts:
            self._read(system or "", row.line, fields)
        else:
            self._wide.append((row.line, fields, texts))

    def _require_systems(self) -> None:
        """Report answers without a system where other rows name theirs."""
        nameless = self.systems.get("", ()) if self.shape is Shape.LONG and len(self.systems) > 1 else ()
        for row in nameless:
            if row.answer is not None:
                message = "The row has an answer and names no system."
                self._findings.add(row.line, Code.MISSING_FIELD, message, "Name its system.")

    def close(self) -> None:
        """Read what the whole file tells.

        Of a table without answers, its columns of texts that no reader knows are a system each, where they
        read like answers; one alone is the file's.
        """
        names = system_names(self._foreign)
        if len(names) > 1 and any(names.values()):
            self.shape = Shape.LONG
        for whose, rows in self._foreign.items():
            for line, fields, test in rows:
                alone = len(self._tests[str(fields[Column.QUESTION])]) == 1
                asked = {} if alone else {Column.QUESTION.value: test}
                self._read(names[whose], line, {**fields, **asked})
        self._left_out.close(answers=bool(self.systems))
        systems = _like_answers([texts for _, _, texts in self._wide])
        if len(systems) == 1 or (systems and self.shape is Shape.LONG):
            # Where a column names the systems, none of them is named by its column.
            self.alone = min(systems)
            systems = {self.alone}
        for line, fields, texts in self._wide:
            shared = {name: cell for name, cell in fields.items() if name not in texts}
            for name, cell in texts.items():
                if name in systems:
                    own = id_text(fields.get(Column.SYSTEM)) or "" if self.alone else name
                    self.shape = self.shape if self.alone else Shape.WIDE
                    self._read(own, line, {**shared, Column.ANSWER.value: cell})
        self._require_systems()
        if self._wide and not systems:
            for line, fields, _ in self._wide:
                self._read("", line, fields)

    def _read(self, system: str, line: int, value: Mapping[str, object]) -> None:
        value = self._left_out.first_of(value)
        fields, problems = TextRow.of(value, text_cells=self.text_cells)
        for problem in problems:
            self._findings.add(line, Code(problem.code), problem.message, problem.advice)
        if problems:
            return
        answer = fields.answer
        empty = answer is None or is_blank(answer) or (self.text_cells and is_missing(answer))
        # A file of references may call them answers.
        self.systems.setdefault(system, []).append(
            AnswerRow(
                line=line,
                question_id=fields.question_id or "",
                question=(fields.question or "").strip(),
                answer=None if empty else answer,
                reference=fields.reference if (fields.reference or "").strip() else None,
                domain=fields.domain or "",
                contexts=fields.contexts,
            )
        )

    def _add_foreign(self, row: Row, known: AnswerFormat, named: NamedAnswer | None) -> None:
        self.tool = self.tool or known.name
        if named is None or not self._left_out.takes(row, known, named):
            return
        asked = next((id_text(one) for one in named.ids if given(one)), None)
        fields = {
            Column.QUESTION_ID.value: None if named.counted and named.text else asked,
            Column.QUESTION.value: named.text,
            Column.ANSWER.value: named.answer,
            Column.CONTEXTS.value: named.contexts,
            Column.REFERENCE.value: named.reference,
        }
        read = {name: cell for name, cell in fields.items() if cell is not None}
        self._tests[named.text].add(named.test)
        self._foreign.setdefault((named.system, named.variant), []).append((row.line, read, named.test))


def _like_answers(rows: Sequence[Mapping[str, object]]) -> set[str]:
    """Return the columns that read like answers: no numbers, links, dates, labels or remarks."""
    cells: dict[str, list[str]] = {}
    for texts in rows:
        for name, cell in texts.items():
            if str(cell).strip():
                cells.setdefault(name, []).append(str(cell).strip())
    cells = {name: some for name, some in cells.items() if not all(map(_number, some))}
    words = {name: median(len(cell.split()) for cell in some) for name, some in cells.items()}
    found = {
        name
        for name, some in cells.items()
        if not (
            folded(name) in REMARKS
            or all(DATUM.fullmatch(cell) for cell in some)
            or (words[name] <= LABEL_WORDS and len(some) >= FEW and 2 * len(set(some)) <= len(some))
        )
    }
    return found or set(cells)


def _number(cell: object) -> bool:
    try:
        float(str(cell))
    except ValueError:
        return not str(cell).strip()
    return True
