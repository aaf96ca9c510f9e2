"""Battles in Parquet, read by column (ten million in seconds) and written by column or row."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from data.errors import RecordError
from data.files.tables.columnar import damage_as_error
from data.files.zip_files import atomic_bytes
from leaderboard.battles import BattleTable, Winner, WinnerWord, joined
from leaderboard.formats.rows import COLUMNS, BattleRows
from leaderboard.formats.sources import is_parquet

WORDS = ("question_id", "domain", "model_a", "model_b", "winner")
NUMBERS = ("score", "weight")
WINNERS = {Winner.A: WinnerWord.A, Winner.B: WinnerWord.B, Winner.TIE: WinnerWord.TIE}


def read_columns(files: Sequence[Path]) -> BattleTable | None:
    """Read plain battles by column; None if they must be read by row.

    That is the case if a file is not Parquet, lacks a column, or has others such as judges or covariates, and
    for invalid values, so that the reader of rows reports them.
    """
    if not all(map(is_parquet, files)):
        return None
    parts: list[BattleTable] = []
    for file in files:
        try:
            with damage_as_error(file):
                read = _read(file)
        except RecordError:
            return None
        if read is None:
            return None
        parts += read
    table = joined(parts) if parts else None
    return table if table is not None and (table.weight is None or table.weight.all()) else None


def _read(file: Path) -> list[BattleTable] | None:
    """Encode the row groups of a file one by one, since words take more memory than codes."""
    columns = set(pq.read_schema(file).names)
    if not {*WORDS} <= columns <= {*WORDS, *NUMBERS}:
        return None
    with pq.ParquetFile(file, read_dictionary=list(WORDS)) as source:
        groups = (source.read_row_group(number) for number in range(source.num_row_groups))
        return [
            BattleTable.from_columns(
                *(group[name].unify_dictionaries() for name in WORDS),
                **{name: group[name] for name in NUMBERS if name in columns},
            )
            for group in groups
            if group.num_rows
        ]


def write_table(table: BattleTable, destination: Path) -> None:
    """Write a table's columns, names as dictionaries."""
    columns: dict[str, pa.Array] = {
        "question_id": _named(table.question, table.questions),
        "domain": _named(table.domain, [domain or None for domain in table.domains]),
        "model_a": _named(table.a, table.systems),
        "model_b": _named(table.b, table.systems),
        "winner": _named(table.winner, [WINNERS[code].value for code in Winner]),
    }
    if table.score is not None:
        columns["score"] = pa.array(table.score, from_pandas=True)
    if table.weight is not None:
        columns["weight"] = pa.array(table.weight)
    with atomic_bytes(destination) as raw:
        pq.write_table(pa.table(columns), raw, compression="zstd")


def write_rows(chunks: Sequence[BattleRows], columns: Iterable[str], destination: Path) -> None:
    """Write chunks, null for absent cells; columns other than numbers and booleans become strings."""
    parts = [(chunk.columns, [None] * len(chunk)) for chunk in chunks]
    cells = {name: [cell for part, none in parts for cell in part.get(name, none)] for name in columns}
    table = pa.table({name: _array(name, values) for name, values in cells.items()})
    with atomic_bytes(destination) as raw:
        pq.write_table(table, raw, compression="zstd")


def _array(name: str, cells: Sequence[object]) -> pa.Array:
    values = [None if cell == "" else cell for cell in cells]
    strings = name in COLUMNS or {*map(type, values)} - {type(None)} > {bool}
    try:
        return pa.array(values, pa.float64() if name in NUMBERS else pa.string() if strings else None)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if value is None else str(value) for value in values])


def _named(codes: NDArray[np.signedinteger[Any]], names: Sequence[str | None]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32)), pa.array(list(names), pa.string())
    )
