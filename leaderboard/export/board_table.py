"""A board's standings as a table for papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from data.intervals import Interval
from leaderboard.export.paper import Cell, Column, Measured, PaperTable, Printed, Unit, printed
from leaderboard.standings.columns import BoardColumn, Surface, columns_on
from leaderboard.standings.columns import Unit as BoardUnit
from leaderboard.vocabulary import OVERALL, BoardForm

Row = Mapping[str, object]
SCALES = "Ratings of groups that battles do not link both ways are on scales of their own."
RATED = frozenset({"rank", "rating"})
UNITS = {BoardUnit.POINTS: Unit.POINTS, BoardUnit.SHARE: Unit.SHARE}


def printed_board(standings: Mapping[str, Any], rows: Sequence[Row], form: BoardForm) -> str:
    """A board overall as papers print it: ranks, ratings, rates and mean scores with 95 % intervals.

    `rows` are its flat rows; `form` is LaTeX or Markdown.
    """
    overall = [row for row in rows if row["domain"] == OVERALL]
    return printed(_table(standings, overall), Printed(form.value))


def _table(standings: Mapping[str, Any], rows: Sequence[Row]) -> PaperTable:
    metrics = sorted({metric for line in standings["lines"][OVERALL] for metric in line["scores"]})
    rated = any(row["rating"] is not None for row in rows)
    shown = [column for column in columns_on(Surface.PRINTED) if rated or column.name not in RATED]
    columns = (*map(_column, shown), *(_scores(metric) for metric in metrics))
    scale = _best_scale(rows)
    facts = standings["facts"]
    judge = " ".join(filter(None, (facts.get("judge"), f"({facts['model']})" if facts.get("model") else "")))
    return PaperTable(
        columns=columns,
        rows=tuple(tuple(_cell(row, column, scale) for column in columns) for row in rows),
        notes=(
            f"{standings.get('title') or standings['name']}. Judge: {judge}. In brackets 95 % intervals.",
            *notes_of(rows),
        ),
    )


def _best_scale(rows: Sequence[Row]) -> object:
    """The group of systems whose scale the first rating has; rows come best first."""
    return next((row["component"] for row in rows if row["rating"] is not None), None)


def notes_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """That ratings of one table are on several scales, where they are, who has no rank and why, and marks."""
    scale = _best_scale(rows)
    several = any(row["rating"] is not None and row["component"] != scale for row in rows)
    said = (
        f"{row['system']}: {text}" for row in rows for name in ("unranked", "mark") if (text := row.get(name))
    )
    return (*([SCALES] if several else []), *said)


def _ranks(row: Row) -> str:
    ends = dict.fromkeys(str(row[end]) for end in ("rank_lower", "rank_upper") if row[end] is not None)
    return "–".join(ends) or "–"


def _column(column: BoardColumn) -> Column:
    if column.unit not in UNITS:
        return Column(key=column.name, header=column.title, unit=Unit.TEXT)
    return Column(
        key=column.name,
        header=column.title,
        unit=UNITS[column.unit],
        best_first=not column.least_first,
        bounds=column.ends,
    )


def _scores(metric: str) -> Column:
    bounds = (f"{metric}_lower", f"{metric}_upper")
    return Column(key=metric, header=metric, unit=Unit.SHARE, best_first=True, bounds=bounds)


def _cell(row: Row, column: Column, scale: object) -> Cell:
    if column.key == "rank":
        return _ranks(row)
    value = row[column.key]
    if column.unit is Unit.TEXT:
        return None if value is None else str(value)
    lower, upper = (_figure(row.get(name)) for name in column.bounds or ("", ""))
    interval = None if lower is None or upper is None else Interval(lower, upper)
    compared = column.key != "rating" or row["component"] == scale
    return Measured(value=_figure(value), interval=interval, compared=compared)


def _figure(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
