"""What organisers do with labels: watch their quality, adjudicate what people dispute, exclude labels."""

from __future__ import annotations

from dataclasses import dataclass

from arena.services.accounts.auth import Caller, require
from arena.services.annotation.quality import TaskQuality, quality_of
from arena.services.annotation.queue import redacted_item, require_words
from arena.services.annotation.tasks import require_pairs, subject_of
from data.errors import InputError, NotFoundError
from data.records import Action, BlindItem, GivenLabel, TaskPerson, TokenScope
from data.store import Store
from leaderboard.agreement import Resampling


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedItem:
    """An item without a majority, its answers in the order a, b, with the labels of it."""

    item: BlindItem
    labels: tuple[GivenLabel, ...]


class CurationService:
    """Use cases of organisers."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def quality(self, name: str, *, resampling: Resampling | None = None, caller: Caller) -> TaskQuality:
        """How far a task is, how its people agree, and what its items come to.

        Raises:
            NotFoundError: There is no such task.
        """
        require(caller, TokenScope.ORGANISE)
        task = self._store.annotations.task(name)
        require_pairs(task)
        return quality_of(
            task.terms.overlap,
            self._store.annotations.items(task.id),
            self._store.labels.given(task.id),
            self._store.annotations.people(task.id),
            resampling,
        )

    def people(self, name: str, *, caller: Caller) -> tuple[TaskPerson, ...]:
        """Who labels in a task, in the order in which they came.

        Raises:
            NotFoundError: There is no such task.
        """
        require(caller, TokenScope.ORGANISE)
        return self._store.annotations.people(self._store.annotations.task(name).id)

    def disputed(self, name: str, *, caller: Caller) -> tuple[DisputedItem, ...]:
        """What waits for an adjudicator, in the task's order; systems are not named.

        Raises:
            NotFoundError: There is no such task.
        """
        quality = self.quality(name, resampling=Resampling(resamples=0), caller=caller)
        task = self._store.annotations.task(name)
        labels = self._store.labels.given(task.id)
        return tuple(
            DisputedItem(
                item=redacted_item(task, self._store.labels.item(task.id, result.item.id)),
                labels=tuple(
                    label for label in labels if label.item == result.item.id and not label.excluded
                ),
            )
            for result in quality.disputed
        )

    def adjudicate(self, name: str, item: int, value: int | None, *, caller: Caller) -> None:
        """Decide an item; None takes the decision back.

        Args:
            name: The task.
            item: Number of the item.
            value: As labels have it, in the order a, b: positive where b is better.
            caller: Who decides.

        Raises:
            NotFoundError: There is no such task or item.
            InputError: The value is not of the scale, or people write in the task.
        """
        require(caller, TokenScope.ORGANISE)
        task = self._store.annotations.task(name)
        require_pairs(task)
        if item not in {other.id for other in self._store.annotations.items(task.id)}:
            raise NotFoundError(f"The task has no item {item}.", advice="Ask for what is disputed.")
        most = task.terms.scale.largest
        if value is not None and abs(value) > most:
            raise InputError(
                f"{value} decides nothing.", advice=f"Give a whole number from {-most} to {most}."
            )
        with self._store.audit.audited() as notes:
            self._store.annotations.adjudicate(item, value, by=caller.name)
            notes.take(caller.note(Action.ANNOTATION_ADJUDICATED, subject_of(name), item=item, value=value))

    def exclude(self, name: str, person: str, reason: str, *, caller: Caller) -> int:
        """Let somebody's labels count no more; their items go back to the queue. Gives how many labels.

        Raises:
            NotFoundError: There is no such task, or nobody of this name labels in it.
            InputError: There is no reason.
        """
        require(caller, TokenScope.ORGANISE)
        require_words(reason, "reason")
        if not reason.strip():
            raise InputError("Labels are excluded without a reason.", advice="Say why.")
        task = self._store.annotations.task(name)
        with self._store.audit.audited() as notes:
            count = self._store.labels.exclude(task.id, person, reason.strip())
            note = caller.note(
                Action.LABELS_EXCLUDED, subject_of(name), person=person, labels=count, reason=reason
            )
            notes.take(note)
        return count

    def include(self, name: str, person: str, *, caller: Caller) -> int:
        """Let somebody's labels count again; errors as of `exclude`."""
        require(caller, TokenScope.ORGANISE)
        task = self._store.annotations.task(name)
        with self._store.audit.audited() as notes:
            count = self._store.labels.exclude(task.id, person, None)
            notes.take(caller.note(Action.LABELS_INCLUDED, subject_of(name), person=person, labels=count))
        return count

    def delete(self, name: str, person: str, *, caller: Caller) -> int:
        """Delete everything that somebody said in a task, as they asked for; errors as of `exclude`."""
        require(caller, TokenScope.ORGANISE)
        task = self._store.annotations.task(name)
        with self._store.audit.audited() as notes:
            count = self._store.labels.delete_of(task.id, person)
            notes.take(caller.note(Action.LABELS_DELETED, subject_of(name), person=person, labels=count))
        return count
