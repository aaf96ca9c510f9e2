"""Tables as papers print them: Markdown and LaTeX (booktabs) beside CSV, with intervals and marks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from data.files.csv_safety import escape_formula
from data.intervals import Interval
from data.percent import percent_figure

DASH = "–"
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "α": r"$\alpha$",
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
}
_TEX_CHARACTER = re.compile("[" + re.escape("".join(_TEX)) + "]")
_MARKDOWN_CHARACTER = re.compile(r"([\\`*_{}\[\]<>|#~])")


class Unit(StrEnum):
    """What the numbers of a column are, and so how they are printed."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    """0–1; in Markdown and LaTeX as a percentage."""
    POINTS = "points"
    """With one decimal."""
    COEFFICIENT = "coefficient"
    """With two decimals."""


class Printed(StrEnum):
    """The forms in which a table is written to a file."""

    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A number with its interval and the mark of a test; the number is None where it is undefined.

    One that is not `compared` is on another scale than the column's others, and is never the best of them.
    """

    value: float | None
    interval: Interval | None = None
    mark: str = ""
    compared: bool = True


Cell = str | int | float | None | Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column.

    Attributes:
        key: Its name in JSON and CSV.
        header: What stands above it on paper.
        group: What stands above neighbouring columns together; empty for nothing.
        unit: What its numbers are.
        best_first: Whether its highest number is the best, to be set in bold type, the second underlined.
        bounds: Names of its bounds in JSON and CSV; None where bounds are not shown.
        mark: Name of its marks in JSON and CSV; None where marks are not shown.
    """

    key: str
    header: str
    group: str = ""
    unit: Unit = Unit.TEXT
    best_first: bool = False
    bounds: tuple[str, str] | None = None
    mark: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that it is in JSON and CSV."""
        return (self.key, *(self.bounds or ()), *((self.mark,) if self.mark else ()))

    def flat(self, cell: Cell) -> tuple[str | int | float | None, ...]:
        """What a cell of it is there: the number, its bounds, its mark."""
        if not isinstance(cell, Measured):
            return (cell, *[None] * (len(self.keys) - 1))
        bounds = (None, None) if cell.interval is None else (cell.interval.lower, cell.interval.upper)
        return (cell.value, *(bounds if self.bounds else ()), *((cell.mark or None,) if self.mark else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table: shares are 0–1, what is undefined is None. `notes` say what is not in it."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of JSON and CSV."""
        return tuple(key for column in self.columns for key in column.keys)

    def flat_rows(self) -> Iterator[tuple[str | int | float | None, ...]]:
        """The rows of JSON and CSV."""
        for row in self.rows:
            yield tuple(
                part for column, cell in zip(self.columns, row, strict=True) for part in column.flat(cell)
            )


def printed(table: PaperTable, form: Printed) -> str:
    """A table as the text of a file; Markdown and LaTeX give shares in per cent, and end with the notes."""
    writers = {Printed.CSV: _csv, Printed.MARKDOWN: _markdown, Printed.LATEX: _latex}
    return writers[form](table)


def tex(text: str) -> str:
    """A text on one line, with everything that LaTeX would read as a command made a character."""
    return _TEX_CHARACTER.sub(lambda match: _TEX[match[0]], " ".join(text.split()))


def _csv(table: PaperTable) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(escape_formula, table.keys))
    writer.writerows([escape_formula(cell) for cell in row] for row in table.flat_rows())
    return text.getvalue()


def _markdown(table: PaperTable) -> str:
    places = _places(table)
    lines = [
        [_plain(f"{column.group} {column.header}".strip()) for column in table.columns],
        ["---" if column.unit is Unit.TEXT else "---:" for column in table.columns],
        *(
            [
                _marked_down(column, cell, places[at].get(number, 0))
                for at, (column, cell) in enumerate(zip(table.columns, row, strict=True))
            ]
            for number, row in enumerate(table.rows)
        ),
    ]
    notes = "".join(f"\n{_plain(note)}\n" for note in _notes(table))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + notes


def _marked_down(column: Column, cell: Cell, place: int) -> str:
    value, bounds, mark = _shown(column, cell)
    emphasised = {1: f"**{_plain(value)}**", 2: f"<u>{_plain(value)}</u>"}.get(place, _plain(value))
    return " ".join(filter(None, (f"{emphasised}{_raised(mark)}", _plain(bounds))))


def _raised(mark: str) -> str:
    return f"<sup>{_plain(mark)}</sup>" if mark else ""


def _latex(table: PaperTable) -> str:
    places = _places(table)
    form = "".join("l" if column.unit is Unit.TEXT else "r" for column in table.columns)
    groups = list(_groups(table.columns))
    lines = [
        *(f"% {line}" for note in _notes(table) for line in note.splitlines()),
        "% Needs \\usepackage{booktabs}.",
        rf"\begin{{tabular}}{{{form}}}",
        r"\toprule",
        *_group_lines(groups),
        f"{' & '.join(tex(column.header) for column in table.columns)} \\\\",
        r"\midrule",
        *(
            " & ".join(
                _typeset(column, cell, places[at].get(number, 0))
                for at, (column, cell) in enumerate(zip(table.columns, row, strict=True))
            )
            + r" \\"
            for number, row in enumerate(table.rows)
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _typeset(column: Column, cell: Cell, place: int) -> str:
    value, bounds, mark = _shown(column, cell)
    text = tex(value)
    emphasised = {1: rf"\textbf{{{text}}}", 2: rf"\underline{{{text}}}"}.get(place, text)
    # A row that begins with a bracket would be read as an argument of the line end before it.
    guarded_text = f"{{}}{emphasised}" if emphasised.startswith(("[", "*")) else emphasised
    raised = rf"\textsuperscript{{{tex(mark)}}}" if mark else ""
    return guarded_text + raised + (f" {{\\footnotesize {tex(bounds)}}}" if bounds else "")


def _groups(columns: Sequence[Column]) -> Iterator[tuple[str, int]]:
    """The groups from left to right, each with how many columns it spans; without a name each spans one."""
    for name, members in groupby(columns, lambda column: column.group):
        count = len(list(members))
        yield from [("", 1)] * count if not name else [(name, count)]


def _group_lines(groups: Sequence[tuple[str, int]]) -> Iterator[str]:
    if not any(name for name, _ in groups):
        return
    cells, rules, at = [], [], 1
    for name, span in groups:
        cells.append(rf"\multicolumn{{{span}}}{{c}}{{{tex(name)}}}" if name else "")
        if name:
            rules.append(rf"\cmidrule(lr){{{at}-{at + span - 1}}}")
        at += span
    yield f"{' & '.join(cells)} \\\\"
    yield " ".join(rules)


def _places(table: PaperTable) -> list[Mapping[int, int]]:
    """For each column the rows that have its best (1) and second best (2) number, as printed."""
    places: list[Mapping[int, int]] = []
    for at, column in enumerate(table.columns):
        values = {
            number: shown
            for number, row in enumerate(table.rows)
            if column.best_first
            and _compared(row[at])
            and (shown := _rounded(column.unit, row[at])) is not None
        }
        best_two = sorted(set(values.values()), reverse=True)[:2]
        places.append(
            {
                number: best_two.index(value) + 1
                for number, value in values.items()
                if value in best_two and len(values) > 1
            }
        )
    return places


def _compared(cell: Cell) -> bool:
    return not isinstance(cell, Measured) or cell.compared


def _shown(column: Column, cell: Cell) -> tuple[str, str, str]:
    """A cell's number or text, its interval and its mark, as they are printed."""
    if isinstance(cell, str):
        return cell, "", ""
    measured = cell if isinstance(cell, Measured) else Measured(value=cell)
    if measured.value is None:
        return DASH, "", ""
    unit = column.unit
    bounds = ""
    if column.bounds and measured.interval is not None:
        bounds = f"[{_number(unit, measured.interval.lower)}, {_number(unit, measured.interval.upper)}]"
    return _number(unit, measured.value), bounds, measured.mark if column.mark else ""


def _number(unit: Unit, value: float) -> str:
    match unit:
        case Unit.SHARE:
            return percent_figure(value)
        case Unit.POINTS:
            return f"{value:.1f}"
        case Unit.COEFFICIENT:
            return f"{value:.2f}"
        case _:
            return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"


def _rounded(unit: Unit, cell: Cell) -> float | None:
    value = cell.value if isinstance(cell, Measured) else cell
    return None if value is None or isinstance(value, str) else float(_number(unit, value).replace(",", ""))


def _notes(table: PaperTable) -> tuple[str, ...]:
    shares = any(column.unit is Unit.SHARE for column in table.columns)
    return (*(("Shares are per cent.",) if shares else ()), *table.notes)


def _plain(text: str) -> str:
    """A text with everything that Markdown would read as markup made a character, on one line."""
    return _MARKDOWN_CHARACTER.sub(r"\\\1", " ".join(text.split())).replace("&", "&amp;")
