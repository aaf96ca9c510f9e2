"""Stable codes of problems in a check; scripts rely on them."""

from collections.abc import Iterable
from enum import StrEnum

from data.errors import FileFormatError
from data.models import Problem, ProblemList, Severity


class Code(StrEnum):
    """Codes of problems, explained in docs/submission-format.md."""

    MISSING_FILE = "missing-file"
    UNREADABLE_FILE = "unreadable-file"
    EMPTY_FILE = "empty-file"
    TOO_LARGE = "too-large"
    GZIP_BOMB = "gzip-bomb"
    TRUNCATED_GZIP = "truncated-gzip"
    TRUNCATED_FILE = "truncated-file"
    WRONG_FORMAT = "wrong-format"
    WRONG_SHAPE = "wrong-shape"
    NOT_UTF8 = "not-utf8"
    TOO_MANY_ANSWERS = "too-many-answers"
    TOO_MANY_ERRORS = "too-many-errors"
    TIME_LIMIT = "time_limit"
    BAD_ARCHIVE = "bad-archive"
    DAMAGED_FILE = "damaged-file"
    SEVERAL_FILES = "several-files"
    SEVERAL_SYSTEMS = "several-systems"

    NOT_JSON = "not-json"
    NOT_FINITE = "not-finite"
    DUPLICATE_KEY = "duplicate-key"
    TOO_DEEP = "too-deep"
    NOT_OBJECT = "not-object"
    BAD_CSV = "bad-csv"
    MISSING_COLUMN = "missing-column"
    DUPLICATE_COLUMN = "duplicate-column"

    MISSING_FIELD = "missing-field"
    WRONG_TYPE = "wrong-type"
    UNKNOWN_QUESTION = "unknown-question"
    AMBIGUOUS_QUESTION = "ambiguous-question"
    DUPLICATE_ANSWER = "duplicate-answer"
    EMPTY_ANSWER = "empty-answer"
    ANSWER_TOO_LONG = "answer-too-long"
    BAD_CONTEXT = "bad-context"
    BAD_FIGURE = "bad-figure"
    BAD_RUN_LINE = "bad-run-line"
    DUPLICATE_PASSAGE = "duplicate-passage"
    TOO_MANY_PASSAGES = "too-many-passages"
    PLUGIN_FAILED = "plugin-failed"

    # Warnings follow; the codes above are errors.
    UNKNOWN_FIELD = "unknown-field"
    QUESTION_DIFFERS = "question-differs"
    UNANSWERED_QUESTIONS = "unanswered-questions"
    NO_CONTEXTS = "no-contexts"
    MISSING_CONTEXTS = "missing-contexts"
    EMPTY_CONTEXT = "empty-context"
    NEAR_COPY = "near-copy"
    MANY_NEAR_COPIES = "many-near-copies"
    SAME_ANSWER = "same-answer"
    HARNESS_ERROR = "harness-error"
    LONG_ANSWER = "long-answer"
    MANY_NO_ANSWERS = "many-no-answers"
    JUDGE_DIRECTED = "judge-directed"
    NUL_CHARACTERS = "nul-characters"
    HIDDEN_CHARACTERS = "hidden-characters"
    MISSING_VALUE = "missing-value"
    LEFT_OUT = "left-out"
    FAILED_ROWS = "failed-rows"
    CUT_ANSWERS = "cut-answers"
    THINKING = "thinking"
    UNKNOWN_CITATIONS = "unknown-citations"
    MORE_PROBLEMS = "more-problems"

    @property
    def severity(self) -> Severity:
        """Severity: an error stops a submission."""
        return Severity.WARNING if self in WARNINGS else Severity.ERROR


WARNINGS = frozenset(list(Code)[list(Code).index(Code.UNKNOWN_FIELD) :])


class Findings:
    """Collects the problems of a file, and stops the check after a number of errors."""

    def __init__(self, errors: int) -> None:
        self._list = ProblemList(warning_limit=2_000)
        self._max_errors = errors
        self._plugins: set[str] = set()

    @property
    def errors(self) -> int:
        """Number of errors, including unlisted ones."""
        return self._list.errors

    @property
    def warnings(self) -> int:
        """Number of warnings, including unlisted ones."""
        return self._list.warnings

    def add(self, line: int, code: Code, message: str, advice: str, severity: Severity | None = None) -> None:
        """Add a problem, by default with the severity of its code."""
        self._list.add(line, code.value, message, severity=severity or code.severity, advice=advice)
        if self._list.errors == self._max_errors + 1 and code is not Code.TOO_MANY_ERRORS:
            message = f"The check stopped after {self._max_errors:,} errors."
            advice = "Correct the first ones and check again."
            raise FileFormatError(message, advice=advice, code=Code.TOO_MANY_ERRORS, line=line)

    def add_plugin(self, name: str, reason: str) -> None:
        """Warn once that the detection of a plugin's format failed."""
        if name not in self._plugins:
            self._plugins.add(name)
            message = f"The plugin format {name} was not tried on every row: {reason}."
            self.add(0, Code.PLUGIN_FAILED, message, "Report this to the organisers.", Severity.WARNING)

    def add_failure(self, error: FileFormatError) -> None:
        """Add the error that made a line, or the rest of the file, unreadable."""
        self.add(error.line, Code(error.code), error.message, error.advice)

    def result(self) -> tuple[Problem, ...]:
        """Return the problems by line; those on the whole file come first."""
        return self._list.result()


ANSWER_ADVICE = "If the column answer contains the correct answers, rename it to reference."


def with_place(message: str, place: str) -> str:
    """Prefix a message with the position in a JSON array, whose items may share a line."""
    return f"{place}: {message}" if place else message


def quoted(value: object, limit: int = 60) -> str:
    """Quote an untrusted value for a message, shortened to one line."""
    text = value if isinstance(value, str) else str(value)
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return repr(text)


def listed(values: Iterable[object], limit: int) -> str:
    """Join the first values, and count the rest."""
    texts = [str(value) for value in values]
    more = f" and {len(texts) - limit:,} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more
