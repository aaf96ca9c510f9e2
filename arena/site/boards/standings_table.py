"""The table of the standings: the columns of the registry, each with its cell, and a row that opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from xml.etree.ElementTree import Element

from arena.services.boards.metric_columns import metric_columns, shown_metrics, usual_metrics
from arena.site.boards.row_detail import Lost, row_detail
from arena.site.boards.self_reported_columns import said_cells
from arena.site.boards.standings_cells import (
    Scale,
    axis,
    bare,
    battles_cell,
    brackets,
    count_cell,
    domains_cell,
    domains_style,
    outcome_cell,
    rank_cell,
    rate_cell,
    rating_cell,
    score_cell,
    share_cell,
    system_cell,
)
from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.ui.formats import Bounded, points
from arena.site.ui.markup import element, explained
from arena.site.ui.tables import link
from leaderboard.standings.columns import BoardColumn, Surface, Unit, columns_on

LEAST_DOMAINS = 2
LEFT = frozenset({"rank", "system", "domains", "organisation", "licence", "rating", "win_tie_rate"})
ALWAYS = frozenset({"rank", "system"})
DRAWN = "Rating, drawn towards overall"
Value = Bounded | float | str | None


def _corrected(line: Line) -> Bounded | None:
    """Return the rating as people would give it, which is known overall only."""
    row = line.facts.get("people") or {}
    value = row.get("rating")
    return None if value is None else Bounded(value=value, lower=row["lower"], upper=row["upper"])


VALUES: Mapping[str, Callable[[Line], Value]] = {
    "rank": lambda line: None if line.is_reference else line.rank_lower,
    "rating": lambda line: line.rating,
    "win_rate": lambda line: line.win,
    "win_tie_rate": lambda line: line.win_tie,
    "battles": lambda line: None if line.is_reference else line.rates.battles,
    "corrected_rating": _corrected,
}
"""Values that change with whose ratings are shown; others are as the standings have them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the page: what it is, its cells, and the value that rows are sorted by and files hold."""

    spec: BoardColumn
    cell: Callable[[Line], Element]
    value: Callable[[Line], Value]

    @property
    def name(self) -> str:
        """Name in the picker."""
        return self.spec.title

    @property
    def key(self) -> str:
        """Its name in an address."""
        return self.spec.key

    @property
    def heading(self) -> str:
        """Heading of the column."""
        return self.spec.short or self.spec.title

    def text(self, line: Line) -> Element:
        """Its cell, with what it holds for where the heading is out of sight."""
        cell = self.cell(line)
        side = "aa-left" if self.spec.name in LEFT else ""
        cell.set("class", f"{cell.get('class', '')} {side} aa-c-{self.spec.name.replace('_', '-')}".strip())
        cell.set("data-label", self.name)
        return cell


@dataclass(frozen=True, slots=True)
class Order:
    """By which column the rows stand, and whether the other way round than usual; "" for the board's own."""

    key: str = ""
    turned: bool = False

    @classmethod
    def of(cls, word: str) -> Order:
        """Return the order that an address names: a column's key, after a dash where it is turned round."""
        return cls(word.removeprefix("-"), word.startswith("-"))

    @property
    def word(self) -> str:
        """The order in an address."""
        return f"-{self.key}" if self.turned else self.key


def columns_of(
    view: BoardView,
    domain: str,
    lines: Sequence[Line],
    marks: Mapping[str, tuple[str, str]] | None = None,
) -> list[Column]:
    """Every column that the lines of a board can fill, in the order of the table."""
    beside = marks or {}
    ratings = [line.rating for line in lines if line.rating is not None]
    reference = view.line(view.reference, domain)
    held = None if reference is None else reference.rating
    scale = Scale.around([*ratings, *([held] if held else [])])
    joints = dict(zip((line.system for line in lines), brackets(lines), strict=True))
    cells: Mapping[str, Callable[[Line], Element]] = {
        "rank": lambda line: rank_cell(line, joints.get(line.system, ()), beside.get(line.system)),
        "system": lambda line: system_cell(view, line),
        "rating": lambda line: rating_cell(line, scale, None if held is None else held.value),
        "win_rate": lambda line: rate_cell(line, line.win),
        "win_tie_rate": outcome_cell,
        "domains": lambda line: domains_cell(_by_domain(view, line)),
        "battles": battles_cell,
        "corrected_rating": lambda line: score_cell(_corrected(line), points),
        **said_cells(view),
    }
    columns = [_column(spec, cells) for spec in _specs(domain, lines)]
    return [column for column in columns if _has(view, domain, column, lines)]


