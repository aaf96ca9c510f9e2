"""Enums of the models (see docs/glossary.md), and lists of problems."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from data.errors import FileFormatError, InputError, InvalidFileError, Problem, Severity
from data.text import counted


class Preference(StrEnum):
    """Better answer of a battle."""

    A = "a"
    B = "b"
    TIE = "tie"

    @property
    def flipped(self) -> "Preference":
        """Preference with the two answers exchanged."""
        return {Preference.A: Preference.B, Preference.B: Preference.A}.get(self, self)


class Importance(StrEnum):
    """Importance of a nugget: required or optional (the grades of TREC's RAG track)."""

    VITAL = "vital"
    OKAY = "okay"


class Outcome(StrEnum):
    """Outcome of a planned battle or judgment; the counts add up to the plan."""

    JUDGED = "judged"
    UNREADABLE = "unreadable"
    REFUSED = "refused"
    FAILED = "failed"
    SKIPPED = "skipped"
    MISSING = "missing"


class MissingRule(StrEnum):
    """Rule for unanswered questions: the system loses, or the two systems are not compared."""

    LOSE = "lose"
    SKIP = "skip"


class Presentation(StrEnum):
    """Order in which a judge reads the two answers."""

    A_FIRST = "ab"
    B_FIRST = "ba"

    @property
    def other(self) -> "Presentation":
        """Opposite presentation."""
        return Presentation.B_FIRST if self is Presentation.A_FIRST else Presentation.A_FIRST


class OrderPolicy(StrEnum):
    """Policy for the order of presentation."""

    PAPER = "paper"
    RANDOM = "random"
    BOTH = "both"


class GroundTruth(StrEnum):
    """Texts that a judge compares answers with."""

    NONE = "none"
    REFERENCE = "reference"
    PASSAGES = "passages"


class JudgeKind(StrEnum):
    """Kinds of judges."""

    LLM = "llm"
    PANEL = "panel"
    LEXICAL = "lexical"
    FUNCTION = "function"


class RoundState(StrEnum):
    """States of a round."""

    PLANNED = "planned"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    FINISHED = "finished"
    PUBLISHED = "published"
    RETRACTED = "retracted"


class JobKind(StrEnum):
    """Kinds of jobs of workers."""

    JUDGE = "judge"
    PUBLISH = "publish"
    CALIBRATE = "calibrate"
    JUDGE_TEST = "judge-test"


class JobState(StrEnum):
    """States of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


DISQUALIFIED = "disqualified"
"""First word of the reason with which organisers withdraw a disqualified submission."""


class SubmissionState(StrEnum):
    """States of a submission."""

    CHECKED = "checked"
    ACCEPTED = "accepted"
    QUEUED = "queued"
    JUDGED = "judged"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"


class SubmissionKind(StrEnum):
    """Contents of a submission."""

    ANSWERS = "answers"
    CONTEXTS = "contexts"
    """Retrieved passages without answers; they take part in no round."""


class Split(StrEnum):
    """Split of a question set."""

    TEST = "test"
    DEV = "dev"


class Role(StrEnum):
    """Role of an account in a team: owners also manage members and tokens."""

    OWNER = "owner"
    MEMBER = "member"


class TokenScope(StrEnum):
    """Permitted use of a token."""

    READ = "read"
    SUBMIT = "submit"
    MANAGE = "manage"
    ORGANISE = "organise"


class LabelValue(StrEnum):
    """A person's label of a pair."""

    A = "a"
    B = "b"
    TIE = "tie"
    BOTH_BAD = "bothbad"
    SKIP = "skip"

    @property
    def flipped(self) -> "LabelValue":
        """Label of the pair in the opposite order."""
        return {LabelValue.A: LabelValue.B, LabelValue.B: LabelValue.A}.get(self, self)

    @property
    def winner(self) -> str:
        """Winner in the words of battle files; empty for a skip."""
        words = {"a": "model_a", "b": "model_b", "tie": "tie", "bothbad": "tie (bothbad)"}
        return words.get(self.value, "")


Member = TypeVar("Member", bound=StrEnum)


def member(members: type[Member], value: str, name: str) -> Member:
    """Parse the value of a setting.

    Raises:
        InputError: No member has this value.
    """
    try:
        return members(value)
    except ValueError:
        known = ", ".join(members)
        raise InputError(f"{name} is {value!r}.", advice=f"Use one of: {known}.") from None


OUT_OF_BUDGET = "The budget's cap is reached."
"""Detail of battles and items that were skipped."""
MAX_LISTED = 5
EXAMPLES = 3


@dataclass(slots=True)
class ProblemList:
    """Problems of a file: the first `limit` errors and `warning_limit` warnings, and a count of the rest.

    The limits are separate so that many warnings cannot hide an error.
    """

    limit: int = 10_000
    warning_limit: int = 10_000
    problems: list[Problem] = field(default_factory=list)
    errors: int = 0
    warnings: int = 0
    dropped: int = 0

    def add(
        self, line: int, code: str, message: str, *, severity: Severity = Severity.ERROR, advice: str = ""
    ) -> None:
        """Add a problem."""
        if severity is Severity.ERROR:
            self.errors += 1
            fits = self.errors <= self.limit
        else:
            self.warnings += 1
            fits = self.warnings <= self.warning_limit
        if fits:
            self.problems.append(Problem(line, code, message, severity, advice))
        else:
            self.dropped += 1

    def note(self, error: FileFormatError, name: str = "") -> None:
        """Add an error of a file, naming the file if the message does not."""
        message = error.message if name in error.message else f"{name}: {error.message}"
        self.add(error.line, error.code, message, advice=error.advice)

    def require_none(self, name: str, advice: str = "Correct them and try again.") -> None:
        """Raise an error if there are problems with severity error."""
        if self.errors:
            raise InvalidFileError(
                f"{name} has {counted(self.errors, 'problem')}.", self.result(), advice=advice
            )

    def result(self) -> tuple[Problem, ...]:
        """Return the problems by line; the last one counts those that are not listed."""
        ordered = sorted(self.problems, key=lambda problem: problem.line)
        if self.dropped:
            message = f"{self.dropped:,} more problems are not listed."
            ordered.append(Problem(0, "more-problems", message, Severity.WARNING))
        return tuple(ordered)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.result())


