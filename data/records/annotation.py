"""Annotation: what people are asked, what they see, and what they said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from data.errors import RecordError
from data.records.judging import LARGEST_GRADE
from data.records.questions import Passage, Question


class TaskKind(StrEnum):
    """What people are asked of an item."""

    PAIRS = "pairs"
    ANSWERABILITY = "answerability"
    PASSAGES = "passages"
    SPANS = "spans"
    REFERENCES = "references"


class LabelScale(StrEnum):
    """How finely people say which answer of a pair is better: five grades, or a, tie and b."""

    GRADES = "grades"
    SIDES = "sides"


class DrawKind(StrEnum):
    """How items were drawn, which their chances follow from."""

    ALL = "all"
    UNIFORM = "uniform"
    DOMAIN = "domain"
    DOUBT = "doubt"


class SpanKind(StrEnum):
    """What is the matter with a part of an answer."""

    WRONG = "wrong"
    UNSUPPORTED = "unsupported"
    MISSING = "missing"


LARGEST_RATING = 5
SCALES: Mapping[TaskKind, tuple[int, int]] = {
    TaskKind.PAIRS: (-LARGEST_GRADE, LARGEST_GRADE),
    TaskKind.ANSWERABILITY: (0, 1),
    TaskKind.PASSAGES: (0, LARGEST_RATING),
}
"""Smallest and largest value of each kind; of spans the value is how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of an answer with its fault: characters `start` to before `end`; what is missing has neither.

    `text` says what is wrong or missing, in the annotator's words.
    """

    kind: SpanKind
    start: int | None = None
    end: int | None = None
    text: str = ""

    def __post_init__(self) -> None:
        if self.kind is SpanKind.MISSING:
            if not self.text.strip():
                raise RecordError("A missing statement has no text.", advice="Say what is missing.")
        elif self.start is None or self.end is None or not 0 <= self.start < self.end:
            raise RecordError(
                f"A span from {self.start} to {self.end} marks nothing.",
                advice="Give the places of its first character and of the one after its last.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTerms:
    """What holds for a whole task.

    Attributes:
        name: Its name.
        kind: What people are asked.
        scale: How finely they say which answer is better; for pairs.
        draw: How its items were drawn.
        overlap: How many people label an item.
        seed: Of the draw, and of which answer is shown first.
        shows_reference: Whether the reference is shown.
        open_to_all: Whether every account may label, or those that are named.
        consent: What people agree to before their first label.
        instructions: What to look at; empty for the usual rubric.
        hold_minutes: How long an item is held for somebody before others may get it.
    """

    name: str
    kind: TaskKind = TaskKind.PAIRS
    scale: LabelScale = LabelScale.GRADES
    draw: DrawKind = DrawKind.ALL
    overlap: int
    seed: int = 0
    shows_reference: bool = False
    open_to_all: bool = False
    consent: str = ""
    instructions: str = ""
    hold_minutes: int = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationTask:
    """A stored task; of `wanted` labels `done` are given. Closed ones take no more.

    `items` are without the `gold` ones, of which everybody labels each; `round_name` is empty where the
    items are no battles of a round.
    """

    id: int
    terms: TaskTerms
    set_name: str
    round_name: str
    closed: bool
    items: int
    gold: int
    wanted: int
    done: int
    created_at: datetime

    @property
    def name(self) -> str:
        """Its name."""
        return self.terms.name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """An item of a new task, by the store's numbers.

    Attributes:
        question: The question.
        a: The submission whose answer is side a, or whose answer is marked; None without an answer.
        b: The submission of side b; None for kinds that have one answer or none.
        passage: Id of the passage that is rated; empty for none.
        sub_question: What a passage or set of passages is held against; empty for the question itself.
        chance: Probability that the item was put to people; None where it was chosen by hand.
        gold: The right value of an item with a known answer; None for the others.
    """

    question: int
    a: int | None = None
    b: int | None = None
    passage: str = ""
    sub_question: str = ""
    chance: float | None = None
    gold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindItem:
    """An item as an annotator sees it: nothing tells whose answers they are.

    Attributes:
        id: The number of this person's label.
        question: The question; without its reference where the task does not show it.
        first: The text shown first; empty for kinds without answers.
        second: The text shown second; empty but for pairs.
        passage: The passage that is rated, for that kind.
        sub_question: What it is rated against; empty for the question itself.
        value: What the person said so far, as shown: negative where the first is better. None for nothing.
        spans: What the person marked.
        comment: What the person wrote.
        skip_reason: Why it was skipped; None where it was not.
    """

    id: int
    question: Question
    first: str
    second: str
    passage: Passage | None = None
    sub_question: str = ""
    value: int | None = None
    spans: tuple[Span, ...] = ()
    comment: str = ""
    skip_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnProgress:
    """How far somebody is: of the items that they have or may yet get, `labelled` and `skipped`.

    `labels` are the numbers of their labels in the order in which they got them, the open one last.
    """

    labelled: int
    skipped: int
    left: int
    labels: tuple[int, ...]

    @property
    def total(self) -> int:
        """Items in all."""
        return self.labelled + self.skipped + self.left

    @property
    def share(self) -> float:
        """How much of it is done, 0–1."""
        return 1.0 if not self.total else (self.labelled + self.skipped) / self.total

    @property
    def words(self) -> str:
        """How much is done, in words: "3 of 60"."""
        skipped = f", {self.skipped} of them skipped" if self.skipped else ""
        return f"{self.labelled + self.skipped} of {self.total}{skipped}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPerson:
    """Somebody who labels in a task; `aside_reason` is None where their labels count."""

    name: str
    has_account: bool
    consented_at: datetime | None
    aside_reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskItem:
    """An item with whose answers it shows; `settled` is what an adjudicator decided, None before.

    `a_id` and `b_id` are the submissions that the answers are of.
    """

    id: int
    position: int
    question_id: str
    domain: str
    a_id: int | None
    b_id: int | None
    system_a: str
    system_b: str
    passage: str
    sub_question: str
    chance: float | None
    gold: int | None
    settled: int | None
    settled_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabel:
    """What one person said of one item: `value` in the order a, b, or a reason to skip it."""

    item: int
    person: str
    value: int | None
    spans: tuple[Span, ...]
    comment: str
    skip_reason: str | None
    seconds: float
    aside: bool
    labelled_at: datetime | None
