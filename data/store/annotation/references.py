"""References in the store: drafts, texts with their state, batches and what auditors found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, func, insert, select, update

from data.errors import ConflictError, NotFoundError
from data.records.references import AuditBatch, AuditCheck, Draft, Failure, ReferenceState, WrittenReference
from data.store.base import AnyRow, StorePart, to_record
from data.store.engine import new_id
from data.tables.annotation import (
    annotation_items,
    annotation_labels,
    annotation_people,
    annotation_tasks,
    reference_batches,
    reference_checks,
    reference_drafts,
)
from data.tables.columns import now
from data.tables.questions import questions

ROUNDING = 1e-9


class ReferenceStore(StorePart):
    """Keeps what is written for tasks of references; handing out and keeping texts is the queue's."""

    def put_drafts(self, drafts: Mapping[int, Draft]) -> None:
        """Store drafts by the numbers of their items, in place of earlier ones."""
        if not drafts:
            return
        rows = [
            {"item_id": item, "text": draft.text, "model": draft.model, "prompt_hash": draft.prompt_hash}
            for item, draft in drafts.items()
        ]
        with self._database.together() as connection:
            connection.execute(delete(reference_drafts).where(reference_drafts.c.item_id.in_(list(drafts))))
            connection.execute(insert(reference_drafts), rows)

    def drafts(self, task_id: int) -> Mapping[int, Draft]:
        """The drafts of a task by item."""
        query = (
            select(reference_drafts)
            .join(annotation_items, annotation_items.c.id == reference_drafts.c.item_id)
            .where(annotation_items.c.task_id == task_id)
        )
        return {row.item_id: to_record(Draft, row) for row in self._all(query)}

    def written(self, task_id: int) -> tuple[WrittenReference, ...]:
        """The texts of a task, by item and in the order in which writers got them."""
        return tuple(map(_written, self._all(_texts(task_id))))

    def batches(self, task_id: int) -> tuple[AuditBatch, ...]:
        """The batches of a task, oldest first."""
        check = reference_checks.c
        drawn = check.is_drawn
        audited = and_(drawn, check.is_valid.is_not(None))
        valid = and_(drawn, check.is_valid.is_(True))
        query = (
            select(
                reference_batches,
                func.count(check.id).label("texts"),
                func.count(check.id).filter(drawn).label("drawn"),
                func.count(check.id).filter(audited).label("audited"),
                func.count(check.id).filter(valid).label("valid"),
                reference_batches.c.is_accepted.label("accepted"),
            )
            .outerjoin(reference_checks, check.batch_id == reference_batches.c.id)
            .where(reference_batches.c.task_id == task_id)
            .group_by(reference_batches.c.id)
            .order_by(reference_batches.c.number)
        )
        return tuple(to_record(AuditBatch, row) for row in self._all(query))

    def checks(self, batch_id: int) -> tuple[AuditCheck, ...]:
        """The sample of a batch, in the order in which its texts were written."""
        query = (
            select(reference_checks)
            .where(reference_checks.c.batch_id == batch_id, reference_checks.c.is_drawn)
            .order_by(reference_checks.c.id)
        )
        return tuple(_check(row) for row in self._all(query))

    def draw(
        self, task_id: int, seed: int, choose: Callable[[Sequence[int]], Collection[int]]
    ) -> AuditBatch | None:
        """Make a batch of every text that is in none, and draw its sample; None where there is no such text.

        Args:
            task_id: The task.
            seed: Kept with the batch.
            choose: Of numbers of labels, those to audit.

        Raises:
            ConflictError: Another batch is being audited.
        """
        with self._database.together() as connection:
            _lock(connection, task_id)
            last = connection.execute(
                select(reference_batches.c.number, reference_batches.c.is_accepted)
                .where(reference_batches.c.task_id == task_id)
                .order_by(reference_batches.c.number.desc())
            ).first()
            if last is not None and last.is_accepted is None:
                raise ConflictError(
                    f"Batch {last.number} is being audited.", advice="Decide its sample before the next one."
                )
            texts = map(_written, connection.execute(_texts(task_id)))
            labels = [one.label for one in texts if one.state is ReferenceState.WRITTEN and not one.aside]
            if not labels:
                return None
            drawn = set(choose(labels))
            head = {"task_id": task_id, "number": 1 + (last.number if last else 0), "seed": seed}
            batch = new_id(connection.execute(insert(reference_batches).values(head)))
            rows = [{"batch_id": batch, "label_id": label, "is_drawn": label in drawn} for label in labels]
            connection.execute(insert(reference_checks), rows)
        return next(one for one in self.batches(task_id) if one.id == batch)

    def decide(
        self,
        task_id: int,
        check: int,
        failures: Sequence[Failure],
        *,
        remark: str,
        auditor: str,
        least: float,
    ) -> AuditBatch:
        """Keep what an auditor found; the last text of a sample decides its batch.

        Args:
            task_id: The task.
            check: Number of the text in the sample.
            failures: What is wrong; empty where it is valid.
            remark: In words.
            auditor: Who looked.
            least: Share of the sample that must be valid.

        Raises:
            NotFoundError: It is not in a sample of this task.
            ConflictError: Its batch is decided.
        """
        with self._database.together() as connection:
            _lock(connection, task_id)
            row = connection.execute(
                select(reference_checks.c.batch_id, reference_batches.c.is_accepted)
                .join(reference_batches, reference_batches.c.id == reference_checks.c.batch_id)
                .where(
                    reference_checks.c.id == check,
                    reference_checks.c.is_drawn,
                    reference_batches.c.task_id == task_id,
                )
            ).first()
            if row is None:
                raise NotFoundError(
                    f"No text of a sample has the number {check}.", advice="Ask for the next one."
                )
            if row.is_accepted is not None:
                raise ConflictError("The batch of this text is decided.", advice="Ask for the next one.")
            connection.execute(
                update(reference_checks)
                .where(reference_checks.c.id == check)
                .values(
                    failures=[failure.value for failure in failures],
                    is_valid=not failures,
                    remark=remark,
                    auditor=auditor,
                    audited_at=now(),
                )
            )
            batch = next(one for one in self.batches(task_id) if one.id == row.batch_id)
            if batch.audited == batch.drawn:
                accepted = batch.valid >= least * batch.drawn - ROUNDING
                connection.execute(
                    update(reference_batches)
                    .where(reference_batches.c.id == batch.id)
                    .values(is_accepted=accepted, decided_at=now())
                )
        return next(one for one in self.batches(task_id) if one.id == batch.id)


