"""Question sets, answers and phases of submission."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from functools import cached_property
from itertools import combinations
from types import MappingProxyType

from data.errors import RecordError
from data.models.words import Importance, Split

DEFAULT_PHASE = "open"
NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
PEOPLE = "people"
MODEL = re.compile(
    r"\b(?:ai|claude|deepseek|gemini|generated|gpt|llama|llms?|mistral|models?|qwen|synthetic)\b"
)
ENGLISH = "en"
LANGUAGE_PATTERN = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
EMPTY: Mapping[str, str] = MappingProxyType({})
REPEAT = "#answer-"
"""Separator of a question's id and the number of a system's additional answer."""


def base_id(question_id: str) -> str:
    """Return the id of the question behind an answer's id, without the number of an additional answer."""
    return question_id.partition(REPEAT)[0] or question_id


def written_by_people(reference_by: str) -> bool:
    """Return whether people wrote a set's references: `PEOPLE`, or a free text that names no model."""
    author = reference_by.casefold()
    return author.startswith(PEOPLE) or (bool(author.strip()) and not MODEL.search(author))


def require_name(value: str, what: str) -> str:
    """Return `value` if it is safe in a path, a URL and a command line."""
    if not NAME_PATTERN.fullmatch(value):
        message = f"{what} {value!r} is not a valid name."
        raise RecordError(message, advice="Use 1 to 100 letters, digits, '.', '_', '+' or '-'.")
    return value


SYSTEM_NAME_PATTERN = re.compile(r"[^\W_](?:[^\s@]| (?=[^\s@])){0,99}")


def require_system_name(value: str) -> str:
    """Return a system's name if it fits on one line: `meta-llama/Llama-3-70B`, `gpt-4o (2024-08)`."""
    if not SYSTEM_NAME_PATTERN.fullmatch(value) or not value.isprintable():
        message = f"System name {value[:120]!r} is not a valid name."
        advice = "Use 1 to 100 printable characters, starting with a letter or digit, without '@' or double "
        "spaces."
        raise RecordError(message, advice=advice)
    return value


@dataclass(frozen=True, slots=True)
class Passage:
    """Text that was retrieved or comes with a question."""

    id: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Nugget:
    """Fact that a good answer states; vital by default."""

    text: str
    importance: Importance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Question of a set; only `id`, `domain` and `question` are required.

    `gold_doc_ids` are the documents that the reference was written from, `citations` the documents that each
    of its sentences cites; `citation_numbers` are LFRQA's, at most one number (from 1) per sentence.
    `language` is the set's ISO 639-1 code. `answerable` is false if the right answer is to decline.
    """

    id: str
    domain: str
    question: str
    reference: str | None = None
    passages: tuple[Passage, ...] = ()
    aspects: tuple[str, ...] = ()
    short_answers: tuple[str, ...] = ()
    sub_questions: tuple[str, ...] = ()
    gold_doc_ids: tuple[str, ...] = ()
    citation_numbers: tuple[tuple[int, ...], ...] = ()
    citations: tuple[tuple[str, ...], ...] = ()
    nuggets: tuple[Nugget, ...] = ()
    split: Split = Split.TEST
    language: str = ENGLISH
    answerable: bool = True

    def __post_init__(self) -> None:
        for name in ("id", "domain", "question"):
            if not getattr(self, name).strip():
                message = f"A question's {name} is empty (id {self.id!r})."
                raise RecordError(message, advice="Set an id, a domain and a text for every question.")


@dataclass(frozen=True, kw_only=True)
class QuestionSet:
    """Versioned set of questions in the order of its file.

    `reference_by` names the authors of the references: `PEOPLE` or free text; empty if unknown. `note` is
    shown to readers of its boards and questions. `language` is the ISO 639-1 code of its questions.
    """

    name: str
    title: str
    version: str = "1"
    licence: str = ""
    source: str = ""
    reference_name: str = "reference"
    reference_by: str = ""
    note: str = ""
    language: str = ENGLISH
    domains: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    questions: tuple[Question, ...] = ()

    def __post_init__(self) -> None:
        require_name(self.name, "Question set name")
        require_system_name(self.reference_name)
        if not LANGUAGE_PATTERN.fullmatch(self.language):
            message = f"Question set {self.name} has the language {self.language!r}."
            raise RecordError(message, advice="Use an ISO 639-1 code, such as en, de or ja.")
        if len(self.by_id) != len(self.questions):
            message = f"Question set {self.name} has two questions with the same id."
            raise RecordError(message, advice="Use a different id for every question.")
        unknown = sorted({question.domain for question in self.questions} - set(self.domains))
        if unknown:
            message = f"Question set {self.name} uses domains it does not declare: {', '.join(unknown)}."
            raise RecordError(message, advice="List every domain under [domains] in set.toml.")

    def with_questions(self, questions: Iterable[Question]) -> "QuestionSet":
        """Return the set with its questions replaced."""
        return replace(self, questions=tuple(questions))

    @cached_property
    def by_id(self) -> Mapping[str, Question]:
        """The questions by their ids."""
        return MappingProxyType({question.id: question for question in self.questions})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A system's text for one question, with the passages that it used (its contexts).

    `thinking` is the reasoning before the answer, which is not judged. `tokens`, `usd` and `milliseconds` are
    the costs that the system reports; None if it does not.
    """

    question_id: str
    answer: str
    contexts: tuple[Passage, ...] = ()
    thinking: str = ""
    tokens: int | None = None
    usd: float | None = None
    milliseconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCard:
    """Self-description of a system by its team; every field is optional.

    `open_weights` is `yes` or `no`, `parameters` a number such as `70B`, `released` a day, month or year.
    """

    model: str = ""
    retriever: str = ""
    passages: str = ""
    organisation: str = ""
    licence: str = ""
    link: str = ""
    contact: str = ""
    notes: str = ""
    open_weights: str = ""
    parameters: str = ""
    released: str = ""


