"""A board's standings as a file (CSV, JSON or Parquet), and the meaning of its fields."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from data.errors import FileFormatError
from data.text import escape_formula
from leaderboard.standings.columns import MARKS, Surface, Unit, board_lines, column_named, columns_on
from leaderboard.standings.sections import facts_by_system
from leaderboard.vocabulary import BoardForm

if TYPE_CHECKING:
    import altair as alt

Standings = Mapping[str, Any]
Row = dict[str, object]


ENDINGS = {form.ending: form for form in BoardForm}


def export_standings(standings: Standings, destination: Path, form: BoardForm | None = None) -> None:
    """Write a board's standings as one file: a row per system and domain, or the whole JSON.

    `form` defaults to the suffix; text may be gzipped (`*.csv.gz`).
    """
    from data.files.zip_files import atomic_bytes, atomic_text  # noqa: PLC0415 - loads data frames, which boards do not need

    chosen = form or ENDINGS.get(Path(destination.name.removesuffix(".gz")).suffix)
    if chosen is None:
        message = f"{destination.name} has none of the suffixes {', '.join(ENDINGS)}."
        raise FileFormatError(message, advice="Use one of these suffixes, or add --format.")
    content = standings_file(standings, chosen)
    if chosen is BoardForm.PARQUET:
        with atomic_bytes(destination) as raw:
            raw.write(content)
    else:
        with atomic_text(destination) as text:
            text.write(content.decode())


def standings_file(standings: Standings, form: BoardForm, stamp: "Stamp | None" = None) -> bytes:
    """Return standings as the content of a file; rows of tables have the stamp, JSON is as published."""
    if form is BoardForm.JSON:
        return standings_text(standings).encode()
    fields = {} if stamp is None else stamp.fields()
    rows = [{**row, **fields} for row in flat_rows(standings)]
    names = list(rows[0]) if rows else ["domain", "system", *fields]
    if form is BoardForm.CSV:
        return _csv(rows, names)
    return _parquet(rows, {name: str if name in fields else column_kind(name) for name in names})


def standings_text(standings: Standings) -> str:
    """Return the JSON as published, without marks; equal standings give equal text."""
    published = {name: value for name, value in standings.items() if name != MARKS}
    return json.dumps(published, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def flat_rows(standings: Standings) -> list[Row]:
    """Return standings as rows with equal columns: those of `columns.toml` and mean scores.

    Rates are against the reference; `rate_against_all` of the JSON has no column.
    """
    lines, files = board_lines(standings), columns_on(Surface.FILES)
    all_lines = [line for part in lines.values() for line in part]
    last = [column for column in files if column.self_reported and facts_by_system(standings)]
    last += [
        column
        for column in files
        if column.sparse and any(column.read(line) not in {None, ""} for line in all_lines)
    ]
    metrics = sorted({metric for line in all_lines for metric in line["scores"]})
    return [
        {column.name: column.read(line) for column in files if not (column.self_reported or column.sparse)}
        | _scores(line, metrics)
        | {column.name: column.read(line) for column in last}
        for domain, part in lines.items()
        for line in part
    ]


def _scores(line: Mapping[str, Any], metrics: Sequence[str]) -> Row:
    row: Row = {}
    for metric in metrics:
        score = line["scores"].get(metric, {})
        row[metric] = score.get("mean")
        row.update({f"{metric}_{bound}": score.get(bound) for bound in ("lower", "upper")})
    return row


def column_kind(name: str) -> type[str | int | float]:
    """Return the type of a column of `flat_rows`."""
    column = column_named(name)
    return float if column is None else column.kind


Cell = object
"""Text, number or None."""
WIDTH = 860
"""Width of pictures, in pixels before doubling."""


class PictureForm(StrEnum):
    """File formats of charts."""

    PNG = "png"
    SVG = "svg"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Origin of a file's numbers: the board's name and the SHA-256 of its standings."""

    board: str
    content_hash: str

    @property
    def stem(self) -> str:
        """Prefix of file names."""
        return f"{self.board}-{self.content_hash[:8]}"

    def fields(self) -> dict[str, str]:
        """Return the columns added to every row."""
        return {"board": self.board, "content_sha256": self.content_hash}


