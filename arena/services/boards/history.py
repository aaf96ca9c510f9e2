"""Boards over time, and rounds of one set compared on the battles that all of them decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.services.accounts.auth import OPERATOR, Caller
from arena.services.rounds.battle_table import table_of_columns
from arena.services.rounds.visibility import RoundAccess
from data.errors import InputError
from data.models import Board
from data.store import Store
from leaderboard.agreement.comparison import RankingComparison, compare_rankings
from leaderboard.battles import in_common
from leaderboard.standings.build import without_systems
from leaderboard.standings.places import Changes, changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A board in the history, with its changes against the board of the same set before it, if any stands."""

    board: Board
    previous: str | None = None
    changes: Changes | None = None


class HistoryService:
    """Follow boards over time, and compare rounds."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def entries(self) -> tuple[Entry, ...]:
        """Every board, the newest first; published results of others have no set."""
        boards = self._store.boards.every()
        names = [board.round_name for board in boards]
        sets = ["" if name is None else self._store.rounds.get(name).set_name for name in names]
        entries = []
        for at, board in enumerate(boards):
            earlier = (
                other
                for other, set_name in zip(boards[at + 1 :], sets[at + 1 :], strict=True)
                if set_name == sets[at] != "" and other.round_name != board.round_name and not other.retracted
            )
            entry = Entry(board=board)
            if (before := next(earlier, None)) is not None:
                found = changes(before.standings, board.standings)
                entry = replace(entry, previous=before.name, changes=found)
            entries.append(entry)
        return tuple(entries)

    def compare(
        self, names: Sequence[str], *, caller: Caller = OPERATOR
    ) -> tuple[RankingComparison, tuple[str, ...]]:
        """Compare two rounds or more of a set by verdicts on the same battles, and name systems left out."""
        if len(set(names)) < max(len(names), 2):
            raise InputError("Two different rounds are needed.", advice="Name each round once.")
        rounds = [self._store.rounds.get(name) for name in names]
        for round_ in rounds:
            RoundAccess(self._store, caller, round_)
        if len({round_.plan["set_hash"] for round_ in rounds}) > 1:
            raise InputError("The rounds are not of one question set.", advice="Compare rounds of one set.")
        systems = {item for round_ in rounds for item in dict(round_.plan["systems"]).items()}
        counts = Counter(system for system, _ in systems)
        others = sorted(system for system, count in counts.items() if count > 1)
        columns = {name: table_of_columns(self._store.verdicts.columns(name)) for name in names}
        tables = in_common({name: without_systems(table, {*others}) for name, table in columns.items()})
        if not len(tables[names[0]]):
            raise InputError("No battle was decided by all of them.", advice="Compare rounds of one plan.")
        notes = (f"left out, since the rounds judged other versions: {', '.join(others)}",) if others else ()
        return compare_rankings(list(tables.values()), seed=rounds[0].seed), notes
