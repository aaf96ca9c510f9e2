"""Records out of JSON Lines, JSON arrays, JSON columns and CSV, gzipped or not, and Parquet, as a stream."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import IO, NoReturn, TextIO, cast

from data.errors import FileFormatError
from data.files.compression import COMPRESSED
from data.files.csv_safety import unescape_formula
from data.files.tabular.columns import Column, read_columns
from data.files.text_files import ARROW_MAGICS, PARQUET_MAGIC, ReadLimits, magic_of
from data.files.zip_files import ZIP_MAGICS
from leaderboard.battles import SPELLINGS, winner_word
from leaderboard.formats.json_stream import ELEMENT_LIMIT, JsonStream
from leaderboard.formats.places import Place
from leaderboard.formats.rows import CHUNK_ROWS, COLUMNS, covariate_columns
from leaderboard.names import QUESTION
from leaderboard.vocabulary import Covariate

GZIP_MAGIC = b"\x1f\x8b"
OF_TABLES = (*ZIP_MAGICS, *ARROW_MAGICS, *(magic for magic, kind in COMPRESSED.items() if kind != "gzip"))
TABLE_BYTES = 2 << 30
"""Bytes of a table that is neither Parquet nor plain text, unpacked."""
HEAD_CHARACTERS = 1 << 16
BLOCK_CHARACTERS = 1 << 24

Record = Mapping[str, object]

FIELDS = frozenset(
    {
        *COLUMNS,
        *(name for covariate in Covariate for name in covariate_columns(covariate)),
        *(
            "count",
            "anony",
            "annotator",
            "sampling_prob",
            "chance",
            "winner_model_a",
            "winner_model_b",
            "winner_tie",
        ),
        *("model_1", "model_2", "g1_winner", "g2_winner", "query", "pred", "pair", "majority"),
        *("generator_1", "generator_2", "preference", "instruction", "dataset", "model", "baseline", "games"),
        *("uid", "category"),
    }
)
"""The columns that readers of battles and votes know."""
PLAIN, VERDICTS = frozenset({"model_a", "model_b"}), frozenset({"winner", "score"})
"""The columns of plain battles, of which one says who won."""
SYSTEMS: Mapping[str, str] = MappingProxyType({"system_a": "model_a", "system_b": "model_b"})
ROW_IDS = frozenset({"id", "_id"})
DELIMITERS = ",;\t"

_LIST_COLUMN = re.compile(r'"(model_a|model_b|winner)"\s*:\s*\[')
_BY_ROW = re.compile(r'\{\s*+"[^"]*+"\s*+:\s*+\{\s*+"\d++"\s*+:')
_KEYED = re.compile(r'\{\s*+"[^"]*+"\s*+:\s*+\{\s*+"(?:majority|raw)"\s*+:')


class Container(StrEnum):
    """How records are laid out in a file."""

    LINES = "JSON Lines"
    ARRAY = "JSON array"
    COLUMNS = "JSON object of columns"
    TABLE = "table in another container"
    KEYED = "JSON object of records"
    CSV = "CSV"
    PARQUET = "Parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some records of a file, with where they stand."""

    place: Place
    records: list[Record]


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a UTF-8 text, gzipped or not (recognised by content), with or without a byte order mark.

    Raises:
        FileFormatError: It cannot be opened, is cut off, or is not UTF-8 or not whole gzip.
    """
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == GZIP_MAGIC
            raw.seek(0)
            plain = cast("IO[bytes]", gzip.GzipFile(fileobj=raw)) if zipped else raw
            with io.TextIOWrapper(plain, encoding="utf-8-sig", newline="") as text:
                yield text
    except UnicodeDecodeError as error:
        message = f"{path.name} is not UTF-8 (it has the byte {error.object[error.start]:#04x})."
        raise FileFormatError(message, advice="Save it as UTF-8.") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        message = f"{path.name} is cut off or damaged: its gzip stream does not end as it should."
        raise FileFormatError(message, advice="Copy or compress it again.") from error
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}."
        raise FileFormatError(message, advice="Check the path and its permissions.") from error


def container_of(path: Path) -> Container:
    """Tell how a file is laid out from its first characters.

    Raises:
        FileFormatError: The file is empty or cannot be read.
    """
    magic = magic_of(path)
    if magic.startswith((PARQUET_MAGIC, *OF_TABLES)):
        return Container.PARQUET if magic.startswith(PARQUET_MAGIC) else Container.TABLE
    with open_text(path) as text:
        head = text.read(HEAD_CHARACTERS).lstrip()
    if not head:
        raise FileFormatError(f"{path.name} is empty.", advice="A battle file has a row for each battle.")
    if head.startswith("["):
        return Container.ARRAY
    if not head.startswith("{"):
        return Container.CSV
    if (by_key := _KEYED.match(head)) or _BY_ROW.match(head):
        return Container.KEYED if by_key else Container.TABLE
    first_line = head.split("\n", 1)[0].strip()
    columns = first_line == "{" or _LIST_COLUMN.search(first_line)
    return Container.COLUMNS if columns else Container.LINES


def chunks_of(path: Path, container: Container) -> Iterator[Chunk]:
    """Read a file's records in chunks, never the whole file at once.

    Columns that readers know are recognised in other cases and with spaces too: `Model A` is `model_a`.

    Raises:
        FileFormatError: A record is not of the container's kind; the message names its row.
    """
    if container in {Container.PARQUET, Container.TABLE}:
        chunks = _parquet_chunks(path) if container is Container.PARQUET else _table_chunks(path)
        yield from map(_renamed, chunks)
        return
    readers = {
        Container.LINES: _line_chunks,
        Container.ARRAY: _array_chunks,
        Container.COLUMNS: _column_chunks,
        Container.KEYED: _keyed_chunks,
        Container.CSV: _csv_chunks,
    }
    with open_text(path) as text:
        yield from map(_renamed, readers[container](text, path.name))


def _renamed(chunk: Chunk) -> Chunk:
    """The chunk under the names that readers know, where its first record spells them otherwise."""
    columns = chunk.records[0].keys() if chunk.records else FIELDS
    spelt = {name: field_of(name) for name in columns - FIELDS}
    known = {name: field for name, field in spelt.items() if field in FIELDS - columns}
    fields = {known.get(name, name) for name in columns}
    if fields >= PLAIN and fields & VERDICTS and QUESTION not in fields and (asked := _asked(chunk)):
        known[asked] = QUESTION
    records = chunk.records
    if known:
        records = [{known.get(name, name): value for name, value in record.items()} for record in records]
    if fields >= PLAIN and any(_is_foreign(record.get("winner")) for record in records):
        records = [_with_word(record) for record in records]
    spelled = tuple((field, name) for name, field in known.items())
    return Chunk(place=replace(chunk.place, names=spelled), records=records)


def _is_foreign(won: object) -> bool:
    return isinstance(won, str) and won not in SPELLINGS


def _with_word(record: Record) -> Record:
    word = winner_word(record.get("winner"), record.get("model_a"), record.get("model_b"))
    return {**record, "winner": word}


def question_column(columns: Iterable[str], is_full: Callable[[str], bool]) -> str | None:
    """The column by which battles without `question_id` name their questions; ids of rows are none.

    Args:
        columns: The names of all columns.
        is_full: Whether every row has a text or a number in a column.
    """
    found = read_columns(name for name in columns if name.lower() not in ROW_IDS)
    asked = (found.get(column) for column in (Column.QUESTION_ID, Column.QUESTION))
    return next((name for name in asked if name is not None and is_full(name)), None)


def _asked(chunk: Chunk) -> str | None:
    def is_full(name: str) -> bool:
        cells = (record.get(name) for record in chunk.records)
        return all(isinstance(cell, str | int) and str(cell).strip() for cell in cells)

    return question_column(chunk.records[0], is_full)


def field_of(name: str) -> str:
    """A column's name in small letters, with underscores in place of spaces and hyphens.

    Systems are models, as other arenas call them.
    """
    field = "_".join(name.strip().lower().replace("-", " ").split())
    return SYSTEMS.get(field, field)


def damaged_parquet(path: Path) -> FileFormatError:
    """What is raised for a file that only begins as Parquet does."""
    return FileFormatError(f"{path.name} is no whole Parquet file.", advice="Copy or write it again.")


def _parquet_chunks(path: Path) -> Iterator[Chunk]:
    import pyarrow as pa  # noqa: PLC0415 - heavy, and used by this container alone
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    row = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=CHUNK_ROWS):
                place = Place(file=path.name, first_row=row + 1)
                yield Chunk(place=place, records=batch.to_pylist())
                row += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise damaged_parquet(path) from error


def _table_chunks(path: Path) -> Iterator[Chunk]:
    """The rows of a workbook, of Arrow, in other compressions, or of columns by row (pandas' JSON)."""
    from data.files.tabular.reader import Table  # noqa: PLC0415 - builds the models of rows
    from data.files.tabular.rows import Opening  # noqa: PLC0415 - as above

    def refuse(error: FileFormatError) -> NoReturn:
        raise error

    with Table(path, ReadLimits(file_bytes=TABLE_BYTES), Opening(note=refuse)) as table:
        rows, first = iter(table), 1
        while block := list(islice(rows, CHUNK_ROWS)):
            place = Place(file=path.name, first_row=first)
            for index, row in enumerate(block):
                if not isinstance(row.value, Mapping):
                    message = f"{place.at(index)} is {type(row.value).__name__}, not an object."
                    raise FileFormatError(message, advice="A battle is an object, or a row of a table.")
            yield Chunk(place=place, records=[cast("Record", row.value) for row in block])
            first += len(block)


def _line_chunks(text: TextIO, name: str) -> Iterator[Chunk]:
    row = 0
    for block in _blocks(text, name):
        place = Place(file=name, first_row=row + 1, lines=[number for number, _ in block])
        yield Chunk(place=place, records=_parsed([line for _, line in block], place))
        row += len(block)


def _blocks(text: TextIO, name: str) -> Iterator[list[tuple[int, str]]]:
    """Numbered lines that are not blank, in blocks bounded by rows and by characters."""
    block: list[tuple[int, str]] = []
    size = number = 0
    while line := text.readline(ELEMENT_LIMIT):
        number += 1
        if len(line) == ELEMENT_LIMIT:
            message = f"{name}, line {number} is longer than {ELEMENT_LIMIT} characters."
            raise FileFormatError(message, advice="JSON Lines hold one battle a line.")
        if line.strip():
            block.append((number, line))
            size += len(line)
        if len(block) == CHUNK_ROWS or size > BLOCK_CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block


def _parsed(lines: list[str], place: Place) -> list[Record]:
    """Parse JSON lines at once; where that fails, one by one to find the row."""
    try:
        records = json.loads("[" + ",".join(lines) + "]")
    except (ValueError, RecursionError):
        records = []
    if len(records) == len(lines) and set(map(type, records)) == {dict}:
        return list(records)
    return [_parsed_one(line, place, index) for index, line in enumerate(lines)]


def _parsed_one(line: str, place: Place, index: int) -> Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        message = f"{place.at(index)} is not a JSON object: it is cut off or of another format."
        raise FileFormatError(message, advice="JSON Lines hold one object a line.") from error
    if not isinstance(record, dict):
        message = f"{place.at(index)} is not a JSON object but {type(record).__name__}."
        raise FileFormatError(message, advice="JSON Lines hold one object a line.")
    return record


def _array_chunks(text: TextIO, name: str) -> Iterator[Chunk]:
    row = 0
    for elements in JsonStream(text, name).array():
        place = Place(file=name, first_row=row + 1)
        for index, element in enumerate(elements):
            if not isinstance(element, dict):
                message = f"{place.at(index)} is not a JSON object but {type(element).__name__}."
                raise FileFormatError(message, advice="The array holds one object a battle.")
        yield Chunk(place=place, records=cast("list[Record]", elements))
        row += len(elements)


def _column_chunks(text: TextIO, name: str) -> Iterator[Chunk]:
    """Turn columns of lists into records; equal strings are shared, so a cell takes 8 bytes."""
    shared: dict[str, str] = {}
    columns: dict[str, list[object]] = {}
    for key, values in JsonStream(text, name).columns():
        column = columns.setdefault(key, [])
        column.extend(shared.setdefault(v, v) if isinstance(v, str) else v for v in values)
    longest = max(map(len, columns.values()), default=0)
    for key, column in columns.items():
        if len(column) != longest:
            message = f"{name}, column {key!r} ends at row {len(column)} of {longest}."
            raise FileFormatError(message, advice="Columns of lists must be equally long.")
    for start in range(0, longest, CHUNK_ROWS):
        cells = zip(*(column[start : start + CHUNK_ROWS] for column in columns.values()), strict=True)
        records: list[Record] = [dict(zip(columns, row, strict=True)) for row in cells]
        yield Chunk(place=Place(file=name, first_row=start + 1), records=records)


def _keyed_chunks(text: TextIO, name: str) -> Iterator[Chunk]:
    """Records by key, which each gets as `pair`."""
    row, keyed = 0, JsonStream(text, name).records()
    while block := list(islice(keyed, CHUNK_ROWS)):
        place = Place(file=name, first_row=row + 1)
        for index, (key, record) in enumerate(block):
            if not isinstance(record, dict):
                message = f"{place.at(index)} ({key}) is not a JSON object but {type(record).__name__}."
                raise FileFormatError(message, advice="The object holds one object a battle.")
        records: list[Record] = [{**cast("Record", record), "pair": key} for key, record in block]
        yield Chunk(place=place, records=records)
        row += len(block)


def _csv_chunks(text: TextIO, name: str) -> Iterator[Chunk]:
    first = text.readline()
    reader = csv.reader(chain((first,), text), strict=True, delimiter=_delimiter(first))
    row = 0
    try:
        header = _header(next(reader, []), name)
        numbered = ((reader.line_num, cells) for cells in reader if cells)
        while block := list(islice(numbered, CHUNK_ROWS)):
            place = Place(file=name, first_row=row + 1, lines=[line for line, _ in block])
            for index, (_, cells) in enumerate(block):
                if len(cells) != len(header):
                    message = f"{place.at(index)} has {len(cells)} cells, the header has {len(header)}."
                    raise FileFormatError(message, advice="Quote cells that hold commas or line ends.")
            yield Chunk(
                place=place,
                records=[dict(zip(header, map(unescape_formula, cells), strict=True)) for _, cells in block],
            )
            row += len(block)
    except csv.Error as error:
        message = f"{name}, line {reader.line_num}: {error}."
        raise FileFormatError(message, advice="Save it as plain CSV with a header.") from error


def _delimiter(header: str) -> str:
    """The sign that parts the columns: a comma, or what gives more of the columns that readers know."""
    return max(
        DELIMITERS, key=lambda sign: sum(field_of(cell.strip('"')) in FIELDS for cell in header.split(sign))
    )


def _header(cells: list[str], name: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    for cell, count in Counter(header).items():
        if count > 1:
            message = f"{name} has the column {cell!r} twice."
            raise FileFormatError(message, advice="Each column needs a name of its own.")
    return header
