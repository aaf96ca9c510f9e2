"""Files of contexts without answers: TREC runs, or rows with passages that have ids."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from data.errors import InvalidFileError
from data.files.tables.reader import is_run
from data.files.tables.rows import FileFormat
from data.files.trec import ids_by_field, read_run
from data.models import Answer, Passage, Severity, SubmissionKind
from submissions.check import CheckReport, recording_errors
from submissions.formats.reading import RowFile
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, listed, quoted
from submissions.question_index import QuestionIndex, Questions
from submissions.row_checks import RowReader

MAX_LISTED = 10


def check_contexts(path: Path, questions: Questions, *, limits: IntakeLimits | None = None) -> CheckReport:
    """Check a file of contexts and report all problems; the content of the file never raises an error."""
    return _ContextFile(path, questions, limits or IntakeLimits()).result()


def read_contexts(
    path: Path, questions: Questions, *, limits: IntakeLimits | None = None
) -> tuple[Answer, ...]:
    """Read a file as answers without text, in the order of the set."""
    read = _ContextFile(path, questions, limits or IntakeLimits())
    result = read.result()
    if not result.accepted:
        message = f"{path.name} has {result.errors} {'problem' if result.errors == 1 else 'problems'}."
        raise InvalidFileError(message, result.problems, advice="Correct them.")
    return read.answers()


class _ContextFile:
    """Passages of a file by question, and its problems."""

    def __init__(self, path: Path, questions: Questions, limits: IntakeLimits) -> None:
        self._name = path.name
        self._limits = limits
        self._index = QuestionIndex(questions)
        self._findings = Findings(limits.errors)
        self._passages: dict[str, tuple[Passage, ...]] = {}
        self._format: FileFormat | None = None
        self._layout: str | None = None
        self._rows = 0
        with recording_errors(self._findings):
            if is_run(path, limits.reading):
                self._read_run(path)
            else:
                self._read_rows(path)
            self._close()

    def answers(self) -> tuple[Answer, ...]:
        return tuple(
            Answer(question_id=question.id, answer="", contexts=self._passages[question.id])
            for question in self._index.questions
            if self._passages.get(question.id)
        )

    def result(self) -> CheckReport:
        answers = self.answers()
        totals = Counter(question.domain for question in self._index.questions)
        domains = {question.id: question.domain for question in self._index.questions}
        covered = Counter(domains[answer.question_id] for answer in answers)
        digest = hashlib.sha256()
        for answer in sorted(answers, key=lambda answer: answer.question_id):
            parts = [answer.question_id, *((passage.id, passage.text) for passage in answer.contexts)]
            digest.update(json.dumps(parts, ensure_ascii=False).encode("utf-8", errors="surrogatepass"))
        return CheckReport(
            set=self._index.set_name,
            format=self._format,
            rows=self._rows,
            answers=len(answers),
            questions=totals.total(),
            coverage={domain: covered[domain] / count for domain, count in totals.items()},
            no_answers=0,
            with_contexts=sum(any(passage.text for passage in answer.contexts) for answer in answers),
            errors=self._findings.errors,
            warnings=self._findings.warnings,
            problems=self._findings.result(),
            content_hash=digest.hexdigest(),
            kind=SubmissionKind.CONTEXTS,
            layout=self._layout,
        )

    def _read_run(self, path: Path) -> None:
        self._format = FileFormat.TREC_RUN
        try:
            run = read_run(path, self._limits.reading)
        except InvalidFileError as error:
            for problem in error.problems:
                self._findings.add(problem.line, Code(problem.code), problem.message, problem.advice)
            return
        self._rows = sum(map(len, run.values()))
        ids = ids_by_field(question.id for question in self._index.questions)
        unknown = [field for field in run if field not in ids]
        if unknown:
            names = listed(map(quoted, unknown), MAX_LISTED)
            message = f"{len(unknown):,} questions of the run are not in the set, and are left out: {names}."
            self._findings.add(0, Code.UNKNOWN_QUESTION, message, "Use the set's ids.", Severity.WARNING)
        for field, lines in run.items():
            if field in ids:
                self._take(0, ids[field], tuple(Passage(line.passage, "") for line in lines))

    def _read_rows(self, path: Path) -> None:
        reader: RowReader | None = None

        def require(columns: Sequence[str], line: int) -> None:
            if reader:
                reader.fields.require_columns(columns, line, answers=False)

        with RowFile(path, self._limits, self._findings, require) as rows:
            self._format = rows.format
            reader = RowReader(self._index, self._limits, rows.format, self._findings)
            for row in rows:
                self._rows += 1
                read = reader.contexts_of(row)
                if read is not None:
                    self._take(row.line, read[0].id, read[1])
            reader.close()
            self._layout = reader.fields.layout

    def _take(self, line: int, question: str, passages: tuple[Passage, ...]) -> None:
        if len({passage.id for passage in passages}) < len(passages):
            message = f"Question {quoted(question)} lists a passage twice."
            self._findings.add(line, Code.DUPLICATE_PASSAGE, message, "Rank each passage once.")
        if len(passages) > self._limits.ranked:
            message = f"Question {quoted(question)} has more than {self._limits.ranked:,} passages."
            self._findings.add(line, Code.TOO_MANY_PASSAGES, message, "Truncate the ranking at this depth.")
        self._passages[question] = passages

    def _close(self) -> None:
        if not any(self._passages.values()) and not self._findings.errors:
            message = f"No question of {self._index.set_name} has passages in {self._name}."
            self._findings.add(0, Code.EMPTY_FILE, message, "Rank passages for the set's questions.")
        without = [question.id for question in self._index.questions if not self._passages.get(question.id)]
        if without and len(without) < len(self._index.questions):
            message = (
                f"{len(without):,} questions have no passages: {listed(map(quoted, without), MAX_LISTED)}."
            )
            self._findings.add(0, Code.UNANSWERED_QUESTIONS, message, "They count as 0.")
