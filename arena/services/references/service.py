"""References for a set: organisers open a task, and people write.

Tasks, people, consent, holds and progress are those of annotation; a writer's text is a label of the task.

Source: Han et al. (2024), RAG-QA Arena, section 3.1: writers combine all highlighted answers into one
coherent answer, and cite the documents of each sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.services.accounts.auth import Caller
from arena.services.annotation.queue import LabelService
from arena.services.annotation.requests import NUL, TaskRequest
from arena.services.annotation.tasks import AnnotationService
from arena.services.references.measures import holds
from arena.services.references.models import (
    Submitted,
    WriterView,
    WritingItem,
    marked_passages,
    without_reference,
)
from data.errors import InputError, NotFoundError
from data.records import AnnotationTask, BlindItem, Question, TaskKind
from data.records.references import ReferenceState
from data.store import Store
from judges.text.citations import cited_sentences

MOST_CHARACTERS = 20_000
NAMED = 3
CONSENT = (
    "Your texts and the time that each took are kept with the name of your account. Those that an audit "
    "accepts become the references of a question set, which may be published without your name. You can "
    "change a text until its batch is audited, and have your texts deleted whenever you ask."
)


class ReferenceService:
    """Use cases around written references."""

    def __init__(self, store: Store, annotation: AnnotationService, labels: LabelService) -> None:
        self._store = store
        self._annotation = annotation
        self._labels = labels

    def start(
        self,
        name: str,
        set_name: str,
        *,
        writers: Sequence[str],
        second_writer: bool = False,
        count: int | None = None,
        seed: int = 0,
        instructions: str = "",
        consent: str = "",
        hold_minutes: int = 240,
        caller: Caller,
    ) -> AnnotationTask:
        """Open a task in which people write references for the questions of a set that have passages.

        Args:
            name: Of the task.
            set_name: The set.
            writers: Accounts that write.
            second_writer: Whether two people write for each question, neither seeing the other's text.
            count: How many questions are drawn; None takes all.
            seed: Of the draw.
            instructions: What to look at; empty for the usual words.
            consent: What writers agree to; empty for the usual words.
            hold_minutes: How long a question is held for a writer.
            caller: Who opens it.

        Raises:
            NotFoundError: There is no such set or account.
            InputError: No question has passages, or there are too few writers.
            ConflictError: A task has this name.
            ForbiddenError: Only organisers may.
        """
        request = TaskRequest(
            name=name,
            set_name=set_name,
            kind=TaskKind.REFERENCES,
            overlap=2 if second_writer else 1,
            annotators=tuple(writers),
            count=count,
            seed=seed,
            instructions=instructions,
            consent=consent or CONSENT,
            hold_minutes=hold_minutes,
        )
        return self._annotation.open(request, caller=caller)

    def tasks(self, *, caller: Caller) -> tuple[AnnotationTask, ...]:
        """The tasks of references in which the caller writes; organisers get all of them."""
        return tuple(
            task for task in self._annotation.all(caller=caller) if task.terms.kind is TaskKind.REFERENCES
        )

    def open_to(self, caller: Caller) -> tuple[AnnotationTask, ...]:
        """The open tasks in which the caller writes; none for whoever has no account."""
        if caller.account is None:
            return ()
        return tuple(
            task
            for task in self._store.annotations.tasks(account=caller.account)
            if not task.closed and task.terms.kind is TaskKind.REFERENCES
        )

    # Writers ---------------------------------------------------------------------------------

    def next(self, name: str, *, caller: Caller) -> WritingItem | None:
        """What the caller has to write next: what was sent back first, then a question that is free.

        Raises:
            NotFoundError: There is no such task, or not for them.
            ForbiddenError: They have not agreed to its terms, or their work was set aside.
        """
        task = task_of(self._store, name)
        self._labels.agreed(name, caller=caller)
        returned = self.own(name, caller=caller).returned
        if returned:
            return self.item(name, returned[0], caller=caller)
        item = self._labels.next(name, caller=caller)
        return None if item is None else self._writing(task, item, caller)

    def own(self, name: str, *, caller: Caller) -> WriterView:
        """What the caller has done and what was sent back; errors as of `next`."""
        task = task_of(self._store, name)
        progress = self._labels.progress(name, caller=caller)
        returned = tuple(
            text.label
            for text in self._store.references.written(task.id)
            if text.writer == caller.account and text.state is ReferenceState.RETURNED
        )
        return WriterView(progress=progress, returned=returned)

    def item(self, name: str, number: int, *, caller: Caller) -> WritingItem:
        """A question that the caller has or had, with what they wrote.

        Raises:
            NotFoundError: It was not given to them.
        """
        return self._writing(
            task_of(self._store, name), self._labels.item(name, number, caller=caller), caller
        )

    def submit(self, name: str, number: int, text: str, *, caller: Caller) -> Submitted:
        """Keep or change what the caller wrote; numbers of passages stand in brackets behind each sentence.

        Raises:
            NotFoundError: The question was not given to them.
            InputError: A sentence cites nothing, or a number that no passage has.
            ConflictError: The task is closed, others took the question, or the text is audited or accepted.
            ForbiddenError: They have not agreed to the terms, or their work was set aside.
        """
        task_of(self._store, name)
        self._labels.agreed(name, caller=caller)
        item = self._labels.item(name, number, caller=caller)
        question = question_of(self._store, task_of(self._store, name), item.question.id)
        sentences = require_cited(text, len(question.passages))
        self._store.label_queue.label(number, caller.account or "", shown_value=1, text=text.strip())
        left_out = tuple(
            short
            for short in question.short_answers
            if not any(holds(sentence, short) for sentence in sentences)
        )
        return Submitted(number=number, sentences=len(sentences), left_out=left_out)

    def close(self, name: str, *, caller: Caller) -> None:
        """Take no more texts; errors as of `status`."""
        self._annotation.close(task_of(self._store, name).name, caller=caller)

    def _writing(self, task: AnnotationTask, item: BlindItem, caller: Caller) -> WritingItem:
        question = question_of(self._store, task, item.question.id)
        texts = self._store.references.written(task.id)
        mine = next((text for text in texts if text.label == item.id and text.writer == caller.account), None)
        numbers = {one.question_id: one.id for one in self._store.annotations.items(task.id)}
        return WritingItem(
            number=item.id,
            question=question,
            marked=marked_passages(question),
            draft=self._store.references.drafts(task.id).get(numbers[question.id]),
            text="" if mine is None else mine.text,
            state=None if mine is None else mine.state,
            failures=None if mine is None else mine.failures,
            remark="" if mine is None else mine.remark,
        )


def task_of(store: Store, name: str) -> AnnotationTask:
    """A task of references.

    Raises:
        NotFoundError: None has this name.
    """
    task = store.annotations.task(name)
    if task.terms.kind is not TaskKind.REFERENCES:
        raise NotFoundError(f"{name} is no task of references.", advice="`arena references list` shows them.")
    return task


def question_of(store: Store, task: AnnotationTask, question_id: str) -> Question:
    """A question of a task, without what a writer is to find."""
    return without_reference(store.sets.question(task.set_name, question_id))


def require_cited(text: str, passages: int) -> tuple[str, ...]:
    """The sentences of a reference, without citations.

    Args:
        text: With numbers in brackets.
        passages: How many may be cited, from 1.

    Raises:
        InputError: It is empty or too long, a sentence cites nothing, or a number that no passage has.
    """
    if len(text) > MOST_CHARACTERS or NUL in text:
        raise InputError(
            "The text cannot be kept.",
            advice=f"Use at most {MOST_CHARACTERS:,} characters, none of them NUL.",
        )
    sentences = cited_sentences(text)
    if not sentences:
        raise InputError("The text has no sentence.", advice="Write the answer.")
    wrong = sorted({number for one in sentences for number in one.numbers if not 1 <= number <= passages})
    if wrong:
        named = ", ".join(f"[{number}]" for number in wrong)
        raise InputError(f"No passage has the number {named}.", advice=f"There are 1 to {passages}.")
    uncited = [one.text for one in sentences if not one.numbers]
    if uncited:
        shown = ", ".join(f"“{sentence[:60].rstrip('.')}”" for sentence in uncited[:NAMED])
        message = f"{len(uncited)} of {len(sentences)} sentences cite no passage: {shown}."
        raise InputError(message, advice="End each with the numbers of its passages, as [1] or [2, 3].")
    return tuple(one.text for one in sentences)
