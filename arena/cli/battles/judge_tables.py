"""Judges beside each other, as several commands print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.cli.output import show_table

if TYPE_CHECKING:
    from leaderboard.agreement.bias import SystemBias
    from leaderboard.people import CorrectedTable, Estimated


def show_bias(rows: Sequence[SystemBias]) -> None:
    """Print what a judge gives systems beyond people."""
    show_table(
        ("system", "domain", "pairs", "judge", "people", "bias"),
        [
            (row.system, row.domain, row.pairs, f"{row.judge:.3f}", f"{row.people:.3f}", _bias(row))
            for row in rows
        ],
    )


def show_human_round(table: CorrectedTable) -> None:
    """Print the ratings that people would give, beside the judge's."""
    show_table(
        ("rank", "system", "people would say", "judge", "moves by"),
        [
            (
                f"{row.rank_lower}–{row.rank_upper}",
                row.system,
                _estimated(row.corrected),
                _estimated(row.judge),
                None
                if row.corrected.value is None or row.judge.value is None
                else f"{row.corrected.value - row.judge.value:+.0f}",
            )
            for row in table.ratings
        ],
    )


def _bias(row: SystemBias) -> str:
    if row.lower is None or row.upper is None:
        return f"{row.bias:+.3f}"
    return f"{row.bias:+.3f} ({row.lower:+.3f} to {row.upper:+.3f})"


def _estimated(value: Estimated) -> str | None:
    if value.value is None:
        return None
    if value.lower is None or value.upper is None:
        return f"{value.value:.0f}"
    return f"{value.value:.0f} ({value.lower:.0f}–{value.upper:.0f})"
