"""The one tree of errors that this project raises on purpose.

    ArenaError                  anything a person can mend; the command line prints it and exits with 1
    ├── InputError              what somebody brought cannot be used
    │   ├── FileFormatError     a file is missing, cut off, mis-encoded or of another shape
    │   │   └── InvalidFileError    a file has problems, all of which are listed
    │   ├── RecordError         a value breaks a rule of the design
    │   └── SpecError           a judge spec, prompt or card cannot be used
    ├── NotFoundError           a name or id that nothing bears
    ├── ConflictError           the name is taken, or the state forbids it
    ├── StoreError              the database cannot be reached, opened or written
    ├── JudgeError              judging could not go on
    │   ├── EndpointError       the LLM endpoint cannot be reached or keeps failing
    │   ├── ReplayMissError     replay mode met a request that was never recorded
    │   ├── BudgetError         the cap is reached or cannot be met
    │   └── StoppedError        somebody asked to stop; the rest can be resumed
    ├── StatisticsError         a number that does not exist was asked for
    │   └── UnrankableError     ratings do not exist for these battles
    ├── ForbiddenError          the person may not do this
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


class StoreError(ArenaError):
    """The database cannot be reached, opened or written."""


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


class StatisticsError(ArenaError):
    """A number that does not exist was asked for."""


class UnrankableError(StatisticsError):
    """Ratings do not exist for these battles."""


class ForbiddenError(ArenaError):
    """The person may not do this."""


class ServeError(ArenaError):
    """The site cannot be started."""
