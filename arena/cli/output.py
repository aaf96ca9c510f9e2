"""How commands show results: JSON on request, else text; progress and errors on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from data.errors import ArenaError, InvalidFileError
from data.records import Problem

if TYPE_CHECKING:
    from arena.services.running import Progress, Report

Cell = str | int | float | None
# From here on a number is a rating, of one decimal; below it is a share.
RATING_SIZED = 10


def show_json(payload: object) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(payload, ensure_ascii=False, indent=2, allow_nan=False))


def show_line(text: str) -> None:
    """Print a line of the result."""
    typer.echo(text)


def note(text: str) -> None:
    """Print a line that is not part of the result."""
    typer.echo(text, err=True)


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
        for problem in error.problems:
            note(problem_line(problem))
    note(f"arena: {error}")


def problem_line(problem: Problem) -> str:
    """One problem as a line of text."""
    place = f"line {problem.line}: " if problem.line else ""
    advice = f" {problem.advice}" if problem.advice else ""
    return f"{problem.severity}: {place}{problem.message}{advice} [{problem.code}]"


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """Show a run's progress with rate and time left on stderr: a bar on a terminal, else lines."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(file=sys.stderr)
    if not console.is_terminal:
        yield _LineReport(title)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console) as bar:
        task = bar.add_task(title, total=None, rate="")

        def report(progress: Progress) -> None:
            rate = f"{progress.rate:,.0f}/s"
            bar.update(task, total=progress.total, completed=progress.done, rate=rate)

        yield report


class _LineReport:
    """Progress as a line for every tenth of the work."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._shown = 0

    def __call__(self, progress: Progress) -> None:
        tenth = 10 * progress.done // max(progress.total, 1)
        if tenth > self._shown:
            self._shown = tenth
            left = "" if progress.seconds_left is None else f", {progress.seconds_left:,.0f} s left"
            note(f"{self._title}: {progress.done:,} of {progress.total:,}, {progress.rate:,.0f}/s{left}")


def _text(value: Cell) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= RATING_SIZED else f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else value


def _is_number(text: str) -> bool:
    return text == "–" or text.replace(",", "").replace(".", "").lstrip("-").isdecimal()
