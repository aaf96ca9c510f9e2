"""The closed sets of words that records use (glossary: docs/glossary.md)."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, Literal

from data.errors import FileFormatError, InvalidFileError, Problem, Severity
from data.text import counted


class Preference(StrEnum):
    """The better of a battle's two answers."""

    A = "a"
    B = "b"
    TIE = "tie"

    @property
    def flipped(self) -> "Preference":
        """The same preference with the two answers exchanged."""
        return {Preference.A: Preference.B, Preference.B: Preference.A}.get(self, self)


class Importance(StrEnum):
    """Importance of a nugget: a good answer must have it, or may (the grades of TREC's RAG track)."""

    VITAL = "vital"
    OKAY = "okay"


class Outcome(StrEnum):
    """End of a planned battle or judgment; the counts add up to the plan."""

    JUDGED = "judged"
    UNREADABLE = "unreadable"
    REFUSED = "refused"
    FAILED = "failed"
    SKIPPED = "skipped"
    MISSING = "missing"


class MissingRule(StrEnum):
    """Rule for questions that one of two systems did not answer: it loses, or the two are not compared."""

    LOSE = "lose"
    SKIP = "skip"


class Presentation(StrEnum):
    """Order in which the judge was shown the two answers."""

    A_FIRST = "ab"
    B_FIRST = "ba"

    @property
    def other(self) -> "Presentation":
        """The swapped presentation."""
        return Presentation.B_FIRST if self is Presentation.A_FIRST else Presentation.A_FIRST


class OrderPolicy(StrEnum):
    """Rule by which a judge chooses presentations."""

    PAPER = "paper"
    RANDOM = "random"
    BOTH = "both"


class GroundTruth(StrEnum):
    """Texts that a judge holds answers against."""

    NONE = "none"
    REFERENCE = "reference"
    PASSAGES = "passages"


class JudgeKind(StrEnum):
    """The families of judges."""

    LLM = "llm"
    PANEL = "panel"
    LEXICAL = "lexical"
    FUNCTION = "function"


class RoundState(StrEnum):
    """The states of a round."""

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
    """The states of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


DISQUALIFIED = "disqualified"
"""First word of the reason for which organisers withdrew a disqualified submission."""


class SubmissionState(StrEnum):
    """The status of a submission."""

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
    """Retrieved passages without answers; they enter no round."""


class Split(StrEnum):
    """Part of a question set that a question belongs to."""

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
        """The same label of the pair in the other order."""
        return {LabelValue.A: LabelValue.B, LabelValue.B: LabelValue.A}.get(self, self)

    @property
    def winner(self) -> str:
        """Winner as battle files name it; empty for a skip."""
        words = {"a": "model_a", "b": "model_b", "tie": "tie", "bothbad": "tie (bothbad)"}
        return words.get(self.value, "")


OUT_OF_BUDGET = "The budget's cap is reached."
"""The detail of what was not asked since the budget had no room for it."""
FEW = 5
EXAMPLES = 3


@dataclass(slots=True)
class ProblemList:
    """Collects problems, keeps the first `limit` errors and `warning_limit` warnings, counts the rest.

    The limits are apart so that no flood of warnings hides an error.
    """

    limit: int = 10_000
    warning_limit: int = 10_000
    kept: list[Problem] = field(default_factory=list)
    errors: int = 0
    warnings: int = 0
    dropped: int = 0

    def add(
        self, line: int, code: str, message: str, *, severity: Severity = Severity.ERROR, advice: str = ""
    ) -> None:
        """Note one problem."""
        if severity is Severity.ERROR:
            self.errors += 1
            fits = self.errors <= self.limit
        else:
            self.warnings += 1
            fits = self.warnings <= self.warning_limit
        if fits:
            self.kept.append(Problem(line, code, message, severity, advice))
        else:
            self.dropped += 1

    def note(self, error: FileFormatError, name: str = "") -> None:
        """Note an error of a file, with a name where its message lacks it."""
        message = error.message if name in error.message else f"{name}: {error.message}"
        self.add(error.line, error.code, message, advice=error.advice)

    def require_none(self, name: str, advice: str = "Correct them and try again.") -> None:
        """Refuse a file that has errors."""
        if self.errors:
            raise InvalidFileError(
                f"{name} has {counted(self.errors, 'problem')}.", self.result(), advice=advice
            )

    def result(self) -> tuple[Problem, ...]:
        """Return the problems by line; a last one tells how many more there were."""
        ordered = sorted(self.kept, key=lambda problem: problem.line)
        if self.dropped:
            message = f"{self.dropped:,} more problems are not listed."
            ordered.append(Problem(0, "more-problems", message, Severity.WARNING))
        return tuple(ordered)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.result())


def few_of_each(problems: Iterable[Problem], line: Callable[[Problem], str]) -> Iterator[str]:
    """Problems as lines, in their order; of more than five of one kind the first three and a count."""
    listed = tuple(problems)
    counts = Counter((problem.severity, problem.code) for problem in listed)
    last = {(problem.severity, problem.code): problem.line for problem in listed}
    written: Counter[tuple[Severity, str]] = Counter()
    for problem in listed:
        kind = problem.severity, problem.code
        written[kind] += 1
        if counts[kind] <= FEW or written[kind] <= EXAMPLES:
            yield line(problem)
        if counts[kind] > FEW and written[kind] == EXAMPLES:
            where = f", the last in line {last[kind]:,}" if last[kind] else ""
            yield f"{problem.severity} {problem.code}: {counts[kind] - EXAMPLES:,} more of this kind{where}."


def to_json(record: Any, *without: str, **others: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Return a record's fields in order, without some; `others` replace fields, or come after them."""
    names = [name for name in record.__dataclass_fields__ if name not in without]
    return {
        name: others[name] if name in others else _value(getattr(record, name)) for name in names
    } | others


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
    r"\A(?:annotator|worker|user|voter|rater|labell?er|assessor|evaluator)[ _-]?(?:id)?\Z", re.IGNORECASE
)


def is_person(name: str) -> bool:
    """Return whether a column of labels or votes names the person: a word for one, with or without `id`."""
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
"""Their spellings, in any case."""
_TIES = frozenset({"-", "0", "c", "draw", "drawn", "equal", "even", "both", "neither", "same"})
"""Words of others for a tie, unless a system is called so."""


def winning_side(won: object, system_a: object, system_b: object, *, by_name: bool = True) -> Side | None:
    """Return the side that a cell names; None where it names none, or a side that is the other system's name.

    Args:
        won: The cell.
        system_a: Who is first; may be empty.
        system_b: Who is second.
        by_name: Whether a word that is a system's name may mean the system; else it is a side.
    """
    if not isinstance(won, str):
        return None
    said = won.strip()
    side = _WORDS.get(said.casefold())
    systems = (str(system_a or "").strip(), str(system_b or "").strip())
    named: Side | None = ("a" if said == systems[0] else "b") if said and said in systems else None
    if side is None or named is None or not by_name:
        return side or named or ("tie" if said.casefold() in _TIES else None)
    return side if side == named else None
