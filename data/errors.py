"""The one tree of errors that this project raises on purpose.

Every error says what happened, where, and what to do about it. The docs have a page of them with their HTTP
statuses; a command that raises one exits with 1.
"""

from dataclasses import dataclass
from enum import StrEnum


class ArenaError(Exception):
    """Something that a person can correct.

    Args:
        message: What happened and where, in one sentence.
        advice: What to do about it; empty where the message says it.
    """

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        """One line: what happened, then what to do."""
        return f"{self.message} {self.advice}".strip() if self.advice else self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to another process, whatever arguments a subclass takes."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[ArenaError], args: tuple[object, ...], fields: dict[str, object]) -> ArenaError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class InputError(ArenaError):
    """An input value, file or text cannot be used."""


class FileFormatError(InputError):
    """A file is missing, truncated, in the wrong encoding or of another format.

    `code` is the short word under which a check reports it; `line` is 0 for the file as a whole.
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
    """One thing that is wrong with a file.

    `line` counts from 1 and is 0 where the file as a whole is meant; `code` is a short, stable word
    that scripts can rely on; `advice` says what to do.
    """

    line: int
    code: str
    message: str
    severity: Severity = Severity.ERROR
    advice: str = ""


NOTED = 5
"""Problems of a file that a traceback shows, as in a notebook."""


class InvalidFileError(FileFormatError):
    """A file has problems, all of which are listed in `problems`."""

    def __init__(self, message: str, problems: tuple[Problem, ...], *, advice: str = "") -> None:
        super().__init__(message, advice=advice, code="invalid-file")
        self.problems = problems
        for problem in problems[:NOTED]:
            self.add_note(f"{f'line {problem.line}: ' if problem.line else ''}{problem.message}")


class RecordError(InputError):
    """A value breaks a rule of the design."""


class SpecError(InputError):
    """A judge spec, prompt or card cannot be used."""


class NotFoundError(ArenaError):
    """Nothing has the given name or id."""


class RetractedError(NotFoundError):
    """The board was retracted, with all that depends on it; `notice` says why."""

    def __init__(self, board: str, notice: str) -> None:
        super().__init__(f"The board {board} was retracted.", advice=notice or "No notice says why.")
        self.board = board
        self.notice = notice


class ConflictError(ArenaError):
    """The name is taken, or the present state forbids the action."""


class NoVerdictError(ConflictError):
    """The round has no verdict that a board could be made of."""


class ClosedError(ConflictError):
    """The question set accepts no submissions now."""


class QuotaError(ConflictError):
    """The team has used up its submissions, of the day or in total."""


class StoreError(ArenaError):
    """The database cannot be reached, opened or written."""


class UnavailableError(ArenaError):
    """The arena cannot serve a valid request at present."""


class JudgeError(ArenaError):
    """Judging could not continue."""


class EndpointError(JudgeError):
    """The LLM endpoint cannot be reached or keeps failing."""


class ReplayMissError(JudgeError):
    """In replay mode, a request is not in the reply cache."""


class BudgetError(JudgeError):
    """The budget is used up, or cannot be guaranteed."""


class UnfitJudgeError(JudgeError):
    """The judge of a round gives no usable verdicts: unreadable replies, or the place decides."""


class StoppedError(JudgeError):
    """A stop was requested; calls in flight are finished, and the rest can be resumed."""


class LeaseLostError(JudgeError):
    """The worker's lease ended; other workers may have its battles, and uncommitted verdicts are lost."""


class WorkError(ArenaError):
    """Work on one text has no result; other texts are not affected.

    `code` is the short word under which the outcome is stored.
    """

    code = "broken"


class TimeLimitError(WorkError):
    """Work on one text exceeded its limit of time."""

    code = "time_limit"


class StatisticsError(ArenaError):
    """The requested number is not defined for these data."""


class UnrankableError(StatisticsError):
    """Ratings are not defined for these battles."""


class AccessError(ArenaError):
    """There is no sign-in, or the token or session is not valid."""


class TooManyAttemptsError(AccessError):
    """Too many tokens were refused; `retry_after` is the number of seconds to wait."""

    def __init__(self, message: str, *, retry_after: int, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.retry_after = retry_after


class ForbiddenError(ArenaError):
    """The account or token lacks the right to do this."""


class ServeError(ArenaError):
    """The site cannot be started."""
