"""Table of the standings: the registry's columns with their cells, and expandable rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from markupsafe import Markup

from arena.formats import Bounded, points, whole
from arena.html_pages import macro
from arena.models.boards import OVERALL, BoardView, Line
from arena.services.boards.metric_columns import column_metrics, metric_columns, usual_metrics
from arena.site.boards.standings_cells import (
    Scale,
    battles_cell,
    brackets,
    declines_cells,
    drawn,
    outcome_cell,
    rate_cell,
    rating_cell,
    reported_cells,
    score_cell,
    system_cell,
)
from arena.site.ui.html import Child, link
from data.text import percent_figure
from judges.metrics.registry import covering
from leaderboard.standings.columns import BoardColumn, Surface, Unit, column_named, columns_on

LEFT = frozenset({"rank", "system", "organisation", "licence", "rating", "win_tie_rate"})
CLASSES = {"rank": "aa-number", "rating": "aa-bar", "win_tie_rate": "aa-outcome"}
ALWAYS = frozenset({"rank", "system"})
SHRUNK = "Rating, shrunk towards overall"
Value = Bounded | float | str | None


VALUES: Mapping[str, Callable[[Line], Value]] = {
    "rank": lambda line: None if line.is_reference else line.rank_lower,
    "rating": lambda line: line.rating,
    "win_rate": lambda line: line.win,
    "win_tie_rate": lambda line: line.win_tie,
    "battles": lambda line: None if line.is_reference else line.rates.battles,
}
"""Columns whose values the board view computes; all others read the standings."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the page: its spec, its cells, and the value for sorting and files."""

    spec: BoardColumn
    cell: Callable[[Line], Child]
    value: Callable[[Line], Value]

    @property
    def name(self) -> str:
        """Name in the picker."""
        return self.spec.title

    def bounded(self, line: Line) -> Bounded | None:
        """Return a figure of a line with its interval, if it has one."""
        value = self.value(line)
        if isinstance(value, str):
            return None
        return Bounded(value=value) if isinstance(value, int | float) else value

    @property
    def heading_classes(self) -> str:
        """Return the CSS classes of its heading."""
        side = "aa-left " if self.spec.name in LEFT else "aa-covers " if self.spec.name in covering() else ""
        return f"{side}aa-c-{self.spec.name.replace('_', '-')}"

    @property
    def classes(self) -> str:
        """Return the CSS classes of its cells."""
        return f"{CLASSES.get(self.spec.name, '')} {self.heading_classes}".strip()


@dataclass(frozen=True, slots=True)
class Order:
    """Sort column and whether it is reversed; "" is the board's own order."""

    key: str = ""
    turned: bool = False

    @classmethod
    def of(cls, word: str) -> "Order":
        """Parse the order in an address: a column's key, after a dash if reversed."""
        return cls(word.removeprefix("-"), word.startswith("-"))

    @property
    def word(self) -> str:
        """The order in an address."""
        return f"-{self.key}" if self.turned else self.key


class Table:
    """Columns that the lines of a board can fill, with the scale that their cells share."""

    def __init__(
        self,
        view: BoardView,
        domain: str,
        lines: Sequence[Line],
        marks: Mapping[str, tuple[str, str]],
        *,
        links: bool = True,
    ) -> None:
        reference = view.held(domain)
        ratings = [line.rating for line in lines if line.rating is not None]
        self.scale = scale = Scale.around([*ratings, *([reference] if reference else [])])
        joints = dict(zip((line.system for line in lines), brackets(lines), strict=True))
        self._cells: Mapping[str, Callable[[Line], Child]] = {
            "rank": lambda line: drawn("rank", line, joints.get(line.system, ()), marks.get(line.system)),
            "system": lambda line: system_cell(view, line, links=links, overall=domain == OVERALL),
            "rating": lambda line: rating_cell(line, scale, None if reference is None else reference.value),
            "win_rate": rate_cell,
            "win_tie_rate": outcome_cell,
            "battles": battles_cell,
            **declines_cells(),
            **reported_cells(view),
        }
        columns = map(self._column, _specs(domain, lines))
        self.columns = [column for column in columns if any(column.value(line) is not None for line in lines)]

    def _column(self, spec: BoardColumn) -> Column:
        metric = column_metrics().get(spec.name)
        value = VALUES.get(spec.name) or (
            partial(Line.mean, info=metric) if metric else partial(_value, spec)
        )
        cell = self._cells.get(spec.name, lambda line: _cell_of(spec.unit, value(line)))
        return Column(spec, cell, value)


def columns_of(view: BoardView, domain: str, lines: Sequence[Line]) -> list[Column]:
    """Return the columns that the lines of a board can fill, in the order of the table."""
    return Table(view, domain, lines, {}).columns


def _specs(domain: str, lines: Sequence[Line]) -> Iterator[BoardColumn]:
    scored = {name for line in lines for name in line.scores}
    specs = [*columns_on(Surface.PAGES), *metric_columns(scored)]
    shrunk = domain != OVERALL and any(line.own_evidence is not None for line in lines)
    for spec in sorted(specs, key=lambda spec: spec.place or len(specs)):
        yield replace(spec, short=SHRUNK) if shrunk and spec.name == "rating" else spec


def _value(spec: BoardColumn, line: Line) -> Value:
    if spec.ends is None or column_named(spec.name) is None:
        return line.scores.get(spec.name) if spec.ends else spec.read(line.facts)
    value, *ends = (
        column.read(line.facts) for name in (spec.name, *spec.ends) if (column := column_named(name))
    )
    return None if value is None else Bounded(value=value, lower=ends[0], upper=ends[1])


