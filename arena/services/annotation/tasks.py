"""Tasks: organisers open and close them, and take their votes to correct a board.

Source: Han et al. (2024), RAG-QA Arena, section 4 and appendix A.6: five grades, three people a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.services.accounts.auth import OPERATOR, Caller, require
from arena.services.annotation.requests import TaskRequest
from data.errors import InputError, NotFoundError
from data.records import Action, AnnotationTask, GivenLabel, TaskItem, TaskKind, TokenScope
from data.store import Store

if TYPE_CHECKING:
    # Votes load what rates battles; most that is done with tasks asks for none.
    from leaderboard.people import Votes


class AnnotationService:
    """Use cases around tasks."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def open(self, request: TaskRequest, *, caller: Caller) -> AnnotationTask:
        """Make a task: draw its items with known chances, and name its people.

        Raises:
            NotFoundError: There is no such set, round, system, question or account.
            InputError: There is nothing to label, or the set hides the reference that is to be shown.
            ConflictError: A task has this name.
        """
        from arena.services.annotation.frames import Frame  # noqa: PLC0415 - draws with arrays, which lists do without

        require(caller, TokenScope.ORGANISE)
        frame = Frame(self._store, request)
        numbers = {account.name: account.id for account in self._store.teams.accounts()}
        unknown = [name for name in request.annotators if name not in numbers]
        if unknown:
            raise NotFoundError(
                f"There is no account {', '.join(unknown)}.",
                advice="Add it with `arena teams accounts NAME`.",
            )
        items = frame.items()
        people = [(numbers[name], name) for name in dict.fromkeys(request.annotators)]
        with self._store.audit.audited() as notes:
            self._store.annotations.create(
                request.terms(),
                set_id=frame.summary.id,
                round_id=frame.round.id if frame.round else None,
                items=items,
                accounts=people,
            )
            note = caller.note(Action.ANNOTATION_OPENED, subject_of(request.name), items=len(items))
            notes.take(note)
        return self._store.annotations.task(request.name)

    def close(self, name: str, *, caller: Caller) -> None:
        """Take no more labels of a task.

        Raises:
            NotFoundError: There is no such task.
        """
        require(caller, TokenScope.ORGANISE)
        with self._store.audit.audited() as notes:
            self._store.annotations.close(self._store.annotations.task(name).name)
            notes.take(caller.note(Action.ANNOTATION_CLOSED, subject_of(name)))

    def tasks(self, *, caller: Caller) -> tuple[AnnotationTask, ...]:
        """The tasks in which the caller labels or writes, newest first; organisers get all of them."""
        require(caller, TokenScope.READ)
        if caller.organiser:
            return self._store.annotations.tasks()
        return () if caller.account is None else self._store.annotations.tasks(account=caller.account)

    def task(self, name: str, *, caller: Caller) -> AnnotationTask:
        """One of them.

        Raises:
            NotFoundError: There is no such task, or not for them.
        """
        require(caller, TokenScope.READ)
        task = self._store.annotations.task(name)
        asked = caller.account is not None and (
            task.terms.open_to_all or self._store.annotations.person(task.id, caller.account) is not None
        )
        if not (caller.organiser or asked):
            raise NotFoundError(
                f"There is no annotation task {name!r}.", advice="`arena labels show` names them."
            )
        return task

    def open_to(self, caller: Caller, kind: TaskKind = TaskKind.PAIRS) -> tuple[AnnotationTask, ...]:
        """The tasks of a kind that take the caller's own labels, newest first; none without an account."""
        if caller.account is None:
            return ()
        mine = self._store.annotations.tasks(account=caller.account)
        return tuple(task for task in mine if not task.closed and task.terms.kind is kind)

    def votes(self, name: str, *, caller: Caller = OPERATOR) -> Votes:
        """The labels of a task as votes, which correct a board: one a person and pair, in the task's order.

        Five grades count as their side. Gold and skipped pairs and excluded labels are left out.
        Votes name a battle by its question and systems; `sampling_prob` is the pair's probability of having
        been labelled by humans, NaN where it was chosen by hand.

        Raises:
            NotFoundError: There is no such task.
            InputError: Its items are no pairs.
        """
        require(caller, TokenScope.ORGANISE)
        return as_votes(name, voting_labels(self._store, self._store.annotations.task(name)))


def voting_labels(store: Store, task: AnnotationTask) -> tuple[tuple[TaskItem, GivenLabel], ...]:
    """The labels of a task that are votes: none on gold, none that was skipped or excluded.

    Raises:
        InputError: Its items are no pairs.
    """
    require_pairs(task)
    items = {item.id: item for item in store.annotations.items(task.id)}
    return tuple(
        (items[label.item], label)
        for label in store.labels.given(task.id)
        if label.value is not None and not label.excluded and items[label.item].gold is None
    )


def as_votes(name: str, labels: Sequence[tuple[TaskItem, GivenLabel]]) -> Votes:
    """Labels of a task as votes."""
    from leaderboard.formats.places import Place  # noqa: PLC0415 - see above
    from leaderboard.people import Votes  # noqa: PLC0415 - see above

    return Votes.from_columns(
        [item.question_id for item, _ in labels],
        [item.system_a for item, _ in labels],
        [item.system_b for item, _ in labels],
        [winner_of(label.value or 0) for _, label in labels],
        annotator=[label.person for _, label in labels],
        sampling_prob=[item.chance for item, _ in labels],
        place=Place(file=f"task {name}", first_row=1),
    )


def winner_of(value: int) -> str:
    """The winner of a battle file that a label means."""
    if value == 0:
        return "tie"
    return "model_b" if value > 0 else "model_a"


def require_pairs(task: AnnotationTask) -> None:
    """Refuse a task in which people write instead of labelling.

    Raises:
        InputError: They write its references.
    """
    if task.terms.kind is not TaskKind.PAIRS:
        raise InputError(
            f"In {task.name} people write references, which are no votes.",
            advice="Name a task of pairs; `arena references` and its page are for texts.",
        )


def subject_of(name: str) -> str:
    """What the audit log calls a task."""
    return f"annotation {name}"
