"""A board's standings as a table for papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from data.stats import Interval
from leaderboard.export.paper import Column, Measured, PaperTable, Printed, Unit, printed
from leaderboard.vocabulary import OVERALL, BoardForm

Row = Mapping[str, object]
PAPER_RATES = (("win_rate", "Win", "win_"), ("win_tie_rate", "Win + tie", "win_tie_"))


def printed_board(standings: Mapping[str, Any], rows: Sequence[Row], form: BoardForm) -> str:
    """A board overall as papers print it: ranks, ratings, rates and mean scores with 95 % intervals.

    `rows` are its flat rows; `form` is LaTeX or Markdown.
    """
    overall = [row for row in rows if row["domain"] == OVERALL]
    return printed(_table(standings, overall), Printed(form.value))


def _table(standings: Mapping[str, Any], rows: Sequence[Row]) -> PaperTable:
    metrics = sorted({metric for line in standings["lines"][OVERALL] for metric in line["scores"]})
    rated = any(row["rating"] is not None for row in rows)
    figures = [
        *([("rating", "Rating", "", Unit.POINTS)] if rated else []),
        *((key, label, prefix, Unit.SHARE) for key, label, prefix in PAPER_RATES),
        *((metric, metric, f"{metric}_", Unit.SHARE) for metric in metrics),
    ]
    columns = [
        *([Column(key="rank", header="Rank")] if rated else []),
        Column(key="system", header="System"),
        *(
            Column(
                key=key, header=label, unit=unit, best_first=True, bounds=(f"{prefix}lower", f"{prefix}upper")
            )
            for key, label, prefix, unit in figures
        ),
    ]
    facts = standings["facts"]
    judge = " ".join(filter(None, (facts.get("judge"), f"({facts['model']})" if facts.get("model") else "")))
    return PaperTable(
        columns=tuple(columns),
        rows=tuple(
            (
                *([_ranks(row)] if rated else []),
                str(row["system"]),
                *(_measured(row, key, prefix) for key, _, prefix, _ in figures),
            )
            for row in rows
        ),
        notes=(
            f"{standings.get('title') or standings['name']}. Judge: {judge}. In brackets 95 % intervals.",
        ),
    )


def _ranks(row: Row) -> str:
    ends = dict.fromkeys(str(row[end]) for end in ("rank_lower", "rank_upper") if row[end] is not None)
    return "–".join(ends) or "–"


def _measured(row: Row, key: str, prefix: str) -> Measured:
    value, lower, upper = (
        figure if isinstance(figure, int | float) else None
        for figure in (row[key], row[f"{prefix}lower"], row[f"{prefix}upper"])
    )
    return Measured(value=value, interval=None if lower is None or upper is None else Interval(lower, upper))
