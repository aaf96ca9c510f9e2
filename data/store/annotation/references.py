"""References in the store: drafts, texts with their state, batches and what auditors found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from sqlalchemy import Connection, Select, case, delete, func, insert, select, update

from data.errors import ConflictError, ForbiddenError, NotFoundError
from data.records.references import AuditBatch, Draft, Failure, ReferenceState, WrittenReference
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

    def put_draft(self, item: int, draft: Draft) -> None:
        """Store the draft of an item in place of an earlier one."""
        row = {"text": draft.text, "model": draft.model, "prompt_hash": draft.prompt_hash}
        with self._database.together() as connection:
            connection.execute(delete(reference_drafts).where(reference_drafts.c.item_id == item))
            connection.execute(insert(reference_drafts).values(item_id=item, **row))

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
        query = (
            select(
                reference_batches,
                func.count(check.id).label("texts"),
                func.count(check.id).filter(check.is_drawn).label("drawn"),
                func.count(check.is_valid).label("audited"),
                func.count(check.id).filter(check.is_valid.is_(True)).label("valid"),
                reference_batches.c.is_accepted.label("accepted"),
            )
            .outerjoin(reference_checks, check.batch_id == reference_batches.c.id)
            .where(reference_batches.c.task_id == task_id)
            .group_by(reference_batches.c.id)
            .order_by(reference_batches.c.number)
        )
        return tuple(to_record(AuditBatch, row) for row in self._all(query))

    def findings(self, task_id: int) -> tuple[tuple[Failure, ...], ...]:
        """What was found of each decided text of all samples; a text counts once for each sample."""
        query = (
            select(reference_checks.c.failures)
            .join(reference_batches, reference_batches.c.id == reference_checks.c.batch_id)
            .where(reference_batches.c.task_id == task_id, reference_checks.c.is_valid.is_not(None))
        )
        return tuple(tuple(map(Failure, failures)) for failures in self._values(query))

    def draw(self, task_id: int, *, share: float, seed: int) -> AuditBatch | None:
        """Make a batch of every text that is in none, and draw its sample; None where there is no such text.

        Args:
            task_id: The task.
            share: Of the batch that is in the sample, at least one text.
            seed: Of the sample.

        Raises:
            ConflictError: Another batch is being audited.
        """
        with self._database.together() as connection:
            _lock(connection, task_id)
            batches = self.batches(task_id)
            if batches and batches[-1].accepted is None:
                raise ConflictError(
                    f"Batch {batches[-1].number} is being audited.",
                    advice="Decide its sample before the next one.",
                )
            texts = map(_written, connection.execute(_texts(task_id)))
            labels = [one.label for one in texts if one.state is ReferenceState.WRITTEN and not one.excluded]
            if not labels:
                return None
            random = Random(f"{seed}:{task_id}:{labels[0]}")  # noqa: S311 - a sample, no secret
            drawn = set(random.sample(labels, math.ceil(share * len(labels))))
            head = {"task_id": task_id, "number": 1 + len(batches), "seed": seed}
            batch = new_id(connection.execute(insert(reference_batches).values(head)))
            rows = [{"batch_id": batch, "label_id": label, "is_drawn": label in drawn} for label in labels]
            connection.execute(insert(reference_checks), rows)
        return self.batches(task_id)[-1]

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
        """Keep what an auditor found, and decide the batch with the last text of its sample.

        Args:
            task_id: The task.
            check: Number of the text in the sample.
            failures: What is wrong; empty where it is valid.
            remark: In words.
            auditor: Who looked.
            least: Share of the sample that must be valid.

        Raises:
            NotFoundError: It is not in a sample of this task.
            ForbiddenError: It is the auditor's own text.
            ConflictError: Its batch is decided.
        """
        with self._database.together() as connection:
            _lock(connection, task_id)
            text = next((one for one in self.written(task_id) if one.check == check), None)
            if text is None:
                raise NotFoundError(
                    f"No text of a sample has the number {check}.", advice="Ask for the next one."
                )
            if text.writer == auditor:
                raise ForbiddenError(
                    "Nobody audits their own text.", advice="Let another organiser decide it."
                )
            if text.state is not ReferenceState.IN_AUDIT:
                raise ConflictError("The batch of this text is decided.", advice="Ask for the next one.")
            found = {"failures": [failure.value for failure in failures], "is_valid": not failures}
            connection.execute(
                update(reference_checks)
                .where(reference_checks.c.id == check)
                .values(**found, remark=remark, auditor=auditor, audited_at=now())
            )
            # No other batch is open while one is audited.
            batch = self.batches(task_id)[-1]
            if batch.audited == batch.drawn:
                accepted = batch.valid >= least * batch.drawn - ROUNDING
                connection.execute(
                    update(reference_batches)
                    .where(reference_batches.c.task_id == task_id, reference_batches.c.number == batch.number)
                    .values(is_accepted=accepted, decided_at=now())
                )
        return self.batches(task_id)[-1]


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
            annotation_people.c.name.label("writer"),
            annotation_labels.c.text,
            annotation_labels.c.is_excluded.label("excluded"),
            case((reference_checks.c.is_drawn, reference_checks.c.id)).label("check"),
            reference_checks.c.failures,
            func.coalesce(reference_checks.c.remark, "").label("remark"),
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
    failures = None if row.failures is None else tuple(map(Failure, row.failures))
    return to_record(WrittenReference, row, state=_state(row), failures=failures)


def _state(row: AnyRow) -> ReferenceState:
    if row.batch is None or row.is_reworked:
        return ReferenceState.WRITTEN
    if row.is_accepted is None:
        return ReferenceState.IN_AUDIT
    return ReferenceState.ACCEPTED if row.is_accepted else ReferenceState.RETURNED
