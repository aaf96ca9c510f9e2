"""The queue of a task: items are handed out on demand, held for a while, and labelled.

Whoever asks gets an item that fewer people than the task wants have labelled or hold. Asking and labelling
lock the task, so that no item is ever labelled by more people than it wants, whatever comes at once. A hold
that has run out counts for nothing: others may get the item, and whoever had it may still label it as long
as there is room.
"""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, insert, or_, select, update

from data.errors import ConflictError, ForbiddenError, NotFoundError
from data.records import AnnotationTask, OwnProgress
from data.store.annotation.references import require_rework
from data.store.annotation.tasks import labels_of, named
from data.store.base import AnyRow, StorePart
from data.store.engine import db_now, new_id
from data.tables.annotation import annotation_items, annotation_labels, annotation_people, annotation_tasks
from data.tables.columns import now

TOO_LATE = "Others have labelled this item in the meantime: it was held for you for a while, and then not."


class LabelQueueStore(StorePart):
    """Hands items out, and keeps what people say of them."""

    def take(self, task: AnnotationTask, person: str) -> int | None:
        """Hold the next item for somebody; None where there is none for them.

        Returns:
            The number of their label.

        Raises:
            ConflictError: The task is closed.
            ForbiddenError: Their labels were excluded.
        """
        with self._database.together() as connection:
            _lock(connection, task.id)
            who = _person(connection, task.id, person)
            moment = db_now(connection)
            # In two steps, so that the search for a new item ends at the first one.
            own, new = _candidates(task, who, moment, own=True), _candidates(task, who, moment, own=False)
            row = connection.execute(own.limit(1)).first() or connection.execute(new.limit(1)).first()
            if row is None:
                return None
            until = moment + 60.0 * task.terms.hold_minutes
            if row.label_id is not None:
                # Whoever asks twice, after a reload or on another device, goes on with what they have.
                _set(connection, row.label_id, held_until=until, shown_at=moment)
                return int(row.label_id)
            values = {
                "item_id": row.id,
                "person_id": who,
                "b_first": row.b_id is not None and _b_first(task.terms.seed, row.id, person),
                "held_until": until,
                "shown_at": moment,
            }
            return new_id(connection.execute(insert(annotation_labels).values(values)))

    def show(self, task: AnnotationTask, person: str, label: int) -> None:
        """Note that somebody looks at a label of theirs again, from when the time is counted."""
        with self._database.begin() as connection:
            moment = db_now(connection)
            changed = connection.execute(
                update(annotation_labels)
                .where(annotation_labels.c.id == label, labels_of(task.id, person))
                .values(shown_at=moment)
            )
            if not changed.rowcount:
                raise _not_theirs()

    def label(
        self,
        label: int,
        person: str,
        *,
        shown_value: int,
        comment: str = "",
        text: str | None = None,
    ) -> None:
        """Keep or change what somebody says; `shown_value` of a pair is in the order shown.

        `text` is a reference.

        Raises:
            NotFoundError: The item was not given to them.
            ConflictError: The task is closed, others took the item, or the reference is audited or accepted.
            ForbiddenError: Their labels were excluded.
        """
        with self._database.together() as connection:
            row = _editable(connection, label, person)
            if text is not None:
                require_rework(connection, label)
            value = -shown_value if row.b_first else shown_value
            _require_room(connection, row)
            self._keep(
                connection,
                row,
                value=value,
                comment=comment,
                text=text,
                skip_reason=None,
            )

    def skip(self, label: int, person: str, reason: str) -> None:
        """Keep that somebody leaves an item to others, and why; errors as of `label`."""
        with self._database.together() as connection:
            row = _editable(connection, label, person)
            if row.text is not None:
                require_rework(connection, label)
            self._keep(connection, row, value=None, comment="", text=None, skip_reason=reason)

    def progress(self, task: AnnotationTask, person: str) -> OwnProgress:
        """How far somebody is."""
        with self._database.begin() as connection:
            who = connection.execute(select(annotation_people.c.id).where(named(task.id, person))).scalar()
            rows = connection.execute(
                select(
                    annotation_labels.c.id,
                    annotation_labels.c.value.is_not(None).label("labelled"),
                    annotation_labels.c.skip_reason.is_not(None).label("skipped"),
                )
                .where(annotation_labels.c.person_id == who)
                .order_by(annotation_labels.c.id)
            ).all()
            left = _candidates(task, who or 0, db_now(connection)).order_by(None).subquery()
            count = connection.execute(select(func.count()).select_from(left)).scalar_one()
        return OwnProgress(
            labelled=sum(row.labelled for row in rows),
            skipped=sum(row.skipped for row in rows),
            left=0 if task.closed else int(count),
            labels=tuple(row.id for row in rows),
        )

    def _keep(self, connection: Connection, row: AnyRow, **values: Any) -> None:  # noqa: ANN401 - any column
        moment = db_now(connection)
        spent = annotation_labels.c.seconds + moment - annotation_labels.c.shown_at
        edits = row.edits + (row.value is not None or row.skip_reason is not None)
        _set(
            connection,
            row.id,
            **values,
            seconds=spent,
            shown_at=moment,
            held_until=0.0,
            edits=edits,
            labelled_at=now(),
        )
        count_full(connection, annotation_items.c.id == row.item_id)


