"""Annotation tasks in the store, with their items and people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from data.errors import ConflictError, NotFoundError
from data.records import AnnotationTask, NewItem, TaskItem, TaskPerson, TaskTerms
from data.store.base import AnyRow, StorePart, to_record, to_row
from data.store.engine import new_id
from data.tables.annotation import annotation_items, annotation_labels, annotation_people, annotation_tasks
from data.tables.columns import now
from data.tables.questions import question_sets, questions, submissions
from data.tables.rounds import rounds
from data.tables.teams import accounts


class AnnotationStore(StorePart):
    """Keeps tasks: what is to be labelled, and by whom."""

    def create(
        self,
        terms: TaskTerms,
        *,
        set_id: int,
        round_id: int | None,
        items: Sequence[NewItem],
        accounts: Sequence[tuple[int, str]],
    ) -> None:
        """Store a task with its items in the order given, and the people who label it.

        Args:
            terms: What holds for it.
            set_id: The set of its questions.
            round_id: The round whose battles its items are; None for none.
            items: What is labelled.
            accounts: Numbers and names of the accounts that label it.

        Raises:
            ConflictError: A task has this name.
        """
        head = to_row(annotation_tasks, terms, set_id=set_id, round_id=round_id)
        try:
            with self._database.begin() as connection:
                task = new_id(connection.execute(insert(annotation_tasks).values(head)))
                rows = [_item_row(task, position, item) for position, item in enumerate(items)]
                connection.execute(insert(annotation_items), rows)
                for account, name in accounts:
                    add_person(connection, task, name, account)
        except IntegrityError as error:
            raise ConflictError(
                f"There is a task {terms.name!r} already.", advice="Choose another name."
            ) from error

    def tasks(self, *, account: str | None = None) -> tuple[AnnotationTask, ...]:
        """The tasks, newest first; of an account those in which it labels or may label."""
        query = _tasks()
        if account is not None:
            mine = select(annotation_people.c.task_id).where(annotation_people.c.name == account)
            query = query.where(annotation_tasks.c.open_to_all | annotation_tasks.c.id.in_(mine))
        return tuple(map(_task, self._all(query.order_by(annotation_tasks.c.id.desc()))))

    def task(self, name: str) -> AnnotationTask:
        """One task.

        Raises:
            NotFoundError: None has this name.
        """
        row = self._first(_tasks().where(annotation_tasks.c.name == name))
        if row is None:
            raise NotFoundError(
                f"There is no annotation task {name!r}.", advice="`arena labels show` names them."
            )
        return _task(row)

    def close(self, name: str) -> None:
        """Take no more labels of a task."""
        self._change(
            update(annotation_tasks)
            .where(annotation_tasks.c.name == name, annotation_tasks.c.closed_at.is_(None))
            .values(closed_at=now())
        )

    def items(self, task_id: int) -> tuple[TaskItem, ...]:
        """The items of a task, in its order."""
        a, b = submissions.alias("side_a"), submissions.alias("side_b")
        query = (
            select(
                annotation_items,
                questions.c.key.label("question_key"),
                questions.c.domain,
                a.c.system.label("system_a"),
                b.c.system.label("system_b"),
            )
            .join(questions, questions.c.id == annotation_items.c.question_id)
            .outerjoin(a, a.c.id == annotation_items.c.a_id)
            .outerjoin(b, b.c.id == annotation_items.c.b_id)
            .where(annotation_items.c.task_id == task_id)
            .order_by(annotation_items.c.position)
        )
        return tuple(
            to_record(
                TaskItem,
                row,
                question_id=row.question_key,
                system_a=row.system_a or "",
                system_b=row.system_b or "",
            )
            for row in self._all(query)
        )

    def adjudicate(self, item: int, value: int | None, *, by: str) -> None:
        """Keep what an adjudicator decided of an item; None takes it back."""
        taken_back = value is None
        self._change(
            update(annotation_items)
            .where(annotation_items.c.id == item)
            .values(
                adjudicated=value,
                adjudicated_by="" if taken_back else by,
                adjudicated_at=None if taken_back else now(),
            )
        )

    def people(self, task_id: int) -> tuple[TaskPerson, ...]:
        """Who labels in a task, in the order in which they came."""
        query = (
            select(annotation_people)
            .where(annotation_people.c.task_id == task_id)
            .order_by(annotation_people.c.id)
        )
        return tuple(
            to_record(TaskPerson, row, has_account=row.account_id is not None) for row in self._all(query)
        )

    def person(self, task_id: int, name: str) -> TaskPerson | None:
        """One of them; None where nobody has this name."""
        row = self._first(select(annotation_people).where(named(task_id, name)))
        return None if row is None else to_record(TaskPerson, row, has_account=row.account_id is not None)

    def join(self, task_id: int, name: str, *, account: str | None) -> None:
        """Make somebody one of a task's people where they are not yet.

        Raises:
            NotFoundError: There is no such account.
        """
        with self._database.together() as connection:
            if (
                connection.execute(select(annotation_people.c.id).where(named(task_id, name))).first()
                is not None
            ):
                return
            number = None
            if account is not None:
                number = connection.execute(select(accounts.c.id).where(accounts.c.name == account)).scalar()
                if number is None:
                    raise NotFoundError(
                        f"There is no account {account}.",
                        advice="Add it with `arena teams accounts NAME`.",
                    )
            add_person(connection, task_id, name, number)

    def consent(self, task_id: int, name: str) -> None:
        """Keep that somebody agreed to the task's terms."""
        self._change(
            update(annotation_people)
            .where(named(task_id, name), annotation_people.c.consented_at.is_(None))
            .values(consented_at=now())
        )


