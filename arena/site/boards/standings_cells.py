"""Cells of the standings: ranks, values with their intervals, the interval chart, badges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.etree.ElementTree import Element

from arena.site.boards.view_model import BoardView, Line
from arena.site.ui.formats import Bounded, points, whole
from arena.site.ui.help_texts import FLAGS
from arena.site.ui.markup import element, explained
from arena.site.ui.tables import anchor
from data.text import percent, percent_figure

FEWEST_STEPS = 2.5
STEPS = (1.0, 2.0, 5.0)
OWN_EVIDENCE = (
    "The share of what the rating depends on that this domain's own battles say; the rest is borrowed from "
    "the overall rating"
)
NO_RATE_OF_ITS_OWN = "The rates are against the reference, so it has none of its own"


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places on a bar, in per cent of its width."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Sequence[Bounded]) -> Scale:
        """Return a scale that shows every value with its interval."""
        spans = [value.span for value in values] or [(0.0, 1.0)]
        low, high = min(low for low, _ in spans), max(high for _, high in spans)
        return cls(low, high)

    def place(self, value: float) -> float:
        """Return the position of a value; the middle where the scale has only one value."""
        if self.low == self.high:
            return 50.0
        return 100 * (value - self.low) / (self.high - self.low)

    def holds(self, value: float) -> bool:
        """Return whether a value has a place on the bar."""
        return self.low <= value <= self.high

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round values to write on an axis, two to five of them."""
        if self.low == self.high:
            return (self.low,)
        rough = (self.high - self.low) / FEWEST_STEPS
        power = 10.0 ** floor(log10(rough))
        step = power * max(size for size in STEPS if size * power <= rough)
        first, last = ceil(self.low / step), floor(self.high / step)
        return tuple(number * step for number in range(first, last + 1))


def rank_cell(line: Line, joints: Sequence[Joint] = (), mark: tuple[str, str] | None = None) -> Element:
    """Return the best place, and at the left edge the brackets that join it to places not told apart from it.

    A mark says how it has changed since the board before, and what that means.
    """
    cell = element("td", element("span", line.rank, class_="aa-rank"), class_="aa-left aa-number")
    for joint in joints:
        ends = f"aa-{joint.part}"
        cell.append(element("i", class_=f"aa-joint {ends}", style=f"--lane:{joint.lane}", aria_hidden="true"))
    if mark is not None:
        cell.append(explained(*mark, class_="aa-change"))
    if line.rank_upper is not None and line.rank_upper != line.rank_lower and not line.is_reference:
        cell.append(element("span", f"to {line.rank_upper}", class_="aa-unseen"))
    return cell


@dataclass(frozen=True, slots=True)
class Joint:
    """A bracket in one row: its lane from the left, and whether it is the first row, the last or between."""

    lane: int
    part: str


MOST_LANES = 12


def brackets(lines: Sequence[Line]) -> list[list[Joint]]:
    """For each row the brackets that go through it: one joins the rows that share a letter.

    Those beyond `MOST_LANES` are left out; the row's detail has the letters.
    """
    names = sorted({name for line in lines if not line.is_reference for name in line.letter_set})
    joints: list[list[Joint]] = [[] for _ in lines]
    ends: list[int] = []
    spans = (
        [at for at, line in enumerate(lines) if name in line.letter_set and not line.is_reference]
        for name in names
    )
    farthest = -1
    for first, last in sorted(((rows[0], rows[-1]) for rows in spans if len(rows) > 1), key=_longest_first):
        if last <= farthest:
            # A bracket within another, of systems that the reference alone keeps apart, would say nothing.
            continue
        farthest = last
        lane = next((at for at, end in enumerate(ends) if end < first), len(ends))
        if lane >= MOST_LANES:
            continue
        ends[lane : lane + 1] = [last]
        for at in range(first, last + 1):
            part = "first" if at == first else "last" if at == last else "between"
            joints[at].append(Joint(lane, part))
    return joints