def _cell_of(unit: Unit, value: Value) -> Child:
    if isinstance(value, Bounded) or (value is None and unit is Unit.NUMBER):
        text = points if unit is Unit.POINTS else "{:.4g}".format
        return score_cell(value, None if unit is Unit.SHARE else text)
    if isinstance(value, str):
        return value
    if value is None:
        return "–"
    return percent_figure(value) if unit is Unit.SHARE else whole(value)


def columns_to_choose(view: BoardView) -> tuple[str, ...]:
    """Return the columns that a reader can toggle: all of the board's except rank and system."""
    lines = [line for part in view.lines.values() for line in part]
    columns = columns_of(view, OVERALL, lines)
    return tuple(column.name for column in columns if column.spec.name not in ALWAYS)


def usual_columns(view: BoardView) -> frozenset[str]:
    """Return the default columns, whether or not the board can fill them."""
    metrics = usual_metrics(view.reference_by, view.scored)
    usual = {spec.title for spec in columns_on(Surface.PAGES) if spec.usual}
    return frozenset(usual | {info.column.heading for info in metrics if info.column is not None})


def orders(view: BoardView, domain: str) -> Mapping[str, str]:
    """Return the sort orders of a domain's rows: keys to names."""
    return {column.spec.key: column.name for column in columns_of(view, domain, view.lines.get(domain, ()))}


def in_order(view: BoardView, domain: str, lines: Sequence[Line], order: Order) -> tuple[Line, ...]:
    """Sort lines by a column (stable); lines without a value come last in both directions."""
    column = next((spec for spec in columns_of(view, domain, lines) if spec.spec.key == order.key), None)
    if column is None:
        return tuple(lines)
    values = {line.system: _plain(column.value(line)) for line in lines}
    known = [line for line in lines if values[line.system] is not None]
    falling = column.spec.least_first is order.turned
    known.sort(key=lambda line: values[line.system] or 0, reverse=falling)
    return (*known, *(line for line in lines if values[line.system] is None))


def _plain(value: Value) -> float | str | None:
    if isinstance(value, Bounded):
        return value.value
    return value.casefold() if isinstance(value, str) else value


def standings_table(
    view: BoardView,
    domain: str,
    lines: Sequence[Line],
    *,
    chosen: Sequence[str] | None = None,
    order: Order | None = None,
    address: Mapping[str, str] | None = None,
    marks: Mapping[str, tuple[str, str]] | None = None,
    in_file: bool = False,
) -> Markup:
    """Render the table of a board in one domain, one expandable row per line.

    Only chosen columns are sent; None chooses the default ones. With an `address` (the page's query),
    headings are links that sort by their column, and `order` is the current order of the lines. `marks`
    appear next to ranks, each with its meaning. A table `in_file` has no links, its rows do not expand, and
    it scrolls by keyboard.
    """
    table = Table(view, domain, lines, marks or {}, links=not in_file)
    columns = _choose(table.columns, view, chosen)
    by_column = address is not None

    def cell(column: Column, line: Line) -> tuple[Column, Child, float | str | None]:
        value = _plain(column.value(line)) if by_column else None
        return column, macro("cell", column.cell(line)), f"{value:.9g}" if isinstance(value, float) else value

    count = sum(not line.is_reference for line in lines)
    lanes = max((joint.lane + 1 for joints in brackets(lines) for joint in joints), default=0)
    classes = {"aa-by-column": bool(order and order.key), "aa-marked": bool(marks)}
    return drawn(
        "standings",
        {
            "caption": f"{view.title}: {view.label(domain)}. {count} system{'' if count == 1 else 's'}.",
            "classes": " ".join(["aa-board aa-standings", *(name for name, on in classes.items() if on)]),
            "style": f"--lanes:{lanes}",
            "scrolls": in_file,
            "legend": any(column.spec.name == "win_tie_rate" for column in columns),
            "ranked": domain == OVERALL and count > 1 and any(line.rating for line in lines),
            "headings": [_heading(column, order or Order(), address, table) for column in columns],
            "rows": [
                {
                    "line": line,
                    "cells": [cell(column, line) for column in columns],
                    "opens": ""
                    if in_file or line.is_reference
                    else link("row", board=view.name, domain=domain, id=line.system),
                }
                for line in lines
            ],
        },
    )


def _heading(
    column: Column, order: Order, address: Mapping[str, str] | None, table: Table
) -> Mapping[str, object]:
    href = sorted_by = ""
    if address is not None:
        rest = {name: value for name, value in address.items() if name != "sort"}
        wanted = Order(column.spec.key, turned=order.key == column.spec.key and not order.turned)
        if column.spec.name != "rank" or wanted.turned:
            rest["sort"] = wanted.word
        href = link("", **rest)
        if order.key == column.spec.key:
            sorted_by = "descending" if column.spec.least_first is order.turned else "ascending"
    return {
        "text": f"{column.spec.short or column.spec.title}{', %' if column.spec.unit is Unit.SHARE else ''}",
        "meaning": column.spec.explained,
        "classes": column.heading_classes,
        "href": href,
        "falling": not column.spec.least_first,
        "sorted": sorted_by,
        "axis": table.scale.axis(points) if column.spec.name == "rating" else None,
    }


def _choose(columns: Sequence[Column], view: BoardView, chosen: Sequence[str] | None) -> list[Column]:
    names = usual_columns(view) if chosen is None else chosen
    return [column for column in columns if column.spec.name in ALWAYS or column.name in names]
