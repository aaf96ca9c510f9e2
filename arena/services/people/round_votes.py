"""Votes of people on a round's battles, joined to what its judge decided, and the board that they correct."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.services.accounts.auth import Caller
from arena.services.annotation.tasks import as_votes, voting_labels
from arena.services.rounds.battle_table import table_of_columns
from arena.services.rounds.models import entrants_of
from data.errors import InputError, NotFoundError
from data.records import Action, BattleColumns, Board, Round, TaskItem
from data.store import Store
from leaderboard.people import Votes, read_votes
from leaderboard.people.correct import correct
from leaderboard.people.rates import correct_rates
from leaderboard.standings.corrected import PEOPLE
from leaderboard.vocabulary import VoteRule


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteSource:
    """Where votes come from: the annotation task of a name, or a votes file.

    Attributes:
        name: Of the task, or of the file as readers see it.
        file: The votes file; None for a task.
        rule: What several votes on a battle come to.
    """

    name: str
    file: Path | None = None
    rule: VoteRule = VoteRule.MEAN

    @classmethod
    def read(cls, text: str, rule: VoteRule = VoteRule.MEAN) -> VoteSource:
        """What was asked for: a file where there is one of this name, else a task."""
        path = Path(text)
        return cls(name=path.name, file=path, rule=rule) if path.is_file() else cls(name=text, rule=rule)


def section_of_round(store: Store, round_: Round, source: VoteSource) -> Mapping[str, Any]:
    """What people would say of a round, as its board keeps it (read by `leaderboard.standings.corrected`).

    Votes on battles that the judge did not decide are left out and counted, and so are labels of a task that
    are of no battle of the round; a file's vote on no planned battle is an error.

    Returns:
        The object of `battles rate --people --json`, with `rates`, the rows of `battles winrates --people`,
        `source` and `votes_left_out`. No name of a voter is in it.

    Raises:
        NotFoundError: There is neither such a file nor such a task.
        InputError: There are no votes on judged battles, or the task is of another set.
        FileFormatError: The file cannot be read.
        RecordError: A value breaks a rule, or a vote is on no planned battle; the message names its line.
        UnrankableError: The votes compare no two systems.
    """
    battles = store.verdicts.columns(round_.name)
    votes, left_out = _votes(store, round_, source)
    planned, judged = _known(votes, battles)
    kept = judged if source.file is None else judged | ~planned
    if not kept.any():
        raise InputError(
            f"None of the {len(votes):,} votes of {source.name} is on a judged battle of {round_.name}.",
            advice="Votes are joined by question and the two systems.",
        )
    judged_battles, counted = table_of_columns(battles), votes.where(kept)
    corrected = correct(judged_battles, counted, rule=source.rule, seed=round_.seed)
    # As on the board, rates have no opponent where no battle names it.
    reference = store.sets.summary(round_.set_name).reference_name
    opponent = reference if reference in judged_battles.systems else None
    rates = correct_rates(judged_battles, counted, rule=source.rule, reference=opponent, seed=round_.seed)
    return {
        "source": {"kind": "task" if source.file is None else "file", "name": source.name},
        **corrected.as_json(),
        "votes_left_out": left_out + int((~kept).sum()),
        "rates": [row.as_json() for row in rates.rows],
    }


def _votes(store: Store, round_: Round, source: VoteSource) -> tuple[Votes, int]:
    if source.file is not None:
        return read_votes(source.file), 0
    try:
        labels = votes_of_task(store, round_, source.name)
    except NotFoundError as error:
        raise NotFoundError(
            f"There is neither a file nor an annotation task {source.name!r}.",
            advice="Name a votes file (docs/json.md) or a task.",
        ) from error
    return labels.votes, labels.left_out


def _known(votes: Votes, battles: BattleColumns) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(V,) whether each vote is on a planned battle, and on one that the judge decided."""
    size = len(battles.systems)
    question, a, b = (
        _codes(names, known)
        for names, known in (
            (votes.question_id, battles.questions),
            (votes.model_a, battles.systems),
            (votes.model_b, battles.systems),
        )
    )
    named = (question >= 0) & (a >= 0) & (b >= 0)
    wanted = _keys(question, a, b, size)
    keys = _keys(battles.question.astype(np.int64), battles.a, battles.b, size)
    decided = battles.preference >= 0
    return named & np.isin(wanted, keys), named & np.isin(wanted, keys[decided])


def _codes(names: Sequence[str], known: Sequence[str]) -> NDArray[np.int64]:
    codes = {name: code for code, name in enumerate(known)}
    return np.fromiter((codes.get(name, -1) for name in names), dtype=np.int64, count=len(names))


def _keys(question: NDArray[Any], a: NDArray[Any], b: NDArray[Any], size: int) -> NDArray[np.int64]:
    return np.asarray((question * size + np.minimum(a, b)) * size + np.maximum(a, b), dtype=np.int64)


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


def correct_board(
    store: Store,
    round_: Round,
    people: VoteSource,
    *,
    agreement: Mapping[str, Any] | None,
    confirm: Callable[[], None] | None,
    caller: Caller,
) -> tuple[Board, bool]:
    """Let a published round's board stand with figures that votes correct; the former snapshot stays.

    Args:
        store: Where the board is kept.
        round_: The round.
        people: The votes.
        agreement: The judge's agreement with people that readers are told of; None for what the board has.
        confirm: Called within the transaction; what it raises undoes it.
        caller: Who asks, for the audit log.

    Returns:
        The board, and whether its standings are other than they were.
    """
    section = section_of_round(store, round_, people)
    with store.audit.audited() as notes:
        if confirm is not None:
            confirm()
        former = store.boards.get(round_.name)
        standings = {**former.standings, PEOPLE: section}
        if agreement is not None:
            standings["health"] = {**standings["health"], "agreement": agreement}
        board, changed = store.boards.replace(round_.name, standings)
        if changed:
            note = caller.note(
                Action.BOARD_CORRECTED,
                f"board {round_.name}",
                votes=section["votes"],
                content=board.content_hash[:12],
                before=former.content_hash[:12],
            )
            notes.take(note)
            store.outbox.board(board, "corrected")
    return board, changed
