"""Output of commands: JSON on request, else text; errors on stderr."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from data.errors import ArenaError, InvalidFileError
from data.files.strict_json import NULS_REPLACED, counting_nuls
from data.models import Problem
from data.models.words import summarise_problems
from data.text import visible

if TYPE_CHECKING:
    from arena.settings import Settings

Cell = str | int | float | list[str] | None
# Numbers from here on are ratings and get one decimal; smaller ones are shares.
MIN_RATING = 10


def show_json(payload: object) -> None:
    """Print one JSON document."""
    typer.echo(visible(json.dumps(payload, ensure_ascii=False, indent=2, allow_nan=False)))


def show_line(*lines: str) -> None:
    """Print lines of the result."""
    for line in lines:
        typer.echo(visible(line))


def show_result(payload: object, line: str, *, as_json: bool) -> None:
    """Print a result as JSON or as a line."""
    if as_json:
        show_json(payload)
    else:
        show_line(line)


def show_rows(
    payload: Sequence[object],
    headers: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    as_json: bool,
    empty: str = "",
) -> None:
    """Print rows as JSON or as a table; `empty` is the note for an empty list."""
    if as_json:
        show_json(payload)
    elif empty and not payload:
        note(empty)
    else:
        show_table(headers, rows)


def note(*lines: str) -> None:
    """Print lines that are not part of the result."""
    for line in lines:
        typer.echo(visible(line), err=True)


@contextmanager
def noting_nuls() -> Iterator[None]:
    """Print a note if files that are read in the block contain NUL characters."""
    with counting_nuls() as counts:
        try:
            yield
        finally:
            if counts:
                note(NULS_REPLACED.format(sum(counts.values())))


def protect_home(settings: "Settings") -> None:
    """Make a home private, with a note if others could read it."""
    from arena.services.system import make_private

    if change := make_private(settings.home, settings.database_url):
        note(change)


def show_table(headers: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Print aligned columns; numbers to the right, None as a dash."""
    cells = [[_text(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [list(headers), *cells]) for column in range(len(headers))]
    numeric = [
        all(_is_number(row[column]) for row in cells) and bool(cells) for column in range(len(headers))
    ]
    for row in [list(headers), *cells]:
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        typer.echo("  ".join(padded).rstrip())


def show_fields(fields: Mapping[str, Cell]) -> None:
    """Print fields, one per line."""
    width = max((len(name) for name in fields), default=0)
    for name, value in fields.items():
        typer.echo(f"{name.ljust(width)}  {_text(value)}")


def show_error(error: ArenaError) -> None:
    """Print an error on stderr in one line, after the problems of an invalid file."""
    if isinstance(error, InvalidFileError):
        note_problems(error.problems)
    note(f"arena: {error}")


def note_problems(problems: Iterable[Problem]) -> None:
    """Print problems on stderr, similar ones grouped."""
    note(*summarise_problems(problems, problem_line))


def problem_line(problem: Problem) -> str:
    """Format a problem as a line of text."""
    location = f"line {problem.line}: " if problem.line else ""
    advice = f" {problem.advice}" if problem.advice else ""
    return f"{problem.severity}: {location}{problem.message}{advice} [{problem.code}]"


def _text(value: Cell) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= MIN_RATING else f"{value:.3f}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "–"
    return f"{value:,}" if isinstance(value, int) else on_one_line(value)


def on_one_line(text: str) -> str:
    """Escape line ends and other unprintable characters."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _is_number(text: str) -> bool:
    return text == "–" or text.replace(",", "").replace(".", "").lstrip("-").isdecimal()
