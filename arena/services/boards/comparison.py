"""Compare rounds: how alike their judges rank the same systems, and who moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from arena.services.accounts.auth import OPERATOR, Caller
from arena.services.rounds.battle_table import table_of_columns
from arena.services.rounds.visibility import RoundAccess
from data.errors import InputError
from data.records import BattleColumns, JudgeKind, Round, RoundState, VoteColumns
from data.records.plain import to_json
from data.store import Store
from leaderboard.agreement.comparison import BoardPair, compare_boards
from leaderboard.battles import BattleTable, in_common

LEAST = 2
MOST_OTHERS = 4
"""Boards that a page compares with one board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRound:
    """One side of a comparison.

    Attributes:
        name: The round, or the member of a panel.
        judge: Who judged.
        battles: Battles that it decided.
        common: Of those, the ones that all sides decided.
    """

    name: str
    judge: str
    battles: int
    common: int


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class RoundComparison:
    """Several rounds of one question set, or the members of one panel, on the battles that all decided.

    Attributes:
        set_name: The question set.
        sides: The rounds, or the panel's members.
        systems: Systems on the common battles.
        questions: How many questions these are on.
        battles: How many there are.
        other_versions: Systems left out, since the rounds judged different versions of them.
        absent: Systems left out, since some round did not judge them.
        pairs: Every two sides compared.
    """

    set_name: str
    sides: tuple[ComparedRound, ...]
    systems: tuple[str, ...]
    questions: int
    battles: int
    other_versions: tuple[str, ...]
    absent: tuple[str, ...]
    pairs: tuple[BoardPair, ...]

    def as_json(self) -> dict[str, object]:
        """What `arena rounds status --compare --json` prints."""
        return {
            "set": self.set_name,
            "rounds": [to_json(side) for side in self.sides],
            "systems": list(self.systems),
            "questions": self.questions,
            "battles": self.battles,
            "left_out": {"other_versions": list(self.other_versions), "absent": list(self.absent)},
            "pairs": [pair.as_json() for pair in self.pairs],
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not in the figures."""
        notes = [
            f"Left out, since not all decided them: {side.battles - side.common:,} of {side.battles:,} "
            f"battles of {side.name}."
            for side in self.sides
            if side.battles > side.common
        ]
        if self.other_versions:
            notes.append(
                f"Left out, since the rounds judged other versions: {', '.join(self.other_versions)}."
            )
        if self.absent:
            notes.append(f"Left out, since not in every round: {', '.join(self.absent)}.")
        return tuple(notes)


class RoundComparisonService:
    """Compares rounds on the battles that they share."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def compare(self, names: Sequence[str], *, caller: Caller = OPERATOR) -> RoundComparison:
        """Compare rounds of the same set by their verdicts on the same battles; a panel by its members.

        Args:
            names: Two rounds or more; one where its judge is a panel.
            caller: Who asks.

        Raises:
            NotFoundError: There is no such round that the caller may see.
            InputError: Rounds of different sets, a round twice, one judge alone, or nothing in common.
            StatisticsError: Fewer than two systems can be compared.
        """
        rounds = [self._store.rounds.get(name) for name in names]
        for round_ in rounds:
            RoundAccess(self._store, caller, round_)
        _require_comparable(rounds)
        versions = [dict(round_.plan["systems"]) for round_ in rounds]
        everyone = sorted({system for part in versions for system in part})
        absent = [system for system in everyone if not all(system in part for part in versions)]
        other = [
            system
            for system in everyone
            if system not in absent and len({part[system] for part in versions}) > 1
        ]
        tables = self._members(rounds[0]) if len(rounds) == 1 else self._rounds(rounds)
        judges = {round_.name: round_.judge_name for round_ in rounds}
        return _compared(rounds[0], tables, judges, (tuple(other), tuple(absent)))

    def comparable(self, name: str) -> tuple[str, ...]:
        """A published round and the newest others of its set; a panel's alone by its members, else nothing.

        Raises:
            NotFoundError: There is no such round.
        """
        round_ = self._store.rounds.get(name)
        others = [
            other.name
            for other in self._store.rounds.all()
            if other.state is RoundState.PUBLISHED
            and other.name != name
            and other.set_name == round_.set_name
            and other.plan["set_hash"] == round_.plan["set_hash"]
        ]
        alone = round_.judge.get("kind") == JudgeKind.PANEL
        return (name, *others[:MOST_OTHERS]) if others or alone else ()

    def _rounds(self, rounds: Sequence[Round]) -> dict[str, BattleTable]:
        return {round_.name: table_of_columns(self._store.verdicts.columns(round_.name)) for round_ in rounds}

    def _members(self, round_: Round) -> dict[str, BattleTable]:
        battles, votes = self._store.verdicts.columns(round_.name), self._store.verdicts.votes(round_.name)
        members = range(len(votes.judges))
        return {votes.judges[code]: _member_table(battles, votes, code) for code in members}


def _require_comparable(rounds: Sequence[Round]) -> None:
    names = [round_.name for round_ in rounds]
    if len(set(names)) < len(names):
        raise InputError("A round is named twice.", advice="Name each round once.")
    sets = {round_.set_name for round_ in rounds}
    if len(sets) > 1 or len({round_.plan["set_hash"] for round_ in rounds}) > 1:
        told = ", ".join(f"{round_.name} ({round_.set_name})" for round_ in rounds)
        raise InputError(
            f"The rounds are not of the same question set: {told}.", advice="Compare rounds of one set."
        )
    if len(rounds) < LEAST and rounds[0].judge.get("kind") != JudgeKind.PANEL:
        raise InputError(
            f"Round {names[0]} has one judge, {rounds[0].judge_name}.",
            advice="Name another round of its set, or a round whose judge is a panel.",
        )


def _member_table(battles: BattleColumns, votes: VoteColumns, member: int) -> BattleTable:
    """The judgments of a panel's member; several on one battle are their mean, as it would settle them."""
    mine = votes.judge == member
    share = np.array([1.0, 0.0, 0.5])[votes.preference[mine]]
    rows, of_row = np.unique(votes.battle[mine], return_inverse=True)
    mean = np.bincount(of_row, share) / np.bincount(of_row)
    tie, a, b = 2, 0, 1
    preference = np.where(mean > 1 / 2, a, np.where(mean < 1 / 2, b, tie)).astype(np.int8)
    voted = replace(
        battles,
        question=battles.question[rows],
        a=battles.a[rows],
        b=battles.b[rows],
        outcome=np.zeros(len(rows), dtype=np.int8),
        preference=preference,
        flipped=battles.flipped[rows],
        score=None,
    )
    return table_of_columns(voted)


def _compared(
    round_: Round,
    tables: Mapping[str, BattleTable],
    judges: Mapping[str, str],
    left_out: tuple[tuple[str, ...], tuple[str, ...]],
) -> RoundComparison:
    gone = {*left_out[0], *left_out[1]}
    common = in_common({name: _without(table, gone) for name, table in tables.items()})
    first = next(iter(common.values()))
    if not len(first):
        raise InputError(
            "No battle was decided by all of them.", advice="Compare rounds that judged the same battles."
        )
    return RoundComparison(
        set_name=round_.set_name,
        sides=tuple(
            ComparedRound(
                name=name,
                judge=judges.get(name, name),
                battles=len(table),
                common=len(common[name]),
            )
            for name, table in tables.items()
        ),
        systems=first.systems,
        questions=len(first.questions),
        battles=len(first),
        other_versions=left_out[0],
        absent=left_out[1],
        pairs=compare_boards(common, seed=round_.seed),
    )


def _without(table: BattleTable, systems: set[str]) -> BattleTable:
    keep = np.array([name not in systems for name in table.systems], dtype=bool)
    return table.select(keep[table.a] & keep[table.b])
