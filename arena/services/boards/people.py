"""Votes of people on a round's battles, and corrections of its board."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from arena.services.accounts.auth import Caller
from arena.services.labels import votes_of_round
from arena.services.rounds.battle_table import table_of_columns
from data.errors import InputError
from data.models import BattleColumns, Board, Round
from data.store import Store
from leaderboard.people.correct import correct, correct_rates
from leaderboard.people.votes import Vote, read_votes, votes_of
from leaderboard.standings.sections import PEOPLE

LABELS = "labels"
"""Name of a round's own labels as a source of votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteSource:
    """Votes and their public source: kind (`file`, `labels`, `request`) and name."""

    kind: str
    name: str
    votes: Sequence[Vote]

    @classmethod
    def of_file(cls, path: Path, name: str = "") -> Self:
        """Read a votes file; errors are those of `read_votes`."""
        return cls(kind="file", name=name or path.name, votes=read_votes(path))

    @classmethod
    def of_labels(cls, store: Store, round_name: str) -> Self:
        """Use the labels of a round."""
        rows = votes_of_round(store, round_name)
        if not rows:
            advice = f"Collect some: `arena labels open {round_name} --invite ACCOUNT,…`."
            raise InputError(f"Round {round_name} has no labels.", advice=advice)
        return cls.of_rows(rows, kind=LABELS, name=round_name)

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, object]], *, kind: str, name: str) -> Self:
        """Check rows of votes; errors are those of `read_votes`."""
        return cls(kind=kind, name=name, votes=votes_of(rows, name))

    def as_json(self) -> dict[str, Any]:
        """Return the payload of a job."""
        return {"kind": self.kind, "name": self.name, "votes": [vote.as_json() for vote in self.votes]}

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> Self:
        """Read the payload of a job."""
        return cls.of_rows(payload["votes"], kind=payload["kind"], name=payload["name"])


def section_of_round(store: Store, round_: Round, source: VoteSource) -> Mapping[str, Any]:
    """Return the board's section of ratings and rates corrected by votes, without names of voters.

    Votes on battles without a verdict are left out and counted.
    """
    battles = store.verdicts.columns(round_.name)
    planned = _keys(battles, slice(None))
    judged = _keys(battles, battles.preference >= 0)
    votes = [vote for vote in source.votes if vote.battle in judged or vote.battle not in planned]
    if not votes:
        raise InputError(
            f"No vote from {source.name} matches a judged battle of {round_.name}.",
            advice="Votes are matched by question and the two systems.",
        )
    plan = table_of_columns(battles)
    # As on the board, rates have no opponent if the reference has no battle.
    reference = store.sets.summary(round_.set_name).reference_name
    rates = correct_rates(plan, votes, reference=reference if reference in plan.systems else None)
    return {
        "source": {"kind": source.kind, "name": source.name},
        **correct(plan, votes),
        "votes_left_out": len(source.votes) - len(votes),
        "rates": rates["rows"],
    }


def _keys(battles: BattleColumns, rows: slice | np.ndarray) -> set[tuple[str, str, str]]:
    names = zip(
        *(
            np.array(ids, dtype=object)[codes[rows]].tolist()
            for ids, codes in (
                (battles.questions, battles.question),
                (battles.systems, battles.a),
                (battles.systems, battles.b),
            )
        ),
        strict=True,
    )
    return {(question, min(a, b), max(a, b)) for question, a, b in names}


def correct_board(
    store: Store,
    round_: Round,
    people: VoteSource,
    *,
    agreement: Mapping[str, Any] | None,
    confirm: Callable[[], None] | None,
    caller: Caller,
) -> tuple[Board, bool]:
    """Add corrected figures to a published round's board as a new snapshot.

    Args:
        store: The store.
        round_: The round.
        people: The votes.
        agreement: The judge's agreement with people; None keeps the board's.
        confirm: Called within the transaction, which its exception rolls back.
        caller: The caller, for the audit log.

    Returns:
        The board, and whether its standings changed.
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
