"""Votes of people on a round's battles, joined to what its judge decided, and the board that they correct."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.services.accounts.auth import Caller
from arena.services.rounds.battle_table import table_of_columns
from data.errors import InputError
from data.records import BattleColumns, Board, Round
from data.store import Store
from leaderboard.people import Votes, read_votes
from leaderboard.people.correct import correct
from leaderboard.people.rates import correct_rates
from leaderboard.standings.corrected import PEOPLE
from leaderboard.vocabulary import VoteRule


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteSource:
    """A votes file.

    Attributes:
        name: Of the file as readers see it.
        file: The file.
        rule: What several votes on a battle come to.
    """

    name: str
    file: Path
    rule: VoteRule = VoteRule.MEAN


def section_of_round(store: Store, round_: Round, source: VoteSource) -> Mapping[str, Any]:
    """What people would say of a round, as its board keeps it (read by `leaderboard.standings.corrected`).

    Votes on battles that the judge did not decide are left out and counted; one on no planned battle is an
    error.

    Returns:
        The object of `battles rate --people --json`, with `rates`, the rows of `battles winrates --people`,
        `source` and `votes_left_out`. No name of a voter is in it.

    Raises:
        InputError: There are no votes on judged battles.
        FileFormatError: The file cannot be read.
        RecordError: A value breaks a rule, or a vote is on no planned battle; the message names its line.
        UnrankableError: The votes compare no two systems.
    """
    battles = store.verdicts.columns(round_.name)
    votes = read_votes(source.file)
    planned, judged = _known(votes, battles)
    kept = judged | ~planned
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
        "source": {"kind": "file", "name": source.name},
        **corrected.as_json(),
        "votes_left_out": int((~kept).sum()),
        "rates": [row.as_json() for row in rates.rows],
    }


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
    with store.changing():
        if confirm is not None:
            confirm()
        former = store.boards.get(round_.name)
        standings = {**former.standings, PEOPLE: section}
        if agreement is not None:
            standings["health"] = {**standings["health"], "agreement": agreement}
        board, changed = store.boards.replace(round_.name, standings)
    if changed:
        caller.log(
            "board-corrected",
            f"board {round_.name}",
            votes=section["votes"],
            content=board.content_hash[:12],
            before=former.content_hash[:12],
        )
    return board, changed
