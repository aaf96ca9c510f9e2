"""A table of rounds, what is shown in it, and how tables of several rounds come to stand side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from arena.services.tables.kinds import TableKind
from leaderboard.export.paper import Cell, Column, PaperTable, Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a table shows beside its numbers: 95 % intervals, marks of tests."""

    intervals: bool = False
    marks: bool = False

    def column(
        self,
        key: str,
        header: str,
        *,
        group: str = "",
        unit: Unit = Unit.SHARE,
        best_first: bool = False,
        marked: bool = False,
        bounded: bool = True,
    ) -> Column:
        """A column of measured numbers, with bounds and marks where they are shown."""
        return Column(
            key=key,
            header=header,
            group=group,
            unit=unit,
            best_first=best_first,
            bounds=(f"{key} lower", f"{key} upper") if self.intervals and bounded else None,
            mark=f"{key} mark" if self.marks and marked else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTable:
    """A table of rounds of one kind: shares are 0–1; what is undefined is None."""

    kind: TableKind
    content: PaperTable

    def to_json(self) -> dict[str, object]:
        """The object that `arena rounds status --table --json` prints."""
        keys = self.content.keys
        rows = [dict(zip(keys, row, strict=True)) for row in self.content.flat_rows()]
        return {"kind": self.kind.value, "columns": list(keys), "rows": rows, "notes": self.content.notes}


def beside(names: Sequence[str], tables: Sequence[PaperTable], *, labels: int = 1) -> PaperTable:
    """Tables of one kind side by side, by the labels of their rows.

    A single table stays as it is. Of several each column bears the name that its table has here, and a row
    that a table lacks is undefined there.

    Args:
        names: What the tables are called, in order.
        tables: With the same first columns.
        labels: How many first columns say what a row is.
    """
    if len(tables) == 1:
        return tables[0]
    by_label = [{row[:labels]: row[labels:] for row in table.rows} for table in tables]
    blanks = [(None,) * (len(table.columns) - labels) for table in tables]
    rows: list[tuple[Cell, ...]] = [
        (
            *label,
            *(cell for part, blank in zip(by_label, blanks, strict=True) for cell in part.get(label, blank)),
        )
        for label in dict.fromkeys(chain(*by_label))
    ]
    named = [
        _named(column, name)
        for name, table in zip(names, tables, strict=True)
        for column in table.columns[labels:]
    ]
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return PaperTable(columns=(*tables[0].columns[:labels], *named), rows=tuple(rows), notes=tuple(notes))


def _named(column: Column, name: str) -> Column:
    return replace(
        column,
        key=f"{name}: {column.key}",
        group=f"{name}: {column.group}" if column.group else name,
        bounds=column.bounds and (f"{name}: {column.bounds[0]}", f"{name}: {column.bounds[1]}"),
        mark=column.mark and f"{name}: {column.mark}",
    )
