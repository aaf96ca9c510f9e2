"""Cells of the standings: values with their intervals, bars, ranks, badges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from arena.site.boards.view_model import OVERALL, BoardView, Line
from arena.site.ui.formats import Bounded, percent, points, whole
from arena.site.ui.help_texts import DEFINITIONS, FLAGS
from arena.site.ui.markup import element, explained
from arena.site.ui.tables import anchor, rows_table

NO_RATE_OF_ITS_OWN = "The rates are against the reference, so it has none of its own"


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


def rank_cell(line: Line) -> Element:
    """The interval of ranks and the letters."""
    cell = element("td", element("span", line.rank, class_="aa-rank"), class_="aa-left")
    if line.letters:
        title = "Systems that share a letter are not separated by the battles"
        cell.append(explained(line.letters, title, class_="aa-tie"))
    return cell


def system_cell(view: BoardView, line: Line) -> Element:
    """The system's name as a permalink, with its badges."""
    name = anchor(line.system, "system", board=view.name, id=line.system)
    cell = element("th", name, scope="row")
    if line.is_reference:
        cell.append(explained("reference", _written(view), class_="aa-flag"))
    if line.unjudged:
        cell.append(explained("no judged battle", "No battle of it was judged", class_="aa-flag"))
    if "baseline" in line.badges:
        title = "Entered by the organisers, to be compared with"
        cell.append(explained("baseline", title, class_="aa-flag"))
    if line.provisional:
        cell.append(explained("provisional", line.provisional, class_="aa-flag"))
    for flag in line.flags:
        short, long = FLAGS.get(flag, (flag.replace("_", " "), flag))
        cell.append(explained(short, long, class_="aa-flag"))
    return cell


def _written(view: BoardView) -> str:
    """Who wrote the reference answers."""
    if view.by_people:
        return "The human-written answers"
    by = f", written by {view.reference_by}" if view.reference_by else ""
    return f"The reference answers{by}"


def estimate_cell(value: Bounded | None, text: Callable[[float], str]) -> Element:
    """A value with its interval below it."""
    if value is None:
        return element("td", element("span", "–", class_="aa-muted", title="It does not exist"))
    cell = element("td", element("span", text(value.value), class_="aa-main"))
    if value.lower is not None and value.upper is not None:
        cell.append(element("span", f"{text(value.lower)}–{text(value.upper)}", class_="aa-sub"))
    return cell


def bar_cell(value: Bounded | None, scale: Scale) -> Element:
    """The value as a dot and its interval as a bar; the figures stand in the cell before it."""
    track = element("span", class_="aa-track", aria_hidden="true")
    if value is not None:
        low, high = (scale.place(end) for end in value.span)
        track.append(element("span", class_="aa-span", style=f"left:{low:.2f}%;width:{high - low:.2f}%"))
        track.append(element("span", class_="aa-dot", style=f"left:{scale.place(value.value):.2f}%"))
    return element("td", track, class_="aa-bar")


def rate_cell(line: Line, value: Bounded | None) -> Element:
    """A rate with its interval; a dash for the reference, which the rates of the others are against."""
    if line.is_reference and value is None:
        return element("td", element("span", "–", class_="aa-muted", title=NO_RATE_OF_ITS_OWN))
    return estimate_cell(value, bare)


def share_cell(value: float | None) -> Element:
    """A share in per cent."""
    return element("td", "–" if value is None else bare(value))


def count_cell(value: float | None) -> Element:
    """A count."""
    return element("td", "–" if value is None else whole(value))


def battles_cell(line: Line) -> Element:
    """Battles behind the rating and, where they are others, behind the rates."""
    cell = count_cell(line.battles)
    if not line.is_reference and line.rates.battles != line.battles:
        cell.append(element("span", f"rates: {whole(line.rates.battles)}", class_="aa-sub"))
    return cell


def bare(share: float) -> str:
    """Per cent without its sign, which the caption states."""
    return f"{100 * share:.1f}"