def table_file(rows: Sequence[Mapping[str, Cell]], form: BoardForm, stamp: Stamp | None) -> bytes:
    """Return rows as a file, with two more columns for board and hash.

    Without a stamp the rows are of several boards and have these columns already. JSON has `board`,
    `content_sha256` and `rows`; CSV cells are escaped against formulas.
    """
    fields = {} if stamp is None else stamp.fields()
    if form is BoardForm.JSON:
        whole = {**fields, "rows": [dict(row) for row in rows]}
        return (json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
    stamped = [{**row, **fields} for row in rows]
    return _parquet(stamped) if form is BoardForm.PARQUET else _csv(stamped, tuple(fields))


def draws_pictures() -> bool:
    """Return whether the extra `pictures`, which renders charts, is installed."""
    return find_spec("vl_convert") is not None


def chart_file(chart: "alt.LayerChart", form: PictureForm, stamp: Stamp, title: str) -> bytes:
    """Render a chart on white, with a title and the board and hash below it."""
    import altair as alt  # noqa: PLC0415 - heavy, used only here
    import vl_convert  # noqa: PLC0415 - as above

    titled = chart.properties(
        width=WIDTH,
        background="white",
        title=alt.Title(
            text=title,
            subtitle=f"{stamp.board}, content {stamp.content_hash[:12]}",
            anchor="start",
            offset=16,
        ),
    )
    spec = titled.to_dict()
    if form is PictureForm.SVG:
        return bytes(vl_convert.vegalite_to_svg(spec).encode())
    return bytes(vl_convert.vegalite_to_png(spec, scale=2))


def _csv(rows: Sequence[Mapping[str, Cell]], fields: Sequence[str]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(escape_formula, rows[0] if rows else fields))
    writer.writerows([escape_formula(cell) for cell in row.values()] for row in rows)
    return text.getvalue().encode()


def _parquet(rows: Sequence[Mapping[str, Cell]], kinds: Mapping[str, type] | None = None) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - heavy, used only here
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = None if kinds is None else pa.schema([(name, types[kind]) for name, kind in kinds.items()])
    raw = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), raw)
    return raw.getvalue()


STAMP_FIELDS: Mapping[str, str] = MappingProxyType(
    {"board": "Name of the board", "content_sha256": "SHA-256 of the standings"}
)

BATTLE_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "question_id, domain": "Question and its domain",
        "model_a, model_b": "The two systems, or the reference under its name",
        "winner": "model_a, model_b or tie; battles without a verdict are left out and counted on the board",
        "score": "Share of the win that model_a gets, 0–1, if the judge gives graded verdicts",
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a file."""

    name: str
    kind: str
    unit: str
    meaning: str


KINDS: Mapping[type, str] = MappingProxyType({str: "text", int: "integer", float: "number"})


def columns_of(standings: Standings) -> tuple[Column, ...]:
    """Describe the columns of a board's files."""
    kinds = [(name, column_kind(name)) for row in flat_rows(standings)[:1] for name in row]
    return tuple(
        Column(name, KINDS[kind], "" if kind is str else _unit(name), meaning_of(name))
        for name, kind in (*kinds, *((name, str) for name in STAMP_FIELDS))
    )


def _unit(name: str) -> str:
    column = column_named(name)
    return (Unit.SHARE if column is None else column.unit).value


def meaning_of(name: str) -> str:
    """Return the meaning of a column of a standings file."""
    if name in STAMP_FIELDS:
        return STAMP_FIELDS[name]
    column = column_named(name)
    if column is not None:
        return column.meaning
    bound = next((bound for bound in ("lower", "upper") if name.endswith(f"_{bound}")), "")
    if bound:
        return f"The {bound} end of its 95 % interval"
    return "Mean of this metric over the answers"