def add_person(connection: Connection, task_id: int, name: str, account: int | None) -> int:
    """Add somebody to a task's people."""
    values = {"task_id": task_id, "name": name, "account_id": account}
    return new_id(connection.execute(insert(annotation_people).values(values)))


def named(task_id: int, name: str) -> ColumnElement[bool]:
    """Whether somebody is the one of this name in a task."""
    return and_(annotation_people.c.task_id == task_id, annotation_people.c.name == name)


def labels_of(task_id: int, name: str) -> ColumnElement[bool]:
    """Whether a label is of the one of this name in a task."""
    return annotation_labels.c.person_id.in_(select(annotation_people.c.id).where(named(task_id, name)))


def _item_row(task: int, position: int, item: NewItem) -> dict[str, Any]:
    return to_row(
        annotation_items,
        item,
        task_id=task,
        position=position,
        question_id=item.question,
        a_id=item.a,
        b_id=item.b,
    )


def _tasks() -> Select[*tuple[Any, ...]]:
    of_task = annotation_items.c.task_id == annotation_tasks.c.id
    items = select(func.count()).where(of_task, annotation_items.c.gold.is_(None))
    gold = select(func.count()).where(of_task, annotation_items.c.gold.is_not(None))
    given = (
        select(func.count())
        .select_from(
            annotation_labels.join(annotation_items, annotation_items.c.id == annotation_labels.c.item_id)
        )
        .where(
            of_task,
            annotation_items.c.gold.is_(None),
            annotation_labels.c.value.is_not(None),
            ~annotation_labels.c.is_excluded,
        )
    )
    return (
        select(
            annotation_tasks,
            question_sets.c.name.label("set_name"),
            func.coalesce(rounds.c.name, "").label("round_name"),
            items.correlate(annotation_tasks).scalar_subquery().label("items"),
            gold.correlate(annotation_tasks).scalar_subquery().label("gold"),
            given.correlate(annotation_tasks).scalar_subquery().label("done"),
        )
        .join(question_sets, question_sets.c.id == annotation_tasks.c.set_id)
        .outerjoin(rounds, rounds.c.id == annotation_tasks.c.round_id)
    )


def _task(row: AnyRow) -> AnnotationTask:
    return to_record(
        AnnotationTask,
        row,
        terms=to_record(TaskTerms, row),
        closed=row.closed_at is not None,
        wanted=row.items * row.overlap,
    )
