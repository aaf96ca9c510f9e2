"""Cells of the standings: values with their intervals, bars, ranks, badges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from arena.web.figures import percent, whole
from arena.web.markup import element
from arena.web.tables import link
from arena.web.texts import FLAGS
from arena.web.views import BoardView, Bounded, Line


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
    """The interval of ranks and the letter of the tie group."""
    cell = element("td", element("span", line.rank, class_="aa-rank"), class_="aa-left")
    if line.group:
        title = f"Group {line.group}: systems that the battles do not separate"
        cell.append(element("span", line.group, class_="aa-tie", title=title))
    return cell


def system_cell(view: BoardView, line: Line) -> Element:
    """The system's name as a permalink, with its badges."""
    name = element("a", line.system, href=link("system", board=view.name, id=line.system), target="_self")
    cell = element("th", name, scope="row")
    if line.is_reference:
        cell.append(element("span", "reference", class_="aa-flag", title="The human-written answers"))
    if "baseline" in line.badges:
        title = "Entered by the organisers, to be compared with"
        cell.append(element("span", "baseline", class_="aa-flag", title=title))
    if line.provisional:
        cell.append(element("span", "provisional", class_="aa-flag", title=line.provisional))
    for flag in line.flags:
        short, long = FLAGS.get(flag, (flag.replace("_", " "), flag))
        cell.append(element("span", short, class_="aa-flag", title=long))
    return cell


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


def share_cell(value: float | None) -> Element:
    """A share in per cent."""
    return element("td", "–" if value is None else bare(value))


def count_cell(value: float | None) -> Element:
    """A count."""
    return element("td", "–" if value is None else whole(value))


def battles_cell(line: Line) -> Element:
    """Battles behind the rating and, where they are others, behind the rates."""
    cell = count_cell(line.battles)
    if line.rate_battles != line.battles:
        cell.append(element("span", f"rates: {whole(line.rate_battles)}", class_="aa-sub"))
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

    Args:
        rates: Labels of domains to rates, None where there is none.
    """
    words = ", ".join(f"{label} {percent(rate)}" for label, rate in rates.items())
    width = 72 / max(len(rates), 1)
    layers = [
        (f"{width:.1f}% {max(100 * (rate or 0), 3):.0f}%", f"{_along(at, len(rates), width):.1f}% 100%")
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
