"""Battles with their original winner words, which other tools interpret differently."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.errors import FileFormatError, InputError
from data.models.words import ANNOTATOR
from leaderboard.battles import BattleTable, Winner
from leaderboard.formats.reading import files_of, format_of
from leaderboard.formats.registry import parse
from leaderboard.formats.rows import Context, LeftOut
from leaderboard.formats.sources import renamed, written_chunks

WRITTEN = "winner as written"
NAMES, NUMBERS = ("question_id", "model_a", "model_b", "winner"), ("score", "weight")


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class WrittenBattles:
    """Battles of a file in its order, with original winner words and known voters.

    Without `questions_named` each battle is its own question.
    """

    table: BattleTable
    words: NDArray[np.str_]
    people: NDArray[np.str_] | None
    questions_named: bool
    left_out: Mapping[LeftOut, int]
    first: Mapping[LeftOut, InputError]

    @property
    def tied(self) -> NDArray[np.bool_]:
        """(N,) mask of the ties."""
        return np.asarray(self.table.winner == Winner.TIE)

    def without(self, rows: NDArray[np.bool_]) -> "WrittenBattles":
        """Remove rows."""
        people = None if self.people is None else self.people[~rows]
        return replace(self, table=self.table.select(~rows), words=self.words[~rows], people=people)


def read_written(path: Path, kind: str | None, context: Context) -> WrittenBattles:
    """Read a battle file with its original winner words; arguments are those of `read_battles`."""
    kind, context = kind or format_of(path), replace(context, further=True)
    columns: dict[str, list[Any]] = {name: [] for name in (*NAMES, *NUMBERS, WRITTEN, ANNOTATOR)}
    left_out: Counter[LeftOut] = Counter()
    first: dict[LeftOut, InputError] = {}
    for written in (chunk for file in files_of(path) for chunk in written_chunks(file)):
        chunk = renamed(written)
        winner = dict(chunk.place.names).get("winner", "winner")
        pairs = zip(chunk.records, written.records, strict=True)
        records = [{**row, WRITTEN: old[winner]} if winner in old else row for row, old in pairs]
        for rows in parse(kind, replace(chunk, records=records), context):
            left_out.update(rows.left_out)
            first = {**rows.first, **first}
            cells = {WRITTEN: rows.winner, **rows.further}
            for name, column in columns.items():
                column.extend(cells.get(name, getattr(rows, name, None)) or [None] * len(rows))
    size, named = len(columns["winner"]), None not in columns["question_id"]
    if not size:
        raise FileFormatError(f"{path.name} has no battles.", advice="Write one row per battle.")
    columns["weight"] = [1.0 if weight is None else weight for weight in columns["weight"]]
    table = BattleTable.from_columns(
        columns["question_id"] if named else ["none"] * size,
        ["all"] * size,
        *(columns[name] for name in NAMES[1:]),
        **{name: columns[name] for name in NUMBERS if set(columns[name]) - {None, 1.0}},
    )
    if not named:  # as `read_battles` numbers them
        each = tuple(f"battle-{row}" for row in range(size))
        table = replace(table, questions=each, question=np.argsort(table.canonical()))
    words = np.array(columns[WRITTEN], dtype=str)
    people = None if None in columns[ANNOTATOR] else np.array(columns[ANNOTATOR], dtype=str)
    return WrittenBattles(
        table=table, words=words, people=people, questions_named=named, left_out=left_out, first=first
    )