def count_full(connection: Connection, which: ColumnElement[bool]) -> None:
    """Note of items whether as many people as their task wants have labelled them."""
    overlap = (
        select(annotation_tasks.c.overlap)
        .where(annotation_tasks.c.id == annotation_items.c.task_id)
        .scalar_subquery()
    )
    given = (
        select(func.count())
        .where(
            annotation_labels.c.item_id == annotation_items.c.id,
            annotation_labels.c.value.is_not(None),
            ~annotation_labels.c.is_excluded,
        )
        .correlate(annotation_items)
        .scalar_subquery()
    )
    full = and_(annotation_items.c.gold.is_(None), given >= overlap)
    connection.execute(update(annotation_items).where(which).values(is_full=full))


def _lock(connection: Connection, task_id: int) -> None:
    closed = connection.execute(
        select(annotation_tasks.c.closed_at).where(annotation_tasks.c.id == task_id).with_for_update()
    ).scalar()
    if closed is not None:
        raise ConflictError("The task is closed.", advice="Ask the organisers.")


def _person(connection: Connection, task_id: int, name: str) -> int:
    row = connection.execute(
        select(annotation_people.c.id, annotation_people.c.excluded_reason).where(named(task_id, name))
    ).first()
    if row is None:
        raise NotFoundError(f"{name} does not label in this task.", advice="Ask the organisers.")
    if row.excluded_reason is not None:
        raise ForbiddenError(
            f"The labels of {name} were excluded: {row.excluded_reason}", advice="Ask the organisers."
        )
    return int(row.id)


def _candidates(
    task: AnnotationTask, person: int, moment: ColumnElement[float], *, own: bool | None = None
) -> Select[*tuple[Any, ...]]:
    """What somebody may get next: of what they were given before, of the rest, or (None) of both."""
    mine = annotation_labels.alias("mine")
    others = _others(annotation_items.c.id, person, moment)
    query = (
        select(annotation_items.c.id, annotation_items.c.b_id, mine.c.id.label("label_id"))
        .outerjoin(mine, and_(mine.c.item_id == annotation_items.c.id, mine.c.person_id == person))
        .where(
            annotation_items.c.task_id == task.id,
            ~annotation_items.c.is_full,
            mine.c.value.is_(None),
            mine.c.skip_reason.is_(None),
            or_(annotation_items.c.gold.is_not(None), others < task.terms.overlap),
        )
        .order_by(annotation_items.c.position)
    )
    if own is None:
        return query
    return query.where(mine.c.id.is_not(None) if own else mine.c.id.is_(None))


def _others(item: ColumnElement[int], person: int, moment: ColumnElement[float]) -> Any:  # noqa: ANN401
    """How many others labelled or hold an item; a scalar subquery, which has no narrower type."""
    other = annotation_labels.alias("other")
    return (
        select(func.count())
        .where(
            other.c.item_id == item,
            other.c.person_id != person,
            ~other.c.is_excluded,
            or_(
                other.c.value.is_not(None),
                and_(other.c.skip_reason.is_(None), other.c.held_until > moment),
            ),
        )
        .correlate(annotation_items)
        .scalar_subquery()
    )


def _editable(connection: Connection, label: int, person: str) -> AnyRow:
    """A label of somebody, its task locked."""
    of_label = (
        select(annotation_labels, annotation_items.c.gold, annotation_items.c.task_id)
        .join(annotation_items, annotation_items.c.id == annotation_labels.c.item_id)
        .join(annotation_people, annotation_people.c.id == annotation_labels.c.person_id)
        .where(annotation_labels.c.id == label, annotation_people.c.name == person)
    )
    row = connection.execute(of_label).first()
    if row is None:
        raise _not_theirs()
    _lock(connection, row.task_id)
    _person(connection, row.task_id, person)
    # As it is now that nobody else can change it.
    return connection.execute(of_label).one()


def _require_room(connection: Connection, row: AnyRow) -> None:
    """Refuse a new label of an item that others have filled meanwhile.

    Raises:
        ConflictError: They have.
    """
    if row.value is not None or row.gold is not None:
        return
    overlap = select(annotation_tasks.c.overlap).where(annotation_tasks.c.id == row.task_id)
    others = select(_others(annotation_items.c.id, row.person_id, db_now(connection))).where(
        annotation_items.c.id == row.item_id
    )
    if connection.execute(others).scalar_one() >= connection.execute(overlap).scalar_one():
        raise ConflictError(TOO_LATE, advice="Go on with the next one.")


def _set(connection: Connection, label: int, **values: Any) -> None:  # noqa: ANN401 - any column
    connection.execute(update(annotation_labels).where(annotation_labels.c.id == label).values(**values))


def _not_theirs() -> NotFoundError:
    return NotFoundError("This item was not given to you.", advice="Go on with the next one.")


def _b_first(seed: int, item: int, person: str) -> bool:
    return hashlib.sha256(f"{seed}\x1f{item}\x1f{person}".encode()).digest()[0] % 2 == 1
