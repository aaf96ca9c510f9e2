"""Exceptions of the project.

The docs list them with their HTTP statuses; a command that raises one exits with 1.
"""

from dataclasses import dataclass
from enum import StrEnum


class ArenaError(Exception):
    """Base of errors that people can correct.

    Args:
        message: The problem and its place, in one sentence.
        advice: The remedy; empty if the message contains it.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        """Return the message and the advice on one line."""
        return f"{self.message} {self.advice}".strip() if self.advice else self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle for another process, for any signature of a subclass."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[ArenaError], args: tuple[object, ...], fields: dict[str, object]) -> ArenaError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class InputError(ArenaError):
    """Invalid input: a value, a file or a text."""


class FileFormatError(InputError):
    """A file is missing, truncated, in the wrong encoding or of another format.

    `code` is the code of the problem in checks; `line` is 0 for the whole file.
    """

    def __init__(self, message: str, *, advice: str = "", code: str = "bad-file", line: int = 0) -> None:
        super().__init__(message, advice=advice)
        self.code = code
        self.line = line


class Severity(StrEnum):
    """Severity of a problem: an error stops a submission."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """Problem of a file.

    `line` counts from 1 and is 0 for the whole file; `code` is a stable word for scripts.
    """

    line: int
    code: str
    message: str
    severity: Severity = Severity.ERROR
    advice: str = ""


MAX_NOTES = 5
"""Problems of a file that a traceback shows."""


class InvalidFileError(FileFormatError):
    """A file has problems, which `problems` lists."""

    def __init__(self, message: str, problems: tuple[Problem, ...], *, advice: str = "") -> None:
        super().__init__(message, advice=advice, code="invalid-file")
        self.problems = problems
        for problem in problems[:MAX_NOTES]:
            self.add_note(f"{f'line {problem.line}: ' if problem.line else ''}{problem.message}")


class RecordError(InputError):
    """A value of a record is not allowed."""


class SpecError(InputError):
    """Invalid judge spec, prompt or card."""


class NotFoundError(ArenaError):
    """Nothing has the given name or id."""


class RetractedError(NotFoundError):
    """The board was retracted; `notice` is the reason."""

    def __init__(self, board: str, notice: str) -> None:
        super().__init__(f"The board {board} was retracted.", advice=notice or "No reason was published.")
        self.board = board
        self.notice = notice


class ConflictError(ArenaError):
    """The name is taken, or the current state forbids the action."""


class NoVerdictError(ConflictError):
    """The round has no verdicts for a board."""


class ClosedError(ConflictError):
    """The question set accepts no submissions now."""


class QuotaError(ConflictError):
    """The team has used up its submissions for the day or in total."""


class StoreError(ArenaError):
    """The database cannot be reached, opened or written."""


class UnavailableError(ArenaError):
    """The arena cannot serve a valid request now."""


class JudgeError(ArenaError):
    """Judging could not continue."""


class EndpointError(JudgeError):
    """The LLM endpoint cannot be reached or keeps failing."""


class ReplayMissError(JudgeError):
    """A replayed request has no reply in the cache."""


class BudgetError(JudgeError):
    """The budget is used up, or cannot be guaranteed."""


class UnfitJudgeError(JudgeError):
    """The judge of a round is unusable: unreadable replies, or position bias."""


class StoppedError(JudgeError):
    """A stop was requested; calls in flight finish, and the rest can be resumed."""


class LeaseLostError(JudgeError):
    """The worker's lease expired; uncommitted verdicts are lost."""


class WorkError(ArenaError):
    """Work on one text failed; other texts are not affected.

    `code` is stored as the outcome.
    """

    code = "broken"


class TimeLimitError(WorkError):
    """Work on one text exceeded its time limit."""

    code = "time_limit"


class StatisticsError(ArenaError):
    """The requested number is not defined for these data."""


class UnrankableError(StatisticsError):
    """Ratings are not defined for these battles."""


class AccessError(ArenaError):
    """Not signed in, or the token or session is not valid."""


class TooManyAttemptsError(AccessError):
    """Too many tokens were refused; `retry_after` is the number of seconds to wait."""

    def __init__(self, message: str, *, retry_after: int, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.retry_after = retry_after


class ForbiddenError(ArenaError):
    """The account or token lacks the right to do this."""


class ServeError(ArenaError):
    """The site cannot be started."""
