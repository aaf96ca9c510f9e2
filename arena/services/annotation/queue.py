"""The queue as annotators meet it: agree, get an item, label or skip it, go back, change it, leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena.services.accounts.auth import Caller, require
from arena.services.accounts.redaction import without_answers
from arena.services.annotation.requests import NUL, scale_of
from arena.services.annotation.tasks import subject_of
from data.errors import ForbiddenError, InputError, NotFoundError
from data.records import (
    Action,
    AnnotationTask,
    BlindItem,
    OwnProgress,
    Span,
    TaskKind,
    TaskPerson,
    TokenScope,
)
from data.store import Store

LONGEST_COMMENT = 2_000
MOST_SPANS = 500


class LabelService:
    """Use cases of annotators, each for the caller's own labels alone."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def person(self, name: str, *, caller: Caller) -> TaskPerson:
        """The caller as one of a task's people; whoever is new joins where the task is open to all.

        Raises:
            NotFoundError: There is no such task, or not for them.
        """
        return self._person(name, caller)[1]

    def consent(self, name: str, *, caller: Caller) -> None:
        """Keep that the caller agrees to the terms of a task; errors as of `person`."""
        task, person = self._person(name, caller)
        self._store.annotations.consent(task.id, person.name)

    def next(self, name: str, *, caller: Caller) -> BlindItem | None:
        """The next item for the caller, held for them from now on; None where there is none left.

        Raises:
            NotFoundError: There is no such task, or not for them.
            ForbiddenError: They have not agreed to its terms, or their labels were set aside.
        """
        task, account = self._agreed(name, caller)
        if task.closed:
            return None
        label = self._store.label_queue.take(task, account)
        return None if label is None else self._blind(task, account, label)

    def item(self, name: str, label: int, *, caller: Caller) -> BlindItem:
        """An item that the caller has or had, with what they said of it; its time counts on from now.

        Raises:
            NotFoundError: It was not given to them.
        """
        task, account = self._task(name, caller)
        self._store.label_queue.show(task, account, label)
        return self._blind(task, account, label)

    def agreed(self, name: str, *, caller: Caller) -> AnnotationTask:
        """The task, where the caller is one of its people and has agreed to its terms.

        Raises:
            NotFoundError: There is no such task, or not for them.
            ForbiddenError: They have not agreed.
        """
        return self._agreed(name, caller)[0]

    def progress(self, name: str, *, caller: Caller) -> OwnProgress:
        """How far the caller is.

        Raises:
            NotFoundError: There is no such task.
        """
        task, account = self._task(name, caller)
        return self._store.label_queue.progress(task, account)

    def label(
        self,
        name: str,
        label: int,
        shown_value: int,
        *,
        spans: Sequence[Span] = (),
        comment: str = "",
        caller: Caller,
    ) -> None:
        """Keep or change the caller's label.

        Args:
            name: The task.
            label: The number under which the item was given.
            shown_value: Of pairs negative where the first shown answer is better: −2…2, or −1…1 for sides.
                Of answerability 0 or 1, of passages 0–5, of spans anything.
            spans: What is marked, for tasks of spans.
            comment: In free text.
            caller: Whose label it is.

        Raises:
            NotFoundError: The item is not theirs.
            InputError: The value is not of the task's scale, or a span is not in the answer.
            ConflictError: The task is closed, or the item went to others in the meantime.
            ForbiddenError: Their labels were set aside, or they have not agreed to the terms.
        """
        task, account = self._agreed(name, caller)
        require_labels(task)
        require_words(comment, "comment")
        value = shown_value
        if task.terms.kind is TaskKind.SPANS:
            shown = self._store.labels.blind(task.id, account, label)
            require_spans(spans, len(shown.first))
            value = len(spans)
        else:
            low, high = scale_of(task.terms.kind, task.terms.scale)
            if spans or not low <= value <= high:
                raise InputError(
                    f"{value} is no label of this task.", advice=f"Give a whole number from {low} to {high}."
                )
        self._store.label_queue.label(label, account, shown_value=value, spans=spans, comment=comment.strip())

    def skip(self, name: str, label: int, reason: str, *, caller: Caller) -> None:
        """Leave an item to others; errors as of `label`.

        Raises:
            InputError: There is no reason.
        """
        _, account = self._agreed(name, caller)
        require_words(reason, "reason")
        if not reason.strip():
            raise InputError("The item is skipped without a reason.", advice="Say why in a few words.")
        self._store.label_queue.skip(label, account, reason.strip())

    def withdraw(self, name: str, *, caller: Caller) -> int:
        """Delete everything that the caller said in a task; gives how much that was.

        Raises:
            NotFoundError: There is no such task, or they do not label in it.
        """
        task, account = self._task(name, caller)
        with self._store.audit.audited() as notes:
            count = self._store.labels.delete_of(task.id, account)
            notes.take(caller.note(Action.LABELS_DELETED, subject_of(name), person=account, labels=count))
        return count

    def _task(self, name: str, caller: Caller) -> tuple[AnnotationTask, str]:
        require(caller, TokenScope.READ)
        if caller.account is None:
            raise ForbiddenError(
                "A team's token labels nothing.", advice="Sign in with a token of your account."
            )
        return self._store.annotations.task(name), caller.account

    def _person(self, name: str, caller: Caller) -> tuple[AnnotationTask, TaskPerson]:
        task, account = self._task(name, caller)
        person = self._store.annotations.person(task.id, account)
        if person is None:
            if not task.terms.open_to_all:
                raise NotFoundError(
                    f"There is no annotation task {name!r}.", advice="`arena labels task list` names them."
                )
            self._store.annotations.join(task.id, account, account=account)
            person = self._store.annotations.person(task.id, account)
        if person is None:
            raise NotFoundError(f"{account} does not label in {name}.", advice="Ask the organisers.")
        return task, person

    def _agreed(self, name: str, caller: Caller) -> tuple[AnnotationTask, str]:
        task, person = self._person(name, caller)
        if person.consented_at is None:
            raise ForbiddenError(
                f"{person.name} has not agreed to the terms of {name}.", advice="Read them, and agree first."
            )
        return task, person.name

    def _blind(self, task: AnnotationTask, account: str, label: int) -> BlindItem:
        return redacted_item(task, self._store.labels.blind(task.id, account, label))


