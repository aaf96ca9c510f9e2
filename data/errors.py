"""The one tree of errors that this project raises on purpose.

    ArenaError                  anything a person can mend; the command line prints it and exits with 1
    ├── InputError              what somebody brought cannot be used
    │   ├── FileFormatError     a file is missing, cut off, mis-encoded or of another shape
    │   │   └── InvalidFileError    a file has problems, all of which are listed
    │   ├── RecordError         a value breaks a rule of the design
    │   └── SpecError           a judge spec, prompt or card cannot be used
    ├── NotFoundError           a name or id that nothing bears
    ├── ConflictError           the name is taken, or the state forbids it
    │   ├── ClosedError         the set takes no submissions now
    │   └── QuotaError          the team has used up its submissions
    ├── StoreError              the database cannot be reached, opened or written
    ├── JudgeError              judging could not go on
    │   ├── EndpointError       the LLM endpoint cannot be reached or keeps failing
    │   ├── ReplayMissError     replay mode met a request that was never recorded
    │   ├── BudgetError         the cap is reached or cannot be met
    │   ├── StoppedError        somebody asked to stop; the rest can be resumed
    │   └── LeaseLostError      a worker was given up for dead, and others may have its battles
    ├── StatisticsError         a number that does not exist was asked for
    │   └── UnrankableError     ratings do not exist for these battles
    ├── AccessError             nobody is signed in, or the token is not valid
    │   └── TooManyAttemptsError    tokens are being guessed; wait
    ├── ForbiddenError          the person may not do this
    ├── ServerError             another machine's arena cannot be reached, or fails
    └── ServeError              the site cannot be started

Every error says what happened, where, and what to do about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from data.records.problems import Problem


class ArenaError(Exception):
    """Something that a person can mend.

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


class InputError(ArenaError):
    """What somebody brought cannot be used."""


class FileFormatError(InputError):
    """A file is missing, cut off, mis-encoded or of another shape.

    `code` is the short word under which a check reports it; `line` is 0 for the file as a whole.
    """

    def __init__(self, message: str, *, advice: str = "", code: str = "bad-file", line: int = 0) -> None:
        super().__init__(message, advice=advice)
        self.code = code
        self.line = line


class InvalidFileError(FileFormatError):
    """A file has problems, all of which are listed in `problems`."""

    def __init__(self, message: str, problems: tuple[Problem, ...], *, advice: str = "") -> None:
        super().__init__(message, advice=advice, code="invalid-file")
        self.problems = problems


class RecordError(InputError):
    """A value breaks a rule of the design."""


class SpecError(InputError):
    """A judge spec, prompt or card cannot be used."""


class NotFoundError(ArenaError):
    """A name or id that nothing bears."""


class ConflictError(ArenaError):
    """The name is taken, or the state forbids it."""


class ClosedError(ConflictError):
    """The question set takes no submissions now."""


class QuotaError(ConflictError):
    """The team has used up its submissions, of the day or in all."""


class StoreError(ArenaError):
    """The database cannot be reached, opened or written."""


class UnavailableError(ArenaError):
    """The arena cannot do something at present, and whoever asked cannot help it."""


class JudgeError(ArenaError):
    """Judging could not go on."""


class EndpointError(JudgeError):
    """The LLM endpoint cannot be reached or keeps failing."""


class ReplayMissError(JudgeError):
    """Replay mode met a request that was never recorded."""


class BudgetError(JudgeError):
    """The cap is reached or cannot be met."""


class StoppedError(JudgeError):
    """Somebody asked to stop; what was in flight is finished, and the rest can be resumed."""


class LeaseLostError(JudgeError):
    """A worker was given up for dead; others may have its battles, and what it had not committed is lost."""


class StatisticsError(ArenaError):
    """A number that does not exist was asked for."""


class UnrankableError(StatisticsError):
    """Ratings do not exist for these battles."""


class AccessError(ArenaError):
    """Nobody is signed in, or the token or session is not valid."""


class TooManyAttemptsError(AccessError):
    """Too many tokens were refused; `retry_after` is how many seconds to wait."""

    def __init__(self, message: str, *, retry_after: int, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.retry_after = retry_after


class ForbiddenError(ArenaError):
    """The person may not do this."""


class ServerError(ArenaError):
    """Another machine's arena cannot be reached, or fails."""


class ServeError(ArenaError):
    """The site cannot be started."""