def _longest_first(span: tuple[int, int]) -> tuple[int, int]:
    return span[0], -span[1]


def system_cell(view: BoardView, line: Line) -> Element:
    """Return the system's name as a permalink, with its badges."""
    name = anchor(line.system, "system", board=view.name, id=line.system)
    name.set("title", line.system)
    cell = element("th", name, scope="row")
    for text, meaning in _badges(view, line):
        cell.append(explained(text, meaning, class_="aa-flag"))
    return cell


def _badges(view: BoardView, line: Line) -> Iterator[tuple[str, str]]:
    if line.is_reference:
        yield "reference", _written(view)
    if mark := view.marks.get(line.system, ""):
        yield mark.partition(": ")[0], mark
    if line.unjudged:
        yield "no judged battle", "No battle of it was judged"
    if line.unranked:
        yield "not ranked", line.unranked
    if "baseline" in line.badges:
        yield "baseline", "Entered by the organisers, to be compared with"
    if line.provisional:
        yield "provisional", line.provisional
    if line.own_evidence is not None and line.rating is not None:
        yield f"{percent(line.own_evidence, decimals=0)} own", OWN_EVIDENCE
    for flag in line.flags:
        yield FLAGS.get(flag, (flag.replace("_", " "), flag))


def _written(view: BoardView) -> str:
    """Name the writer of the reference answers."""
    if view.by_people:
        return "The human-written answers"
    by = f", written by {view.reference_by}" if view.reference_by else ""
    return f"The reference answers{by}"


def estimate_cell(value: Bounded | None, text: Callable[[float], str]) -> Element:
    """Return a value with its interval below it."""
    if value is None:
        return element("td", element("span", "–", class_="aa-muted"))
    cell = element("td", element("span", text(value.value), class_="aa-main"))
    if value.lower is not None and value.upper is not None:
        cell.append(element("span", f"{text(value.lower)}–{text(value.upper)}", class_="aa-sub"))
    return cell


def bar(value: Bounded | None, scale: Scale, *, mark: float | None = None) -> Element:
    """Render the value as a dot, its interval as a bar, a dashed line at `mark`, with the figures."""
    track = element("span", class_="aa-track", aria_hidden="true")
    if mark is not None and scale.holds(mark):
        track.append(element("span", class_="aa-even", style=f"left:{scale.place(mark):.2f}%"))
    if value is not None:
        low, high = (scale.place(end) for end in value.span)
        track.append(element("span", class_="aa-span", style=f"left:{low:.2f}%;width:{high - low:.2f}%"))
        track.append(element("span", class_="aa-dot", style=f"left:{scale.place(value.value):.2f}%"))
    return track


def axis(scale: Scale, text: Callable[[float], str]) -> Element:
    """Return the values of a scale, each above its place on the bars below; no text stands twice."""
    nearest_last = sorted(scale.ticks, key=lambda tick: -abs(tick - round(tick)))
    distinct = {text(tick): tick for tick in nearest_last}
    marks = [
        element("span", words, style=f"left:{scale.place(tick):.2f}%")
        for words, tick in sorted(distinct.items(), key=lambda mark: mark[1])
    ]
    return element("span", *marks, class_="aa-axis", aria_hidden="true")


def rating_cell(line: Line, scale: Scale, mark: float | None) -> Element:
    """Return the rating with the bar of its interval."""
    if line.rating is None:
        return element("td", element("span", "–", class_="aa-muted"), class_="aa-bar")
    value = line.rating
    figure = element("span", points(value.value), class_="aa-main")
    return element("td", figure, bar(value, scale, mark=mark), class_="aa-bar")


