"""Annotation: what people are asked, what they see, and what they said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from data.records.judging import LARGEST_GRADE
from data.records.questions import Question
from data.records.references import Draft, WrittenReference


class TaskKind(StrEnum):
    """What people are asked of an item: which of two answers is better, or to write a reference."""

    PAIRS = "pairs"
    REFERENCES = "references"


class LabelScale(StrEnum):
    """How finely people say which answer of a pair is better: five grades, or a, tie and b."""

    GRADES = "grades"
    SIDES = "sides"

    @property
    def largest(self) -> int:
        """The label of an answer b that is better; of an answer a it is negative."""
        return LARGEST_GRADE if self is LabelScale.GRADES else 1


class DrawKind(StrEnum):
    """How items were drawn, which their chances follow from."""

    ALL = "all"
    UNIFORM = "uniform"
    DOMAIN = "domain"
    DOUBT = "doubt"


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
        a: The submission whose answer is side a; None for references, which show no answer.
        b: The submission of side b; None as `a`.
        chance: Probability that the item was labelled by humans; None where it was chosen by hand.
        gold: The right value of an item with a known answer; None for the others.
    """

    question: int
    a: int | None = None
    b: int | None = None
    chance: float | None = None
    gold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindItem:
    """An item as an annotator sees it: nothing tells whose answers they are.

    Attributes:
        id: The number of this person's label.
        question: The question; without its reference where the task does not show it.
        first: The answer shown first; empty for references.
        second: The answer shown second; empty for references.
        value: What the person said so far, as shown: negative where the first is better. None for nothing.
        comment: What the person wrote of it.
        skip_reason: Why it was skipped; None where it was not.
        draft: What an LLM wrote, for references; None without one.
        written: The reference that the person wrote, with what its audit found; None before the first text.
    """

    id: int
    question: Question
    first: str
    second: str
    value: int | None = None
    comment: str = ""
    skip_reason: str | None = None
    draft: Draft | None = None
    written: WrittenReference | None = None


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
    """Somebody who labels in a task; `excluded_reason` is None where their labels count."""

    name: str
    has_account: bool
    consented_at: datetime | None
    excluded_reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskItem:
    """An item with whose answers it shows; `adjudicated` is what an adjudicator decided, None before.

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
    chance: float | None
    gold: int | None
    adjudicated: int | None
    adjudicated_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabel:
    """What one person said of one item: `value` in the order a, b, or a reason to skip it."""

    item: int
    person: str
    value: int | None
    comment: str
    skip_reason: str | None
    seconds: float
    excluded: bool
