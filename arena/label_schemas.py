"""Tasks, items and labels as JSON: one model each, for commands and routes alike."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from arena.schemas import Line
from data.records import AnnotationTask, BlindItem, OwnProgress, Span, SpanKind

if TYPE_CHECKING:
    # What measures agreement loads arrays; lists of tasks do without.
    from arena.services.annotation.curation import DisputedItem
    from arena.services.annotation.quality import PersonQuality, TaskQuality
    from leaderboard.agreement import Estimate


class TaskLine(BaseModel):
    """A task and how far it is."""

    name: str = Field(examples=["people"])
    set: str
    round: str = Field(description="The round whose battles its items are; empty for none.")
    kind: str = Field(description="`pairs`, `answerability`, `passages` or `spans`.")
    scale: str = Field(description="`grades` (-2…2) or `sides` (-1…1), for pairs.")
    draw: str = Field(description="How items were drawn: `all`, `uniform`, `domain` or `doubt`.")
    overlap: int = Field(description="How many people label an item.")
    seed: int
    shows_reference: bool
    open_to_all: bool
    hold_minutes: int
    consent: str = Field(description="What people agree to before their first label.")
    instructions: str
    closed: bool
    items: int
    gold: int = Field(description="Items with known answers, which everybody labels.")
    wanted: int = Field(description="Labels in all, without those of gold items.")
    done: int
    created_at: datetime

    @classmethod
    def of(cls, task: AnnotationTask) -> TaskLine:
        """Translate a task."""
        terms = {name: getattr(task.terms, name) for name in cls.model_fields if hasattr(task.terms, name)}
        own = {name: getattr(task, name) for name in cls.model_fields if hasattr(task, name)}
        return cls(**{**terms, **own, "set": task.set_name, "round": task.round_name})


class SpanLine(Line):
    """A part of an answer with its fault; what is missing has a text in place of a part."""

    kind: SpanKind
    start: int | None = Field(None, ge=0, le=2**31 - 1, description="Its first character; null for missing.")
    end: int | None = Field(None, ge=1, le=2**31 - 1, description="The one after its last; null for missing.")
    text: str = Field("", max_length=2_000, description="What is wrong or missing, in words.")

    def record(self) -> Span:
        """The span.

        Raises:
            RecordError: It marks nothing.
        """
        return Span(**self.model_dump())


class LabelPassage(Line):
    """A passage."""

    id: str
    title: str
    text: str


class ItemLine(BaseModel):
    """An item as an annotator sees it; nothing tells whose answers they are."""

    number: int = Field(description="Number of your label, under which it is given.")
    question: str
    domain: str
    reference: str | None = Field(description="Null where the task does not show it.")
    passages: list[LabelPassage]
    first: str = Field(description="The answer shown first; empty for kinds without answers.")
    second: str = Field(description="The answer shown second; empty but for pairs.")
    passage: LabelPassage | None = Field(description="The passage to rate, for that kind.")
    sub_question: str
    value: int | None = Field(description="What you said; of pairs negative where `first` is better.")
    spans: list[SpanLine]
    comment: str
    skip_reason: str | None

    @classmethod
    def of(cls, item: BlindItem) -> ItemLine:
        """Translate an item."""
        question = item.question
        return cls(
            number=item.id,
            question=question.question,
            domain=question.domain,
            reference=question.reference,
            passages=[LabelPassage.of(passage) for passage in question.passages],
            first=item.first,
            second=item.second,
            passage=None if item.passage is None else LabelPassage.of(item.passage),
            sub_question=item.sub_question,
            value=item.value,
            spans=[SpanLine.of(span) for span in item.spans],
            comment=item.comment,
            skip_reason=item.skip_reason,
        )


class ProgressLine(Line):
    """How far somebody is."""

    labelled: int
    skipped: int
    left: int = Field(description="Items that they may yet get; others may take some.")
    total: int
    labels: list[int] = Field(description="Numbers of their labels, in the order in which they got them.")


class NextLine(BaseModel):
    """What comes next for somebody."""

    item: ItemLine | None = Field(description="Null where nothing is left.")
    progress: ProgressLine

    @classmethod
    def of(cls, item: BlindItem | None, progress: OwnProgress) -> NextLine:
        """Translate an item with the progress."""
        return cls(item=None if item is None else ItemLine.of(item), progress=ProgressLine.of(progress))


class EstimateLine(BaseModel):
    """A number with its 95 % interval; null where too little is labelled."""

    value: float | None
    lower: float | None
    upper: float | None

    @classmethod
    def of(cls, found: Estimate) -> EstimateLine:
        """Translate an estimate."""
        interval = found.interval
        return cls(
            value=found.value,
            lower=None if interval is None else float(interval.lower),
            upper=None if interval is None else float(interval.upper),
        )


class PersonLine(Line):
    """How one person labels."""

    name: str
    labelled: int
    skipped: int
    seconds: float | None = Field(description="Median time of a label.")
    agreement: float | None = Field(
        description="Share of others' labels of the same items that say the same."
    )
    compared: int
    alpha: EstimateLine
    gold_seen: int
    gold_passed: int
    gold_rate: float | None
    accuracy: float | None = Field(description="Chance of being right, by Dawid and Skene's model.")
    aside_reason: str | None = Field(description="Why their labels do not count; null where they do.")

    @classmethod
    def of_person(cls, person: PersonQuality) -> PersonLine:
        """Translate a person's quality."""
        fields = {name: getattr(person, name) for name in cls.model_fields}
        return cls(**{**fields, "alpha": EstimateLine.of(person.alpha)})


class QualityLine(BaseModel):
    """How people agree in a task."""

    task: str
    labels: int
    complete: int = Field(description="Items that as many people labelled as the task wants.")
    items: int
    unanimous: float | None
    alpha: EstimateLine
    alpha_values: EstimateLine = Field(description="The same (ordinal) of grades or ratings.")
    disputed: int = Field(description="Items that wait for an adjudicator.")
    settled: int
    people: list[PersonLine]

    @classmethod
    def of(cls, name: str, quality: TaskQuality) -> QualityLine:
        """Translate the quality of a task."""
        return cls(
            task=name,
            labels=quality.labels,
            complete=quality.complete,
            items=len(quality.items),
            unanimous=quality.unanimous,
            alpha=EstimateLine.of(quality.alpha),
            alpha_values=EstimateLine.of(quality.alpha_values),
            disputed=len(quality.disputed),
            settled=sum(result.settled is not None for result in quality.items),
            people=[PersonLine.of_person(person) for person in quality.people],
        )


class SaidLine(BaseModel):
    """What one person said of a disputed item: positive where b is better."""

    person: str
    value: int | None
    comment: str


class DisputedLine(BaseModel):
    """An item without a majority: its answers in the order a, b, systems not named."""

    item: int = Field(description="Number under which it is settled.")
    question: str
    domain: str
    answer_a: str
    answer_b: str
    passage: LabelPassage | None
    sub_question: str
    labels: list[SaidLine]

    @classmethod
    def of(cls, found: DisputedItem) -> DisputedLine:
        """Translate a disputed item."""
        shown = found.item
        return cls(
            item=shown.id,
            question=shown.question.question,
            domain=shown.question.domain,
            answer_a=shown.first,
            answer_b=shown.second,
            passage=None if shown.passage is None else LabelPassage.of(shown.passage),
            sub_question=shown.sub_question,
            labels=[
                SaidLine(person=label.person, value=label.value, comment=label.comment)
                for label in found.labels
                if label.value is not None
            ],
        )
