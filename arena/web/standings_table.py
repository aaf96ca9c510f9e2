"""The standings as one table: columns that a reader chooses, rows that a phone has room for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from arena.web.cells import (
    Scale,
    bar_cell,
    bare,
    battles_cell,
    classed,
    count_cell,
    domains_cell,
    estimate_cell,
    rank_cell,
    share_cell,
    system_cell,
)
from arena.web.figures import points
from arena.web.markup import element
from arena.web.texts import DEFINITIONS
from arena.web.views import OVERALL, BoardView, Bounded, Line

LEAST_DOMAINS = 2
SCORES: Mapping[str, str] = {
    "Aspects": "coverage-icat-s",
    "Sub-questions": "answer-crux",
    "Context": "context-crux",
}
UNASKED = frozenset(SCORES)
"""Columns that a reader has to ask for: embedded versions of these go by words and can mislead."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table; `priority` 2 gives way on a phone, 3 on a tablet."""

    name: str
    cell: Callable[[Line], Element]
    priority: int = 1

    @property
    def classes(self) -> str:
        """What hides it where there is little room."""
        return {1: "", 2: "aa-second", 3: "aa-third"}[self.priority]


def columns_to_choose(view: BoardView) -> tuple[str, ...]:
    """The columns that a board has and a reader may switch off or on; rank and system always stand."""
    lines = [line for part in view.lines.values() for line in part]
    names = (column.name for column in _columns(view, OVERALL, lines))
    return tuple(name for name in names if name not in {"Rank", "System"})


def columns_by_default(view: BoardView) -> tuple[str, ...]:
    """The columns that stand until a reader chooses."""
    return tuple(name for name in columns_to_choose(view) if name not in UNASKED)


def standings_table(
    view: BoardView,
    domain: str,
    lines: Sequence[Line],
    *,
    chosen: Sequence[str] | None = None,
    note: str = "",
) -> Element:
    """The table of a board in one domain, best system first.

    Args:
        view: The board.
        domain: Its id, or overall.
        lines: The rows.
        chosen: Names of columns; others are not even sent. None for the usual ones.
        note: What the caption says further.
    """
    kept = {"Rank", "System", *(columns_by_default(view) if chosen is None else chosen)}
    columns = [column for column in _columns(view, domain, lines) if column.name in kept]
    head = element("tr", *(_heading(column) for column in columns))
    body = [
        element(
            "tr", *(classed(column.cell(line), column.classes) for column in columns), **_start(line, before)
        )
        for line, before in zip(lines, (None, *lines), strict=False)
    ]
    caption = (
        f"{view.title}: {view.label(domain)}. {len(lines)} systems. Shares in per cent; small figures are "
        f"95 % intervals. {note}"
    )
    table = element(
        "table",
        element("caption", caption.strip()),
        element("thead", head),
        element("tbody", *body),
        class_="aa-board aa-standings",
    )
    return element("div", table, class_="aa-wrap")


def _columns(view: BoardView, domain: str, lines: Sequence[Line]) -> list[Column]:
    ratings = [line.rating for line in lines if line.rating is not None]
    shares = [line.win_tie for line in lines if line.win_tie is not None]
    scale = Scale.around(ratings or shares)
    columns = [Column("Rank", rank_cell)] if any(line.rank_lower is not None for line in lines) else []
    columns.append(Column("System", lambda line: system_cell(view, line)))
    if ratings:
        columns.append(Column("Rating", lambda line: estimate_cell(line.rating, points)))
        columns.append(Column("Interval", lambda line: bar_cell(line.rating, scale)))
    columns.append(Column("Win", lambda line: estimate_cell(line.win, bare), priority=2))
    columns.append(Column("Win + tie", lambda line: estimate_cell(line.win_tie, bare)))
    if not ratings:
        columns.append(Column("Interval", lambda line: bar_cell(line.win_tie, scale)))
    if domain == OVERALL and len(view.domains) >= LEAST_DOMAINS:
        columns.append(Column("Domains", lambda line: domains_cell(_by_domain(view, line)), priority=3))
    return columns + _further(lines)


def _further(lines: Sequence[Line]) -> list[Column]:
    """Columns that only some boards have."""
    columns = []
    if any(line.comprehensiveness is not None for line in lines):
        columns.append(
            Column("Comprehensive", lambda line: estimate_cell(line.comprehensiveness, bare), priority=2)
        )
    if any(line.factuality is not None for line in lines):
        columns.append(Column("Factual", lambda line: estimate_cell(line.factuality, bare), priority=2))
    for name, metric in SCORES.items():
        if any(metric in line.scores for line in lines):
            columns.append(Column(name, _score(metric), priority=2))
    if any(line.no_answer is not None for line in lines):
        columns.append(Column("No answer", lambda line: share_cell(line.no_answer), priority=2))
    if any(line.words is not None for line in lines):
        columns.append(Column("Words", lambda line: count_cell(line.words), priority=3))
    if any(line.attempts is not None for line in lines):
        columns.append(Column("Attempts", lambda line: count_cell(line.attempts), priority=3))
    return [*columns, Column("Battles", battles_cell, priority=2)]


def _score(metric: str) -> Callable[[Line], Element]:
    return lambda line: estimate_cell(line.scores.get(metric), bare)


def _by_domain(view: BoardView, of: Line) -> Mapping[str, float | None]:
    found = {view.label(domain): view.line(of.system, domain) for domain in view.domains}
    return {label: _value(None if line is None else line.win_tie) for label, line in found.items()}


def _value(share: Bounded | None) -> float | None:
    return None if share is None else share.value


def _heading(column: Column) -> Element:
    name = element("abbr", column.name, title=DEFINITIONS[column.name])
    side = "aa-left" if column.name in {"Rank", "System", "Domains"} else ""
    return element("th", name, scope="col", class_=f"{column.classes} {side}".strip())


def _start(line: Line, before: Line | None) -> dict[str, str]:
    """Rows that begin a tie group carry a stronger rule."""
    if before is not None and line.tie_group != before.tie_group:
        return {"class_": "aa-group"}
    return {}
