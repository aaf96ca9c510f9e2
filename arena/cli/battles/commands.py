"""`arena battles`: rate, winrates and convert files of battles, without any database."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.cli.battles import trust
from arena.cli.battles.formats import Format
from arena.cli.battles.formats import format_named as _format
from arena.cli.battles.people import PeopleOptions, show_corrected, show_corrected_rates
from arena.cli.battles.shown import (
    RATE_HEADERS,
    CovariateNames,
    ErrorChoice,
    rate_cells,
    read_covariates,
    refuse_with_votes,
    show_coefficients,
    show_rated,
    show_rates,
)
from arena.cli.judge_tables import show_judges
from arena.cli.options import AsJson, File, Seed, grouped, spread
from arena.cli.output import note, show_fields, show_json, show_line, show_table
from data.errors import InputError
from leaderboard.vocabulary import Cluster, ErrorKind, IntervalKind, Method

commands = typer.Typer(
    help="Battle files: rate, compare and convert them without a database.", no_args_is_help=True
)
Resamples = Annotated[
    int,
    typer.Option("--bootstrap", metavar="B", min=2, max=1_000_000, help="Resamples of the bootstrap."),
]


class GroupWord(StrEnum):
    """Groupings of win rates on the command line."""

    DOMAIN = "domain"


@commands.command()
@spread
@grouped
def rate(
    file: File,
    method: Annotated[
        Method,
        typer.Option(
            "--method",
            help="The rating model; `elo` is computed online, for comparison, `style` controls for what "
            "sways a judge, and `judge-aware` rates the judges of a column `judge` too.",
        ),
    ] = Method.BRADLEY_TERRY,
    interval: Annotated[
        IntervalKind,
        typer.Option("--interval", help="How intervals are computed; `style` has sandwich intervals alone."),
    ] = IntervalKind.BOOTSTRAP,
    bootstrap: Resamples = 1000,
    cluster: Annotated[
        Cluster,
        typer.Option("--cluster", help="What is resampled: questions, or single battles (`none`)."),
    ] = Cluster.QUESTION,
    anchor: Annotated[
        str | None,
        typer.Option(
            "--anchor",
            metavar="SYSTEM=RATING",
            show_default="ratings average 1000",
            help="Fix the rating of one system.",
        ),
    ] = None,
    seed: Seed = 0,
    read_as: Format = None,
    without: Annotated[
        str | None,
        typer.Option("--without", metavar="NAME", help="Leave out every battle of this system."),
    ] = None,
    covariates: CovariateNames = None,
    error: ErrorChoice = ErrorKind.QUESTIONS,
    *,
    people: PeopleOptions,
    as_json: AsJson = False,
) -> None:
    """Rate the systems of a battle file, best first.

    With --people the file holds a judge's verdict on every planned battle, and VOTES a line for each
    person's vote on some of them: `question_id, model_a, model_b`, `winner` or `score` (share of the win of
    model_a), and where known `annotator` and `chance` (the probability that the battle was put to people;
    without it the share of battles with votes). Votes join by question and unordered pair. The ratings are
    what people would say of all the battles, with intervals by questions, beside the judge's and those of
    votes alone; bradley-terry is the one method for it.

    With --method style the ratings are those of answers that are alike in what sways a judge, and each
    covariate has a coefficient in rating points with its interval. The file says it in columns of each
    battle's two answers: `a_length, b_length` (words), `a_headings, b_headings`, `a_bold, b_bold` (spans),
    `a_lists, b_lists` (items), `a_citations, b_citations`, `a_same_family, b_same_family` (1 where the answer
    is of the judge's family of models, else 0), and `position`, the answer shown first: `a`, `b`, or `both`
    where the judge read both orders (without it, `order` says the same by `ab` and `ba`).

    With --method judge-aware the file has a column `judge` with at least two names. Each judge gets a
    discrimination (1 on average; 0 for one that guesses, below 0 for one that contradicts the others) and
    the weight of its vote in a panel; the ratings of the plain and of the weighted panel stand beside.

    With --error judge or all the file holds several rows of some battles or all, told apart by `wording` (in
    which words the judge was asked) and `repeat` (which asking in these words). A rating is then by the mean
    over a battle's wordings, and has the parts of its error beside it.
    """
    from arena.services.battle_files import RatingRequest, rate_file

    request = RatingRequest(
        method=method,
        interval=interval,
        bootstrap=bootstrap,
        cluster=cluster,
        anchor=anchor,
        seed=seed,
        without=without,
        covariates=read_covariates(covariates),
    )
    votes = people.request()
    if votes is not None:
        refuse_with_votes(error)
        show_corrected(file, votes, request, _format(read_as), as_json=as_json)
        return
    if error is not ErrorKind.QUESTIONS:
        show_rated(file, error, request, _format(read_as), as_json=as_json)
        return
    rated = rate_file(file, request, read_as=_format(read_as))
    for line in rated.notes:
        note(line)
    if as_json:
        show_json(rated.as_json())
        return
    headers = ("rank", "system", "rating", "lower", "upper", "se", "group", "letters", "battles", "flags")
    rows = [
        (
            f"{rating.rank_lower}–{rating.rank_upper}",
            rating.system,
            _points(rating.rating),
            _points(rating.lower),
            _points(rating.upper),
            _points(rating.se),
            rating.tie_group,
            rating.letters,
            rating.battles,
            ", ".join(flag.value for flag in rating.flags),
        )
        for rating in rated.table.ratings
    ]
    show_table(headers, rows)
    show_coefficients(rated)
    if rated.judges is not None:
        show_judges(rated.judges)


@commands.command()
@spread
@grouped
def winrates(
    file: File,
    reference: Annotated[
        str | None,
        typer.Option("--reference", metavar="NAME", help="Count only battles against this system."),
    ] = None,
    by: Annotated[GroupWord | None, typer.Option("--by", help="Add a row for each domain.")] = None,
    interval: Annotated[
        IntervalKind | None,
        typer.Option("--interval", help="With --people: where intervals come from (else sandwich)."),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option("--bootstrap", min=2, max=1_000_000, help="With --people: resamples.")
    ] = 1000,
    seed: Seed = 0,
    read_as: Format = None,
    error: ErrorChoice = ErrorKind.QUESTIONS,
    *,
    people: PeopleOptions,
    as_json: AsJson = False,
) -> None:
    """Print win rates and win+tie rates of the systems of a battle file.

    With --people the file holds a judge's verdict on every planned battle, and VOTES people's votes on some
    of them (as of `arena battles rate`): the rates, and the mean share of the win, are what people would say
    of all the battles, beside the judge's and those of votes alone.
    """
    from arena.services.battle_files import winrates_of_file

    votes = people.request()
    if votes is not None:
        refuse_with_votes(error)
        show_corrected_rates(
            file,
            votes,
            reference=reference,
            by_domain=by is not None,
            resampling=(interval or IntervalKind.SANDWICH, bootstrap, seed),
            read_as=_format(read_as),
            as_json=as_json,
        )
        return
    if interval is not None:
        raise InputError("Win rates without votes have Wilson's intervals.", advice="Leave out --interval.")
    if error is not ErrorKind.QUESTIONS:
        show_rates(
            file,
            error,
            reference=reference,
            by_domain=by is not None,
            read_as=_format(read_as),
            as_json=as_json,
        )
        return
    rates, notes = winrates_of_file(
        file, reference=reference, by_domain=by is not None, read_as=_format(read_as)
    )
    for line in notes:
        note(line)
    if as_json:
        show_json(rates.as_json())
        return
    headers, rows = RATE_HEADERS, [rate_cells(row) for row in rates.rows]
    show_table(headers, rows)


@commands.command()
def compare(
    file: File,
    first: Annotated[str, typer.Argument(metavar="FIRST", help="One system.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="The system that it is compared with.")],
    bootstrap: Resamples = 1000,
    seed: Seed = 0,
    read_as: Format = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Print the difference between two systems, with its interval.

    It comes with the chance that the first is better, and the number of questions that would separate the
    two.
    """
    from arena.services.battle_files import compare_in_file

    fields = compare_in_file(file, first, second, bootstrap=bootstrap, seed=seed, read_as=_format(read_as))
    if as_json:
        show_json(fields)
        return
    domains = fields.pop("by_domain")
    show_fields(
        {name: value if isinstance(value, str | int | float) else None for name, value in fields.items()}
    )
    show_table(("domain", "points", "lower", "upper", "chance", "questions"), _domain_rows(domains))


@commands.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="The file or folder to read.")],
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="The file to write.")],
    read_as: Format = None,
    write_as: Annotated[str, typer.Option("--to", metavar="FORMAT", help="Format to write.")] = "native",
) -> None:
    """Convert a battle file from any known format to another."""
    from leaderboard.formats import writing

    to = _format(write_as)
    if to is None:
        raise typer.BadParameter(write_as)
    written = writing.convert(source, destination, read_as=_format(read_as), write_as=to)
    for reason, count in written.left_out.items():
        note(f"left out: {count:,} records ({reason})")
    show_line(f"{written.rows:,} battles written to {destination}.")


commands.command()(spread(trust.fragility))
commands.command()(trust.cycles)


def _domain_rows(domains: object) -> list[tuple[str | int | float | None, ...]]:
    names = ("points", "lower", "upper", "chance", "questions")
    rows: dict[str, dict[str, Any]] = domains if isinstance(domains, dict) else {}
    return [(domain, *(row.get(name) for name in names)) for domain, row in rows.items()]


def _points(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"
