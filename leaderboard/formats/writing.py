"""Battle files out: one file turned into another, or a table written, in the layout of any format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from types import MappingProxyType

import numpy as np

from data.errors import FileFormatError
from data.progress import working
from leaderboard.battles import BattleTable, Winner
from leaderboard.formats import parquet
from leaderboard.formats.reading import read_chunks
from leaderboard.formats.registry import BattleFormat
from leaderboard.formats.rows import CHUNK_ROWS, BattleRows, Context, LeftOut, Place, WinnerWord
from leaderboard.formats.sinks import atomic_text
from leaderboard.formats.writers import WRITERS, write_csv


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a conversion did: rows written, and records left out by reason."""

    rows: int
    left_out: Mapping[LeftOut, int]


def convert(
    source: Path,
    destination: Path,
    *,
    read_as: BattleFormat | None = None,
    write_as: BattleFormat = BattleFormat.NATIVE,
    context: Context | None = None,
) -> Written:
    """Turn one battle file into another as a stream, keeping judge, order and both-bad ties.

    Args:
        source: File or folder, read as `read_chunks` does.
        destination: File to write; a name ending in `.csv` gives CSV, one in `.parquet` Parquet, one in
            `.gz` is gzipped.
        read_as: The source's format; None to tell it by the first record.
        write_as: The destination's format.
        context: What the source's records do not say.

    Raises:
        FileFormatError: The source cannot be read, or the destination cannot be written. A
            destination that could not be finished is not left behind.
        RecordError: A value breaks a rule.
    """
    return write_chunks(read_chunks(source, read_as, context=context), destination, write_as=write_as)


def write_battles(
    table: BattleTable, destination: Path, *, write_as: BattleFormat = BattleFormat.NATIVE
) -> Written:
    """Write a table; arguments and errors as of `convert`."""
    if destination.name.endswith(".parquet") and write_as is BattleFormat.NATIVE:
        parquet.write_table(table, destination)
        return Written(rows=len(table), left_out=MappingProxyType({}))
    return write_chunks(chunks_of_table(table), destination, write_as=write_as)


def write_chunks(
    chunks: Iterable[BattleRows], destination: Path, *, write_as: BattleFormat = BattleFormat.NATIVE
) -> Written:
    """Write chunks of battles as they come; arguments and errors as of `convert`."""
    rows = 0
    left_out: Counter[LeftOut] = Counter()

    def counted() -> Iterator[BattleRows]:
        nonlocal rows
        for chunk in chunks:
            rows += len(chunk)
            work.done = rows
            left_out.update(chunk.left_out)
            yield chunk

    as_csv = destination.name.removesuffix(".gz").endswith(".csv")
    as_parquet = destination.name.endswith(".parquet")
    if (as_csv or as_parquet) and write_as is not BattleFormat.NATIVE:
        message = f"{write_as} battles cannot be written as {'CSV' if as_csv else 'Parquet'}."
        raise FileFormatError(message, advice="Name a .json or .jsonl file, or write native battles.")
    with working(f"writing battles to {destination.name}") as work:
        if as_parquet:
            parquet.write_rows(counted(), destination)
            return Written(rows=rows, left_out=MappingProxyType(dict(left_out)))
        with atomic_text(destination) as text:
            (write_csv if as_csv else WRITERS[write_as])(counted(), text)
    return Written(rows=rows, left_out=MappingProxyType(dict(left_out)))


def chunks_of_table(table: BattleTable) -> Iterator[BattleRows]:
    """A table's rows as chunks of names and words."""
    words = {Winner.A: WinnerWord.A.value, Winner.B: WinnerWord.B.value, Winner.TIE: WinnerWord.TIE.value}
    domains = None if table.domains == ("",) else table.domains
    for start in range(0, len(table), CHUNK_ROWS):
        part = table.select(np.arange(start, min(start + CHUNK_ROWS, len(table))))
        yield BattleRows(
            place=Place(file="table", first_row=start + 1),
            question_id=[table.questions[code] for code in part.question.tolist()],
            domain=None if domains is None else [domains[code] for code in part.domain.tolist()],
            model_a=[table.systems[code] for code in part.a.tolist()],
            model_b=[table.systems[code] for code in part.b.tolist()],
            winner=[words[Winner(code)] for code in part.winner.tolist()],
            score=None if part.score is None else [None if isnan(s) else s for s in part.score.tolist()],
            weight=None if part.weight is None else part.weight.tolist(),
        )
