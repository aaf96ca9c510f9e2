"""Tables of `arena battles` beyond plain ratings: coefficients of covariates, win rates, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.output import Cell, show_json, show_line, show_table
from leaderboard.vocabulary import Covariate

if TYPE_CHECKING:
    from arena.services.battle_files import FileRatings
    from leaderboard.agreement.comparison import RankingComparison
    from leaderboard.rates import Rate

RATE_HEADERS = ("system", "domain", "battles", "win", "win+tie", "lower", "upper", "mean score")
CovariateNames = Annotated[
    str | None,
    typer.Option(
        "--covariates",
        metavar="NAME,…",
        show_default="all that the file has",
        help="With --method style: what to control for: `length`, `headings`, `bold`, `lists`, `position`.",
    ),
]


def read_covariates(words: str | None) -> tuple[Covariate, ...] | None:
    """Covariates by their names, with commas between them; None where none are named."""
    if words is None:
        return None
    try:
        return tuple(Covariate(word.strip()) for word in words.split(","))
    except ValueError as error:
        names = ", ".join(covariate.value for covariate in Covariate)
        raise typer.BadParameter(f"{error}; there are {names}") from error


def show_coefficients(rated: FileRatings) -> None:
    """Print what each covariate is worth, where ratings are controlled for some."""
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
    for covariate in rated.controlled.left_out:
        show_line(covariate.reason)


def rate_cells(row: Rate) -> tuple[Cell, ...]:
    """The cells of a table of win rates, below `RATE_HEADERS`."""
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


def show_ranking_comparison(comparison: RankingComparison, names: Sequence[str], *, as_json: bool) -> None:
    """Print how alike rankings are, and the rank of each system in every one of them."""
    if as_json:
        show_json(comparison.as_json())
        return
    tau = comparison.tau
    bounds = "" if tau.interval is None else f" ({tau.interval.lower:.2f} to {tau.interval.upper:.2f})"
    show_line("Kendall's tau: –" if tau.value is None else f"Kendall's tau: {tau.value:.2f}{bounds}")
    show_table(("system", *names), [(system, *ranks) for system, ranks in comparison.systems])
