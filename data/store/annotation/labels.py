"""Labels in the store: one as its annotator sees it, all of a task, and what becomes of a person's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, and_, delete, func, insert, select, update

from data.errors import NotFoundError
from data.records import BlindItem, GivenLabel
from data.store.annotation.queue import count_full
from data.store.annotation.tasks import add_person, labels_of, named
from data.store.base import AnyRow, StorePart, to_record
from data.store.question_sets import restore
from data.tables.annotation import annotation_items, annotation_labels, annotation_people
from data.tables.columns import now
from data.tables.questions import answers, questions
from data.tables.teams import accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtLabel:
    """A label from a file: what a person, who may have no account, said of an item, in the order a, b."""

    item: int
    person: str
    value: int | None
    comment: str = ""
    skip_reason: str | None = None
    seconds: float = 0.0


class LabelStore(StorePart):
    """Reads labels, and changes what counts of them."""

    def blind(self, task_id: int, person: str, label: int) -> BlindItem:
        """An item as somebody to whom it was given sees it, in the order drawn for them.

        Raises:
            NotFoundError: It was not given to them, or a text of it is gone.
        """
        row = self._first(
            select(annotation_labels)
            .select_from(_of_people())
            .where(
                annotation_labels.c.id == label,
                annotation_people.c.name == person,
                annotation_items.c.task_id == task_id,
            )
        )
        if row is None:
            raise NotFoundError("This item was not given to you.", advice="Go on with the next one.")
        shown = self.item(task_id, row.item_id)
        turned = row.b_first
        return replace(
            shown,
            id=row.id,
            first=shown.second if turned else shown.first,
            second=shown.first if turned else shown.second,
            value=-row.value if turned and row.value is not None else row.value,
            comment=row.comment,
            skip_reason=row.skip_reason,
        )

    def item(self, task_id: int, item: int) -> BlindItem:
        """An item with its answers in the order a, b, under its own number.

        Raises:
            NotFoundError: The task has no such item.
        """
        row = self._first(
            _texts().where(annotation_items.c.task_id == task_id, annotation_items.c.id == item)
        )
        if row is None:
            raise NotFoundError(f"The task has no item {item}.", advice="Ask for the list of its items.")
        return _shown(row)

    def texts(self, task_id: int) -> tuple[BlindItem, ...]:
        """Every item of a task with its texts, in the order a, b."""
        query = _texts().where(annotation_items.c.task_id == task_id).order_by(annotation_items.c.position)
        return tuple(map(_shown, self._all(query)))

    def given(self, task_id: int) -> tuple[GivenLabel, ...]:
        """Every label and every skip of a task, by item and in the order in which people got them."""
        query = (
            select(
                annotation_labels,
                annotation_labels.c.item_id.label("item"),
                annotation_labels.c.is_excluded.label("excluded"),
                annotation_people.c.name.label("person"),
            )
            .select_from(_of_people())
            .where(
                annotation_items.c.task_id == task_id,
                annotation_labels.c.labelled_at.is_not(None),
            )
            .order_by(annotation_items.c.position, annotation_labels.c.id)
        )
        return tuple(to_record(GivenLabel, row) for row in self._all(query))

    def exclude(self, task_id: int, person: str, reason: str | None) -> int:
        """Let somebody's labels of a task count no more, for a reason; None lets them count again.

        Returns:
            How many labels that are.

        Raises:
            NotFoundError: Nobody of this name labels in the task.
        """
        with self._database.together() as connection:
            changed = connection.execute(
                update(annotation_people)
                .where(named(task_id, person))
                .values(excluded_reason=reason, excluded_at=None if reason is None else now())
            )
            if not changed.rowcount:
                raise _nobody(person)
            connection.execute(
                update(annotation_labels)
                .where(labels_of(task_id, person))
                .values(is_excluded=reason is not None)
            )
            count_full(connection, annotation_items.c.task_id == task_id)
            labelled = annotation_labels.c.value.is_not(None)
            counted = select(func.count()).where(labels_of(task_id, person), labelled)
            return int(connection.execute(counted).scalar_one())

    def delete_of(self, task_id: int, person: str) -> int:
        """Delete everything that somebody said in a task; gives how many labels and skips that were.

        Raises:
            NotFoundError: Nobody of this name labels in the task.
        """
        with self._database.together() as connection:
            mine = named(task_id, person)
            if connection.execute(select(annotation_people.c.id).where(mine)).first() is None:
                raise _nobody(person)
            gone = connection.execute(delete(annotation_labels).where(labels_of(task_id, person))).rowcount
            # They agree anew before they label again.
            connection.execute(update(annotation_people).where(mine).values(consented_at=None))
            count_full(connection, annotation_items.c.task_id == task_id)
            return int(gone)

    def bring(self, task_id: int, labels: Sequence[BroughtLabel]) -> int:
        """Add labels from a file; what a person said of an item already stays.

        Returns:
            How many were new.
        """
        with self._database.together() as connection:
            known = {
                row.name: row.id
                for row in connection.execute(
                    select(annotation_people.c.id, annotation_people.c.name).where(
                        annotation_people.c.task_id == task_id
                    )
                )
            }
            for name in dict.fromkeys(label.person for label in labels):
                if name not in known:
                    account = connection.execute(select(accounts.c.id).where(accounts.c.name == name))
                    known[name] = add_person(connection, task_id, name, account.scalar())
            there = {
                (row.item_id, row.person_id)
                for row in connection.execute(
                    select(annotation_labels.c.item_id, annotation_labels.c.person_id)
                    .join(annotation_items, annotation_items.c.id == annotation_labels.c.item_id)
                    .where(annotation_items.c.task_id == task_id)
                )
            }
            rows = {
                (label.item, known[label.person]): _row(label, known[label.person])
                for label in labels
                if (label.item, known[label.person]) not in there
            }
            if rows:
                connection.execute(insert(annotation_labels), list(rows.values()))
                count_full(connection, annotation_items.c.task_id == task_id)
            return len(rows)


def _row(label: BroughtLabel, person: int) -> dict[str, Any]:
    return {
        "item_id": label.item,
        "person_id": person,
        "b_first": False,
        "value": label.value,
        "comment": label.comment,
        "skip_reason": label.skip_reason,
        "held_until": 0.0,
        "shown_at": 0.0,
        "seconds": label.seconds,
        "labelled_at": now(),
    }


def _texts() -> Select[*tuple[Any, ...]]:
    answer_a, answer_b = answers.alias("answer_a"), answers.alias("answer_b")
    return (
        select(
            annotation_items,
            questions.c.content,
            answer_a.c.text.label("text_a"),
            answer_b.c.text.label("text_b"),
        )
        .join(questions, questions.c.id == annotation_items.c.question_id)
        .outerjoin(answer_a, _answers(answer_a, annotation_items.c.a_id))
        .outerjoin(answer_b, _answers(answer_b, annotation_items.c.b_id))
    )


def _shown(row: AnyRow) -> BlindItem:
    return BlindItem(
        id=row.id, question=restore(row.content), first=row.text_a or "", second=row.text_b or ""
    )


def _of_people() -> FromClause:
    return annotation_labels.join(
        annotation_items, annotation_items.c.id == annotation_labels.c.item_id
    ).join(annotation_people, annotation_people.c.id == annotation_labels.c.person_id)


def _answers(alias: FromClause, side: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(alias.c.submission_id == side, alias.c.question_id == annotation_items.c.question_id)


def _nobody(person: str) -> NotFoundError:
    return NotFoundError(
        f"Nobody called {person} labels in this task.", advice="`arena labels show TASK` lists them."
    )