def _specs(domain: str, lines: Sequence[Line]) -> Iterator[BoardColumn]:
    scored = {name for line in lines for name in line.scores}
    every = [*columns_on(Surface.PAGES), *metric_columns(scored)]
    drawn = domain != OVERALL and any(line.own_evidence is not None for line in lines)
    for spec in sorted(every, key=lambda spec: spec.place or len(every)):
        yield replace(spec, short=DRAWN) if drawn and spec.name == "rating" else spec


def _column(spec: BoardColumn, cells: Mapping[str, Callable[[Line], Element]]) -> Column:
    metric = shown_metrics().get(spec.name)
    value = VALUES.get(spec.name) or (partial(Line.mean, info=metric) if metric else partial(_value, spec))
    cell = cells.get(spec.name, lambda line: _cell_of(spec.unit, value(line)))
    return Column(spec, cell, value)


def _value(spec: BoardColumn, line: Line) -> Value:
    """Return the value of the standings; for a mean score with its interval."""
    return line.scores.get(spec.name) if spec.ends else spec.read(line.facts)


def _cell_of(unit: Unit, value: Value) -> Element:
    """Return a cell in the way of a column's unit."""
    if isinstance(value, Bounded) or (value is None and unit is Unit.NUMBER):
        return score_cell(value, bare if unit is Unit.SHARE else "{:.4g}".format)
    if isinstance(value, str):
        return element("td", value)
    if unit is Unit.SHARE:
        return share_cell(value)
    return count_cell(value)


def _has(view: BoardView, domain: str, column: Column, lines: Sequence[Line]) -> bool:
    if column.spec.name == "domains":
        return domain == OVERALL and len(view.domains) >= LEAST_DOMAINS
    return any(column.value(line) is not None for line in lines)


def _by_domain(view: BoardView, of: Line) -> Mapping[str, float | None]:
    lines = {view.label(domain): view.line(of.system, domain) for domain in view.domains}
    return {
        label: None if line is None or line.win_tie is None else line.win_tie.value
        for label, line in lines.items()
    }


def columns_to_choose(view: BoardView) -> tuple[str, ...]:
    """Return the columns that a board has and a reader may switch off or on; rank and system always stand."""
    lines = [line for part in view.lines.values() for line in part]
    found = columns_of(view, OVERALL, lines)
    return tuple(column.name for column in found if column.spec.name not in ALWAYS)


def usual_columns(view: BoardView) -> tuple[str, ...]:
    """Of columns to choose from those that stand until a reader chooses."""
    metrics = usual_metrics(view.reference_by, view.scored)
    usual = {spec.title for spec in columns_on(Surface.PAGES) if spec.usual}
    usual |= {info.column.heading for info in metrics if info.column is not None}
    return tuple(name for name in columns_to_choose(view) if name in usual)


def orders(view: BoardView, domain: str) -> Mapping[str, str]:
    """Return the sort orders of a domain's rows: keys to names."""
    return {
        column.key: column.name
        for column in columns_of(view, domain, view.rows(domain))
        if column.spec.name != "domains"
    }


def in_order(view: BoardView, domain: str, lines: Sequence[Line], order: Order) -> tuple[Line, ...]:
    """Lines by a column, equal ones as they stood; those without a value come last, either way round."""
    column = next((one for one in columns_of(view, domain, lines) if one.key == order.key), None)
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
    lost: Lost | None = None,
    marks: Mapping[str, tuple[str, str]] | None = None,
) -> Element:
    """Return the table of a board in one domain, in the order of its lines; each is a row that opens.

    Columns that are not chosen are not even sent; None chooses the usual ones. With an address, the query of
    the page, headings are links that sort by their column; `order` is then what the lines are sorted by.
    `lost` has questions that each system lost; without it rows do not open. `marks` stand beside ranks, each
    with what it means.
    """
    columns = _kept(view, domain, lines, chosen, marks)
    bodies = [_body(view, domain, line, columns, lost, sorted_by=address is not None) for line in lines]
    shown = sum(not line.is_reference for line in lines)
    caption = f"{view.title}: {view.label(domain)}. {shown} system{'' if shown == 1 else 's'}."
    heads = [_heading(column, order or Order(), address, lines, view, domain) for column in columns]
    table = element(
        "table",
        element("caption", caption, class_="aa-unseen"),
        element("thead", element("tr", *heads)),
        *bodies,
        class_=" ".join(
            [
                "aa-board aa-standings",
                *(["aa-by-column"] if order is not None and order.key else []),
                *(["aa-marked"] if marks else []),
            ]
        ),
    )
    lanes = max((joint.lane + 1 for joints in brackets(lines) for joint in joints), default=0)
    domains = domains_style(len(view.domains)) if len(view.domains) >= LEAST_DOMAINS else ""
    return element("div", table, class_="aa-wrap", style=f"--lanes:{lanes};{domains}".strip(";"))


