"""The labels of an annotation task as votes on battles of a round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from arena.services.rounds.models import entrants_of
from data.errors import InputError
from data.records import PairLabel, Round
from data.store import Store
from leaderboard.formats.rows import Place
from leaderboard.people import Votes

EVEN = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVotes:
    """Votes of a task, and how many of its labels are of other answers than a round's, or of none."""

    votes: Votes
    left_out: int


def votes_of_task(store: Store, found: Round, name: str) -> TaskVotes:
    """The labels of a task that are about answers of a round, a vote each.

    A label is a vote for the side that it prefers, whatever its grade. A label of an answer that was replaced
    since is no vote on the round's answer, and is left out.

    Raises:
        NotFoundError: There is no such task.
        InputError: The task is of another question set, or has no label.
    """
    task = store.annotations.task(name)
    if task.set_name != found.set_name:
        raise InputError(
            f"The task {name} is about {task.set_name}, and the round {found.name} about {found.set_name}.",
            advice="Choose a task of the round's set.",
        )
    given = [one for one in store.annotations.labels(task.id) if one.grade is not None]
    if not given:
        raise InputError(f"Nothing is labelled in the task {name}.", advice="Wait for its labels.")
    texts = _texts(store, found)
    kept = [one for one in given if _is_of(texts, one)]
    votes = Votes.from_columns(
        [one.question.id for one in kept],
        [one.system_a for one in kept],
        [one.system_b for one in kept],
        None,
        [_share(one) for one in kept],
        annotator=[one.account for one in kept],
        place=Place(file=f"task {name}", first_row=1),
    )
    return TaskVotes(votes=votes, left_out=len(given) - len(kept))


def _share(one: PairLabel) -> float:
    """Share of the win for side a: a grade below 0 prefers it."""
    return EVEN - EVEN * float(np.sign(one.grade or 0))


def _texts(store: Store, found: Round) -> Mapping[tuple[str, str], str]:
    """The answers of a round by system and question."""
    sides = (store.submissions.reference(found.set_name), *entrants_of(store, found))
    return {
        (side.system, fact.question_id): fact.text
        for side in sides
        for fact in store.submissions.facts(side.id)
    }


def _is_of(texts: Mapping[tuple[str, str], str], one: PairLabel) -> bool:
    sides = ((one.system_a, one.answer_a), (one.system_b, one.answer_b))
    return all(text is not None and texts.get((name, one.question.id)) == text for name, text in sides)
