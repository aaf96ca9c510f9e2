"""Questions from tables in any file format, by the common names of columns."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from data.errors import FileFormatError
from data.files.question_sets.registry import QUESTIONS, SetDraft, SetFormat, each_once, questions_file
from data.files.question_sets.rows import OWN_FIELDS, question_from_json, write_set
from data.files.tables.columns import NAMES, Column, renamed, require_columns
from data.files.tables.reader import Table, each_record
from data.files.tables.rows import NUGGETS, Fields, Opening, Row
from data.files.tables.values import has_value, list_of_cell, whole_id
from data.files.text_files import ReadLimits
from data.models import Nugget, ProblemList, Question, Severity, Split

POSITION = "position"
DEV = frozenset({"dev", "validation", "valid", "val"})
FURTHER: Mapping[str, str] = {"reference_contexts": "passages", "subject": "domain"}
"""Further names of columns: of test sets of ragas, and of MMLU."""
OURS: Mapping[Column, str] = {
    Column.QUESTION_ID: "id",
    Column.QUESTION: "question",
    Column.REFERENCE: "reference",
    Column.DOMAIN: "domain",
    Column.CONTEXTS: "passages",
}
LISTS = frozenset({"passages", *OWN_FIELDS})
MAX_NAMED = 20


def read_question_tables(
    files: Sequence[Path], default: str, limits: ReadLimits, problems: ProblemList
) -> list[Question]:
    """Read the questions of files in order, and add problems with their rows.

    If no row has an id, questions are numbered, with a warning. The answers of a table without references are
    its references, unless it names their systems. The split follows from the file's name; `dev` and
    `validation` are the same, any other is for testing.
    """
    places: dict[str, float] = {}

    def parsed() -> Iterator[tuple[str, int, Question]]:
        for file in files:
            for row, fields in _QuestionTable(file, default, limits, problems).rows():
                if question := question_from_json(row.line, fields, problems):
                    place = fields.get(POSITION)
                    places.setdefault(question.id, float(place if isinstance(place, int) else len(places)))
                    yield file.name, row.line, question

    questions = each_once(parsed(), problems)
    _warn_of_oddities(questions, problems)
    return sorted(questions, key=lambda question: places[question.id])


def _warn_of_oddities(questions: Sequence[Question], problems: ProblemList) -> None:
    """Warn of citations without a document, and of questions with the same text."""
    counts = Counter(" ".join(question.question.split()) for question in questions)
    twice = [question.id for question in questions if counts[" ".join(question.question.split())] > 1]
    lost = [question.id for question in questions if _has_unknown_citation(question)]
    for code, ids, problem in (
        ("same-text", twice, "questions have the same text as others, so that answers need ids"),
        ("unknown-citation", lost, "references cite documents that the question does not have"),
    ):
        if ids:
            message = f"{len(ids):,} {problem}: {', '.join(map(repr, ids[:MAX_NAMED]))}."
            problems.add(0, code, message, severity=Severity.WARNING, advice="Check these questions.")


def _has_unknown_citation(question: Question) -> bool:
    """Return whether a citation matches neither a passage nor a gold document."""
    sources = {*question.gold_doc_ids, *(passage.id for passage in question.passages)}
    beyond = len(question.gold_doc_ids) or len(question.passages)
    numbers = [number for cited in question.citation_numbers for number in cited]
    cited_ids = [name for cited in question.citations for name in cited]
    return any(not 1 <= number <= beyond for number in numbers if beyond) or (
        bool(sources) and not sources.issuperset(cited_ids)
    )


class _QuestionTable:
    """Rows of a file."""

    def __init__(self, file: Path, default: str, limits: ReadLimits, problems: ProblemList) -> None:
        self._file = file
        self._default = default
        self._limits = limits
        self._problems = problems
        self._split = _split_of(file)
        self._text_cells = False
        self._unknown: dict[str, int] = {}
        self._answers = False

    def rows(self) -> Iterator[tuple[Row, dict[str, Any]]]:
        """Yield the rows with their fields under our names."""
        rows = list(self._read())
        counted = bool(rows) and not any(has_value(fields.get("id")) for _, fields in rows)
        ids = [fields.get("id") for _, fields in rows if has_value(fields.get("id"))]
        floats = self._text_cells and bool(ids) and all(whole_id(str(name).strip()) for name in ids)
        keys: set[str] = set()
        for number, (row, fields) in enumerate(rows, start=1):
            if fields.pop(Column.SYSTEM.value, None) is not None:
                key = str(fields.get("id") if has_value(fields.get("id")) else fields.get("question"))
                if key in keys:
                    continue
                keys.add(key)
            if counted:
                fields["id"] = f"{self._split}-{number}"
            elif floats and has_value(fields.get("id")):
                fields["id"] = whole_id(str(fields["id"]).strip())
            if not has_value(fields.get("domain")):
                fields["domain"] = self._default
            fields.setdefault("split", self._split.value)
            yield row, fields
        self._warn(counted=counted)

    def _read(self) -> Iterator[tuple[Row, dict[str, Any]]]:
        opening = Opening(note=partial(self._problems.note, name=self._file.name), header=self._header)
        try:
            with Table(self._file, self._limits, opening) as table:
                self._text_cells = table.format.text_cells
                for row in table:
                    if not isinstance(row.value, Mapping):
                        message = f"{self._file.name}: This row is not a JSON object."
                        advice = 'Write {"id": …, "domain": …, "question": …}.'
                        self._problems.add(row.line, "not-object", message, advice=advice)
                        continue
                    yield row, self._fields(row, row.value)
        except FileFormatError as error:
            self._problems.note(error, self._file.name)

    def _header(self, columns: Sequence[str], line: int) -> None:
        require_columns(columns, (Column.QUESTION,), line=line)

    def _fields(self, row: Row, value: Mapping[str, Any]) -> dict[str, Any]:
        value = _without_spans(value)
        cells = renamed({FURTHER.get(name, name): cell for name, cell in value.items() if name != ""})
        if Column.REFERENCE.value not in cells and Column.SYSTEM.value not in cells and "answer" in cells:
            self._answers = True
            cells[Column.REFERENCE.value] = cells["answer"]
        fields: dict[str, Any] = {}
        for name, cell in cells.items():
            column = next((column for column in Column if column.value == name), None)
            ours = OURS.get(column, name) if column else name
            if column in {None, Column.SYSTEM} or column in OURS:
                fields[ours] = self._cell(row, ours, cell)
            if column is None and name not in {*OWN_FIELDS, "passages", "split", "language", POSITION}:
                self._unknown.setdefault(name, row.line)
        return {name: cell for name, cell in fields.items() if cell is not None}

    def _cell(self, row: Row, name: str, cell: object) -> object:
        if not self._text_cells or not isinstance(cell, str):
            return _plain(cell)
        if not cell.strip():
            return None
        if name not in LISTS:
            return cell
        try:
            return list_of_cell(cell)
        except FileFormatError as error:
            self._problems.add(row.line, error.code, f"{name}: {error.message}", advice=error.advice)
            return None

    def _warn(self, *, counted: bool) -> None:
        if counted:
            message = f"{self._file.name} has no ids; the questions are numbered: {self._split}-1 and so on."
            advice = f"Add a column of ids: {', '.join(NAMES[Column.QUESTION_ID])}."
            self._problems.add(0, "no-ids", message, severity=Severity.WARNING, advice=advice)
        if self._answers:
            message = f"{self._file.name} has no references; its answers are read as references."
            advice = "Name the column of references reference, or add a column system to answers."
            self._problems.add(0, "answers-as-references", message, severity=Severity.WARNING, advice=advice)
        for name, line in list(self._unknown.items())[:MAX_NAMED]:
            message = f"{self._file.name}: the field {name[:60]!r} is ignored."
            self._problems.add(
                line, "unknown-field", message, severity=Severity.WARNING, advice="Correct its name."
            )


def _without_spans(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a SQuAD row: answers to short answers, the first also to the reference.

    Source: https://huggingface.co/datasets/rajpurkar/squad, `answers` of `text` and `answer_start`.
    """
    spans = row.get("answers")
    texts = spans.get("text") if isinstance(spans, Mapping) else None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return row
    rest = {name: cell for name, cell in row.items() if name != "answers"}
    distinct = list(dict.fromkeys(texts))
    return {**({"reference": distinct[0]} if distinct else {}), "short_answers": distinct, **rest}


