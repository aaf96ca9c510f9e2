"""Meaning of the fields of a board's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from leaderboard.export.tables import Standings, column_kind, flat_rows
from leaderboard.standings.columns import Unit, column_named

STAMP_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "board": "The board whose standings these are",
        "content_sha256": "The hash that names exactly these standings",
    }
)

BATTLE_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "question_id, domain": "Which question, in which domain",
        "model_a, model_b": "The two systems; the reference takes part under its own name",
        "winner": "model_a, model_b or tie; battles without a verdict are left out and counted on the board",
        "score": "Share of the win that model_a gets, 0–1, where the judge gives degrees",
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file: its name, what its values are, their unit, and what they mean."""

    name: str
    kind: str
    unit: str
    meaning: str


KINDS: Mapping[type, str] = MappingProxyType({str: "text", int: "integer", float: "number"})


def columns_of(standings: Standings) -> tuple[Column, ...]:
    """Describe the columns of a board's files."""
    named = [(name, column_kind(name)) for row in flat_rows(standings)[:1] for name in row]
    return tuple(
        Column(name, KINDS[kind], "" if kind is str else _unit(name), meaning_of(name))
        for name, kind in (*named, *((name, str) for name in STAMP_FIELDS))
    )


def _unit(name: str) -> str:
    column = column_named(name)
    return (Unit.SHARE if column is None else column.unit).value


def meaning_of(name: str) -> str:
    """Return the meaning of a standings file's column, in a sentence."""
    if name in STAMP_FIELDS:
        return STAMP_FIELDS[name]
    column = column_named(name)
    if column is not None:
        return column.meaning
    bound = next((bound for bound in ("lower", "upper") if name.endswith(f"_{bound}")), "")
    if bound:
        return f"The {bound} end of its 95 % interval"
    return "Mean of this metric over the answers"