def classed(cell: Element, classes: str) -> Element:
    """The cell with further classes."""
    if classes:
        cell.set("class", f"{cell.get('class', '')} {classes}".strip())
    return cell


def domains_cell(rates: Mapping[str, float | None]) -> Element:
    """Tiny bars, one a domain, of win + tie rates (0–1); drawn as one background, told in words.

    A domain without a rate has no bar.
    """
    if all(rate is None for rate in rates.values()):
        return element("td", element("span", "–", class_="aa-muted"), class_="aa-left")
    words = ", ".join(f"{label} {percent(rate)}" for label, rate in rates.items())
    width = 72 / max(len(rates), 1)
    layers = [
        (
            f"{width:.1f}% {0 if rate is None else max(100 * rate, 3):.0f}%",
            f"{_along(at, len(rates), width):.1f}% 100%",
        )
        for at, rate in enumerate(rates.values())
    ]
    style = (
        f"background-image:{','.join(['linear-gradient(var(--spark) 0 0)'] * len(layers))};"
        f"background-size:{','.join(size for size, _ in layers)};"
        f"background-position:{','.join(place for _, place in layers)}"
    )
    spark = element("span", class_="aa-spark", role="img", aria_label=words, title=words, style=style)
    return element("td", spark, class_="aa-left")


def _along(at: int, count: int, width: float) -> float:
    """A bar's place as CSS counts it: per cent of the room that the bar leaves."""
    return 100 * (at * 100 / count) / (100 - width)


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

    Columns that are not chosen are not even sent; None chooses the usual ones. The caption ends with the
    note.
    """
    kept = {"Rank", "System", *(columns_by_default(view) if chosen is None else chosen)}
    columns = [column for column in _columns(view, domain, lines) if column.name in kept]
    body = [
        element(
            "tr",
            *(classed(column.cell(line), column.classes) for column in columns),
            **({"class_": "aa-group"} if cut else {}),
        )
        for line, cut in zip(lines, _cuts(lines), strict=True)
    ]
    caption = (
        f"{view.title}: {view.label(domain)}. {len(lines)} systems. Shares in per cent; small figures are "
        f"95 % intervals. {note}"
    )
    return rows_table(map(_heading, columns), body, caption=caption.strip(), classes="aa-standings")


def _columns(view: BoardView, domain: str, lines: Sequence[Line]) -> list[Column]:
    ratings = [line.rating for line in lines if line.rating is not None]
    shares = [line.win_tie for line in lines if line.win_tie is not None]
    scale = Scale.around(ratings or shares)
    columns = [Column("Rank", rank_cell)] if any(line.rank_lower is not None for line in lines) else []
    columns.append(Column("System", lambda line: system_cell(view, line)))
    if ratings:
        columns.append(Column("Rating", lambda line: estimate_cell(line.rating, points)))
        columns.append(Column("Interval", lambda line: bar_cell(line.rating, scale)))
    columns.append(Column("Win", lambda line: rate_cell(line, line.win), priority=2))
    columns.append(Column("Win + tie", lambda line: rate_cell(line, line.win_tie)))
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
    lines = {view.label(domain): view.line(of.system, domain) for domain in view.domains}
    return {label: _value(None if line is None else line.win_tie) for label, line in lines.items()}


def _value(share: Bounded | None) -> float | None:
    return None if share is None else share.value


def _heading(column: Column) -> Element:
    name = explained(column.name, DEFINITIONS[column.name])
    side = "aa-left" if column.name in {"Rank", "System", "Domains"} else ""
    return element("th", name, scope="col", class_=f"{column.classes} {side}".strip())


def _cuts(lines: Sequence[Line]) -> list[bool]:
    """Whether a stronger rule stands above each row: every row above is separated from every one below."""
    known = all(line.letters for line in lines) and len({line.component for line in lines}) == 1
    sets = [line.letter_set for line in lines]
    return [
        known and at > 0 and not frozenset().union(*sets[:at]) & frozenset().union(*sets[at:])
        for at in range(len(lines))
    ]
