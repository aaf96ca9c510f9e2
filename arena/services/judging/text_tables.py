"""Calibrations as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.agreement.system_bias import SystemBias
from leaderboard.people import CorrectedTable, Estimated

Cells = Sequence[str | int | None]
BIAS = ("system", "domain", "pairs", "judge", "people", "bias")
HUMAN_ROUND = ("rank", "system", "people would say", "judge", "moves by")


def bias_lines(rows: Sequence[SystemBias]) -> list[Cells]:
    """The rows of `BIAS`."""
    return [
        (row.system, row.domain, row.pairs, f"{row.judge:.3f}", f"{row.people:.3f}", _bias(row))
        for row in rows
    ]


def human_round_lines(table: CorrectedTable) -> list[Cells]:
    """The rows of `HUMAN_ROUND`."""
    return [
        (
            f"{row.rank_lower}–{row.rank_upper}",
            row.system,
            _points(row.corrected),
            _points(row.judge),
            None
            if row.corrected.value is None or row.judge.value is None
            else f"{row.corrected.value - row.judge.value:+.0f}",
        )
        for row in table.ratings
    ]


def _bias(row: SystemBias) -> str:
    if row.lower is None or row.upper is None:
        return f"{row.bias:+.3f}"
    return f"{row.bias:+.3f} ({row.lower:+.3f} to {row.upper:+.3f})"


def _points(value: Estimated) -> str | None:
    if value.value is None:
        return None
    if value.lower is None or value.upper is None:
        return f"{value.value:.0f}"
    return f"{value.value:.0f} ({value.lower:.0f}–{value.upper:.0f})"