def outcome_cell(line: Line) -> Element:
    """Battles won, tied and lost as one bar, and the share won or tied with the reach of its interval."""
    win, win_tie = line.win, line.win_tie
    if win is None or win_tie is None:
        meaning = NO_RATE_OF_ITS_OWN if line.is_reference else "No battle of it has a verdict"
        return element("td", explained("–", meaning, class_="aa-muted"), class_="aa-outcome")
    shares = (win.value, win_tie.value - win.value, 1 - win_tie.value)
    parts = [
        element("i", class_=f"aa-{name}-part", style=f"width:{100 * share:.1f}%")
        for name, share in zip(("won", "tied", "lost"), shares, strict=True)
        if share > 0
    ]
    words = ", ".join(
        f"{percent(share)} {name}" for name, share in zip(("won", "tied", "lost"), shares, strict=True)
    )
    stack = element("span", *parts, class_="aa-stack", role="img", aria_label=words)
    figure = element("span", f"{100 * win_tie.value:.0f}", class_="aa-main")
    return element("td", stack, figure, _reach(win_tie), class_="aa-outcome")


def _reach(value: Bounded) -> Element:
    """Render the longer half of the interval, in whole per cent."""
    if value.lower is None or value.upper is None:
        return element("span", class_="aa-sub aa-reach")
    farther = 100 * max(value.upper - value.value, value.value - value.lower)
    return element("span", f"±{farther:.0f}", class_="aa-sub aa-reach")


def score_cell(value: Bounded | None, text: Callable[[float], str]) -> Element:
    """Render a mean score: a share in whole per cent with its interval, another figure as it is."""
    if value is None or text is not bare:
        return estimate_cell(value, text)
    return element("td", element("span", f"{100 * value.value:.0f}", class_="aa-main"), _reach(value))


def rate_cell(line: Line, value: Bounded | None) -> Element:
    """Render a rate with its interval; a dash for the reference, the opponent of all rates."""
    if line.is_reference and value is None:
        return element("td", explained("–", NO_RATE_OF_ITS_OWN, class_="aa-muted"))
    return estimate_cell(value, bare)


def share_cell(value: float | None) -> Element:
    """Return a share in per cent."""
    return element("td", "–" if value is None else bare(value))


def count_cell(value: float | None) -> Element:
    """Return a count."""
    return element("td", "–" if value is None else whole(value))


def battles_cell(line: Line) -> Element:
    """Battles behind the rates and, where they are others, behind the rating."""
    cell = count_cell(None if line.is_reference else line.rates.battles)
    if line.is_reference or line.rates.battles != line.battles:
        cell.append(element("span", f"rating: {whole(line.battles)}", class_="aa-sub"))
    return cell


def bare(share: float) -> str:
    """Per cent without its sign, which the caption states."""
    return percent_figure(share)


def domains_cell(rates: Mapping[str, float | None]) -> Element:
    """Tiny bars, one a domain, of win + tie rates (0–1); drawn as one background, said in words.

    A domain without a rate has no bar. Where the bars stand, `domains_style` says for the whole table.
    """
    if all(rate is None for rate in rates.values()):
        return element("td", element("span", "–", class_="aa-muted"), class_="aa-left")
    words = ", ".join(f"{label} {percent(rate)}" for label, rate in rates.items())
    heights = (0 if rate is None else max(100 * rate, 3) for rate in rates.values())
    sizes = ",".join(f"{_bar_width(len(rates)):.1f}% {height:.0f}%" for height in heights)
    spark = element("span", class_="aa-spark", role="img", aria_label=words, style=f"background-size:{sizes}")
    return element("td", spark, class_="aa-left")


def domains_style(count: int) -> str:
    """Return the style of a table with `domains_cell` of so many domains: what all its bars share."""
    width = _bar_width(count)
    places = ",".join(f"{100 * (at * 100 / count) / (100 - width):.1f}% 100%" for at in range(count))
    return f"--bars:{','.join(['linear-gradient(var(--spark) 0 0)'] * count)};--bars-at:{places}"


def _bar_width(count: int) -> float:
    """In per cent of the cell; bars and the gaps between them fill it."""
    return 72 / count
