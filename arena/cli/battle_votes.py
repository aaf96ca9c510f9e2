"""`--people` of `arena battles`: correct a judge's verdicts with human votes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import whole_if_named
from arena.cli.output import note, show_json, show_line, show_table

if TYPE_CHECKING:
    from arena.services.battle_files import RatingRequest, Reading

People = Annotated[
    Path | None,
    typer.Option(
        metavar="VOTES",
        help="Human votes on some battles (question_id, model_a, model_b, winner or score; optionally "
        "annotator, chance): estimate what people would say of all battles.",
        callback=whole_if_named,
    ),
]
RATINGS = ("rank", "system", "people would say", "votes only", "judge", "labelled", "flags")
RATES = ("system", "domain", "labelled", "mean share", "votes only", "judge", "win", "win+tie")


def show_corrected(
    file: Path, votes: Path, request: "RatingRequest", reading: "Reading", *, as_json: bool
) -> None:
    """Print ratings corrected with human votes."""
    from arena.services.battle_files import correct_file

    table, notes = correct_file(file, votes, request, reading=reading)
    rows = [
        (
            f"{row['rank_lower']}–{row['rank_upper']}",
            row["system"],
            *(_estimate(row, f"{by}rating", by, 0) for by in ("", "people_", "judge_")),
            row["labelled_battles"],
            ", ".join(row["flags"]),
        )
        for row in table["ratings"]
    ]
    _show(table, notes, RATINGS, rows, as_json=as_json)


def show_corrected_rates(
    file: Path, votes: Path, reference: str | None, reading: "Reading", *, by_domain: bool, as_json: bool
) -> None:
    """Print win rates corrected with human votes."""
    from arena.services.battle_files import corrected_rates_of_file

    table, notes = corrected_rates_of_file(
        file, votes, reference=reference, by_domain=by_domain, reading=reading
    )
    rows = [
        (
            *(row[name] for name in ("system", "domain", "labelled_battles")),
            *(_estimate(row, f"{by}mean_score", f"{by}score_", 3) for by in ("", "people_", "judge_")),
            _estimate(row, "win_rate", "", 3),
            _estimate(row, "win_tie_rate", "win_tie_", 3),
        )
        for row in table["rows"]
    ]
    _show(table, notes, RATES, rows, as_json=as_json)


def _show(
    table: Mapping[str, Any],
    notes: Sequence[str],
    headers: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    as_json: bool,
) -> None:
    note(*notes)
    if as_json:
        show_json(dict(table))
        return
    show_table(headers, rows)
    people = "" if table["annotators"] is None else f" of {table['annotators']:,} people"
    labelled = f"{table['labelled_battles']:,} of {table['battles']:,} battles"
    show_line(f"{table['votes']:,} votes{people} on {labelled}. {table['advice']}")


def _estimate(row: Mapping[str, Any], name: str, ends: str, digits: int) -> str | None:
    value, lower, upper = (row[field] for field in (name, f"{ends}lower", f"{ends}upper"))
    if value is None or lower is None or upper is None:
        return None if value is None else f"{value:.{digits}f}"
    return f"{value:.{digits}f} ({lower:.{digits}f}–{upper:.{digits}f})"
