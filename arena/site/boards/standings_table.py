"""The columns of the standings: what each shows and is sorted by, and the table that they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from xml.etree.ElementTree import Element

from arena.site.boards.said_part import said_columns
from arena.site.boards.standings_cells import (
    Scale,
    axis,
    bar_cell,
    bare,
    battles_cell,
    classed,
    count_cell,
    cuts,
    domains_cell,
    domains_style,
    estimate_cell,
    rank_cell,
    rate_cell,
    share_cell,
    system_cell,
)
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.ui.formats import Bounded, points, whole_percent
from arena.site.ui.help_texts import DEFINITIONS
from arena.site.ui.markup import element, explained
from arena.site.ui.tables import link, rows_table

EVEN = 0.5
SMALL_PRINT = "Shares in per cent; small figures are 95 % intervals."
LEAST_DOMAINS = 2
SCORES: Mapping[str, str] = {
    "Aspects": "coverage-icat-s",
    "Sub-questions": "answer-crux",
    "Context": "context-crux",
    "Citations": "citation-support",
    "Nuggets": "nuggets",
}
LEFT = frozenset({"Rank", "System", "Domains", "Interval", "Organisation", "Licence"})
SAID = ("Organisation", "Licence", "Released", "Weights", "Parameters", "Tokens", "USD", "ms")
SAID_NOTE = f"{', '.join(SAID[:-1])} and {SAID[-1]} are reported by the teams, and checked by nobody."
UNASKED = frozenset({*SCORES, *SAID, "Attempts"})
"""Columns that a reader has to ask for: embedded metrics go by words, and what teams say nobody checks."""
LEAST_FIRST = frozenset(
    {"Rank", "System", "No answer", "Organisation", "Licence", "Weights", "Parameters", "Tokens", "USD", "ms"}
)
"""Columns that are sorted from the least, others from the most or the newest."""
ALIASES: Mapping[str, str] = {"milliseconds": "ms"}
"""What addresses called a column before."""
Value = Bounded | float | str | None
COMPREHENSIVE: Callable[[Line], Bounded | None] = attrgetter("comprehensiveness")
FACTUAL: Callable[[Line], Bounded | None] = attrgetter("factuality")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table; `priority` 2 gives way on a phone, 3 on a tablet.

    `value` is what the table is sorted by and what files hold; a column without it cannot be sorted by.
    """

    name: str
    cell: Callable[[Line], Element]
    value: Callable[[Line], Value] | None = None
    priority: int = 1
    axis: tuple[Scale, Callable[[float], str]] | None = None

    @property
    def classes(self) -> str:
        """What hides it where there is little room."""
        return {1: "", 2: "aa-second", 3: "aa-third"}[self.priority]

    @property
    def key(self) -> str:
        """Its name in an address."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


@dataclass(frozen=True, slots=True)
class Order:
    """By which column the rows stand, and whether the other way round than usual; "" for the board's own."""

    key: str = ""
    turned: bool = False

    @classmethod
    def of(cls, word: str) -> Order:
        """The order that an address names: a column's key, after a dash where it is turned round."""
        key = word.removeprefix("-")
        return cls(ALIASES.get(key, key), word.startswith("-"))

    @property
    def word(self) -> str:
        """The order in an address."""
        return f"-{self.key}" if self.turned else self.key


