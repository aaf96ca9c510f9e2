"""Tasks, items and labels as JSON: one model each, for commands and routes alike."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import AliasPath, BaseModel, Field

from arena.models.base import Value
from arena.services.annotation.quality_lines import EstimateLine, PersonLine
from data.records import AnnotationTask, BlindItem, OwnProgress
from data.records.references import Failure, ReferenceState

if TYPE_CHECKING:
    # What measures agreement loads arrays; lists of tasks do without.
    from arena.services.annotation.quality import TaskQuality


class TaskLine(BaseModel):
    """A task and how far it is."""

    name: str = Field(examples=["people"])
    set: str
    round: str = Field(description="The round whose battles its items are; empty for none.")
    kind: str = Field(description="`pairs` or `references`.")
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


class LabelPassage(Value):
    """A passage."""

    id: str
    title: str
    text: str


class DraftLine(Value):
    """What an LLM wrote for a question, to start from."""

    text: str
    model: str


class WrittenLine(Value):
    """A reference that somebody wrote, and how far it is."""

    text: str
    state: ReferenceState
    failures: list[Failure] | None = Field(
        description="What the audit of this very text found; null where it was not in the sample."
    )
    remark: str


class ItemLine(Value):
    """An item as an annotator sees it; nothing tells whose answers they are."""

    number: int = Field(validation_alias="id", description="Number of your label, under which it is given.")
    question: str = Field(validation_alias=AliasPath("question", "question"))
    domain: str = Field(validation_alias=AliasPath("question", "domain"))
    reference: str | None = Field(
        validation_alias=AliasPath("question", "reference"),
        description="Null where the task does not show it.",
    )
    passages: list[LabelPassage] = Field(validation_alias=AliasPath("question", "passages"))
    short_answers: list[str] = Field(
        validation_alias=AliasPath("question", "short_answers"),
        description="What a reference must hold; empty for pairs.",
    )
    first: str = Field(description="The answer shown first; empty for references.")
    second: str = Field(description="The answer shown second; empty for references.")
    value: int | None = Field(description="What you said: negative where `first` is better.")
    comment: str
    skip_reason: str | None
    draft: DraftLine | None
    written: WrittenLine | None = Field(
        description="Your reference; null for pairs, and before the first text."
    )


class ProgressLine(Value):
    """How far somebody is."""

    labelled: int
    skipped: int
    left: int = Field(description="Items that they may yet get; others may take some.")
    total: int
    labels: list[int] = Field(description="Numbers of their labels, in the order in which they got them.")


class NextLine(Value):
    """What comes next for somebody."""

    item: ItemLine | None = Field(description="Null where nothing is left.")
    progress: ProgressLine

    @classmethod
    def following(cls, item: BlindItem | None, progress: OwnProgress) -> NextLine:
        """Translate an item with the progress."""
        return cls(item=None if item is None else ItemLine.of(item), progress=ProgressLine.of(progress))


class QualityLine(BaseModel):
    """How people agree in a task."""

    task: str
    labels: int
    complete: int = Field(description="Items that as many people labelled as the task wants.")
    items: int
    unanimous: float | None
    alpha: EstimateLine
    alpha_values: EstimateLine = Field(description="The same (ordinal) of grades.")
    disputed: int = Field(description="Items that wait for an adjudicator.")
    adjudicated: int
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
            alpha=quality.alpha,
            alpha_values=quality.alpha_values,
            disputed=len(quality.disputed),
            adjudicated=sum(result.adjudicated is not None for result in quality.items),
            people=list(quality.people),
        )


class JudgedLine(Value):
    """One person's label of a disputed item: positive where b is better."""

    person: str
    value: int | None
    comment: str


class DisputedLine(Value):
    """An item without a majority: its answers in the order a, b, systems not named."""

    item: int = Field(
        validation_alias=AliasPath("item", "id"), description="Number under which it is adjudicated."
    )
    question: str = Field(validation_alias=AliasPath("item", "question", "question"))
    domain: str = Field(validation_alias=AliasPath("item", "question", "domain"))
    answer_a: str = Field(validation_alias=AliasPath("item", "first"))
    answer_b: str = Field(validation_alias=AliasPath("item", "second"))
    labels: list[JudgedLine]
