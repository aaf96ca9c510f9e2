"""Question sets, answers, and the phases in which a set takes submissions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from functools import cached_property
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


def written_by_people(reference_by: str) -> bool:
    """Return whether people wrote a set's references: `PEOPLE`, or a free text that names no model."""
    said = reference_by.casefold()
    return said.startswith(PEOPLE) or (bool(said.strip()) and not MODEL.search(said))


def require_name(value: str, what: str) -> str:
    """Return `value` where it can stand in a path, a URL and a command line."""
    if not NAME_PATTERN.fullmatch(value):
        message = f"{what} {value!r} is not a usable name."
        raise RecordError(message, advice="Use 1 to 100 letters, digits, '.', '_', '+' or '-'.")
    return value


SYSTEM_NAME_PATTERN = re.compile(r"[^\W_](?:[^\s@]| (?=[^\s@])){0,99}")


def require_system_name(value: str) -> str:
    """Return a system's name where it can stand on one line: `meta-llama/Llama-3-70B`, `gpt-4o (2024-08)`."""
    if not SYSTEM_NAME_PATTERN.fullmatch(value) or not value.isprintable():
        message = f"System name {value[:120]!r} is not a usable name."
        advice = "Use 1 to 100 printable characters, a letter or digit first, without '@' and double spaces."
        raise RecordError(message, advice=advice)
    return value


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved or given text."""

    id: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Nugget:
    """A fact that a good answer states; without an importance it counts as vital."""

    text: str
    importance: Importance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of a set.

    Only `id`, `domain` and `question` are always there. `gold_doc_ids` name the documents that the
    reference was written from, and `citations` the documents that each of its sentences cites;
    `citation_numbers` are LFRQA's own, which hold one number (from 1) a sentence at most. `language` is
    the set's, an ISO 639-1 code. `answerable` is false where the right answer is to decline.
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
                raise RecordError(message, advice="Give every question an id, a domain and a text.")


@dataclass(frozen=True, kw_only=True)
class QuestionSet:
    """A versioned set of questions; `questions` keep the order of the file.

    `reference_by` says who wrote the references: `PEOPLE`, or in free text; empty where it is not known.
    `note` is what readers of its boards and questions must know. `language` is an ISO 639-1 code, which its
    questions have too.
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
            raise RecordError(message, advice="Give its ISO 639-1 code, such as en, de or ja.")
        if len(self.by_id) != len(self.questions):
            message = f"Question set {self.name} has two questions with one id."
            raise RecordError(message, advice="Give every question an id of its own.")
        unknown = sorted({question.domain for question in self.questions} - set(self.domains))
        if unknown:
            message = f"Question set {self.name} uses domains it does not declare: {', '.join(unknown)}."
            raise RecordError(message, advice="List every domain under [domains] in set.toml.")

    def with_questions(self, questions: Iterable[Question]) -> "QuestionSet":
        """Return the set with other questions in place of its own."""
        return replace(self, questions=tuple(questions))

    @cached_property
    def by_id(self) -> Mapping[str, Question]:
        """The questions by their ids."""
        return MappingProxyType({question.id: question for question in self.questions})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A system's text for one question, with the passages it was given (its context).

    `thinking` is what the system wrote before its answer. Nobody judges it. `tokens`, `usd` and
    `milliseconds` are what the system says that the answer took; None where it does not.
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

    `open_weights` is `yes` or `no`, `parameters` a number as `70B`, `released` a day, month or year.
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
    """Return when a phase opens or closes; a bare date opens or closes it with that whole day in UTC."""
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
        raise RecordError(f"{str(value)!r} is not a date or a time.", advice=advice) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A span of time in which a set takes submissions, with its limits.

    Attributes:
        opens_at: From when on; None since always.
        closes_at: Until when, that moment excluded; None for ever.
        daily_quota: Submissions of one team a day (UTC) that count; None without limit.
        total_quota: Submissions of one team in the phase that count; None without limit.
        file_mb: Largest file in MiB, decompressed; None as the installation says.
        answer_chars: Longest answer in characters; None as the checker says.
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
                    f"A moment of phase {self.name} has no time zone.", advice="Write 2026-05-01T12:00Z."
                )
        if self.opens_at and self.closes_at and self.opens_at >= self.closes_at:
            raise RecordError(f"Phase {self.name} closes before it opens.", advice="Mend the two moments.")
        for label in ("daily_quota", "total_quota", "file_mb", "answer_chars"):
            value = getattr(self, label)
            if value is not None and value < 1:
                raise RecordError(f"{label} of phase {self.name} is {value}.", advice="Use 1 or more.")

    def opened(self, at: datetime) -> bool:
        """Return whether submissions are taken at a moment."""
        return (self.opens_at is None or self.opens_at <= at) and (
            self.closes_at is None or at < self.closes_at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPolicy:
    """Rules for submissions to a set; without phases it is always open, without quotas unlimited.

    `public_texts` is False where its licence forbids publishing texts.
    """

    set_name: str
    phases: tuple[Phase, ...] = ()
    hidden_references: bool = False
    public_texts: bool = True

    def __post_init__(self) -> None:
        require_apart(self.phases)

    def current(self, at: datetime) -> Phase | None:
        """Return the phase that is open at a moment; None where none is."""
        if not self.phases:
            return Phase()
        return next((phase for phase in self.phases if phase.opened(at)), None)

    def nearest(self, at: datetime) -> Phase:
        """Return the phase that is open at a moment, else the next to open, else the last; for its limits."""
        later = [phase for phase in self.phases if phase.opens_at is not None and phase.opens_at > at]
        upcoming = sorted(later, key=lambda phase: phase.opens_at or at)
        return self.current(at) or (upcoming[0] if upcoming else self.phases[-1])


def require_apart(phases: Sequence[Phase]) -> None:
    """Refuse phases of one name, or of which two are open at once."""
    for place, one in enumerate(phases):
        for other in phases[place + 1 :]:
            if one.name == other.name:
                raise RecordError(f"Two phases are called {one.name}.", advice="Give each its own name.")
            if _begins_before_end(one, other) and _begins_before_end(other, one):
                raise RecordError(
                    f"The phases {one.name} and {other.name} are open at the same time.",
                    advice="Close one before the other opens.",
                )


def _begins_before_end(one: Phase, other: Phase) -> bool:
    return one.opens_at is None or other.closes_at is None or one.opens_at < other.closes_at
