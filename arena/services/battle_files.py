"""Files of battles: rates and ratings. No store is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from data.errors import InputError, NotFoundError
from leaderboard.battles import BattleTable
from leaderboard.formats.reading import BattleFile, read_battles
from leaderboard.formats.registry import BattleFormat
from leaderboard.rates import RateTable, win_rates
from leaderboard.ratings import (
    Anchor,
    Cluster,
    IntervalKind,
    Method,
    RatingTable,
    Settings,
    difference,
    differences_by_domain,
    questions_to_separate,
    rate,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRequest:
    """How a file of battles is to be rated; `anchor` is `SYSTEM=RATING`, and `without` a system left out."""

    method: Method = Method.BRADLEY_TERRY
    interval: IntervalKind = IntervalKind.BOOTSTRAP
    bootstrap: int = 1000
    cluster: Cluster = Cluster.QUESTION
    anchor: str | None = None
    seed: int = 0
    without: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRatings:
    """Ratings of a file, and what a reader of them must know about the file."""

    table: RatingTable
    notes: tuple[str, ...]


def rate_file(path: Path, request: RatingRequest, *, read_as: BattleFormat | None = None) -> FileRatings:
    """Rate the systems of a battle file.

    Raises:
        FileFormatError: The file cannot be read; the message names row and column.
        RecordError: A value breaks a rule; likewise.
        InputError: Style control, which needs more than battles.
        NotFoundError: No battle names the system that is to be left out.
        UnrankableError: The ratings do not exist.
    """
    if request.method is Method.STYLE:
        raise InputError(
            "A battle file does not hold the answers' lengths, which style control needs.",
            advice="Boards of judged rounds have the length-controlled ratings: `arena leaderboard show`.",
        )
    battle_file = read_battles(path, read_as)
    battles = battle_file.table if request.without is None else _without(battle_file.table, request.without)
    table = rate(
        battles,
        method=request.method,
        interval=request.interval,
        bootstrap=request.bootstrap,
        cluster=request.cluster,
        anchor=None if request.anchor is None else parse_anchor(request.anchor),
        seed=request.seed,
    )
    rated = tuple(rating for rating in table.ratings if rating.system != request.without)
    return FileRatings(table=replace(table, ratings=rated), notes=notes_on(battle_file))


def _without(table: BattleTable, system: str) -> BattleTable:
    """The battles of the other systems among themselves."""
    if system not in table.systems:
        raise NotFoundError(
            f"No battle names {system!r}.", advice=f"Systems of this file: {', '.join(table.systems)}."
        )
    code = table.systems.index(system)
    return table.select((table.a != code) & (table.b != code))


def winrates_of_file(
    path: Path, *, reference: str | None, by_domain: bool, read_as: BattleFormat | None = None
) -> tuple[RateTable, tuple[str, ...]]:
    """Win and win+tie rates of a battle file.

    Raises:
        FileFormatError: The file cannot be read; the message names row and column.
        RecordError: A value breaks a rule; likewise.
        NotFoundError: No battle names the reference.
    """
    battle_file = read_battles(path, read_as)
    rates = win_rates(
        battle_file.table, reference=reference, by_domain=by_domain, clustered=battle_file.questions_named
    )
    return rates, notes_on(battle_file)


def compare_in_file(
    path: Path, first: str, second: str, *, bootstrap: int, seed: int, read_as: BattleFormat | None = None
) -> dict[str, object]:
    """The paired difference of two systems of a battle file, overall and by domain.

    Raises:
        FileFormatError: The file cannot be read; the message names row and column.
        NotFoundError: A system took part in no battle.
        UnrankableError: The battles do not compare the two.
    """
    battle_file = read_battles(path, read_as)
    settings = Settings(bootstrap=bootstrap, seed=seed)
    table = rate(battle_file.table, bootstrap=bootstrap, seed=seed)
    needed = questions_to_separate(table, first, second)
    domains = differences_by_domain(battle_file.table, first, second, settings)
    return {
        **asdict(difference(table, first, second)),
        "needed": needed.needed,
        "power": needed.power,
        "by_domain": {
            row.domain: {"reason": row.reason} if row.difference is None else asdict(row.difference)
            for row in domains
        },
    }


def parse_anchor(text: str) -> Anchor:
    """Read `SYSTEM=RATING`.

    Raises:
        InputError: It is something else.
    """
    system, separator, rating = text.rpartition("=")
    try:
        if separator and system:
            return Anchor(system=system, rating=float(rating))
    except ValueError as error:
        raise InputError(f"{rating!r} is no rating.", advice="Write --anchor SYSTEM=RATING.") from error
    raise InputError(f"{text!r} is no anchor.", advice="Write --anchor SYSTEM=RATING.")


def notes_on(battle_file: BattleFile) -> tuple[str, ...]:
    """What a reader of numbers from a battle file must know about the file."""
    left_out: Mapping[str, int] = {str(reason): count for reason, count in battle_file.left_out.items()}
    notes = [f"left out: {count:,} records ({reason})" for reason, count in left_out.items() if count]
    if not battle_file.questions_named:
        notes.append("the file names no questions, so every battle counts as a question of its own")
    return tuple(notes)