def require_rework(connection: Connection, label: int) -> None:
    """Note that a reference is written again, or refuse it while its batch is audited or was accepted.

    Raises:
        ConflictError: It is not to be changed.
    """
    latest = (
        select(reference_checks.c.id, reference_batches.c.is_accepted)
        .join(reference_batches, reference_batches.c.id == reference_checks.c.batch_id)
        .where(reference_checks.c.label_id == label)
        .order_by(reference_checks.c.id.desc())
    )
    row = connection.execute(latest).first()
    if row is None:
        return
    if row.is_accepted is None:
        raise ConflictError("This reference is being audited.", advice="Wait until its batch is decided.")
    if row.is_accepted:
        raise ConflictError("This reference was accepted.", advice="Ask the organisers.")
    connection.execute(
        update(reference_checks).where(reference_checks.c.id == row.id).values(is_reworked=True)
    )


def _lock(connection: Connection, task_id: int) -> None:
    connection.execute(
        select(annotation_tasks.c.id).where(annotation_tasks.c.id == task_id).with_for_update()
    )


def _texts(task_id: int) -> Select[*tuple[Any, ...]]:
    latest = (
        select(reference_checks.c.label_id, func.max(reference_checks.c.id).label("check_id"))
        .group_by(reference_checks.c.label_id)
        .subquery()
    )
    return (
        select(
            annotation_labels.c.id.label("label"),
            annotation_labels.c.item_id.label("item"),
            questions.c.key.label("question_id"),
            questions.c.domain,
            annotation_people.c.name.label("writer"),
            annotation_labels.c.text,
            annotation_labels.c.seconds,
            annotation_labels.c.edits,
            annotation_labels.c.is_aside.label("aside"),
            reference_checks.c.failures,
            reference_checks.c.remark,
            reference_checks.c.is_reworked,
            reference_batches.c.id.label("batch"),
            reference_batches.c.is_accepted,
        )
        .join(annotation_items, annotation_items.c.id == annotation_labels.c.item_id)
        .join(questions, questions.c.id == annotation_items.c.question_id)
        .join(annotation_people, annotation_people.c.id == annotation_labels.c.person_id)
        .outerjoin(latest, latest.c.label_id == annotation_labels.c.id)
        .outerjoin(reference_checks, reference_checks.c.id == latest.c.check_id)
        .outerjoin(reference_batches, reference_batches.c.id == reference_checks.c.batch_id)
        .where(annotation_items.c.task_id == task_id, annotation_labels.c.text.is_not(None))
        .order_by(annotation_items.c.position, annotation_labels.c.id)
    )


def _written(row: AnyRow) -> WrittenReference:
    return to_record(
        WrittenReference, row, state=_state(row), failures=_failures(row.failures), remark=row.remark or ""
    )


def _state(row: AnyRow) -> ReferenceState:
    if row.batch is None or row.is_reworked:
        return ReferenceState.WRITTEN
    if row.is_accepted is None:
        return ReferenceState.IN_AUDIT
    return ReferenceState.ACCEPTED if row.is_accepted else ReferenceState.RETURNED


def _check(row: AnyRow) -> AuditCheck:
    return to_record(
        AuditCheck, row, batch=row.batch_id, label=row.label_id, failures=_failures(row.failures)
    )


def _failures(values: list[str] | None) -> tuple[Failure, ...] | None:
    return None if values is None else tuple(map(Failure, values))