def moment_of(value: date | str, *, closes: bool) -> datetime:
    """Parse the opening or closing time of a phase; a date means the whole day in UTC."""
    advice = "Write 2026-11-28 for the whole day in UTC, 2026-11-28T18:00Z or 2026-11-28T18:00+02:00."
    try:
        if isinstance(value, str):
            parse = date.fromisoformat if len(value) <= len("2026-11-28") else datetime.fromisoformat
            value = parse(value)
        if not isinstance(value, datetime):
            value = datetime.combine(value, time(23, 59, 59) if closes else time.min, UTC)
        if value.tzinfo is None:
            raise RecordError(f"The time {value:%Y-%m-%d %H:%M} has no time zone.", advice=advice)
        return value.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise RecordError(f"{str(value)!r} is not a valid date or time.", advice=advice) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Period in which a set accepts submissions, with its limits.

    Attributes:
        opens_at: Start of the phase; None if it was always open.
        closes_at: End of the phase, exclusive; None if it never closes.
        daily_quota: Counted submissions of a team per day (UTC); None for no limit.
        total_quota: Counted submissions of a team in the phase; None for no limit.
        file_mb: Maximum size of a file in MiB, decompressed; None for the installation's default.
        answer_chars: Maximum length of an answer in characters; None for the checker's default.
    """

    name: str = DEFAULT_PHASE
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    daily_quota: int | None = None
    total_quota: int | None = None
    file_mb: int | None = None
    answer_chars: int | None = None

    def __post_init__(self) -> None:
        require_name(self.name, "Phase name")
        for moment in (self.opens_at, self.closes_at):
            if moment is not None and moment.tzinfo is None:
                raise RecordError(
                    f"A time of phase {self.name} has no time zone.",
                    advice="Write it like 2026-05-01T12:00Z.",
                )
        if self.opens_at and self.closes_at and self.opens_at >= self.closes_at:
            raise RecordError(f"Phase {self.name} closes before it opens.", advice="Correct its times.")
        for label in ("daily_quota", "total_quota", "file_mb", "answer_chars"):
            value = getattr(self, label)
            if value is not None and value < 1:
                raise RecordError(f"{label} of phase {self.name} is {value}.", advice="Use 1 or more.")

    def opened(self, at: datetime) -> bool:
        """Return whether the phase is open at a time."""
        return (self.opens_at is None or self.opens_at <= at) and (
            self.closes_at is None or at < self.closes_at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPolicy:
    """Rules for submissions to a set; without phases it is always open, without quotas unlimited.

    `public_texts` is False if its licence forbids publishing texts.
    """

    set_name: str
    phases: tuple[Phase, ...] = ()
    hidden_references: bool = False
    public_texts: bool = True

    def __post_init__(self) -> None:
        require_apart(self.phases)

    def current(self, at: datetime) -> Phase | None:
        """Return the phase that is open at a time, or None."""
        if not self.phases:
            return Phase()
        return next((phase for phase in self.phases if phase.opened(at)), None)

    def nearest(self, at: datetime) -> Phase:
        """Return the phase that is open at a time, else the next to open, else the last; for its limits."""
        later = [phase for phase in self.phases if phase.opens_at is not None and phase.opens_at > at]
        upcoming = sorted(later, key=lambda phase: phase.opens_at or at)
        return self.current(at) or (upcoming[0] if upcoming else self.phases[-1])


def require_apart(phases: Sequence[Phase]) -> None:
    """Refuse phases that share a name or overlap."""
    for phase, other in combinations(phases, 2):
        if phase.name == other.name:
            raise RecordError(f"Two phases are called {phase.name}.", advice="Give each its own name.")
        if _begins_before_end(phase, other) and _begins_before_end(other, phase):
            raise RecordError(
                f"The phases {phase.name} and {other.name} are open at the same time.",
                advice="Close one before the other opens.",
            )


def _begins_before_end(phase: Phase, other: Phase) -> bool:
    return phase.opens_at is None or other.closes_at is None or phase.opens_at < other.closes_at
