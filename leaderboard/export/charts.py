"""Charts of a board: plain rows in, Altair charts out.

Colours are distinct for any kind of colour vision and stand out on light and dark paper; text, grid and
background are left to the theme of the page. Each chart repeats the table next to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import altair as alt

BETTER = "#1f8ea3"
NEUTRAL = "#87909b"
ROW_HEIGHT = 30
LABEL_LIMIT = 170
INK = "#6b7480"
SCATTER_HEIGHT = 360
SCATTER_NAMES = 120
MAX_SHORT_NAME = 13
MAX_COLOURS = 12
"""Systems that a legend names; more are named by their tooltips alone."""
NAME_HEIGHT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One system's value with its 95 % interval, in the unit of the chart's axis."""

    system: str
    value: float
    lower: float
    upper: float
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A system, in a domain where one is named, between two values with their 95 % intervals, if any."""

    system: str
    domain: str = ""
    x: float
    y: float
    x_lower: float | None = None
    x_upper: float | None = None
    y_lower: float | None = None
    y_upper: float | None = None


def forest(
    estimates: Sequence[Estimate], *, axis: str, reference: float | None = None, share: bool = False
) -> alt.LayerChart:
    """Draw one line a system from the lower to the upper end of its interval, a point at its value.

    Rows keep their order; `reference` is where to draw a dashed rule, and shares are shown as per cent.
    """
    number = ".1%" if share else ".0f"
    base = alt.Chart(alt.InlineData(values=[asdict(estimate) for estimate in estimates]))
    rows = alt.Y("system:N", sort=[estimate.system for estimate in estimates], title=None, axis=_names())
    scale = alt.Scale(zero=False, nice=True, padding=8)
    ticks = alt.Axis(format="%" if share else "d", tickCount=6, grid=True, labelFlush=False)
    colour = alt.value(BETTER)
    tooltip = [
        alt.Tooltip("system:N", title="System"),
        alt.Tooltip("value:Q", title=axis, format=number),
        alt.Tooltip("lower:Q", title="95 % interval from", format=number),
        alt.Tooltip("upper:Q", title="to", format=number),
        alt.Tooltip("note:N", title="Based on"),
    ]
    layers: list[alt.Chart] = []
    if reference is not None:
        rule = alt.Chart(alt.InlineData(values=[{"at": reference}]))
        layers.append(
            rule.mark_rule(strokeDash=[4, 4], color=NEUTRAL).encode(x=alt.X("at:Q", title=axis, scale=scale))
        )
    layers += [
        base.mark_rule(strokeWidth=3, strokeCap="round", opacity=0.75).encode(
            x=alt.X("lower:Q", title=axis, scale=scale, axis=ticks),
            x2="upper:Q",
            y=rows,
            color=colour,
            tooltip=tooltip,
        ),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x=alt.X("value:Q", title=axis), y=rows, color=colour, tooltip=tooltip
        ),
    ]
    return alt.LayerChart(layer=layers).properties(height=alt.Step(ROW_HEIGHT))


def scatter(
    points: Sequence[Point], *, x: str, y: str, ink: str = INK, x_share: bool = True, y_share: bool = True
) -> alt.LayerChart:
    """Draw systems between two values, with error bars where known, and their names at the right edge.

    Names keep the order of the points' heights and stand clear of one another at any width; a thin line
    leads from each point to its name.
    """
    # Of points at one height the left one is named below, so that lines do not cross.
    ordered = sorted(points, key=lambda point: (point.y, point.x))
    height = max(SCATTER_HEIGHT, NAME_HEIGHT * (len(ordered) + 1))
    ends = [end for point in ordered for end in (point.y, point.y_lower, point.y_upper) if end is not None]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    margin = 0.05 * (high - low) or 0.05
    low, high = low - margin, high + margin
    least = NAME_HEIGHT / height * (high - low)
    places = _apart([point.y for point in ordered], least, low + least / 2, high - least / 2)
    values = [{**asdict(point), "place": place} for point, place in zip(ordered, places, strict=True)]
    form = ".1%" if x_share else ",.0f"
    base = alt.Chart(alt.InlineData(values=values))
    across = alt.X(
        "x:Q", title=x, scale=alt.Scale(zero=False, nice=True, padding=20), axis=_ticks(share=x_share)
    )
    upright = alt.Scale(domain=[low, high], nice=False)
    upward = alt.Y("y:Q", title=y, scale=upright, axis=_ticks(share=y_share))
    names = json.dumps([point.system for point in ordered])
    beside = alt.Axis(
        orient="right",
        values=places,
        labelExpr=f"{names}[indexof({json.dumps(places)}, datum.value)]",
        grid=False,
        domain=False,
        ticks=False,
        labelColor=ink,
        labelLimit=SCATTER_NAMES,
        labelOverlap=False,
        labelFlush=False,
        title=None,
    )
    tooltip = [
        alt.Tooltip("system:N", title="System"),
        alt.Tooltip("x:Q", title=x, format=form),
        alt.Tooltip("y:Q", title=y, format=".1%" if y_share else ",.0f"),
    ]
    layers = [
        base.mark_rule(color=NEUTRAL, opacity=0.7, strokeWidth=1, strokeDash=[1, 3], clip=True).encode(
            x=across, x2=alt.value("width"), y=upward, y2="place:Q"
        )
    ]
    # A layer without a mark would be a picture without words to a screen reader.
    if any(point.x_lower is not None for point in points):
        bars = base.transform_filter("isValid(datum.x_lower)")
        layers.append(
            bars.mark_rule(color=NEUTRAL, opacity=0.6, strokeWidth=1.5).encode(
                x=alt.X("x_lower:Q", title=x), x2="x_upper:Q", y=upward
            )
        )
    if any(point.y_lower is not None for point in points):
        bars = base.transform_filter("isValid(datum.y_lower)")
        layers.append(
            bars.mark_rule(color=NEUTRAL, opacity=0.6, strokeWidth=1.5).encode(
                x=across, y=alt.Y("y_lower:Q", title=y, scale=upright), y2="y_upper:Q"
            )
        )
    layers.append(
        base.mark_point(filled=True, size=90, opacity=1).encode(
            x=across, y=upward, tooltip=tooltip, color=alt.ColorValue(BETTER)
        )
    )
    labels = base.mark_point(opacity=0).encode(x=across, y=alt.Y("place:Q", scale=upright, axis=beside))
    resolve = alt.Resolve(axis=alt.AxisResolveMap(y="independent"))
    both = alt.LayerChart(layer=[alt.LayerChart(layer=layers), labels], resolve=resolve)
    return both.properties(height=height)


def cloud(points: Sequence[Point], *, x: str, y: str, y_share: bool = True) -> alt.LayerChart:
    """Draw systems in domains, a share across, a colour a system, thin lines as intervals."""
    base = alt.Chart(alt.InlineData(values=[asdict(point) for point in points]))
    across = alt.X("x:Q", title=x, axis=_ticks(share=True))
    upward = alt.Y("y:Q", title=y, axis=_ticks(share=y_share))
    systems = list(dict.fromkeys(point.system for point in points))
    few = len(systems) <= MAX_COLOURS
    beside = 3 if max(map(len, systems), default=0) <= MAX_SHORT_NAME else 1
    legend = alt.Legend(title=None, orient="bottom", columns=beside, labelLimit=320, symbolOpacity=1)
    named = alt.Color("system:N", sort=systems, legend=legend if few else None)
    tooltip = [
        alt.Tooltip("system:N", title="System"),
        alt.Tooltip("domain:N", title="Domain"),
        *(
            alt.Tooltip(f"{axis}{end}:Q", title=f"{title}{words}", format=".0%" if share else ",.0f")
            for axis, title, share in (("y", y, y_share), ("x", x, True))
            for end, words in (("", ""), ("_lower", ", from"), ("_upper", ", to"))
        ),
    ]
    lines = base.mark_rule(opacity=0.25)
    layers = [
        lines.encode(x=across, y=alt.Y("y_lower:Q", title=y), y2="y_upper:Q", color=named),
        lines.encode(x=alt.X("x_lower:Q", title=x), x2="x_upper:Q", y=upward, color=named),
        base.mark_point(filled=True, size=60, opacity=0.9).encode(
            x=across, y=upward, color=named, tooltip=tooltip
        ),
    ]
    return alt.LayerChart(layer=layers).properties(height=SCATTER_HEIGHT)


def _apart(values: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Positions near ascending values, with a minimum distance, within bounds if there is room."""
    places: list[float] = []
    for value in values:
        places.append(max(value, low, *(place + least for place in places[-1:])))
    for at in range(len(places) - 1, -1, -1):
        places[at] = min(places[at], high - least * (len(places) - 1 - at))
    return places


def _ticks(*, share: bool) -> alt.Axis:
    return alt.Axis(format="%" if share else ",d", tickCount=6, labelFlush=False)


def _names() -> alt.Axis:
    return alt.Axis(labelLimit=LABEL_LIMIT, domain=False, ticks=False, labelPadding=8, labelFlush=False)
