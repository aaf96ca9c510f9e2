"""Charts of a board: plain rows in, Altair charts out.

Colours are distinct for any kind of colour vision and on light and dark backgrounds; text, grid and
background follow the theme of the page. Each chart repeats the table next to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import altair as alt

BETTER = "#1f8ea3"
NEUTRAL = "#87909b"
ROW_HEIGHT = 30
LABEL_LIMIT = 170


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Value of a system with its 95 % interval, in the unit of the axis."""

    system: str
    value: float
    lower: float
    upper: float
    note: str = ""


def forest(
    estimates: Sequence[Estimate], *, axis: str, reference: float | None = None, share: bool = False
) -> alt.LayerChart:
    """Draw a forest plot: one row per system with value and interval, in the given order.

    `reference` is the position of a dashed rule; shares are in per cent.
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


def _names() -> alt.Axis:
    return alt.Axis(labelLimit=LABEL_LIMIT, domain=False, ticks=False, labelPadding=8, labelFlush=False)