def require_labels(task: AnnotationTask) -> None:
    """Refuse a task in which people write instead of labelling.

    Raises:
        InputError: They write its references.
    """
    if task.terms.kind is TaskKind.REFERENCES:
        message = f"In {task.name} people write references, and label nothing."
        raise InputError(message, advice="Use `arena references`, or the page for it.")


def redacted_item(task: AnnotationTask, item: BlindItem) -> BlindItem:
    """An item without what its task does not show."""
    if task.terms.shows_reference:
        return item
    return replace(item, question=without_answers(item.question))


def require_words(text: str, what: str) -> None:
    """Refuse a text that cannot be kept: too long, or with a character that no database stores.

    Raises:
        InputError: It is.
    """
    if len(text) > LONGEST_COMMENT:
        raise InputError(f"The {what} is too long.", advice=f"Use at most {LONGEST_COMMENT:,} characters.")
    if NUL in text:
        raise InputError(f"The {what} has a NUL character.", advice="Leave it out.")


def require_spans(spans: Sequence[Span], length: int) -> None:
    """Refuse spans that are not in an answer of this length, in characters.

    Raises:
        InputError: One is not, or there are too many.
    """
    if len(spans) > MOST_SPANS:
        raise InputError(f"{len(spans)} spans are too many.", advice=f"Mark {MOST_SPANS} at most.")
    for span in spans:
        require_words(span.text, "text of a span")
        if span.end is not None and span.end > length:
            raise InputError(
                f"A span ends at {span.end}, and the answer has {length} characters.",
                advice="Mark places in the answer.",
            )
