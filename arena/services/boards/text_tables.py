"""Board tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from data.errors import ConflictError
from data.models import Board
from data.text import escape_formula
from judges.metrics.registry import added_metrics, own_metrics
from leaderboard.export.tables import flat_rows
from leaderboard.standings.columns import BoardColumn, Surface, Unit, columns_on, marked
from leaderboard.vocabulary import TableFormat

Cells = Sequence[str | int | None]
SCALES = "Groups of systems that battles do not link in both directions have separate rating scales."
FORMS = {Unit.POINTS: ".0f", Unit.SHARE: ".1%", Unit.COUNT: ",.0f", Unit.WORDS: ",.0f"}
BETWEEN_SYSTEMS = "between-systems"
BETWEEN = ("rank", "system", "rating", "lower", "upper", "battles")


def board_table(board: Board, domain: str) -> tuple[Sequence[str], Sequence[Cells], Sequence[str]]:
    """Return the headers, rows and notes of one domain of a board."""
    rows = [row for row in flat_rows(marked(board.standings, board.marks)) if row["domain"] == domain]
    if not rows:
        known = ", ".join(board.standings["lines"])
        raise ConflictError(f"Board {board.name} has no domain {domain!r}.", advice=f"Use one of: {known}.")
    columns = [column for column in columns_on(Surface.TERMINAL) if column.name in rows[0]]
    headers = [column.title.lower().replace(" + ", "+") for column in columns]
    lines = [[_cell(row, column) for column in columns] for row in rows]
    more = {
        "own evidence": [_number(row["own_evidence"], ".0%") for row in rows],
        "flags": [", ".join(str(row["flags"] or "").split()) or None for row in rows],
        "mark": [str(row.get("mark") or "").partition(":")[0] or None for row in rows],
        **_added_columns(board, rows),
    }
    for header, cells in more.items():
        if any(cells):
            headers.append(header)
            for line, cell in zip(lines, cells, strict=True):
                line.append(cell)
    return headers, lines, notes_of(rows)


def _added_columns(board: Board, rows: Sequence[Mapping[str, object]]) -> Mapping[str, Sequence[str | None]]:
    """Return the embedded scores of plugin metrics by heading."""
    scored = {name for part in board.standings["lines"].values() for line in part for name in line["scores"]}
    names = sorted({name for name in scored if " " not in name} - own_metrics().keys())
    infos = {info.name: info for info in added_metrics().entries} if names else {}
    columns: dict[str, Sequence[str | None]] = {}
    for name in names:
        info = infos.get(name)
        heading = info.column.heading if info is not None and info.column is not None else name
        columns[heading] = [
            _number(row.get(name), ".1%" if info and info.is_share else ".4g") for row in rows
        ]
    return columns


def between_systems_table(board: Board) -> tuple[str, Sequence[str], Sequence[Cells]]:
    """Return the note, headers and rows of the ratings from battles between systems, best first."""
    alternatives = board.standings.get("beside") or ()
    section = next((ratings for ratings in alternatives if ratings["kind"] == BETWEEN_SYSTEMS), None)
    if section is None or not section["ratings"]:
        note = "" if section is None else section["note"]
        raise ConflictError(
            f"Board {board.name} has no ratings from battles between systems only. {note}".strip(),
            advice="Judge a round with `--pairs all`, and publish it.",
        )
    rows = [_rated(row) for row in section["ratings"]]
    ground_truths = board.standings["facts"].get("yardsticks")
    basis = f" The judge compared answers with {ground_truths}." if ground_truths else ""
    return f"{section['note']}{basis}", BETWEEN, rows


def _rated(row: Mapping[str, Any]) -> Cells:
    return (
        _ranks(row["rank_lower"], row["rank_upper"]),
        str(row["system"]),
        *(_number(row[end], ".0f") for end in ("rating", "lower", "upper")),
        int(row["battles"]),
    )


def notes_of(rows: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """Return notes on separate rating scales, unranked systems, and marks."""
    rated = {row["component"] for row in rows if row["rating"] is not None}
    notes = (
        f"{row['system']}: {text}" for row in rows for name in ("unranked", "mark") if (text := row.get(name))
    )
    return (*([SCALES] if len(rated) > 1 else []), *notes)


def formatted(board: Board, domain: str, form: TableFormat) -> str:
    """Format one domain of a board: CSV with all columns, Markdown and LaTeX as in the terminal."""
    import pandas as pd

    headers, lines, _ = board_table(board, domain)
    if form is TableFormat.MARKDOWN:
        rows: Sequence[Sequence[object]] = [headers, ["---"] * len(headers), *lines]
        texts = [["" if cell is None else str(cell).replace("|", r"\|") for cell in row] for row in rows]
        return "".join(f"| {' | '.join(row)} |\n" for row in texts)
    if form is TableFormat.CSV:
        flat = [row for row in flat_rows(marked(board.standings, board.marks)) if row["domain"] == domain]
        return pd.DataFrame(flat, dtype=object).map(escape_formula).to_csv(index=False)
    style = pd.DataFrame(lines, columns=list(headers), dtype=object).fillna("").style.hide(axis="index")
    escaped = style.format(escape="latex").format_index(escape="latex", axis=1)
    return str(escaped.to_latex(hrules=True))


def _cell(row: Mapping[str, object], column: BoardColumn) -> str | None:
    if column.unit is Unit.PLACE:
        return _ranks(row["rank_lower"], row["rank_upper"])
    value = row[column.name]
    if row.get(f"{column.name}_of"):
        ends = (_number(row[end], ".0%") for end in column.ends or ())
        return f"{row[f'{column.name}_count']} of {row[f'{column.name}_of']} ({'–'.join(map(str, ends))})"
    return value if isinstance(value, str) else _number(value, FORMS.get(column.unit, ".4g"))


def _ranks(best: object, worst: object) -> str | None:
    if best is None or worst is None:
        return None
    return f"{best}" if best == worst else f"{best}–{worst}"


def _number(value: object, form: str) -> str | None:
    return format(value, form) if isinstance(value, int | float) else None
