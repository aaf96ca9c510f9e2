"""Rounds in waves for organisers: what they would tell, and how far they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.services.organisers.monitor import RoundWatch
from arena.services.rounds.waves.settings import WaveReport
from arena.site.admin.common import NOTHING, grid, usd
from arena.site.ui.components import heading, note, strip
from arena.site.ui.formats import shown
from data.records import CheapCounts


def show_curve(waves: Mapping[str, Any]) -> None:
    """Show the width that is expected of so many verdicts, beside that of a plain sample."""
    columns = [f"Width at correlation {value:.2f}" for value in waves["correlations"]]
    rows = [
        (
            f"{point['verdicts']:,}",
            usd(point["cost_usd"]),
            shown(point["plain_width"], ".0f"),
            *(shown(width, ".0f") for width in point["widths"]),
        )
        for point in waves["curve"]
    ]
    headings = ("Verdicts", "Cost", "Plain sample's width", *columns)
    grid(headings, rows, caption="Expected widths of 95 % intervals, in rating points")
    note(f"From {waves['basis']}.")


def show_waves(watch: RoundWatch) -> None:
    """Show how far the proxy judges are, and what each wave drew; nothing of other rounds."""
    waves = watch.waves
    if waves is None:
        return
    heading("Waves", anchor="waves")
    strip([(label, value or NOTHING) for label, value in waves.lines().items()])
    if waves.waves:
        rows = [
            (f"{wave['number']}", f"{wave['battles']:,}", shown(wave["width"], ".1f")) for wave in waves.waves
        ]
        grid(
            ("Wave", "Battles drawn", "Width before it, points"),
            rows,
            caption="Waves of the round's own judge",
        )
    for line in _cheap(waves):
        note(line)


def _cheap(waves: WaveReport) -> list[str]:
    """How far each proxy judge is that is asked, in a sentence each."""
    return [
        f"{judge.name}: {_outcomes(counts)}, {usd(counts.cost_usd)}."
        for judge, counts in zip(waves.settings.cheap, waves.cheap, strict=False)
    ]


def _outcomes(counts: CheapCounts) -> str:
    ended = [f"{count:,} {outcome}" for outcome, count in counts.outcomes.items()]
    return ", ".join([*ended, *([f"{counts.pending:,} pending"] if counts.pending else [])])
