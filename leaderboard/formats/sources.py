"""Records of battle files in chunks: JSON Lines, JSON, CSV, Parquet, Arrow and Excel, compressed or not."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, cast

from data.errors import FileFormatError
from data.files import text_files
from data.files.strict_json import without_nuls
from data.files.tables.columns import Column, read_columns
from data.files.zip_files import BINARY_MAGICS
from data.models.words import ANNOTATOR, is_person
from data.text import unescape_formula
from leaderboard.battles import SPELLINGS, winner_word
from leaderboard.columns import QUESTION
from leaderboard.formats.rows import CHUNK_ROWS, COLUMNS, Place, covariate_columns, missing, names
from leaderboard.vocabulary import Covariate

LIMITS = text_files.ReadLimits(
    file_bytes=1 << 36, line_bytes=1 << 26, lines=1 << 40, rows=1 << 40, gzip_ratio=10_000
)
"""Limits for local files."""
HEAD = 1 << 16

Record = Mapping[str, object]

FIELDS = frozenset(
    {
        *COLUMNS,
        *(name for covariate in Covariate for name in covariate_columns(covariate)),
        *("count", "anony", "annotator", "sampling_prob", "chance"),
        *("winner_model_a", "winner_model_b", "winner_tie"),
        *("model_1", "model_2", "g1_winner", "g2_winner", "query", "pred", "pair", "majority"),
        *("generator_1", "generator_2", "preference", "instruction", "dataset", "model", "baseline", "games"),
        "category",
    }
)
"""Columns known to readers of battles and votes."""
PLAIN, VERDICTS = frozenset({"model_a", "model_b"}), frozenset({"winner", "score"})
"""Columns of plain battles; one of the verdicts suffices."""
SYSTEMS: Mapping[str, str] = MappingProxyType(
    {"system_a": "model_a", "system_b": "model_b", "left": "model_a", "right": "model_b"}
)
ROW_IDS = frozenset({"id", "_id"})

_TABLE = re.compile(rb'\{\s*+"[^"]*+"\s*+:\s*+[\[{]')
"""Start of an object of columns, or of records by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Records of a file with their location."""

    place: Place
    records: list[Record]


def is_parquet(path: Path) -> bool:
    """Detect Parquet by its first bytes."""
    return text_files.magic_of(path).startswith(text_files.PARQUET_MAGIC)


def chunks_of(path: Path) -> Iterator[Chunk]:
    """Read a file's records in chunks, with known columns renamed: `Model A` is `model_a`."""
    yield from map(renamed, written_chunks(path))


def written_chunks(path: Path) -> Iterator[Chunk]:
    """Read a file's records in chunks, without renaming columns or values."""
    reader = _table_chunks
    if not text_files.magic_of(path).startswith(BINARY_MAGICS):
        with text_files.GuardedStream(path, LIMITS) as stream:
            head = stream.read(HEAD).lstrip()
        if head.startswith((b"[", b"{")):
            reader = _line_chunks if _is_lines(head) else _json_chunks
    yield from reader(path)


def _is_lines(head: bytes) -> bool:
    if head.startswith(b"["):
        return False
    lines = [line.strip() for line in head.split(b"\n") if line.strip()]
    try:
        first = json.loads(lines[0])
    except (ValueError, RecursionError):
        return not _TABLE.match(head) if len(lines) == 1 else lines[1].startswith(b"{") or lines[0] != b"{"
    return _table_of(first) is None


def renamed(chunk: Chunk) -> Chunk:
    """Return the chunk with native column names and winner words."""
    columns = chunk.records[0].keys() if chunk.records else FIELDS
    spelt = {name: field_of(name) for name in columns - FIELDS}
    known = {name: field for name, field in spelt.items() if field in FIELDS - columns}
    fields = {known.get(name, name) for name in columns}
    if fields >= PLAIN and not fields & VERDICTS and "label" in columns:
        known["label"] = "winner"  # crowd-kit's
    if fields >= PLAIN and ANNOTATOR not in fields and (person := next(filter(is_person, columns), None)):
        known[person] = ANNOTATOR
    fields |= set(known.values())
    if fields >= PLAIN and fields & VERDICTS and QUESTION not in fields:
        question = question_column(columns, lambda name: all(map(_is_id, column(chunk, name))))
        known |= {} if question is None else {question: QUESTION}
    records = chunk.records
    if known:
        records = [{known.get(name, name): value for name, value in record.items()} for record in records]
    if fields >= PLAIN and any(_is_foreign(record.get("winner")) for record in records):
        sides = [(record.get("winner"), record.get("model_a"), record.get("model_b")) for record in records]
        records = [
            {**record, "winner": winner_word(*side)} for record, side in zip(records, sides, strict=True)
        ]
    spelled = tuple((field, name) for name, field in known.items())
    return Chunk(place=replace(chunk.place, names=spelled), records=records)


