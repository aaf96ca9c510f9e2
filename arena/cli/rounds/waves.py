"""Options of rounds whose judge decides a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from arena.cli.output import show_line, show_table


def names_in(text: str | None) -> tuple[str, ...]:
    """The names of a list with commas."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveOptions:
    """Whether the judge decides a part of the round, and when that is enough."""

    cheap_judge: Annotated[
        str | None,
        typer.Option(
            "--cheap-judge",
            metavar="CHEAP[,…]",
            help="Judges that decide every battle, so that the judge need only decide a sample, drawn in "
            "waves: names of judges, `round:NAME` for the verdicts of an earlier round on the same battles, "
            "`trained` for a classifier trained on this round's verdicts, `trained:NAME` for one trained on "
            "those of a finished round, also of another set. Several are combined.",
        ),
    ] = None
    spend: Annotated[
        str | None,
        typer.Option(
            "--spend",
            metavar="N|P%|XUSD",
            help="With --cheap-judge: battles that the judge decides, their share, or what the round may "
            "cost in all as far as can be foreseen; --budget-usd is the hard cap.",
        ),
    ] = None
    target_width: Annotated[
        float | None,
        typer.Option(
            "--target-width",
            metavar="W",
            help="With --cheap-judge: end once the 95 % intervals of what is asked are at most W rating "
            "points wide, from end to end, after 100 verdicts or more.",
        ),
    ] = None
    ask: Annotated[
        str,
        typer.Option(
            "--ask",
            metavar="QUESTION",
            help="What the round is to tell: `ranking` (neighbours apart), `leaders` (the first two), "
            "`pair:A,B`, or `domains` (the ranking within each). The widest of several intervals counts.",
        ),
    ] = "ranking"

    def fields(self) -> dict[str, Any]:
        """The fields of a request."""
        return {
            "cheap_judges": names_in(self.cheap_judge),
            "spend": self.spend,
            "target_width": self.target_width,
            "ask": self.ask,
        }


def show_curve(waves: Mapping[str, Any]) -> None:
    """Show what a round in waves would tell for how many verdicts, beside a plain sample of as many."""
    columns = [f"width at correlation {value:.2f}" for value in waves["correlations"]]
    rows = [
        (
            f"{point['verdicts']:,}",
            "not known" if point["cost_usd"] is None else f"{point['cost_usd']:.2f}",
            _points(point["plain_width"]),
            *map(_points, point["widths"]),
        )
        for point in waves["curve"]
    ]
    show_line(f"Expected widths in rating points, from {waves['basis']}:")
    show_table(("verdicts", "cost in USD", "plain sample", *columns), rows)


def _points(width: float | None) -> str:
    return "no ranking" if width is None else f"{width:.0f}"
