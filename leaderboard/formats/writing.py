"""Battle files out: one file turned into another, or a table written, in the layout of any format."""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from types import MappingProxyType
from typing import IO

import numpy as np

from data.errors import FileFormatError, InputError
from data.progress import Work, working
from leaderboard.battles import BattleTable, Winner, WinnerWord
from leaderboard.formats import parquet
from leaderboard.formats.places import Place
from leaderboard.formats.reading import read_chunks
from leaderboard.formats.registry import NATIVE, BattleFormat, battle_format
from leaderboard.formats.rows import CHUNK_ROWS, BattleRows, Context, LeftOut
from leaderboard.formats.sinks import atomic_text
from leaderboard.formats.writers import write_array, write_csv

LARGEST = 2**63
CSV, JSON, PARQUET = ".csv", ".json", ".parquet"
ENDINGS = (CSV, JSON, ".jsonl", ".ndjson", PARQUET)
KINDS_OF_TIES = (WinnerWord.BOTH_BAD.value, WinnerWord.INCONSISTENT.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a conversion did.

    Attributes:
        rows: How many rows were written.
        left_out: How many records were left out, by reason.
        first: What is wrong with the first mistaken record, by reason.
        unkept: What of the source the destination does not hold, in words: columns, and kinds of ties.
    """

    rows: int
    left_out: Mapping[LeftOut, int] = field(default_factory=lambda: MappingProxyType({}))
    first: Mapping[LeftOut, InputError] = field(default_factory=lambda: MappingProxyType({}))
    unkept: tuple[str, ...] = ()


def convert(
    source: Path,
    destination: Path,
    *,
    read_as: str | None = None,
    write_as: str = NATIVE,
    context: Context | None = None,
) -> Written:
    """Turn one battle file into another as a stream, with all of its columns.

    What the destination's format cannot hold is named in the result; votes count here whether or not their
    voters were shown the systems' names.

    Args:
        source: File or folder, read as `read_chunks` does.
        destination: File to write, by its name's ending: `.csv`, `.json` (an array), `.jsonl` or `.ndjson`,
            each gzipped with a further `.gz`, or `.parquet`.
        read_as: The name of the source's format; None to tell it by the first record.
        write_as: That of the destination's.
        context: What the source's records do not say.

    Raises:
        FileFormatError: The source cannot be read, or the destination cannot be written or ends in nothing
            that says how. A destination that could not be finished is not left behind.
        RecordError: A value breaks a rule.
    """
    context = replace(context or Context(), further=True, named=True)
    return write_chunks(read_chunks(source, read_as, context=context), destination, write_as=write_as)


def write_battles(table: BattleTable, destination: Path, *, write_as: str = NATIVE) -> Written:
    """Write a table; arguments and errors as of `convert`."""
    if _ending(destination) == PARQUET and write_as == NATIVE:
        parquet.write_table(table, destination)
        return Written(rows=len(table))
    return write_chunks(chunks_of_table(table), destination, write_as=write_as)


def write_chunks(chunks: Iterable[BattleRows], destination: Path, *, write_as: str = NATIVE) -> Written:
    """Write chunks of battles as they come; arguments and errors as of `convert`."""
    ending = _ending(destination)
    as_csv, as_parquet = ending == CSV, ending == PARQUET
    layout = battle_format(write_as)
    if layout.write is None:
        advice = "Write native battles, which hold every column."
        raise FileFormatError(f"Battles are not written as {write_as}, which is read alone.", advice=advice)
    if (as_csv or as_parquet) and write_as != NATIVE:
        message = f"{write_as} battles cannot be written as {'CSV' if as_csv else 'Parquet'}."
        raise FileFormatError(message, advice="Name a .json or .jsonl file, or write native battles.")
    with working(f"writing battles to {destination.name}") as work:
        books = _Books(layout, flat=as_csv or as_parquet)
        if not (as_csv or as_parquet):
            write = write_array if write_as == NATIVE and ending == JSON else layout.write
            with atomic_text(destination) as text:
                write(books.kept(chunks, work), text)
            return books.written()
        with _spooled(books.kept(chunks, work)) as spool:
            if as_parquet:
                parquet.write_rows(spool, books.columns, destination)
            else:
                with atomic_text(destination) as text:
                    write_csv(spool, books.columns, text)
    return books.written()


def _ending(destination: Path) -> str:
    """What a file's name says that it holds."""
    name = destination.name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending in ENDINGS and not name.endswith(f"{PARQUET}.gz"):
        return ending
    message = f"{destination.name} ends in none of {', '.join(ENDINGS)}, which say what is written."
    raise FileFormatError(message, advice="Name the file by the format that you want.")


class _Books:
    """What passes on its way to a file: counted, and without what the file cannot hold."""

    def __init__(self, layout: BattleFormat, *, flat: bool) -> None:
        self._layout, self._flat = layout, flat
        self.rows = 0
        self.columns: dict[str, set[type]] = {}
        self._left_out: Counter[LeftOut] = Counter()
        self._first: dict[LeftOut, InputError] = {}
        self._unkept: dict[str, None] = {}
        self._ties: Counter[str] = Counter()

    def kept(self, chunks: Iterable[BattleRows], work: Work) -> Iterator[BattleRows]:
        for chunk in chunks:
            self.rows += len(chunk)
            work.done = self.rows
            self._left_out.update(chunk.left_out)
            self._first = {**chunk.first, **self._first}
            self._unkept.update(dict.fromkeys(chunk.unkept))
            if self._layout.one_tie:
                self._ties.update(word for word in chunk.winner if word in KINDS_OF_TIES)
            yield self._held(chunk)

    def _held(self, chunk: BattleRows) -> BattleRows:
        """The chunk without columns that the file cannot hold, which are noted."""
        lost = []
        for name, cells in chunk.columns.items():
            types = set(map(_type, cells)) - {type(None)}
            if not self._holds(name, types):
                lost.append(name)
                continue
            self.columns.setdefault(name, set()).update(types)
        self._unkept.update(dict.fromkeys(lost))
        self.columns = {name: types for name, types in self.columns.items() if name not in self._unkept}
        further = {name: cells for name, cells in chunk.further.items() if name not in self._unkept}
        return replace(chunk, further=further)

    def _holds(self, name: str, types: set[type]) -> bool:
        holds = self._layout.holds
        if holds is not None:
            return name in holds
        if name in self._layout.taken:
            return False
        return not (self._flat and types & {dict, list})

    def written(self) -> Written:
        ties = tuple(f"{count:,} verdicts {word!r}, which became ties" for word, count in self._ties.items())
        return Written(
            rows=self.rows,
            left_out=MappingProxyType(dict(self._left_out)),
            first=MappingProxyType(self._first),
            unkept=(*self._unkept, *ties),
        )


def _type(cell: object) -> type:
    """The type of a cell; a number that is too large for a column of numbers is text."""
    return str if isinstance(cell, int) and abs(cell) >= LARGEST else type(cell)


@contextmanager
def _spooled(chunks: Iterable[BattleRows]) -> Iterator[Iterator[BattleRows]]:
    """Chunks kept in a file until all are known: only then is it known which columns there are."""
    with tempfile.TemporaryFile() as file:
        for chunk in chunks:
            pickle.dump(
                replace(chunk, left_out={}, first={}, covariates={}, further=dict(chunk.further)), file
            )
        end = file.tell()
        file.seek(0)
        yield _read_back(file, end)


def _read_back(file: IO[bytes], end: int) -> Iterator[BattleRows]:
    while file.tell() < end:
        chunk: BattleRows = pickle.load(file)  # noqa: S301 - written a moment ago, into a file without a name
        yield chunk


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