def columns_of(view: BoardView, domain: str, lines: Sequence[Line]) -> list[Column]:
    """Every column that the lines of a board can fill, in the order of the table."""
    ratings = [line.rating for line in lines if line.rating is not None]
    shares = [line.win_tie for line in lines if line.win_tie is not None]
    reference = view.line(view.reference, domain)
    held = reference.rating if ratings and reference is not None else None
    scale = Scale.around([*(ratings or shares), *filter(None, [held])])
    mark = held.value if held is not None else None if ratings else EVEN
    interval = Column(
        "Interval",
        lambda line: bar_cell(line.rating if ratings else line.win_tie, scale, mark=mark),
        axis=(scale, points if ratings else whole_percent),
    )
    columns = (
        [Column("Rank", rank_cell, lambda line: line.rank_lower)]
        if any(line.rank_lower is not None for line in lines)
        else []
    )
    columns.append(Column("System", lambda line: system_cell(view, line), lambda line: line.system))
    if ratings:
        columns.append(
            Column("Rating", lambda line: estimate_cell(line.rating, points), lambda line: line.rating)
        )
        columns.append(interval)
    columns.append(Column("Win", lambda line: rate_cell(line, line.win), lambda line: line.win, priority=2))
    columns.append(Column("Win + tie", lambda line: rate_cell(line, line.win_tie), lambda line: line.win_tie))
    if not ratings:
        columns.append(interval)
    if domain == OVERALL and len(view.domains) >= LEAST_DOMAINS:
        columns.append(Column("Domains", lambda line: domains_cell(_by_domain(view, line)), priority=3))
    columns += _further(lines)
    columns += [Column(name, one.cell, one.value) for name, one in said_columns(view).items()]
    return [*columns, Column("Battles", battles_cell, lambda line: line.battles, priority=2)]


def _further(lines: Sequence[Line]) -> list[Column]:
    """Columns that only some boards have."""
    columns = [
        Column("Comprehensive", _estimated(COMPREHENSIVE), COMPREHENSIVE, priority=2),
        Column("Factual", _estimated(FACTUAL), FACTUAL, priority=2),
        *(
            Column(name, _estimated(_score(metric)), _score(metric), priority=2)
            for name, metric in SCORES.items()
        ),
        Column("No answer", lambda line: share_cell(line.no_answer), lambda line: line.no_answer, priority=2),
        Column("Words", lambda line: count_cell(line.words), lambda line: line.words, priority=3),
        Column("Attempts", lambda line: count_cell(line.attempts), lambda line: line.attempts, priority=3),
    ]
    return [
        column
        for column in columns
        if column.value is not None and any(column.value(line) is not None for line in lines)
    ]


def _score(metric: str) -> Callable[[Line], Bounded | None]:
    return lambda line: line.scores.get(metric)


def _estimated(value: Callable[[Line], Bounded | None]) -> Callable[[Line], Element]:
    return lambda line: estimate_cell(value(line), bare)


def _by_domain(view: BoardView, of: Line) -> Mapping[str, float | None]:
    lines = {view.label(domain): view.line(of.system, domain) for domain in view.domains}
    return {
        label: None if line is None or line.win_tie is None else line.win_tie.value
        for label, line in lines.items()
    }


def columns_to_choose(view: BoardView) -> tuple[str, ...]:
    """The columns that a board has and a reader may switch off or on; rank and system always stand."""
    lines = [line for part in view.lines.values() for line in part]
    names = (column.name for column in columns_of(view, OVERALL, lines))
    return tuple(name for name in names if name not in {"Rank", "System"})


def usual_columns(names: Iterable[str]) -> tuple[str, ...]:
    """Of columns to choose from those that stand until a reader chooses."""
    return tuple(name for name in names if name not in UNASKED)


def orders(view: BoardView, domain: str) -> Mapping[str, str]:
    """What the rows of a domain can be sorted by: keys to names."""
    columns = columns_of(view, domain, view.lines.get(domain, ()))
    return {column.key: column.name for column in columns if column.value is not None}


def in_order(view: BoardView, domain: str, lines: Sequence[Line], order: Order) -> tuple[Line, ...]:
    """Lines by a column, equal ones as they stood; those without a value come last, either way round."""
    column = next((one for one in columns_of(view, domain, lines) if one.key == order.key), None)
    if column is None or column.value is None:
        return tuple(lines)
    values = {line.system: _plain(column.value(line)) for line in lines}
    known = [line for line in lines if values[line.system] is not None]
    falling = (column.name not in LEAST_FIRST) is not order.turned
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
    note: str = "",
    order: Order | None = None,
    address: Mapping[str, str] | None = None,
) -> Element:
    """The table of a board in one domain, in the order of its lines.

    Columns that are not chosen are not even sent; None chooses the usual ones. The caption ends with the
    note. With an address, the query of the page, headings are links that sort by their column; `order` is
    then what the lines are sorted by.
    """
    columns = _kept(view, domain, lines, chosen)
    group_cuts = [False] * len(lines) if order is not None and order.key else cuts(lines)
    body = [
        element(
            "tr",
            *(_cell(column, line, sorted_by=address is not None) for column in columns),
            **({"class_": "aa-group"} if cut else {}),
        )
        for line, cut in zip(lines, group_cuts, strict=True)
    ]
    if said_columns(view).keys() & {column.name for column in columns}:
        note = f"{note} {SAID_NOTE}".strip()
    count = f"{len(lines)} system{'' if len(lines) == 1 else 's'}"
    caption = f"{view.title}: {view.label(domain)}. {count}. {SMALL_PRINT} {note}"
    heads = [_heading(column, order or Order(), address) for column in columns]
    style = {"style": domains_style(len(view.domains))} if len(view.domains) >= LEAST_DOMAINS else {}
    return rows_table(heads, body, caption=caption.strip(), classes="aa-standings", **style)


