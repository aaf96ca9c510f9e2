"""The labels of an annotation task as votes on battles of a round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.services.annotation.tasks import as_votes, voting_labels
from arena.services.rounds.models import entrants_of
from data.errors import InputError
from data.records import Round, TaskItem
from data.store import Store
from leaderboard.people import Votes


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVotes:
    """Votes of a task, and how many of its labels are of other answers than a round's, or of none."""

    votes: Votes
    left_out: int


def votes_of_task(store: Store, round_: Round, name: str) -> TaskVotes:
    """The labels of a task that are about answers of a round, a vote each.

    A label is a vote for the side that it prefers, whatever its grade. A label of an answer that was replaced
    since is no vote on the round's answer, and is left out.

    Raises:
        NotFoundError: There is no such task.
        InputError: The task is of another question set, or of no pairs, or has no label.
    """
    task = store.annotations.task(name)
    if task.set_name != round_.set_name:
        raise InputError(
            f"The task {name} is about {task.set_name}, and the round {round_.name} about {round_.set_name}.",
            advice="Choose a task of the round's set.",
        )
    labels = voting_labels(store, task)
    if not labels:
        raise InputError(f"Nothing is labelled in the task {name}.", advice="Wait for its labels.")
    judged = _Answers(store, round_)
    votes = [(item, label) for item, label in labels if judged.has(item)]
    return TaskVotes(votes=as_votes(name, votes), left_out=len(labels) - len(votes))


class _Answers:
    """The answers of a round, with which those that people saw are compared."""

    def __init__(self, store: Store, round_: Round) -> None:
        sides = (store.submissions.reference(round_.set_name), *entrants_of(store, round_))
        self._store = store
        self._judged = {side.system: side.id for side in sides}
        self._texts: dict[int, Mapping[str, str]] = {}

    def has(self, item: TaskItem) -> bool:
        """Whether both texts of an item are those that were judged."""
        sides = ((item.system_a, item.a_id), (item.system_b, item.b_id))
        return all(self._same(system, shown, item.question_id) for system, shown in sides)

    def _same(self, system: str, shown: int | None, question: str) -> bool:
        judged = self._judged.get(system)
        if shown is None or judged is None:
            return False
        return shown == judged or self._text(shown, question) == self._text(judged, question) is not None

    def _text(self, submission: int, question: str) -> str | None:
        if submission not in self._texts:
            facts = self._store.submissions.facts(submission)
            self._texts[submission] = {fact.question_id: fact.text for fact in facts}
        return self._texts[submission].get(question)
