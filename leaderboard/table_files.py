"""Any table or chart of a board as a file that says which board it is from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import altair as alt

from leaderboard.export import guarded

Cell = object
"""Texts, whole numbers, numbers or None."""
WIDTH = 860
"""Of pictures, in pixels before doubling."""


class TableForm(StrEnum):
    """Forms of tables, by the ending of their files."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class PictureForm(StrEnum):
    """Forms of charts, by the ending of their files."""

    PNG = "png"
    SVG = "svg"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Where a file's numbers are from: the board's name (that of its round) and its standings' sha256."""

    board: str
    content_hash: str

    @property
    def stem(self) -> str:
        """The beginning of file names."""
        return f"{self.board}-{self.content_hash[:8]}"

    def fields(self) -> dict[str, str]:
        """The columns that every row carries."""
        return {"board": self.board, "content_sha256": self.content_hash}


def table_file(rows: Sequence[Mapping[str, Cell]], form: TableForm, stamp: Stamp | None) -> bytes:
    """Rows of the same columns as a file; board and hash stand in two columns more.

    Without a stamp the rows, being of several boards, name board and hash themselves.

    JSON holds `board`, `content_sha256` and `rows`; in CSV no cell can be taken for a formula.
    """
    fields = {} if stamp is None else stamp.fields()
    if form is TableForm.JSON:
        whole = {**fields, "rows": [dict(row) for row in rows]}
        return (json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
    stamped = [{**row, **fields} for row in rows]
    return _parquet(stamped) if form is TableForm.PARQUET else _csv(stamped, fields)


def chart_file(chart: alt.LayerChart, form: PictureForm, stamp: Stamp, title: str) -> bytes:
    """A chart as a picture on white paper, its title above it and board and hash below the title."""
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


def _csv(rows: Sequence[Mapping[str, Cell]], fields: Mapping[str, str]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(guarded, rows[0] if rows else fields))
    writer.writerows([guarded(cell) for cell in row.values()] for row in rows)
    return text.getvalue().encode()


def _parquet(rows: Sequence[Mapping[str, Cell]]) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - heavy, and used by this form alone
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    raw = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows]), raw)
    return raw.getvalue()
