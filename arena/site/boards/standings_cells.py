"""Cells of the standings: ranks, values with their intervals, the interval chart, badges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.etree.ElementTree import Element

from arena.site.boards.view_model import BoardView, Line
from arena.site.ui.formats import Bounded, percent, whole
from arena.site.ui.help_texts import FLAGS
from arena.site.ui.markup import element, explained
from arena.site.ui.tables import anchor

FEWEST_STEPS = 2.5
STEPS = (1.0, 2.0, 5.0)
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

    def holds(self, value: float) -> bool:
        """Whether a value has a place on the bar."""
        return self.low <= value <= self.high

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round values to write on an axis, two to five of them."""
        rough = (self.high - self.low) / FEWEST_STEPS
        power = 10.0 ** floor(log10(rough))
        step = power * max(size for size in STEPS if size * power <= rough)
        first, last = ceil(self.low / step), floor(self.high / step)
        return tuple(number * step for number in range(first, last + 1))


def rank_cell(line: Line) -> Element:
    """The interval of ranks and the letters."""
    cell = element("td", element("span", line.rank, class_="aa-rank"), class_="aa-left")
    if line.letters:
        # The heading says what letters mean: said in every row again, it would be a tenth of the page.
        cell.append(element("span", line.letters, class_="aa-tie"))
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


def bar(value: Bounded | None, scale: Scale, *, mark: float | None = None) -> Element:
    """The value as a dot, its interval as a bar, a dashed line at `mark`; the figures stand beside it."""
    track = element("span", class_="aa-track", aria_hidden="true")
    if mark is not None and scale.holds(mark):
        track.append(element("span", class_="aa-even", style=f"left:{scale.place(mark):.2f}%"))
    if value is not None:
        low, high = (scale.place(end) for end in value.span)
        track.append(element("span", class_="aa-span", style=f"left:{low:.2f}%;width:{high - low:.2f}%"))
        track.append(element("span", class_="aa-dot", style=f"left:{scale.place(value.value):.2f}%"))
    return track


def bar_cell(value: Bounded | None, scale: Scale, *, mark: float | None = None) -> Element:
    """The bar of a value as a cell."""
    return element("td", bar(value, scale, mark=mark), class_="aa-bar")


def axis(scale: Scale, text: Callable[[float], str]) -> Element:
    """The values of a scale, each above its place on the bars below."""
    marks = [element("span", text(tick), style=f"left:{scale.place(tick):.2f}%") for tick in scale.ticks]
    return element("span", *marks, class_="aa-axis", aria_hidden="true")


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
    """Tiny bars, one a domain, of win + tie rates (0–1); drawn as one background, said in words.

    A domain without a rate has no bar. Where the bars stand, `domains_style` says for the whole table.
    """
    if all(rate is None for rate in rates.values()):
        return element("td", element("span", "–", class_="aa-muted"), class_="aa-left")
    words = ", ".join(f"{label} {percent(rate)}" for label, rate in rates.items())
    heights = (0 if rate is None else max(100 * rate, 3) for rate in rates.values())
    sizes = ",".join(f"{_bar_width(len(rates)):.1f}% {height:.0f}%" for height in heights)
    spark = element("span", class_="aa-spark", role="img", title=words, style=f"background-size:{sizes}")
    return element("td", spark, class_="aa-left")


def domains_style(count: int) -> str:
    """The style of a table with `domains_cell` of so many domains: what all its bars share."""
    width = _bar_width(count)
    places = ",".join(f"{100 * (at * 100 / count) / (100 - width):.1f}% 100%" for at in range(count))
    return f"--bars:{','.join(['linear-gradient(var(--spark) 0 0)'] * count)};--bars-at:{places}"


def _bar_width(count: int) -> float:
    """In per cent of the cell; bars and the gaps between them fill it."""
    return 72 / count


def cuts(lines: Sequence[Line]) -> list[bool]:
    """Whether a stronger rule stands above each row: every row above is separated from every one below."""
    known = all(line.letters for line in lines) and len({line.component for line in lines}) == 1
    sets = [line.letter_set for line in lines]
    return [
        known and at > 0 and not frozenset().union(*sets[:at]) & frozenset().union(*sets[at:])
        for at in range(len(lines))
    ]