def _body(
    view: BoardView,
    domain: str,
    line: Line,
    columns: Sequence[Column],
    lost: Lost | None,
    *,
    sorted_by: bool,
) -> Element:
    cells = []
    for column in columns:
        cell = column.text(line)
        if sorted_by and (value := _plain(column.value(line))) is not None:
            cell.set("data-value", value if isinstance(value, str) else f"{value:.9g}")
        cells.append(cell)
    rows = [element("tr", *cells)]
    if lost is not None and not line.is_reference:
        opened = element("td", row_detail(view, domain, line, lost), colspan=str(len(columns)))
        rows.append(element("tr", opened, class_="aa-more"))
    return element("tbody", *rows, class_="aa-line" if line.is_reference else "aa-entrant")


def shown_rows(
    view: BoardView, domain: str, lines: Sequence[Line], chosen: Sequence[str]
) -> list[dict[str, float | str | None]]:
    """Return the rows of the table as it is shown, for files: values in full, shares 0–1, ends of intervals.

    The reference has no place.
    """
    rows: list[dict[str, float | str | None]] = [
        {
            "domain": domain,
            "rank_lower": None if line.is_reference else line.rank_lower,
            "rank_upper": None if line.is_reference else line.rank_upper,
            "letters": None if line.is_reference else line.letters,
            "system": line.system,
            **({"mark": view.marks.get(line.system, "")} if view.marks else {}),
        }
        for line in lines
    ]
    for column in _kept(view, domain, lines, chosen):
        if column.spec.name in ALWAYS or column.spec.name == "domains":
            continue
        name, values = column.key.replace("-", "_"), [column.value(line) for line in lines]
        bounded = any(isinstance(value, Bounded) for value in values)
        for row, value in zip(rows, values, strict=True):
            row[name] = value.value if isinstance(value, Bounded) else value
            if bounded:
                ends = (value.lower, value.upper) if isinstance(value, Bounded) else (None, None)
                row[f"{name}_lower"], row[f"{name}_upper"] = ends
    return rows


def _kept(
    view: BoardView,
    domain: str,
    lines: Sequence[Line],
    chosen: Sequence[str] | None,
    marks: Mapping[str, tuple[str, str]] | None = None,
) -> list[Column]:
    names = usual_columns(view) if chosen is None else chosen
    return [
        column
        for column in columns_of(view, domain, lines, marks)
        if column.spec.name in ALWAYS or column.name in names
    ]


def _heading(
    column: Column,
    order: Order,
    address: Mapping[str, str] | None,
    lines: Sequence[Line],
    view: BoardView,
    domain: str,
) -> Element:
    side = "aa-left" if column.spec.name in LEFT else ""
    head = element("th", scope="col", class_=f"{side} aa-c-{column.spec.name.replace('_', '-')}".strip())
    if address is None or column.spec.name == "domains":
        head.append(explained(column.heading, column.spec.explained))
    else:
        head.append(_sorting(column, order, address))
        head.set("data-falling", "no" if column.spec.least_first else "yes")
        if order.key == column.key:
            falling = column.spec.least_first is order.turned
            head.set("aria-sort", "descending" if falling else "ascending")
    if column.spec.name == "rating":
        head.append(_axis(lines, view.line(view.reference, domain)))
    return head


def _axis(lines: Sequence[Line], reference: Line | None) -> Element:
    shown = [*lines, *([reference] if reference else [])]
    return axis(Scale.around([line.rating for line in shown if line.rating is not None]), points)


def _sorting(column: Column, order: Order, address: Mapping[str, str]) -> Element:
    """Return the heading as a link that sorts by its column, or turns the order round."""
    rest = {name: value for name, value in address.items() if name != "sort"}
    wanted = Order(column.key, turned=order.key == column.key and not order.turned)
    if column.spec.name != "rank" or wanted.turned:
        rest["sort"] = wanted.word
    tip = element("span", column.spec.explained, class_="aa-tip", role="tooltip", aria_hidden="true")
    return element(
        "a",
        column.heading,
        tip,
        href=link("", **rest),
        target="_self",
        class_="aa-term aa-sort",
        aria_description=f"Sort by it. {column.spec.explained}",
    )