def _is_foreign(won: object) -> bool:
    return (isinstance(won, str) and won not in SPELLINGS) or type(won) is int


def question_column(columns: Collection[str], is_full: Callable[[str], bool]) -> str | None:
    """Return the column that identifies questions if there is no `question_id`; row ids do not."""
    known = read_columns(name for name in columns if name.lower() not in ROW_IDS)
    item = next((name for name in columns if name == "item_id"), None)
    candidates = (known.get(Column.QUESTION_ID), item, known.get(Column.QUESTION))
    return next((name for name in candidates if name is not None and is_full(name)), None)


def _is_id(cell: object) -> bool:
    return isinstance(cell, str | int) and bool(str(cell).strip())


def field_of(name: str) -> str:
    """Return a column's name in lower case with underscores; `system_a` becomes `model_a`."""
    field = "_".join(name.strip().lower().replace("-", " ").split())
    return SYSTEMS.get(field, field)


def _json_chunks(path: Path) -> Iterator[Chunk]:
    try:
        value = without_nuls(text_files.read_text(path, LIMITS))
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        message = f"{path.name}{where}: the JSON is invalid or truncated here."
        raise FileFormatError(message, advice="Save the file again as one complete JSON value.") from error
    table = value if isinstance(value, list) else _table_of(value)
    records: list[object] = [value] if table is None else list(table)
    for start in range(0, len(records), CHUNK_ROWS):
        part = records[start : start + CHUNK_ROWS]
        place = Place(file=path.name, first_row=start + 1)
        yield Chunk(place=place, records=[_object(place, at, record) for at, record in enumerate(part)])


def _object(place: Place, index: int, record: object) -> Record:
    if not isinstance(record, dict):
        message = f"{place.at(index)} is not a JSON object but {type(record).__name__}."
        raise FileFormatError(message, advice="Write each battle as an object or a table row.")
    return cast("Record", record)


def _table_of(value: Any) -> Iterable[object] | None:  # noqa: ANN401 - any JSON
    """Return the records of an object of columns, or of records by key; None for a single record.

    Columns are lists, or objects by row number as pandas writes them; records by key get the key as `pair`.
    """
    cells = list(value.values()) if isinstance(value, dict) else []
    columns = {name: cell for name, cell in value.items() if isinstance(cell, list)} if cells else {}
    if columns and (len(columns) == len(cells) or columns.keys() & {*PLAIN, *VERDICTS}):
        length = max(map(len, columns.values()))
        for name, column in columns.items():
            if len(column) != length:
                message = f"The column {name!r} ends at row {len(column)} of {length}."
                raise FileFormatError(message, advice="The lists must have the same length in every column.")
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if not cells or not isinstance(cells[0], dict):
        return None
    if all(key.isdigit() for key in cells[0]):
        return [{name: cell.get(row) for name, cell in value.items()} for row in cells[0]]
    return [{**cell, "pair": key} if isinstance(cell, dict) else cell for key, cell in value.items()]


def _table_chunks(path: Path) -> Iterator[Chunk]:
    from data.files.tables.reader import Table  # noqa: PLC0415 - builds the models of rows
    from data.files.tables.rows import FileFormat, Opening  # noqa: PLC0415 - as above

    def refuse(error: FileFormatError) -> NoReturn:
        if path.name not in error.message:
            error.message = f"{path.name}{f', line {error.line}' if error.line else ''}: {error.message}"
        raise error

    try:
        with Table(path, LIMITS, Opening(note=refuse)) as table:
            first, is_csv = 1, table.format is FileFormat.CSV
            for lines, values in _batches(table.parts):
                place = Place(file=path.name, first_row=first, lines=lines)
                records = [_object(place, index, value) for index, value in enumerate(values)]
                yield Chunk(place=place, records=[*map(_unescaped, records)] if is_csv else records)
                first += len(records)
    except FileFormatError as error:
        refuse(error)


