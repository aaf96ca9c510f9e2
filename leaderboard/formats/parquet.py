"""Battles in Parquet: as columns, ten million in seconds, or as records like any other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from data.errors import RecordError
from leaderboard.battles import BattleTable, Winner, joined
from leaderboard.formats.rows import COLUMNS, BattleRows, WinnerWord
from leaderboard.formats.sinks import atomic_bytes
from leaderboard.formats.sources import Container, container_of, damaged_parquet

WORDS = ("question_id", "domain", "model_a", "model_b", "winner")
NUMBERS = ("score", "weight")
WINNERS = {Winner.A: WinnerWord.A, Winner.B: WinnerWord.B, Winner.TIE: WinnerWord.TIE}
_SCHEMA = pa.schema([(name, pa.float64() if name in NUMBERS else pa.string()) for name in COLUMNS])


def read_columns(files: Sequence[Path]) -> BattleTable | None:
    """Read plain battles column by column; None where records must be read one by one.

    That is where a file is no Parquet, lacks a name, or has columns of which a row's reader knows more:
    judges, orders, covariates, readings. A wrong value too gives None, so that there is one message for it.

    Raises:
        FileFormatError: A file is cut off or damaged.
    """
    if not all(container_of(file) is Container.PARQUET for file in files):
        return None
    parts: list[BattleTable] = []
    for file in files:
        try:
            read = _read(file)
        except (pa.ArrowException, OSError) as error:
            raise damaged_parquet(file) from error
        except RecordError:
            return None
        if read is None:
            return None
        parts += read
    table = joined(parts) if parts else None
    return table if table is not None and (table.weight is None or table.weight.all()) else None


def _read(file: Path) -> list[BattleTable] | None:
    """The row groups of a file, one after another: their words take far more memory than their codes."""
    with pq.ParquetFile(file, read_dictionary=list(WORDS)) as source:
        columns = set(source.schema_arrow.names)
        if not {*WORDS} <= columns <= {*WORDS, *NUMBERS}:
            return None
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
    """Write a table's columns, names as dictionaries.

    Raises:
        FileFormatError: The file cannot be written.
    """
    columns: dict[str, pa.Array] = {
        "question_id": _named(table.question, table.questions),
        "domain": _named(table.domain, table.domains),
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


def write_rows(chunks: Iterable[BattleRows], destination: Path) -> None:
    """Write chunks as they come: every column of the design, null where a battle lacks it.

    Raises:
        FileFormatError: The file cannot be written.
    """
    with atomic_bytes(destination) as raw, pq.ParquetWriter(raw, _SCHEMA, compression="zstd") as file:
        for chunk in chunks:
            columns = [getattr(chunk, name) or [None] * len(chunk) for name in COLUMNS]
            file.write_table(
                pa.table(
                    [pa.array(cells, kind.type) for cells, kind in zip(columns, _SCHEMA, strict=True)],
                    schema=_SCHEMA,
                )
            )


def _named(codes: NDArray[np.int32] | NDArray[np.int8], names: Sequence[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32)), pa.array(list(names), pa.string())
    )
