"""`arena battles`: rate, winrates and convert files of battles, without any database."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import AsJson, File, Seed
from arena.cli.output import note, show_fields, show_json, show_line, show_table
from leaderboard.vocabulary import Cluster, IntervalKind, Method

if TYPE_CHECKING:
    from leaderboard.formats.schemas import BattleFormat

commands = typer.Typer(help="Files of battles.", no_args_is_help=True)
Format = Annotated[str | None, typer.Option("--from", help="The file's format, where it is not told by it.")]


class GroupWord(StrEnum):
    """Groupings of win rates on the command line."""

    DOMAIN = "domain"


@commands.command()
def rate(
    file: File,
    method: Annotated[Method, typer.Option("--method", help="How.")] = Method.BRADLEY_TERRY,
    interval: Annotated[
        IntervalKind, typer.Option("--interval", help="Where intervals come from.")
    ] = IntervalKind.BOOTSTRAP,
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=2, max=1_000_000, help="Resamples.")] = 1000,
    cluster: Annotated[Cluster, typer.Option("--cluster", help="What is resampled.")] = Cluster.QUESTION,
    anchor: Annotated[str | None, typer.Option("--anchor", help="SYSTEM=RATING to hold fixed.")] = None,
    seed: Seed = 0,
    read_as: Format = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Rate the systems of a battle file, best first."""
    from arena.services.battles import RatingRequest, rate_file

    request = RatingRequest(
        method=method,
        interval=interval,
        bootstrap=bootstrap,
        cluster=cluster,
        anchor=anchor,
        seed=seed,
    )
    rated = rate_file(file, request, read_as=_format(read_as))
    for line in rated.notes:
        note(line)
    if as_json:
        show_json(rated.table.as_json())
        return
    headers = ("rank", "system", "rating", "lower", "upper", "se", "group", "battles", "flags")
    rows = [
        (
            f"{one.rank_lower}–{one.rank_upper}",
            one.system,
            _points(one.rating),
            _points(one.lower),
            _points(one.upper),
            _points(one.se),
            one.tie_group,
            one.battles,
            ", ".join(flag.value for flag in one.flags),
        )
        for one in rated.table.ratings
    ]
    show_table(headers, rows)


@commands.command()
def winrates(
    file: File,
    reference: Annotated[
        str | None, typer.Option("--reference", help="Count battles against it only.")
    ] = None,
    by: Annotated[GroupWord | None, typer.Option("--by", help="Add a row for each domain.")] = None,
    read_as: Format = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Win and win+tie rates of the systems of a battle file."""
    from arena.services.battles import winrates_of_file

    rates, notes = winrates_of_file(
        file, reference=reference, by_domain=by is not None, read_as=_format(read_as)
    )
    for line in notes:
        note(line)
    if as_json:
        show_json(rates.as_json())
        return
    headers = ("system", "domain", "battles", "win", "win+tie", "lower", "upper")
    rows = [
        (
            row.system,
            row.domain,
            row.battles,
            row.win_rate,
            row.win_tie_rate,
            None if row.win_interval is None else row.win_interval.lower,
            None if row.win_interval is None else row.win_interval.upper,
        )
        for row in rates.rows
    ]
    show_table(headers, rows)


@commands.command()
def compare(
    file: File,
    first: Annotated[str, typer.Argument(metavar="FIRST", help="One system.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Another.")],
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=2, max=1_000_000, help="Resamples.")] = 1000,
    seed: Seed = 0,
    read_as: Format = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Say how far apart two systems are, how sure that is, and how many questions would settle it."""
    from arena.services.battles import compare_in_file

    found = compare_in_file(file, first, second, bootstrap=bootstrap, seed=seed, read_as=_format(read_as))
    if as_json:
        show_json(found)
        return
    domains = found.pop("by_domain")
    show_fields(
        {name: value if isinstance(value, str | int | float) else None for name, value in found.items()}
    )
    show_table(("domain", "points", "lower", "upper", "chance", "questions"), _domain_rows(domains))


@commands.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="The file or folder to read.")],
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="The file to write.")],
    read_as: Format = None,
    write_as: Annotated[str, typer.Option("--to", help="Format to write.")] = "native",
) -> None:
    """Turn a battle file of any known format into another."""
    from arena.services.battles import convert_file

    to = _format(write_as)
    if to is None:
        raise typer.BadParameter(write_as)
    written = convert_file(source, destination, read_as=_format(read_as), write_as=to)
    for reason, count in written.left_out.items():
        note(f"left out: {count:,} records ({reason})")
    show_line(f"{written.rows:,} battles written to {destination}.")


def _format(word: str | None) -> BattleFormat | None:
    from leaderboard.formats.schemas import BattleFormat

    if word is None:
        return None
    try:
        return BattleFormat(word)
    except ValueError as error:
        known = ", ".join(kind.value for kind in BattleFormat)
        raise typer.BadParameter(f"{word!r} is none of {known}") from error


def _domain_rows(domains: object) -> list[tuple[str | int | float | None, ...]]:
    names = ("points", "lower", "upper", "chance", "questions")
    found: dict[str, dict[str, Any]] = domains if isinstance(domains, dict) else {}
    return [(domain, *(row.get(name) for name in names)) for domain, row in found.items()]


def _points(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"
