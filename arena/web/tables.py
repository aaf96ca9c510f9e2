"""The standings as an HTML table that a phone, a projector and a screen reader can all show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from arena.web.markup import element
from arena.web.texts import DEFINITIONS, FLAGS
from arena.web.views import (
    OVERALL,
    BoardView,
    Bounded,
    Line,
    percent,
    points,
    range_of_shares,
    whole,
)


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places on a bar, in per cent of its width."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Sequence[Bounded]) -> Scale:
        """A scale that shows every value with its interval."""
        spans = [value.span for value in values] or [(0.0, 1.0)]
        low, high = min(low for low, _ in spans), max(high for _, high in spans)
        return cls(low, high if high > low else low + 1.0)

    def place(self, value: float) -> float:
        """Where a value stands."""
        return 100 * (value - self.low) / (self.high - self.low)


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


def link(page: str, **query: str) -> str:
    """A permalink to a page, relative to the site's root."""
    return f"./{page}?{urlencode(query)}" if query else f"./{page}"


def standings_table(view: BoardView, domain: str, lines: Sequence[Line]) -> Element:
    """The table of a board in one domain, best system first."""
    columns = _columns(view, lines)
    head = element("tr", *(_heading(column) for column in columns))
    body = [
        element(
            "tr", *(_classed(column.cell(line), column.classes) for column in columns), **_start(line, before)
        )
        for line, before in zip(lines, (None, *lines), strict=False)
    ]
    caption = f"{view.title}: {view.label(domain)}. Shares in per cent; small figures are 95 % intervals."
    table = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *body),
        class_="aa-board",
    )
    return element("div", table, class_="aa-wrap")


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, spare: int = 0) -> Element:
    """A table of figures as texts; its first column is the row's heading.

    Args:
        header: Names of the columns.
        rows: As many texts each.
        spare: How many of the last columns give way on a phone.
    """
    kept = len(header) - spare
    heads = [
        element("th", name, scope="col", class_=" ".join(_plain_classes(at, kept)))
        for at, name in enumerate(header)
    ]
    body = [
        element(
            "tr",
            element("th", row[0], scope="row"),
            *(
                element("td", text, class_=" ".join(_plain_classes(at, kept)))
                for at, text in enumerate(row)
                if at
            ),
        )
        for row in rows
    ]
    return _wrapped(element("tr", *heads), body)


