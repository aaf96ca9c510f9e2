"""What `arena battles` shows beyond plain ratings: what covariates are worth, and the judge's own error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.output import Cell, note, show_json, show_line, show_table
from data.errors import InputError
from leaderboard.vocabulary import Covariate, ErrorKind

if TYPE_CHECKING:
    from arena.services.battle_files import FileRatings, RatingRequest, Reading
    from leaderboard.rates import Rate
    from leaderboard.trust.judge_error.reporting import Parts

ErrorChoice = Annotated[
    ErrorKind,
    typer.Option(
        "--error",
        help="What intervals count: which `questions` were asked, that the `judge` might read the same "
        "questions otherwise (in another wording, once more), or `all`: what another round would say. The "
        "last two need the columns `wording` or `repeat`.",
    ),
]
RATE_HEADERS = ("system", "domain", "battles", "win", "win+tie", "lower", "upper", "mean score")
PARTS = ("questions", "wordings", "by question", "repeats", "t")
CovariateNames = Annotated[
    str | None,
    typer.Option(
        "--covariates",
        metavar="NAME,…",
        show_default="all that the file has",
        help="With --method style: what to control for: `length`, `headings`, `bold`, `lists`, "
        "`citations`, `position`, `same_family`.",
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
            effect.covariate,
            *(f"{value:.1f}" for value in (effect.points, effect.lower, effect.upper, effect.se, effect.vif)),
            effect.scale,
        )
        for effect in rated.controlled.effects
    ]
    show_table(("covariate", "points", "lower", "upper", "se", "inflation", "of"), rows)
    for covariate in rated.controlled.left_out:
        show_line(covariate.reason)
    show_line(rated.controlled.collinearity.sentence)


def refuse_with_votes(kind: ErrorKind) -> None:
    """Refuse the judge's error where people correct the judge.

    Raises:
        InputError: It was asked for.
    """
    if kind is not ErrorKind.QUESTIONS:
        raise InputError(
            "What people would say has no error of the judge in it.", advice="Use --people without --error."
        )


def show_rated(
    file: Path, kind: ErrorKind, request: RatingRequest, reading: Reading, *, as_json: bool
) -> None:
    """Print ratings with the judge's error in their intervals."""
    from arena.services.battle_file_reports import rate_file_with_error

    rated, notes = rate_file_with_error(file, kind, request, reading=reading)
    _say((*notes, *rated.notes))
    if as_json:
        show_json(rated.as_json())
        return
    headers = ("rank", "system", "rating", "lower", "upper", "letters", *PARTS, "battles", "flags")
    rows = [
        (
            f"{row.rank_lower}–{row.rank_upper}",
            row.system,
            *(_shown(value, 1) for value in (row.rating, row.lower, row.upper)),
            row.letters,
            *_parts(rated.parts[row.system], 1),
            row.battles,
            ", ".join(flag.value for flag in row.flags),
        )
        for row in rated.table.ratings
    ]
    show_table(headers, rows)


def show_rates(
    file: Path,
    kind: ErrorKind,
    *,
    reference: str | None,
    by_domain: bool,
    reading: Reading,
    as_json: bool,
) -> None:
    """Print win rates with the judge's error in their intervals."""
    from arena.services.battle_file_reports import winrates_of_file_with_error

    rates, notes = winrates_of_file_with_error(
        file, kind, reference=reference, by_domain=by_domain, reading=reading
    )
    _say((*notes, *rates.notes))
    if as_json:
        show_json(rates.as_json())
        return
    headers = (*RATE_HEADERS, *PARTS)
    rows = [
        (*rate_cells(row), *_parts(rates.parts[row.system, row.domain]["win_rate"], 3))
        for row in rates.table.rows
    ]
    show_table(headers, rows)


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


def _say(notes: Sequence[str]) -> None:
    for line in notes:
        note(line)


def _parts(parts: Parts, digits: int) -> tuple[str | None, ...]:
    values = (parts.questions, parts.wordings, parts.wordings_by_question, parts.repeats)
    return (*(_shown(value, digits) for value in values), _shown(parts.degrees_of_freedom, 0))


def _shown(value: float | None, digits: int) -> str | None:
    return None if value is None else f"{value:.{digits}f}"