def _split_of(file: Path) -> Split:
    name = file.parent.name if file.stem.isdigit() else file.stem.split("-", 1)[0]
    return Split.DEV if name.lower() in DEV else Split.TEST


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: inner for name, inner in value.items() if inner is not None}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


FILES = ("nuggets.jsonl", "nuggets.jsonl.gz")
Topic = tuple[str, tuple[Nugget, ...]]


def with_nuggets(
    questions: Sequence[Question], folder: Path, limits: ReadLimits, problems: ProblemList
) -> list[Question]:
    """Add the nuggets of `nuggets.jsonl` in their folder, if any, to questions.

    A line is an object with `qid` (or `question_id`) and `nuggets`, as AutoNuggetizer writes it. Topics
    without a question are skipped and counted in a warning.
    """
    file = next((folder / name for name in FILES if (folder / name).exists()), None)
    if file is None:
        return list(questions)
    by_id = {question.id: question for question in questions}
    unknown: list[int] = []
    filled: set[str] = set()
    own_problems = ProblemList()
    for line, (key, nuggets) in each_record(file, limits, _topic, own_problems):
        if key not in by_id:
            unknown.append(line)
        elif key in filled or by_id[key].nuggets:
            message = f"Question {key!r} already has nuggets."
            own_problems.add(line, "duplicate-question", message, advice="Keep one of them.")
        else:
            filled.add(key)
            by_id[key] = replace(by_id[key], nuggets=nuggets)
    if unknown:
        message = f"Topics without a question of this set are skipped: {len(unknown):,}."
        own_problems.add(unknown[0], "unknown-question", message, severity=Severity.WARNING)
    for problem in own_problems.result():
        message = problem.message if file.name in problem.message else f"{file.name}: {problem.message}"
        problems.add(problem.line, problem.code, message, severity=problem.severity, advice=problem.advice)
    return list(by_id.values())


def _topic(line: int, row: Mapping[str, object], problems: ProblemList) -> Topic | None:
    fields = Fields(line, row, problems)
    key = fields.id("qid", "question_id")
    if row.get(NUGGETS) is None:
        fields.note("missing-field", f"There are no {NUGGETS}.", "Add a list of them.")
    nuggets = fields.nuggets(ungraded=Severity.WARNING)
    return None if fields.wrong else (key, nuggets)


def _parse(path: Path, limits: ReadLimits, problems: ProblemList) -> SetDraft:
    file = questions_file(path)
    if file is None:
        raise FileFormatError(f"{path} contains no question file.", code="no-questions")
    default = path.name.split(".")[0] or QUESTIONS
    questions = read_question_tables([file], default, limits, problems)
    return SetDraft(questions=with_nuggets(questions, file.parent, limits, problems))


FORMATS = (
    SetFormat(
        name="jsonl",
        title="set.toml and questions.jsonl",
        fits=lambda path: questions_file(path) is not None,
        parse=_parse,
        write=write_set,
        endings=("jsonl", "json", "gz"),
    ),
)
