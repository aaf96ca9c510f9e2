"""The queue as annotators meet it: agree, get an item, label or skip it, go back, change it, leave.

A reference that somebody writes is a label like another: its text is held, kept and withdrawn alike.
"""

from __future__ import annotations

from dataclasses import replace

from arena.services.accounts.auth import Caller, require
from arena.services.accounts.redaction import without_answers
from arena.services.annotation.requests import NUL
from arena.services.annotation.tasks import subject_of
from arena.services.annotation.writing import holds, require_cited, without_reference
from data.errors import ForbiddenError, InputError, NotFoundError
from data.records import (
    Action,
    AnnotationTask,
    BlindItem,
    OwnProgress,
    TaskKind,
    TaskPerson,
    TokenScope,
)
from data.records.references import ReferenceState
from data.store import Store

LONGEST_COMMENT = 2_000


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

        Texts that an audit sent back come first.

        Raises:
            NotFoundError: There is no such task, or not for them.
            ForbiddenError: They have not agreed to its terms, or their labels were excluded.
        """
        task, account = self._agreed(name, caller)
        if task.closed:
            return None
        returned = self._returned(task, account)
        label = returned[0] if returned else self._store.label_queue.take(task, account)
        return None if label is None else self._blind(task, account, label)

    def item(self, name: str, label: int, *, caller: Caller) -> BlindItem:
        """An item that the caller has or had, with what they said of it; its time counts on from now.

        Raises:
            NotFoundError: It was not given to them.
        """
        task, account = self._task(name, caller)
        self._store.label_queue.show(task, account, label)
        return self._blind(task, account, label)

    def progress(self, name: str, *, caller: Caller) -> OwnProgress:
        """How far the caller is.

        Raises:
            NotFoundError: There is no such task, or they do not label in it.
        """
        task, account = self._task(name, caller)
        return self._store.label_queue.progress(task, account)

    def returned(self, name: str, *, caller: Caller) -> tuple[int, ...]:
        """The numbers of the caller's texts that an audit sent back; errors as of `progress`."""
        return self._returned(*self._task(name, caller))

    def label(
        self,
        name: str,
        label: int,
        shown_value: int | None = None,
        *,
        text: str = "",
        comment: str = "",
        caller: Caller,
    ) -> tuple[str, ...]:
        """Keep or change the caller's label.

        Args:
            name: The task.
            label: The number under which the item was given.
            shown_value: Negative where the first shown answer is better: −2…2, or −1…1 for sides. None with a
                text.
            text: A reference in place of a value; numbers of passages in brackets behind each sentence.
            comment: In free text.
            caller: Whose label it is.

        Returns:
            Short answers that the words of a reference do not hold, to look at again.

        Raises:
            NotFoundError: The item is not theirs.
            InputError: There is no value, or none of the task's scale, or a sentence of the text cites no
                passage.
            ConflictError: The task is closed, the item went to others in the meantime, or the text is
                audited or accepted.
            ForbiddenError: Their labels were excluded, or they have not agreed to the terms.
        """
        task, account = self._agreed(name, caller)
        require_words(comment, "comment")
        if task.terms.kind is TaskKind.REFERENCES:
            return self._write(task, label, account, text)
        most = task.terms.scale.largest
        if text or shown_value is None or abs(shown_value) > most:
            given = text[:60] if text else "A missing value" if shown_value is None else shown_value
            raise InputError(
                f"{given} is no label of this task.",
                advice=f"Give a whole number from {-most} to {most}.",
            )
        self._store.label_queue.label(label, account, shown_value=shown_value, comment=comment.strip())
        return ()

    def _write(self, task: AnnotationTask, label: int, account: str, text: str) -> tuple[str, ...]:
        question = self._store.labels.blind(task.id, account, label).question
        sentences = require_cited(text, len(question.passages))
        self._store.label_queue.label(label, account, shown_value=1, text=text.strip())
        return tuple(
            short
            for short in question.short_answers
            if not any(holds(sentence, short) for sentence in sentences)
        )

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
        task = self._store.annotations.task(name)
        if not task.terms.open_to_all and self._store.annotations.person(task.id, caller.account) is None:
            raise NotFoundError(
                f"There is no annotation task {name!r}.", advice="`arena labels show` names them."
            )
        return task, caller.account

    def _person(self, name: str, caller: Caller) -> tuple[AnnotationTask, TaskPerson]:
        task, account = self._task(name, caller)
        person = self._store.annotations.person(task.id, account)
        if person is None:
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

    def _returned(self, task: AnnotationTask, account: str) -> tuple[int, ...]:
        if task.terms.kind is not TaskKind.REFERENCES:
            return ()
        return tuple(
            text.label
            for text in self._store.references.written(task.id)
            if text.writer == account and text.state is ReferenceState.RETURNED
        )

    def _blind(self, task: AnnotationTask, account: str, label: int) -> BlindItem:
        item = redacted_item(task, self._store.labels.blind(task.id, account, label))
        if task.terms.kind is not TaskKind.REFERENCES:
            return item
        texts = self._store.references.written(task.id)
        of_question = next(
            one.id for one in self._store.annotations.items(task.id) if one.question_id == item.question.id
        )
        return replace(
            item,
            draft=self._store.references.drafts(task.id).get(of_question),
            written=next((text for text in texts if text.label == label), None),
        )


def redacted_item(task: AnnotationTask, item: BlindItem) -> BlindItem:
    """An item without what its task does not show."""
    if task.terms.kind is TaskKind.REFERENCES:
        return replace(item, question=without_reference(item.question))
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
