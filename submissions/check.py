"""Checker of answer files behind the command line, the site and the API, and its reports.

Texts of a file are untrusted, so reports escape terminal commands and formulas.
"""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, computed_field

from data.errors import FileFormatError, InvalidFileError
from data.files.strict_json import NULS_REPLACED, counting_nuls
from data.files.tables.columns import Column, column_of, renamed
from data.files.tables.rows import FileFormat, Row
from data.files.tables.values import has_value, id_text
from data.models import Answer, Problem, Severity, SubmissionKind
from data.models.words import summarise_problems
from data.text import counted, escape_formula, percent
from submissions.answer_tables import read_answer_table
from submissions.answer_warnings import AnswerWarnings
from submissions.formats.reading import RowFile
from submissions.formats.registry import MAX_NAME_LENGTH, AnswerFormat, format_of, system_names
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, listed, quoted, with_place
from submissions.question_index import QuestionIndex, Questions
from submissions.row_checks import AcceptedRow, RowReader, figures_in
from submissions.shapes import UnnamedSystemsError

LISTED = 20


class TableSystems:
    """Selects the rows of `IntakeLimits.system`, or all rows if a table has only one system."""

    def __init__(self, path: Path, limits: IntakeLimits, index: QuestionIndex) -> None:
        self._path = path
        self._limits = limits
        self._index = index

    def own(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of the system."""
        several: Mapping[tuple[str, str], str] | None = None
        seen: set[str] = set()
        for row in rows:
            whose, question = self._named(row.value)
            if not any(whose):
                if question in seen:
                    self._require_one()
                    seen.clear()
                seen.add(question)
                yield row
                continue
            if several is None:
                several = self._several()
                if several and self._limits.system not in several.values():
                    raise self._unnamed([*several.values()])
            if not several or several.get(whose) == self._limits.system:
                yield row

    def _require_one(self) -> None:
        """Refuse a table that names several systems in a column not called `system`."""
        try:
            read_answer_table(self._path)
        except UnnamedSystemsError as error:
            error.advice = "Rename the column to system, and select one of its systems: --system NAME."
            raise
        except FileFormatError:
            return

    def _several(self) -> Mapping[tuple[str, str], str]:
        """Return the names of the systems if some question has rows of several."""
        systems: dict[tuple[str, str], None] = {}
        first: dict[str, tuple[str, str]] = {}
        several = False
        # Errors are reported by the second pass.
        with suppress(FileFormatError), RowFile(self._path, self._limits, Findings(10**9)) as rows:
            for row in rows:
                whose, question = self._named(row.value)
                if any(whose):
                    systems[whose] = None
                    several = several or first.setdefault(question, whose) != whose
        names = system_names(systems)
        return {whose: names[whose] for whose in systems} if several else {}

    def _unnamed(self, systems: Sequence[str]) -> FileFormatError:
        # In full, so that users can copy a name.
        names = listed((quoted(name, MAX_NAME_LENGTH) for name in systems), LISTED)
        message = f"{self._path.name} contains the answers of {len(systems):,} systems: {names}."
        if self._limits.system:
            message = f"{message[:-1]}; none is {quoted(self._limits.system, MAX_NAME_LENGTH)}."
        return FileFormatError(message, advice="Choose one with --system NAME.", code=Code.SEVERAL_SYSTEMS)

    def _named(self, value: object) -> tuple[tuple[str, str], str]:
        """Return the system of a row, empty if unnamed, and the row's question."""
        known = format_of(value)
        if known is not None or not isinstance(value, Mapping):
            return self._by_its_tool(known, value)
        fields = renamed(value)
        # Ids may identify rows, so the text is the better key for repeated questions.
        text = fields.get(Column.QUESTION)
        question = text if has_value(text) else fields.get(Column.QUESTION_ID)
        names = [name for name in value if column_of(name) is Column.SYSTEM]
        system = value.get(names[0] if len(names) == 1 else self._column) if names else None
        return (id_text(system) or "", ""), str(question)

    @cached_property
    def _column(self) -> str:
        """Candidate system column if several columns have its name."""
        with suppress(FileFormatError, InvalidFileError):
            return read_answer_table(self._path).columns.get(Column.SYSTEM, "")
        return ""

    def _by_its_tool(self, known: AnswerFormat | None, value: object) -> tuple[tuple[str, str], str]:
        if known is not None and known.several and isinstance(value, Mapping):
            # Errors are reported when the row is checked.
            with suppress(FileFormatError):
                named = known.read(value, self._index)
                if named is not None:
                    return (named.system, named.variant), str(next(iter(named.ids), named.text))
        return ("", ""), ""


class CheckReport(BaseModel):
    """Result of a check: the JSON of `arena submissions check --json`."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    set: str
    kind: SubmissionKind = SubmissionKind.ANSWERS
    """Kind of file."""
    format: FileFormat | None
    layout: str | None = None
    """Tool that wrote the rows, such as `arena` or `ragas`."""
    rows: int
    """Parsed lines, items or rows, including faulty ones."""
    answers: int
    """Questions of the set with an answer, or in files of contexts with passages."""
    questions: int
    coverage: dict[str, float]
    """Share of each domain's questions, 0-1, in the set's order."""
    no_answers: int
    with_contexts: int
    """Answers with contexts, or in files of contexts questions whose passages have texts."""
    errors: int
    warnings: int
    content_hash: str
    """SHA-256 of the answers without errors, independent of format and order."""
    problems: tuple[Problem, ...]
    """Errors and warnings by line; those on the whole file come first."""

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated properties
    @property
    def accepted(self) -> bool:
        """True if the file can be submitted."""
        return self.errors == 0 and self.answers > 0


def check_answers(path: Path, questions: Questions, *, limits: IntakeLimits | None = None) -> CheckReport:
    """Check an answer file and report all problems; the content of the file never raises an error.

    Memory grows only with the number of answers (about 100 bytes each).
    """
    limits = limits or IntakeLimits()
    findings = Findings(limits.errors)
    usage = _Tally(QuestionIndex(questions), limits, findings)
    with recording_errors(findings), counting_nuls() as nuls:
        for accepted in _accepted_rows(path, usage, limits, findings):
            usage.add(accepted)
        if nuls:
            message, advice = NULS_REPLACED.format(sum(nuls.values())), "Check the program that wrote them."
            findings.add(0, Code.NUL_CHARACTERS, message, advice)
    with recording_errors(findings):
        usage.close()
    return usage.result()


def refused_for_time(questions: Questions, seconds: float) -> CheckReport:
    """Return the report for a file whose check exceeded its time limit."""
    findings = Findings(IntakeLimits().errors)
    message = f"The check exceeded its limit of {seconds:,.0f} seconds and was stopped."
    advice = "Look for unusual text in the file, such as one character repeated for pages."
    findings.add(0, Code.TIME_LIMIT, message, advice)
    return _Tally(QuestionIndex(questions), IntakeLimits(), findings).result()


def read_answers(path: Path, questions: Questions, *, limits: IntakeLimits | None = None) -> Iterator[Answer]:
    """Yield the answers of a checked file."""
    limits = limits or IntakeLimits()
    findings = Findings(limits.errors)
    usage = _Tally(QuestionIndex(questions), limits, findings)
    with recording_errors(findings):
        for accepted in _accepted_rows(path, usage, limits, findings):
            if findings.errors:
                break
            usage.count(accepted)
            yield accepted.answer
        usage.close_empty()
    if findings.errors:
        message = f"{path.name} has errors; nothing was stored."
        raise InvalidFileError(message, findings.result(), advice="Check it, correct it and add it again.")


@contextmanager
def recording_errors(findings: Findings) -> Iterator[None]:
    """Turn an error that ends reading into a problem of the file."""
    try:
        yield
    except FileFormatError as error:
        findings.add_failure(error)


class _Tally:
    """Counts over the rows of a file."""

    def __init__(self, index: QuestionIndex, limits: IntakeLimits, findings: Findings) -> None:
        self.index = index
        self.format: FileFormat | None = None
        self.rows = 0
        self.reader: RowReader | None = None
        self._limits = limits
        self._findings = findings
        self._watch = AnswerWarnings(findings, keep_errors=limits.keep_na)
        self._answered: Counter[str] = Counter()
        self._empty: list[tuple[int, str, str]] = []
        self._digests: list[bytes] = []

    def add(self, accepted: AcceptedRow) -> None:
        """Count an answer and note its warnings."""
        self.count(accepted)
        self._digests.append(_digest(accepted.answer))
        if not accepted.empty:
            self._watch.observe(accepted)

    def count(self, accepted: AcceptedRow) -> None:
        self._answered[accepted.question.domain] += 1
        if accepted.empty:
            self._empty.append((accepted.line, accepted.place, accepted.question.domain))

    def close(self) -> None:
        """Note the problems of the file as a whole."""
        self.close_empty()
        if not self.rows and not self._findings.errors:
            advice = "Add at least one."
            self._findings.add(0, Code.EMPTY_FILE, "The file has no answers.", advice)
        unknown = self.reader.fields.unknown if self.reader else {}
        if self.reader:
            self.reader.close()
        if self.rows and not self._answered.total() and not self._findings.errors:
            message = f"None of the {self.rows:,} rows has an answer."
            self._findings.add(0, Code.EMPTY_FILE, message, "See the warnings for the reasons.")
        self._watch.close(unknown, self.index.questions, self._answered)

    def close_empty(self) -> None:
        """Note empty answers, as errors if they are many, else as warnings."""
        total = self._answered.total()
        few = total >= self._limits.empty_from and len(self._empty) < self._limits.empty_share * total
        if few:
            self._watch.add_empty(len(self._empty))
        else:
            self._answered.subtract(domain for _, _, domain in self._empty)
        severity = Severity.WARNING if few else Severity.ERROR
        loses = "It loses to any other answer, just as a missing one does."
        advice = loses if few else f"Answer it, or say that you have no answer. {loses}"
        for line, place, _ in self._empty:
            message = with_place("The answer is empty.", place)
            self._findings.add(line, Code.EMPTY_ANSWER, message, advice, severity)

    def result(self) -> CheckReport:
        totals = Counter(question.domain for question in self.index.questions)
        coverage = {domain: self._answered[domain] / count for domain, count in totals.items()}
        digest = hashlib.sha256()
        for row_digest in sorted(self._digests):
            digest.update(row_digest)
        return CheckReport(
            set=self.index.set_name,
            format=self.format,
            rows=self.rows,
            answers=self._answered.total(),
            questions=totals.total(),
            coverage=coverage,
            no_answers=self._watch.no_answers,
            with_contexts=self._watch.with_contexts,
            errors=self._findings.errors,
            warnings=self._findings.warnings,
            problems=self._findings.result(),
            content_hash=digest.hexdigest(),
            layout=self.reader.fields.layout if self.reader else None,
        )


def _accepted_rows(
    path: Path, usage: _Tally, limits: IntakeLimits, findings: Findings
) -> Iterator[AcceptedRow]:
    systems = TableSystems(path, limits, usage.index)

    def require(columns: Sequence[str], line: int) -> None:
        if usage.reader:
            usage.reader.fields.require_columns(columns, line, answers=True)

    with RowFile(path, limits, findings, require) as rows:
        usage.format = rows.format
        usage.reader = RowReader(usage.index, limits, rows.format, findings)
        for row in systems.own(rows):
            usage.rows += 1
            if usage.rows > limits.answers:
                message = f"{path.name} has more than {limits.answers:,} answers."
                advice = "Answer every question once."
                raise FileFormatError(message, advice=advice, code=Code.TOO_MANY_ANSWERS, line=row.line)
            accepted = usage.reader.read(row)
            if accepted is not None:
                yield accepted


def _digest(answer: Answer) -> bytes:
    digest = hashlib.sha256()
    parts = [answer.question_id, answer.answer]
    for context in answer.contexts:
        parts += [context.id, context.title, context.text]
    if answer.thinking:
        parts.append(answer.thinking)
    parts += figures_in(answer)
    for part in parts:
        content = part.encode("utf-8", errors="surrogatepass")
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.digest()


COLUMNS = ("line", "severity", "code", "message", "advice")


def report_lines(result: CheckReport) -> Iterator[str]:
    """Yield the report as lines of text: errors, warnings, and a summary; similar problems are grouped."""
    yield from _problem_lines(result)
    yield from summary_lines(result)


def summary_lines(result: CheckReport) -> Iterator[str]:
    """Yield the counts, and as the last line whether the file can be submitted."""
    yield _printable(_counts(result))
    for domain, share in result.coverage.items():
        yield _printable(f"  {domain}: {percent(share)}")
    verdict = "The file can be submitted" if result.accepted else "The file cannot be submitted"
    yield f"{verdict}: {counted(result.errors, 'error')}, {counted(result.warnings, 'warning')}."


def _counts(result: CheckReport) -> str:
    of_set = f"{result.questions:,} questions of {result.set}"
    if result.kind is SubmissionKind.CONTEXTS:
        return f"Passages for {result.answers:,} of {of_set}, {result.with_contexts:,} with texts."
    return (
        f"{result.answers:,} answers to {of_set}, {result.with_contexts:,} with contexts, "
        f"{result.no_answers:,} that decline."
    )


def _problem_lines(result: CheckReport) -> Iterator[str]:
    for severity in (Severity.ERROR, Severity.WARNING):
        chosen = [problem for problem in result.problems if problem.severity is severity]
        yield from summarise_problems(chosen, _problem_line)


def _problem_line(problem: Problem) -> str:
    where = f"line {problem.line}" if problem.line else "file"
    text = f"{where}: {problem.severity.value} {problem.code}: {problem.message} {problem.advice}"
    return _printable(text)


def report_csv(result: CheckReport) -> str:
    """Return the problems as CSV rows by line; cells are escaped against formulas."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for problem in result.problems:
        writer.writerow([escape_formula(getattr(problem, column)) for column in COLUMNS])
    return text.getvalue()


def _printable(text: str) -> str:
    # Untrusted text must not move the cursor or colour a terminal.
    return "".join(character if character.isprintable() else " " for character in text).rstrip()
