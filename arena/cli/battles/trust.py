"""`arena battles rate --fragility`: what places depend on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.options import pair_of
from arena.cli.output import note, show_json, show_line, show_table
from data.percent import percent
from leaderboard.trust.sections import Unit
from leaderboard.trust.sentences import (
    exchange_sentence,
    first_place_sentence,
)

if TYPE_CHECKING:
    from arena.services.battle_files import Reading


def show_fragility(
    file: Path, unit: Unit, pair: str | None, reference: str | None, reading: Reading, *, as_json: bool
) -> None:
    """Print the fewest questions (or battles) without which neighbours in the ranking are exchanged."""
    from arena.services.battle_files import fragility_of_file

    rests, notes = fragility_of_file(
        file,
        unit=unit,
        pair=None if pair is None else pair_of(pair, "--pair"),
        reference=reference,
        reading=reading,
    )
    for line in notes:
        note(line)
    fields = rests.as_json()
    if as_json:
        show_json(fields)
        return
    pairs: list[dict[str, Any]] = [exchange.as_json() for exchange in rests.exchanges]
    if pair is not None:
        show_line(exchange_sentence(pairs[0], unit))
        for named in pairs[0][unit.value]:
            show_line(named if isinstance(named, str) else "  ".join(named.values()))
        return
    headers = ("first", "second", "points", unit.value, "share", "points without")
    show_table(headers, [_row(found, unit) for found in pairs])
    if said := first_place_sentence(fields):
        show_line(said)
    if rests.unrated:
        show_line(f"Without a rating: {', '.join(rests.unrated)}.")


def _row(found: dict[str, Any], unit: Unit) -> tuple[str | int | float | None, ...]:
    size = f"none in half of {found['of']:,}" if found["size"] is None else f"{found['size']:,}"
    without = found["points_without"]
    return (
        found["first"],
        found["second"],
        f"{found['points']:.1f}",
        "equal ratings" if found["status"] == "tied" else f"{size} {unit.value}",
        None if found["share"] is None else percent(found["share"]),
        None if without is None else f"{without:.1f}",
    )