def summarise_problems(problems: Iterable[Problem], line: Callable[[Problem], str]) -> Iterator[str]:
    """Yield problems as lines; of more than five of a kind only the first three and a count."""
    problems = tuple(problems)
    counts = Counter((problem.severity, problem.code) for problem in problems)
    last = {(problem.severity, problem.code): problem.line for problem in problems}
    examples: Counter[tuple[Severity, str]] = Counter()
    for problem in problems:
        kind = problem.severity, problem.code
        examples[kind] += 1
        if counts[kind] <= MAX_LISTED or examples[kind] <= EXAMPLES:
            yield line(problem)
        if counts[kind] > MAX_LISTED and examples[kind] == EXAMPLES:
            where = f", the last in line {last[kind]:,}" if last[kind] else ""
            yield f"{problem.severity} {problem.code}: {counts[kind] - EXAMPLES:,} more of this kind{where}."


def to_json(record: Any, *without: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Return a record's fields in order, except `without`; `values` replace fields or are appended."""
    names = [name for name in record.__dataclass_fields__ if name not in without]
    return {
        name: values[name] if name in values else _value(getattr(record, name)) for name in names
    } | values


def _value(value: Any) -> Any:  # noqa: ANN401 - a JSON value has no narrower type
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {_value(key): _value(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_value(member) for member in value]
    return to_json(value) if is_dataclass(value) else value


ANNOTATOR = "annotator"
_PERSON = re.compile(
    r"\A(?:annotator|worker|user|voter|rater|labell?er|assessor|evaluator|reviewer|participant|respondent"
    r"|prolific)[ _-]?(?:p?id|name|email|hash)?\Z",
    re.IGNORECASE,
)


def is_person(name: str) -> bool:
    """Return whether the name of a column means a person, with or without `id`."""
    return _PERSON.match(name.strip()) is not None


Side = Literal["a", "b", "tie"]
_WORDS: Mapping[str, Side] = MappingProxyType(
    {
        **dict.fromkeys(("a", "model_a", "model a", "system_a", "assistant_a", "left"), "a"),
        **dict.fromkeys(("b", "model_b", "model b", "system_b", "assistant_b", "right"), "b"),
        **dict.fromkeys(("tie", "tie (bothbad)", "tie (both bad)", "bothbad", "both_bad"), "tie"),
        **dict.fromkeys(("tie (inconsistent)", "both are bad"), "tie"),
    }
)
"""Spellings of sides, in lower case."""
_TIES = frozenset({"-", "0", "c", "draw", "drawn", "equal", "even", "both", "neither", "same"})
"""Words for a tie unless a system has that name."""


def winning_side(won: object, system_a: object, system_b: object, *, by_name: bool = True) -> Side | None:
    """Parse a cell that names the winner; None if it is unknown, or is also the other system's name.

    Args:
        won: The cell.
        system_a: First system; may be empty.
        system_b: Second system.
        by_name: Whether the cell may be a system's name.
    """
    if not isinstance(won, str):
        return None
    word = won.strip()
    side = _WORDS.get(word.casefold())
    systems = (str(system_a or "").strip(), str(system_b or "").strip())
    by_system: Side | None = ("a" if word == systems[0] else "b") if word and word in systems else None
    if side is None or by_system is None or not by_name:
        return side or by_system or ("tie" if word.casefold() in _TIES else None)
    return side if side == by_system else None
