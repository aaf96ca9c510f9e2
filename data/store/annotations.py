"""Annotation in the store: tasks, the next pair of somebody, labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Join, Select, and_, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from data.errors import ConflictError, NotFoundError
from data.records import AnnotationTask, BlindPair, NewPair, PairLabel
from data.store.base import AnyRow, StorePart, to_record
from data.store.engine import new_id
from data.store.question_sets import restore
from data.tables import (
    accounts,
    annotation_pairs,
    annotation_tasks,
    answers,
    given_labels,
    question_sets,
    questions,
    submissions,
)
from data.tables.columns import now


class AnnotationStore(StorePart):
    """Keeps what people label."""

    def create(self, name: str, *, set_id: int, overlap: int, seed: int, pairs: Sequence[NewPair]) -> None:
        """Store a task with its pairs and assignments.

        Raises:
            ConflictError: A task has this name.
        """
        head = {"name": name, "set_id": set_id, "overlap": overlap, "seed": seed}
        try:
            with self._database.begin() as connection:
                task = new_id(connection.execute(insert(annotation_tasks).values(head)))
                for position, pair in enumerate(pairs):
                    row = {"question_id": pair.question, "a_id": pair.a, "b_id": pair.b}
                    statement = insert(annotation_pairs).values(task_id=task, position=position, **row)
                    number = new_id(connection.execute(statement))
                    connection.execute(
                        insert(given_labels),
                        [
                            {"pair_id": number, "account_id": account, "b_first": b_first}
                            for account, b_first in pair.annotators
                        ],
                    )
        except IntegrityError as error:
            raise ConflictError(
                f"There is a task {name!r} already.", advice="Choose another name."
            ) from error

    def tasks(self, *, account: str | None = None) -> tuple[AnnotationTask, ...]:
        """The tasks, newest first; of an account those in which it labels."""
        query = _tasks()
        if account is not None:
            mine = (
                select(annotation_pairs.c.task_id)
                .join(given_labels, given_labels.c.pair_id == annotation_pairs.c.id)
                .join(accounts, accounts.c.id == given_labels.c.account_id)
                .where(accounts.c.name == account)
            )
            query = query.where(annotation_tasks.c.id.in_(mine))
        return tuple(map(_task, self._all(query.order_by(annotation_tasks.c.id.desc()))))

    def task(self, name: str) -> AnnotationTask:
        """One task.

        Raises:
            NotFoundError: None has this name.
        """
        row = self._first(_tasks().where(annotation_tasks.c.name == name))
        if row is None:
            raise NotFoundError(f"There is no annotation task {name!r}.", advice="Choose one of the list.")
        return _task(row)

    def next_of(self, task_id: int, account: str) -> BlindPair | None:
        """The next pair with both texts that somebody has not labelled; None where there is none."""
        answer_a, answer_b = answers.alias("answer_a"), answers.alias("answer_b")
        query = (
            select(
                given_labels.c.id,
                given_labels.c.b_first,
                questions.c.content,
                answer_a.c.text.label("text_a"),
                answer_b.c.text.label("text_b"),
            )
            .select_from(_of_accounts())
            .join(questions, questions.c.id == annotation_pairs.c.question_id)
            .join(answer_a, _answers(answer_a, annotation_pairs.c.a_id))
            .join(answer_b, _answers(answer_b, annotation_pairs.c.b_id))
            .where(
                annotation_pairs.c.task_id == task_id,
                accounts.c.name == account,
                given_labels.c.grade.is_(None),
            )
            .order_by(annotation_pairs.c.position)
            .limit(1)
        )
        row = self._first(query)
        if row is None:
            return None
        texts = (row.text_b, row.text_a) if row.b_first else (row.text_a, row.text_b)
        return BlindPair(id=row.id, question=restore(row.content), first=texts[0], second=texts[1])

    def label(self, number: int, account: str, *, shown_grade: int, comment: str) -> None:
        """Keep somebody's label; `shown_grade` is positive where the answer shown second is better.

        Raises:
            NotFoundError: The pair is not theirs to label.
            ConflictError: The task is closed.
        """
        with self._database.begin() as connection:
            row = connection.execute(
                select(given_labels.c.b_first, annotation_tasks.c.closed_at)
                .select_from(_of_accounts())
                .join(annotation_tasks, annotation_tasks.c.id == annotation_pairs.c.task_id)
                .where(given_labels.c.id == number, accounts.c.name == account)
            ).first()
            if row is None:
                raise NotFoundError("This pair is not yours to label.", advice="Go on with the next one.")
            if row.closed_at is not None:
                raise ConflictError("The task is closed.", advice="Ask the organisers.")
            grade = -shown_grade if row.b_first else shown_grade
            connection.execute(
                update(given_labels)
                .where(given_labels.c.id == number)
                .values(grade=grade, comment=comment, labelled_at=now())
            )

    def labels(self, task_id: int) -> tuple[PairLabel, ...]:
        """Every assignment of a task in the order of its pairs, with what was said where something was."""
        side_a, side_b = submissions.alias("side_a"), submissions.alias("side_b")
        answer_a, answer_b = answers.alias("answer_a"), answers.alias("answer_b")
        query = (
            select(
                annotation_pairs.c.position,
                accounts.c.name.label("account"),
                given_labels.c.grade,
                given_labels.c.comment,
                questions.c.content,
                side_a.c.system.label("system_a"),
                side_b.c.system.label("system_b"),
                answer_a.c.text.label("answer_a"),
                answer_b.c.text.label("answer_b"),
            )
            .select_from(_of_accounts())
            .join(questions, questions.c.id == annotation_pairs.c.question_id)
            .join(side_a, side_a.c.id == annotation_pairs.c.a_id)
            .join(side_b, side_b.c.id == annotation_pairs.c.b_id)
            .outerjoin(answer_a, _answers(answer_a, annotation_pairs.c.a_id))
            .outerjoin(answer_b, _answers(answer_b, annotation_pairs.c.b_id))
            .where(annotation_pairs.c.task_id == task_id)
            .order_by(annotation_pairs.c.position, given_labels.c.id)
        )
        return tuple(to_record(PairLabel, row, question=restore(row.content)) for row in self._all(query))

    def close(self, name: str) -> None:
        """Take no more labels of a task."""
        self._change(
            update(annotation_tasks)
            .where(annotation_tasks.c.name == name, annotation_tasks.c.closed_at.is_(None))
            .values(closed_at=now())
        )


def _of_accounts() -> Join:
    return given_labels.join(annotation_pairs, annotation_pairs.c.id == given_labels.c.pair_id).join(
        accounts, accounts.c.id == given_labels.c.account_id
    )


def _answers(alias: FromClause, side: ColumnElement[str]) -> ColumnElement[bool]:
    return and_(alias.c.submission_id == side, alias.c.question_id == annotation_pairs.c.question_id)


def _tasks() -> Select[*tuple[Any, ...]]:
    pairs = (
        select(func.count())
        .where(annotation_pairs.c.task_id == annotation_tasks.c.id)
        .correlate(annotation_tasks)
        .scalar_subquery()
    )
    given = (
        select(func.count())
        .select_from(given_labels.join(annotation_pairs, annotation_pairs.c.id == given_labels.c.pair_id))
        .where(annotation_pairs.c.task_id == annotation_tasks.c.id)
        .correlate(annotation_tasks)
    )
    return select(
        annotation_tasks,
        question_sets.c.name.label("set_name"),
        pairs.label("pairs"),
        given.scalar_subquery().label("wanted"),
        given.where(given_labels.c.grade.is_not(None)).scalar_subquery().label("done"),
    ).join(question_sets, question_sets.c.id == annotation_tasks.c.set_id)


def _task(row: AnyRow) -> AnnotationTask:
    return to_record(AnnotationTask, row, closed=row.closed_at is not None)