def words_table(header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Element:
    """A table of words and what they mean."""
    heads = [element("th", name, scope="col", class_="aa-left") for name in header]
    body = [
        element("tr", element("th", name, scope="row"), element("td", text, class_="aa-words"))
        for name, text in rows
    ]
    return _wrapped(element("tr", *heads), body)


def _wrapped(head: Element, body: Sequence[Element], classes: str = "aa-board") -> Element:
    table = element("table", element("thead", head), element("tbody", *body), class_=classes)
    return element("div", table, class_="aa-wrap")


def _plain_classes(at: int, kept: int) -> list[str]:
    return [name for name, given in (("aa-left", at == 0), ("aa-second", at >= kept)) if given]


def profile_table(view: BoardView, system: str) -> Element:
    """One system's record in every domain."""
    header = ("Domain", "Battles", "Win", "Win + tie", "95 % interval", "Comprehensive", "No answer")
    found = ((view.label(domain), view.line(system, domain)) for domain in (OVERALL, *view.domains))
    rows = [
        (
            label,
            whole(line.rate_battles),
            _percent_of(line.win),
            _percent_of(line.win_tie),
            "–" if line.win_tie is None else range_of_shares(line.win_tie),
            _percent_of(line.comprehensiveness),
            percent(line.no_answer),
        )
        for label, line in found
        if line is not None
    ]
    return plain_table(header, rows, spare=3)


def _percent_of(value: Bounded | None) -> str:
    return percent(None if value is None else value.value)


def _columns(view: BoardView, lines: Sequence[Line]) -> list[Column]:
    rated = any(line.rating is not None for line in lines)
    columns = [Column("Rank", _rank)] if any(line.rank_lower is not None for line in lines) else []
    columns.append(Column("System", lambda line: _system(view, line)))
    if rated:
        scale = Scale.around([line.rating for line in lines if line.rating is not None])
        columns.append(Column("Rating", lambda line: _estimate(line.rating, points)))
        columns.append(Column("Interval", lambda line: _bar(line.rating, scale)))
    columns.append(Column("Win", lambda line: _estimate(line.win, _bare), priority=2))
    columns.append(Column("Win + tie", lambda line: _estimate(line.win_tie, _bare)))
    if not rated:
        shares = Scale.around([line.win_tie for line in lines if line.win_tie is not None])
        columns.append(Column("Interval", lambda line: _bar(line.win_tie, shares)))
    if any(line.comprehensiveness is not None for line in lines):
        columns.append(
            Column("Comprehensive", lambda line: _estimate(line.comprehensiveness, _bare), priority=2)
        )
    if any(line.no_answer is not None for line in lines):
        columns.append(Column("No answer", lambda line: _share(line.no_answer), priority=2))
    if any(line.words is not None for line in lines):
        columns.append(Column("Words", lambda line: _count(line.words), priority=3))
    columns.append(Column("Battles", _battles, priority=2))
    return columns


def _heading(column: Column) -> Element:
    name = element("abbr", column.name, title=DEFINITIONS[column.name])
    side = "aa-left" if column.name in {"Rank", "System"} else ""
    return element("th", name, scope="col", class_=f"{column.classes} {side}".strip())


def _start(line: Line, before: Line | None) -> dict[str, str]:
    """Rows that begin a tie group carry a stronger rule."""
    if before is not None and line.tie_group != before.tie_group:
        return {"class_": "aa-group"}
    return {}


def _rank(line: Line) -> Element:
    cell = element("td", element("span", line.rank, class_="aa-rank"), class_="aa-left")
    if line.group:
        title = f"Group {line.group}: systems that the battles do not separate"
        cell.append(element("span", line.group, class_="aa-tie", title=title))
    return cell


def _system(view: BoardView, line: Line) -> Element:
    name = element("a", line.system, href=link("system", board=view.name, id=line.system), target="_self")
    cell = element("th", name, scope="row")
    if line.is_reference:
        cell.append(element("span", "reference", class_="aa-flag", title="The human-written answers"))
    for flag in line.flags:
        short, long = FLAGS.get(flag, (flag.replace("_", " "), flag))
        cell.append(element("span", short, class_="aa-flag", title=long))
    return cell


def _estimate(value: Bounded | None, text: Callable[[float], str]) -> Element:
    if value is None:
        return element("td", element("span", "–", class_="aa-muted", title="It does not exist"))
    cell = element("td", element("span", text(value.value), class_="aa-main"))
    if value.lower is not None and value.upper is not None:
        cell.append(element("span", f"{text(value.lower)}–{text(value.upper)}", class_="aa-sub"))
    return cell


def _bar(value: Bounded | None, scale: Scale) -> Element:
    track = element("span", class_="aa-track", aria_hidden="true")
    if value is not None:
        low, high = (scale.place(end) for end in value.span)
        track.append(element("span", class_="aa-span", style=f"left:{low:.2f}%;width:{high - low:.2f}%"))
        track.append(element("span", class_="aa-dot", style=f"left:{scale.place(value.value):.2f}%"))
    return element("td", track, class_="aa-bar")


def _share(value: float | None) -> Element:
    return element("td", "–" if value is None else _bare(value))


def _count(value: float | None) -> Element:
    return element("td", "–" if value is None else whole(value))


def _battles(line: Line) -> Element:
    """Battles behind the rating and, where they are others, behind the rates."""
    cell = _count(line.battles)
    if line.rate_battles != line.battles:
        cell.append(element("span", f"rates: {whole(line.rate_battles)}", class_="aa-sub"))
    return cell


def _bare(share: float) -> str:
    """Per cent without its sign, which the caption states."""
    return f"{100 * share:.1f}"


def _classed(cell: Element, classes: str) -> Element:
    if classes:
        cell.set("class", f"{cell.get('class', '')} {classes}".strip())
    return cell