def _batches(parts: Iterable[Any]) -> Iterator[tuple[Sequence[int], Iterable[object]]]:
    """Yield the lines and values of blocks, and of rows in groups."""
    for single, group in groupby(parts, key=lambda part: hasattr(part, "value")):
        while rows := list(islice(group, CHUNK_ROWS if single else 1)):
            if single:
                yield [row.line for row in rows], [row.value for row in rows]
            else:
                yield rows[0].lines, rows[0].values()


def _unescaped(row: Record) -> Record:
    """Remove the apostrophes that escape formulas."""
    cells = cast("Mapping[str, str]", row)
    if "\0'" not in "\0" + "\0".join(cells.values()):
        return row
    return {name: unescape_formula(cell) for name, cell in cells.items()}


def _line_chunks(path: Path) -> Iterator[Chunk]:
    lines, row = text_files.read_lines(path, LIMITS), 0
    while block := list(islice(lines, CHUNK_ROWS)):
        place = Place(file=path.name, first_row=row + 1, lines=[number for number, _ in block])
        yield Chunk(place=place, records=_parsed([line for _, line in block], place))
        row += len(block)


def _parsed(lines: list[bytes], place: Place) -> list[Record]:
    """Parse JSON lines at once, or separately to locate an error."""
    try:
        joined = b"[" + b",".join(lines) + b"]"
        records = without_nuls(joined.decode()) if b"\\u0000" in joined else json.loads(joined)
    except (ValueError, RecursionError):
        records = []
    if len(records) == len(lines) and set(map(type, records)) == {dict}:
        return list(records)
    return [_parsed_one(line, place, index) for index, line in enumerate(lines)]


def _parsed_one(line: bytes, place: Place, index: int) -> Record:
    try:
        record = without_nuls(text_files.decode(line, 0))
    except FileFormatError as error:
        error.message = f"{place.at(index)}: {error.message}"
        raise
    except (ValueError, RecursionError) as error:
        message = f"{place.at(index)} is not a JSON object: it is truncated or in another format."
        raise FileFormatError(message, advice="JSON Lines need one object per line.") from error
    return _object(place, index, record)


def column(chunk: Chunk, name: str) -> list[object]:
    """Return the values of a column, None for records without it."""
    return [record.get(name) for record in chunk.records]


def has(chunk: Chunk, name: str) -> bool:
    """Return whether any record has the column."""
    return any(name in record for record in chunk.records)


def optional(chunk: Chunk, name: str, otherwise: str = "", field: str = "") -> list[str] | None:
    """Return a column of optional labels, or `otherwise` for every row; `field` is its native name.

    The parts of a judge, such as a model and its prompt, are joined.
    """
    field = field or name
    if not has(chunk, name):
        return [otherwise] * len(chunk.records) if otherwise else None
    cells = column(chunk, name)
    if field == "judge":
        cells = [", ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in cells]
    return names(called(chunk.place, field, name), field, cells, blank=True)


def identifiers(chunk: Chunk, name: str) -> list[str] | None:
    """Return a column of question ids, if the file has it; then every record must have it."""
    if not has(chunk, name):
        return None
    for index, record in enumerate(chunk.records):
        if name not in record:
            missing(chunk.place, index, name, " Other rows have it.")
    return names(called(chunk.place, QUESTION, name), QUESTION, column(chunk, name))


def called(place: Place, field: str, name: str) -> Place:
    """Record the name of a field in the file."""
    return place if field == name else replace(place, names=(*place.names, (field, name)))


def further(chunk: Chunk, own: Collection[str]) -> tuple[dict[str, list[object]], list[str]]:
    """Return the columns that are not a format's `own`, and the names that clash with native ones."""
    columns = dict.fromkeys(name for record in chunk.records for name in record)
    unread = [name for name in columns if name not in own]
    cells = {name: [*map(_plain, column(chunk, name))] for name in unread if name not in COLUMNS}
    return cells, [name for name in unread if name in COLUMNS]


def _plain(cell: object) -> object:
    """Convert a cell to JSON: NaN becomes None, other types text."""
    if cell is None or isinstance(cell, str | bool | int):
        return cell
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None if math.isnan(cell) else str(cell)
    if isinstance(cell, list):
        return [_plain(part) for part in cell]
    if isinstance(cell, dict):
        return {str(name): _plain(part) for name, part in cell.items()}
    return str(cell)
