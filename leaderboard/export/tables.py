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
    """Write a board's standings as one file: a row a system in each domain; JSON holds everything.

    `form` defaults to the name's ending; text may be gzipped (`*.csv.gz`).
    """
    from data.files.zip_files import atomic_bytes, atomic_text  # noqa: PLC0415 - its package loads data frames, which showing a board needs not

    chosen = form or ENDINGS.get(Path(destination.name.removesuffix(".gz")).suffix)
    if chosen is None:
        message = f"{destination.name} ends in none of {', '.join(ENDINGS)}."
        raise FileFormatError(message, advice="Name the file by the format that you want, or give --format.")
    content = standings_file(standings, chosen)
    if chosen is BoardForm.PARQUET:
        with atomic_bytes(destination) as raw:
            raw.write(content)
    else:
        with atomic_text(destination) as text:
            text.write(content.decode())


def standings_file(standings: Standings, form: BoardForm, stamp: "Stamp | None" = None) -> bytes:
    """Return standings as the content of one file; rows of tables bear the stamp, JSON is as published."""
    if form is BoardForm.JSON:
        return standings_text(standings).encode()
    fields = {} if stamp is None else stamp.fields()
    rows = [{**row, **fields} for row in flat_rows(standings)]
    names = list(rows[0]) if rows else ["domain", "system", *fields]
    if form is BoardForm.CSV:
        return _csv(rows, names)
    return _parquet(rows, {name: str if name in fields else column_kind(name) for name in names})


def standings_text(standings: Standings) -> str:
    """Return the JSON as text, the same for the same standings; as published, so without marks."""
    published = {name: value for name, value in standings.items() if name != MARKS}
    return json.dumps(published, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def flat_rows(standings: Standings) -> list[Row]:
    """Standings as rows with the same columns each: domain, system, ratings, rates, mean scores.

    The columns are those of `columns.toml`. Rates are against the reference, which has none; no column holds
    `rate_against_all` of the JSON.
    """
    lines, files = board_lines(standings), columns_on(Surface.FILES)
    every = [line for part in lines.values() for line in part]
    last = [column for column in files if column.said and facts_by_system(standings)]
    last += [
        column
        for column in files
        if column.seldom and any(column.read(line) not in {None, ""} for line in every)
    ]
    metrics = sorted({metric for line in every for metric in line["scores"]})
    return [
        {column.name: column.read(line) for column in files if not (column.said or column.seldom)}
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
"""Texts, whole numbers, numbers or None."""
WIDTH = 860
"""Size of pictures, in pixels before doubling."""


class PictureForm(StrEnum):
    """Forms of charts, by the ending of their files."""

    PNG = "png"
    SVG = "svg"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Origin of a file's numbers: the board's name (that of its round) and its standings' sha256."""

    board: str
    content_hash: str

    @property
    def stem(self) -> str:
        """Prefix of file names."""
        return f"{self.board}-{self.content_hash[:8]}"

    def fields(self) -> dict[str, str]:
        """Return the columns that every row carries."""
        return {"board": self.board, "content_sha256": self.content_hash}


def table_file(rows: Sequence[Mapping[str, Cell]], form: BoardForm, stamp: Stamp | None) -> bytes:
    """Rows of a file, with two more columns for board and hash.

    Without a stamp the rows, being of several boards, name board and hash themselves.

    JSON holds `board`, `content_sha256` and `rows`; in CSV no cell can be taken for a formula.
    """
    fields = {} if stamp is None else stamp.fields()
    if form is BoardForm.JSON:
        whole = {**fields, "rows": [dict(row) for row in rows]}
        return (json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
    stamped = [{**row, **fields} for row in rows]
    return _parquet(stamped) if form is BoardForm.PARQUET else _csv(stamped, tuple(fields))


def draws_pictures() -> bool:
    """Return whether the extra `pictures`, which draws charts as files, is installed."""
    return find_spec("vl_convert") is not None


def chart_file(chart: "alt.LayerChart", form: PictureForm, stamp: Stamp, title: str) -> bytes:
    """Return a chart as a picture on white paper, its title above it and board and hash below the title."""
    import altair as alt  # noqa: PLC0415 - heavy, and used by pictures alone
    import vl_convert  # noqa: PLC0415 - brings an engine along that is used by this alone

    named = chart.properties(
        width=WIDTH,
        background="white",
        title=alt.Title(
            text=title,
            subtitle=f"{stamp.board}, content {stamp.content_hash[:12]}",
            anchor="start",
            offset=16,
        ),
    )
    spec = named.to_dict()
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
    """Write rows as Parquet, with the types that `kinds` names or else those of the values."""
    import pyarrow as pa  # noqa: PLC0415 - heavy, and used by this form alone
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = None if kinds is None else pa.schema([(name, types[kind]) for name, kind in kinds.items()])
    raw = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), raw)
    return raw.getvalue()


STAMP_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "board": "The board whose standings these are",
        "content_sha256": "The hash that names exactly these standings",
    }
)

BATTLE_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "question_id, domain": "Which question, in which domain",
        "model_a, model_b": "The two systems; the reference takes part under its own name",
        "winner": "model_a, model_b or tie; battles without a verdict are left out and counted on the board",
        "score": "Share of the win that model_a gets, 0–1, where the judge gives degrees",
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file: name, type, unit and meaning."""

    name: str
    kind: str
    unit: str
    meaning: str


KINDS: Mapping[type, str] = MappingProxyType({str: "text", int: "integer", float: "number"})


def columns_of(standings: Standings) -> tuple[Column, ...]:
    """Describe the columns of a board's files."""
    named = [(name, column_kind(name)) for row in flat_rows(standings)[:1] for name in row]
    return tuple(
        Column(name, KINDS[kind], "" if kind is str else _unit(name), meaning_of(name))
        for name, kind in (*named, *((name, str) for name in STAMP_FIELDS))
    )


def _unit(name: str) -> str:
    column = column_named(name)
    return (Unit.SHARE if column is None else column.unit).value


def meaning_of(name: str) -> str:
    """Return the meaning of a standings file's column, in a sentence."""
    if name in STAMP_FIELDS:
        return STAMP_FIELDS[name]
    column = column_named(name)
    if column is not None:
        return column.meaning
    bound = next((bound for bound in ("lower", "upper") if name.endswith(f"_{bound}")), "")
    if bound:
        return f"The {bound} end of its 95 % interval"
    return "Mean of this metric over the answers"