def shown_rows(
    view: BoardView, domain: str, lines: Sequence[Line], chosen: Sequence[str], ratings: str
) -> list[dict[str, float | str | None]]:
    """The rows of the table as it is shown, for files: values in full, shares 0–1, ends of intervals.

    `ratings` says whose they are.
    """
    rows: list[dict[str, float | str | None]] = [
        {
            "domain": domain,
            "ratings": ratings,
            "rank_lower": line.rank_lower,
            "rank_upper": line.rank_upper,
            "letters": line.letters,
            "system": line.system,
        }
        for line in lines
    ]
    for column in _kept(view, domain, lines, chosen):
        if column.value is None or column.name in {"Rank", "System"}:
            continue
        name, values = column.key.replace("-", "_"), [column.value(line) for line in lines]
        bounded = any(isinstance(value, Bounded) for value in values)
        for row, value in zip(rows, values, strict=True):
            row[name] = value.value if isinstance(value, Bounded) else value
            if bounded:
                ends = (value.lower, value.upper) if isinstance(value, Bounded) else (None, None)
                row[f"{name}_lower"], row[f"{name}_upper"] = ends
    return rows


def _kept(view: BoardView, domain: str, lines: Sequence[Line], chosen: Sequence[str] | None) -> list[Column]:
    names = {"Rank", "System", *(usual_columns(columns_to_choose(view)) if chosen is None else chosen)}
    return [column for column in columns_of(view, domain, lines) if column.name in names]


def _heading(column: Column, order: Order, address: Mapping[str, str] | None) -> Element:
    side = "aa-left" if column.name in LEFT else ""
    head = element("th", scope="col", class_=f"{column.classes} {side}".strip())
    meaning = DEFINITIONS[column.name]
    if address is None or column.value is None:
        head.append(explained(column.name, meaning))
    else:
        head.append(_sorting(column, meaning, order, address))
        head.set("data-falling", "no" if column.name in LEAST_FIRST else "yes")
        if order.key == column.key:
            falling = (column.name not in LEAST_FIRST) is not order.turned
            head.set("aria-sort", "descending" if falling else "ascending")
    if column.axis is not None:
        head.append(axis(*column.axis))
    return head


def _cell(column: Column, line: Line, *, sorted_by: bool) -> Element:
    """A cell, with the value that a browser sorts by where the table can be sorted."""
    cell = classed(column.cell(line), column.classes)
    if sorted_by and column.value is not None and (value := _plain(column.value(line))) is not None:
        cell.set("data-value", value if isinstance(value, str) else f"{value:.9g}")
    return cell


def _sorting(column: Column, meaning: str, order: Order, address: Mapping[str, str]) -> Element:
    """The heading as a link that sorts by its column, or turns the order round."""
    rest = {name: value for name, value in address.items() if name != "sort"}
    wanted = Order(column.key, turned=order.key == column.key and not order.turned)
    if column.name != "Rank" or wanted.turned:
        rest["sort"] = wanted.word
    tip = element("span", meaning, class_="aa-tip", role="tooltip", aria_hidden="true")
    return element(
        "a",
        column.name,
        tip,
        href=link("", **rest),
        target="_self",
        class_="aa-term aa-sort",
        aria_description=f"Sort by it. {meaning}",
    )
