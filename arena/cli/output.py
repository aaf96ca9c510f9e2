"""Output of commands: JSON on request, else text; errors on stderr."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from data.errors import ArenaError, InvalidFileError
from data.files.strict_json import NULS_REPLACED, counting_nuls
from data.models import Problem
from data.models.words import few_of_each
from data.text import visible

if TYPE_CHECKING:
    from arena.settings import Settings

Cell = str | int | float | list[str] | None
# From here on a number is a rating, of one decimal; below it is a share.
RATING_SIZED = 10


def show_json(payload: object) -> None:
    """Print one JSON document."""
    typer.echo(visible(json.dumps(payload, ensure_ascii=False, indent=2, allow_nan=False)))


def show_line(text: str) -> None:
    """Print a line of the result."""
    typer.echo(visible(text))


def show_result(payload: object, line: str, *, as_json: bool) -> None:
    """Print a result as JSON, or in a line."""
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
    """Print a list as JSON, or as a table; where there is nothing, `empty` says what to do."""
    if as_json:
        show_json(payload)
    elif empty and not payload:
        note(empty)
    else:
        show_table(headers, rows)


def note(text: str) -> None:
    """Print a line that is not part of the result."""
    typer.echo(visible(text), err=True)


@contextmanager
def noting_nuls() -> Iterator[None]:
    """Count the NUL characters that files hold within, and print a note where there are any."""
    with counting_nuls() as counts:
        try:
            yield
        finally:
            if counts:
                note(NULS_REPLACED.format(sum(counts.values())))


def close_to_others(settings: "Settings") -> None:
    """Close a home that others can read, and say so."""
    from arena.services.system import made_private

    if done := made_private(settings.home, settings.database_url):
        note(done)


def show_table(headers: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """Print aligned columns; numbers to the right, what is undefined as a dash."""
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
    """Print one thing, a field a line."""
    width = max((len(name) for name in fields), default=0)
    for name, value in fields.items():
        typer.echo(f"{name.ljust(width)}  {_text(value)}")


def show_error(error: ArenaError) -> None:
    """Print an error on stderr: one line, after the problems of a file where it has any."""
    if isinstance(error, InvalidFileError):
        note_problems(error.problems)
    note(f"arena: {error}")


def note_problems(problems: Iterable[Problem]) -> None:
    """Print problems on stderr, like ones in a few lines."""
    for line in few_of_each(problems, problem_line):
        note(line)


def problem_line(problem: Problem) -> str:
    """One problem as a line of text."""
    location = f"line {problem.line}: " if problem.line else ""
    advice = f" {problem.advice}" if problem.advice else ""
    return f"{problem.severity}: {location}{problem.message}{advice} [{problem.code}]"


def _text(value: Cell) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= RATING_SIZED else f"{value:.3f}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "–"
    return f"{value:,}" if isinstance(value, int) else on_one_line(value)


def on_one_line(text: str) -> str:
    """Return a text whose line ends and other signs without a shape are shown by their codes."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _is_number(text: str) -> bool:
    return text == "–" or text.replace(",", "").replace(".", "").lstrip("-").isdecimal()
