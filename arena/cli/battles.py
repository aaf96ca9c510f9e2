"""`arena battles`: rate, winrates and convert battle files without a database."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.battle_peers import Format, NamedVotes, Strict, check, compare_tools
from arena.cli.battle_votes import People, show_corrected, show_corrected_rates
from arena.cli.options import AsJson, Engine, File, Seed, known, open_parallel, whole_file
from arena.cli.output import Cell, note, show_json, show_line, show_table
from arena.formats import or_dash
from leaderboard.formats.registry import battle_format
from leaderboard.vocabulary import Cluster, Covariate, IntervalKind, Method

if TYPE_CHECKING:
    from arena.services.battle_files import FileRatings
    from leaderboard.agreement.comparison import RankingComparison
    from leaderboard.rates import Rate


RATE_HEADERS = ("system", "domain", "battles", "win", "win+tie", "lower", "upper", "mean score")
CovariateNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        show_default="all columns in the file",
        help="Covariates of --method style: `length`, `headings`, `bold`, `lists`, `position`.",
    ),
]
commands = typer.Typer(help="Battle files: rate and convert them without a database.", no_args_is_help=True)
commands.command()(check)
commands.command()(compare_tools)
Resamples = Annotated[
    int, typer.Option(metavar="B", min=2, max=1_000_000, help="Number of bootstrap resamples.")
]

Interval = Annotated[
    IntervalKind | None,
    typer.Option(
        show_default="bootstrap, sandwich above 250 systems",
        help="Method for intervals; `style` supports only `sandwich`.",
    ),
]


class GroupWord(StrEnum):
    """Groupings of win rates on the command line."""

    DOMAIN = "domain"


@commands.command()
def rate(
    file: File,
    method: Annotated[
        Method,
        typer.Option(
            help="Rating model; `elo` is sequential, for comparison; `style` controls for style bias."
        ),
    ] = Method.BRADLEY_TERRY,
    interval: Interval = None,
    bootstrap: Resamples = 1000,
    cluster: Annotated[
        Cluster,
        typer.Option(help="Unit of resampling: questions, people (`voter`) or single battles (`none`)."),
    ] = Cluster.QUESTION,
    anchor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SYSTEM=RATING",
            show_default="ratings average 1000",
            help="Fix the rating of one system; repeatable. With several anchors, ratings are shifted so "
            "that their mean deviation from the anchors is 0.",
        ),
    ] = None,
    seed: Seed = 0,
    without: Annotated[
        str | None, typer.Option(metavar="NAME", help="Leave out every battle of this system.")
    ] = None,
    covariates: CovariateNames = None,
    people: People = None,
    read_as: Format = None,
    engine: Engine = None,
    *,
    strict: Strict = False,
    named_votes: NamedVotes = False,
    as_json: AsJson = False,
) -> None:
    """Rate the systems of a battle file, best first.

    $ arena battles rate battles.jsonl

    With --people, FILE has a judge's verdict on every planned battle, and VOTES one line per human vote on
    some of them: `question_id, model_a, model_b`, `winner` or `score` (win share of model_a), and optionally
    `annotator` and `chance` (probability that the battle was sampled for voting; by default the share of
    battles with votes). Votes are joined by question and unordered pair. The ratings estimate what people
    would say of all battles, with intervals over questions, next to the judge's ratings and those from votes
    only. The method must be bradley-terry.

    With --method style, the ratings compare answers of equal style, and each covariate has a coefficient in
    rating points with an interval. The covariates are columns for the two answers of a battle:
    `a_length, b_length` (words), `a_headings, b_headings`, `a_bold, b_bold` (spans), `a_lists, b_lists`
    (items), and `position`, the answer in first place: `a`, `b`, or `both` if the judge read both orders
    (without it, `order` with `ab` or `ba`).
    """
    from arena.services.battle_files import RatingRequest, Reading, rate_file

    request = RatingRequest(
        method=method,
        interval=interval,
        bootstrap=bootstrap,
        cluster=cluster,
        anchors=tuple(anchor or ()),
        seed=seed,
        without=without,
        covariates=_read_covariates(covariates),
    )
    reading = Reading(read_as=read_as, strict=strict, named=named_votes)
    with open_parallel(engine):
        if people is not None:
            show_corrected(file, people, request, reading, as_json=as_json)
            return
        rated = rate_file(file, request, reading=reading)
    note(*rated.notes)
    if as_json:
        show_json(rated.as_json())
        return
    headers = ("rank", "system", "rating", "lower", "upper", "se", "group", "letters", "battles", "flags")
    rows = [
        (
            f"{rating.rank_lower}–{rating.rank_upper}",
            rating.system,
            *(or_dash(value, ".1f") for value in (rating.rating, rating.lower, rating.upper, rating.se)),
            rating.tie_group,
            rating.letters,
            rating.battles,
            ", ".join(flag.value for flag in rating.flags),
        )
        for rating in rated.table.ratings
    ]
    show_table(headers, rows)
    _show_coefficients(rated)


@commands.command()
def winrates(
    file: File,
    reference: Annotated[
        str | None, typer.Option(metavar="NAME", help="Count only battles against this system.")
    ] = None,
    by: Annotated[GroupWord | None, typer.Option(help="Add a row for each domain.")] = None,
    people: People = None,
    read_as: Format = None,
    *,
    strict: Strict = False,
    named_votes: NamedVotes = False,
    as_json: AsJson = False,
) -> None:
    """Print the win rates and win+tie rates of a battle file.

    $ arena battles winrates battles.jsonl --reference human --by domain

    With --people, the rates estimate what people would say, as in `arena battles rate --people`.
    """
    from arena.services.battle_files import Reading, winrates_of_file

    by_domain = by is not None
    reading = Reading(read_as=read_as, strict=strict, named=named_votes)
    if people is not None:
        show_corrected_rates(file, people, reference, reading, by_domain=by_domain, as_json=as_json)
        return
    rates, notes = winrates_of_file(file, reference=reference, by_domain=by_domain, reading=reading)
    note(*notes)
    if as_json:
        show_json(rates.as_json())
        return
    show_table(RATE_HEADERS, [_rate_cells(row) for row in rates.rows])


@commands.command("compare-rankings")
def compare_rankings(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE FILE…", help="Verdicts of two or more judges on the same systems."),
    ],
    seed: Seed = 0,
    read_as: Format = None,
    *,
    strict: Strict = False,
    named_votes: NamedVotes = False,
    as_json: AsJson = False,
) -> None:
    """Compare how verdict files rank the same systems.

    $ arena battles compare-rankings judge.jsonl people.jsonl

    If the files have question ids, only battles in all of them count. Kendall's tau-b has an interval over
    questions; for more than two files it is the mean over all pairs.
    """
    from arena.services.battle_files import Reading, compare_rankings_of_files

    reading = Reading(read_as=read_as, strict=strict, named=named_votes)
    comparison, notes = compare_rankings_of_files(files, seed=seed, reading=reading)
    note(*notes)
    show_ranking_comparison(comparison, [file.name for file in files], as_json=as_json)


@commands.command()
def convert(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SRC", help="The file or folder to read; - is standard input.", callback=whole_file
        ),
    ],
    destination: Annotated[Path, typer.Argument(metavar="DEST", help="The file to write.")],
    read_as: Format = None,
    write_as: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="Format to write.", callback=known(battle_format))
    ] = "native",
    *,
    strict: Strict = False,
) -> None:
    """Convert a battle file from any known format to another.

    $ arena battles convert battles.jsonl battles.csv

    All columns are converted; the command lists those that the destination format cannot store.
    """
    from arena.services.battle_files import left_out_notes
    from leaderboard.formats import writing
    from leaderboard.formats.rows import Context

    context = Context(strict=strict)
    written = writing.convert(source, destination, read_as=read_as, write_as=write_as, context=context)
    note(*left_out_notes(written.left_out, written.first))
    if written.dropped:
        note(f"not written to {destination.name}: {', '.join(written.dropped)}")
    show_line(f"{written.rows:,} battles written to {destination}.")


def _read_covariates(words: str | None) -> tuple[Covariate, ...] | None:
    if words is None:
        return None
    try:
        return tuple(Covariate(word.strip()) for word in words.split(","))
    except ValueError as error:
        names = ", ".join(covariate.value for covariate in Covariate)
        raise typer.BadParameter(f"{error}; expected {names}") from error


def _show_coefficients(rated: "FileRatings") -> None:
    if rated.controlled is None:
        return
    rows = [
        (
            effect.name,
            *(f"{value:.1f}" for value in (effect.value, effect.lower, effect.upper, effect.se, effect.vif)),
            effect.scale,
        )
        for effect in rated.controlled.effects
    ]
    show_table(("covariate", "points", "lower", "upper", "se", "inflation", "of"), rows)
    show_line(*(covariate.reason for covariate in rated.controlled.left_out))


def _rate_cells(row: "Rate") -> tuple[Cell, ...]:
    return (
        row.system,
        row.domain,
        row.battles,
        row.win_rate,
        row.win_tie_rate,
        None if row.win_interval is None else row.win_interval.lower,
        None if row.win_interval is None else row.win_interval.upper,
        row.mean_score,
    )


def show_ranking_comparison(comparison: "RankingComparison", names: Sequence[str], *, as_json: bool) -> None:
    """Print the correlation of rankings, and the rank of each system in each of them."""
    if as_json:
        show_json(comparison.as_json())
        return
    tau = comparison.tau
    bounds = "" if tau.interval is None else f" ({tau.interval.lower:.2f} to {tau.interval.upper:.2f})"
    show_line("Kendall's tau: –" if tau.value is None else f"Kendall's tau: {tau.value:.2f}{bounds}")
    show_table(("system", *names), [(system, *ranks) for system, ranks in comparison.systems])
