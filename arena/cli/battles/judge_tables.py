"""Judges beside each other, as several commands print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.cli.output import note, show_line, show_table

if TYPE_CHECKING:
    from arena.services.boards.comparison import RoundComparison
    from leaderboard.agreement.bias import SystemBias
    from leaderboard.agreement.coefficients import Estimate
    from leaderboard.agreement.comparison import BoardPair
    from leaderboard.people import CorrectedTable, Estimated


def show_comparison(comparison: RoundComparison) -> None:
    """Print how alike rounds rank, and who moves."""
    show_line(
        f"{comparison.battles:,} battles on {comparison.questions:,} questions of {comparison.set_name}, "
        f"decided by all of {', '.join(side.name for side in comparison.sides)}"
    )
    for pair in comparison.pairs:
        _show_pair(pair)
    for line in comparison.notes:
        note(line)


def _show_pair(pair: BoardPair) -> None:
    agreement = pair.agreement
    named = (("tau", agreement.kendall), ("ranks", agreement.spearman), (pair.by.value, agreement.pearson))
    show_line("")
    show_line(
        f"{pair.first} and {pair.second}: " + ", ".join(f"{name} {_spelt(part)}" for name, part in named)
    )
    headers = ("system", "rank before", "rank after", "shift", "lower", "upper", "moved", "score")
    rows = [
        (
            move.system,
            move.rank_before,
            move.rank_after,
            move.shift.value,
            None if move.shift.interval is None else move.shift.interval.lower,
            None if move.shift.interval is None else move.shift.interval.upper,
            "yes" if move.moved else "within noise",
            move.score.value,
        )
        for move in pair.moves
    ]
    show_table(headers, rows)


def _spelt(part: Estimate) -> str:
    if part.value is None:
        return "–"
    bounds = "" if part.interval is None else f" ({part.interval.lower:.2f} to {part.interval.upper:.2f})"
    return f"{part.value:.2f}{bounds}"


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
