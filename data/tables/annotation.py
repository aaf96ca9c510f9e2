"""Tables of what people say: label tasks, their items, people and labels, and public votes on blind pairs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, UniqueConstraint

from data.records import DrawKind, LabelScale, TaskKind
from data.records.public_votes import Rejection
from data.records.vocabulary import Preference
from data.tables import columns as col
from data.tables.columns import Base


class AnnotationTaskRow(Base, table=True):
    """Items of one set that people label; each by `overlap` of them."""

    __tablename__ = "annotation_task"
    id: int | None = col.number()
    name: str = col.label(100, unique=True)
    set_id: int = col.parent("question_set.id", index=True)
    round_id: int | None = col.parent("round.id", nullable=True)
    kind: TaskKind = col.word(TaskKind)
    scale: LabelScale = col.word(LabelScale)
    draw: DrawKind = col.word(DrawKind)
    overlap: int = col.whole()
    seed: int = col.whole()
    shows_reference: bool = col.flag()
    open_to_all: bool = col.flag()
    consent: str = col.prose()
    instructions: str = col.prose()
    hold_minutes: int = col.whole()
    created_at: datetime = col.created()
    closed_at: datetime | None = col.moment(nullable=True)


annotation_tasks = AnnotationTaskRow.__table__


class AnnotationItemRow(Base, table=True):
    """What is labelled; `is_full` once as many people labelled it as the task wants, gold ones never."""

    __tablename__ = "annotation_item"
    __table_args__ = (
        UniqueConstraint("task_id", "position"),
        Index(None, "task_id", "is_full", "position"),
    )
    id: int | None = col.number()
    task_id: int = col.parent("annotation_task.id")
    position: int = col.whole()
    question_id: int = col.parent("question.id")
    a_id: int | None = col.parent("submission.id", nullable=True)
    b_id: int | None = col.parent("submission.id", nullable=True)
    chance: float | None = col.real(nullable=True)
    gold: int | None = col.whole(nullable=True)
    is_full: bool = col.flag(default=False)
    adjudicated: int | None = col.whole(nullable=True)
    adjudicated_by: str = col.prose(default="")
    adjudicated_at: datetime | None = col.moment(nullable=True)


annotation_items = AnnotationItemRow.__table__


class AnnotationPersonRow(Base, table=True):
    """Who labels in a task, under one name; without an account where labels were brought from elsewhere."""

    __tablename__ = "annotation_person"
    __table_args__ = (UniqueConstraint("task_id", "name"), Index(None, "account_id"))
    id: int | None = col.number()
    task_id: int = col.parent("annotation_task.id")
    account_id: int | None = col.parent("account.id", nullable=True)
    name: str = col.label(100)
    consented_at: datetime | None = col.moment(nullable=True)
    excluded_at: datetime | None = col.moment(nullable=True)
    excluded_reason: str | None = col.prose(nullable=True)


annotation_people = AnnotationPersonRow.__table__


class AnnotationLabelRow(Base, table=True):
    """One person's look at one item; `value` is null until labelled, and positive where b is better.

    `text` is what a person wrote, for references.
    `held_until` and `shown_at` are seconds since 1970 by the database's clock.
    """

    __tablename__ = "annotation_label"
    __table_args__ = (UniqueConstraint("item_id", "person_id"), Index(None, "person_id"))
    id: int | None = col.number()
    item_id: int = col.parent("annotation_item.id")
    person_id: int = col.parent("annotation_person.id")
    b_first: bool = col.flag()
    value: int | None = col.whole(nullable=True)
    text: str | None = col.prose(nullable=True)
    comment: str = col.prose(default="")
    skip_reason: str | None = col.prose(nullable=True)
    held_until: float = col.real()
    shown_at: float = col.real()
    seconds: float = col.real(default=0.0)
    edits: int = col.whole(default=0)
    is_excluded: bool = col.flag(default=False)
    labelled_at: datetime | None = col.moment(nullable=True)


annotation_labels = AnnotationLabelRow.__table__


class PollRow(Base, table=True):
    """Public blind votes on a set; `closed_at` is null while they are open, `salt` hides who voted."""

    __tablename__ = "poll"
    id: int | None = col.number()
    set_id: int = col.parent("question_set.id", unique=True)
    salt: str = col.label(64)
    opened_at: datetime = col.moment()
    closed_at: datetime | None = col.moment(nullable=True)


polls = PollRow.__table__


class PollPairRow(Base, table=True):
    """A pair that a visitor was shown, with the vote where there is one.

    In a gold pair side b shows the answer to another question, `decoy_id`. `visitor`, `address` and
    `network` are salted hashes; `preference` is of the sides, not of the places on the page.
    """

    __tablename__ = "poll_pair"
    __table_args__ = (
        Index(None, "poll_id", "visitor"),
        Index(None, "poll_id", "address", "served_at"),
    )
    id: int | None = col.number()
    poll_id: int = col.parent("poll.id")
    token: str = col.label(64, unique=True)
    question_id: int = col.parent("question.id")
    a_id: int = col.parent("submission.id")
    b_id: int = col.parent("submission.id")
    decoy_id: int | None = col.parent("question.id", nullable=True)
    b_first: bool = col.flag()
    visitor: str = col.label(64)
    address: str = col.label(64)
    network: str = col.label(64)
    served_at: datetime = col.moment()
    preference: Preference | None = col.word(Preference, 4, nullable=True)
    rejection: Rejection | None = col.word(Rejection, nullable=True)
    voted_at: datetime | None = col.moment(nullable=True)


poll_pairs = PollPairRow.__table__
