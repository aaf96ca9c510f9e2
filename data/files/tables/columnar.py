"""Reader of Parquet and Arrow files, a few rows at a time.

A small file may expand to a large one: a dictionary stores a long text once that many rows repeat. So batches
have fewer rows the longer a text may be, and their expanded size is counted. A list of many such texts in one
row is not limited: processes that read untrusted files need a memory limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from data import progress
from data.errors import FileFormatError
from data.files.strict_json import parse_json
from data.files.tables.columns import Column, column_of, read_columns, require_once
from data.files.tables.rows import Block, Opening
from data.files.text_files import ARROW_MAGICS, MEBIBYTE, PARQUET_MAGIC, ReadLimits, magic_of, too_many_bytes

if TYPE_CHECKING:
    import pyarrow as pa

BATCH, LONG_ROWS = 4096, 48
"""Maximum rows converted to Python at once: of any length, and of the maximum length."""
DICTIONARY_PAGE = re.compile(rb"\x15\x04\x15([\x80-\xff]{0,4}[\x00-\x7f])", re.DOTALL)
"""Thrift header of a page: its type, and its decompressed size with seven bits per byte."""
Readers = Mapping[str, Callable[[Any], Any]]
TOO_MANY, TOO_LARGE, NOT_UTF8 = "too-many-answers", "too-large", "not-utf8"


def read_columnar(path: Path, name: str, limits: ReadLimits, opening: Opening) -> Iterator[Block]:
    """Yield the rows of a Parquet or Arrow file, or of an Arrow stream as `datasets` saves it."""
    number = size = 0
    readers: Readers | None = None
    place = f"{name} row " if name else "Row "
    with damage_as_error(path), progress.working(f"reading {name or 'rows'}") as work:
        for batch, unread in _batches(path, limits, opening):
            size += sum(map(_bytes_of, batch.columns))
            if size > limits.file_bytes:
                raise too_many_bytes(path.name, limits)
            readers = _readers(batch.schema) if readers is None else readers
            for block in _blocks(batch, readers, number + 1, place, limits, opening):
                none = [None] * len(block.lines)
                yield block._replace(columns={**dict.fromkeys(unread, none), **block.columns})
            work.done = number = number + batch.num_rows


def _blocks(
    batch: pa.RecordBatch, readers: Readers, first: int, place: str, limits: ReadLimits, opening: Opening
) -> Iterator[Block]:
    """Yield the rows of a batch; parts that are large or unclean are halved down to the faulty rows."""
    large = batch.nbytes > limits.line_bytes
    columns = None if large else _values(batch, readers)
    if columns is not None:
        yield Block(range(first, first + batch.num_rows), columns, place)
    elif batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from _blocks(batch.slice(0, half), readers, first, place, limits, opening)
        yield from _blocks(batch.slice(half), readers, first + half, place, limits, opening)
    else:
        message, code = "A string is not UTF-8 or contains a NUL character.", NOT_UTF8
        advice = "Save strings as UTF-8."
        if large:
            message = f"The row is longer than {limits.line_bytes:,} bytes."
            advice, code = "Shorten its cells.", TOO_LARGE
        opening.note(FileFormatError(f"{place}{first}: {message}", advice=advice, code=code, line=first))


def stored_bytes(path: Path) -> int:
    """Return the decompressed size of a Parquet file's columns in bytes, from its metadata."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads when such a file comes

    with damage_as_error(path):
        metadata = pq.read_metadata(path)
        return sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))


@contextmanager
def damage_as_error(path: Path) -> Iterator[None]:
    """Convert exceptions of damaged files to FileFormatError."""
    import pyarrow as pa  # noqa: PLC0415 - loads when such a file comes

    try:
        yield
    except MemoryError as error:
        message = f"{path.name} needs too much memory once decompressed."
        raise FileFormatError(message, advice="Use a smaller file.", code=TOO_LARGE) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        message = f"{path.name} is cut off or damaged."
        advice = "Export the file again and upload it in full."
        raise FileFormatError(message, advice=advice, code="damaged-file") from error


def _batches(
    path: Path, limits: ReadLimits, opening: Opening
) -> Iterator[tuple[pa.RecordBatch, Sequence[str]]]:
    """Yield small batches, each with the names of the unread columns."""
    import pyarrow as pa  # noqa: PLC0415 - loads when such a file comes
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads when such a file comes

    if magic_of(path).startswith(PARQUET_MAGIC):
        with pq.ParquetFile(path, buffer_size=MEBIBYTE, pre_buffer=False) as file:
            columns, unread = _chosen(file.schema_arrow, opening)
            _require_counts(path, file.metadata, limits)
            for batch in file.iter_batches(_rows_at_once(path, file.metadata, limits), columns=columns):
                yield batch, unread
        return
    with pa.OSFile(str(path)) as source:
        is_file = source.read(len(ARROW_MAGICS[1])) == ARROW_MAGICS[1]
        source.seek(0)
        reader = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
        columns, unread = _chosen(reader.schema, opening)
        for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
            # Wrong offsets and sizes would read beyond buffers.
            batch.validate(full=True)
            for start in range(0, batch.num_rows, BATCH):
                yield batch.select(columns).slice(start, BATCH), unread


def _chosen(schema: pa.Schema, opening: Opening) -> tuple[list[str], Sequence[str]]:
    """Select the columns to read; known columns of an unsupported type are an error.

    In tables with questions, unknown nested columns are skipped.
    """
    require_once(schema.names)
    opening.header(schema.names, 0)
    ours = {Column.QUESTION_ID, Column.QUESTION} & read_columns(schema.names).keys()
    columns = []
    for field in schema:
        unsupported = UNSUPPORTED.search(str(field.type))
        if unsupported and column_of(field.name):
            message = f"The column {field.name[:60]!r} has the unsupported type {unsupported[0]!r}."
            raise FileFormatError(message, advice="Use strings and lists of strings.", code="wrong-type")
        nested = _kinds(field.type, "struct", *LISTS)
        if not unsupported and (not ours or not nested or opening.reads(field.name)):
            columns.append(field.name)
    return columns, [name for name in schema.names if name not in columns]


def _rows_at_once(path: Path, metadata: Any, limits: ReadLimits) -> int:  # noqa: ANN401 - no types
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    chunks = [group.column(at) for group in groups for at in range(group.num_columns)]
    with path.open("rb") as file:
        longest = max(
            (_max_text_bytes(file, chunk) for chunk in chunks if chunk.has_dictionary_page), default=1
        )
    mean = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=1)
    return max(1, min(BATCH, LONG_ROWS * limits.line_bytes // max(1, longest), 2 * MEBIBYTE // max(1, mean)))


def _max_text_bytes(file: BinaryIO, chunk: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """Return the size of a chunk's dictionary, which limits its texts, from the header of its page."""
    file.seek(chunk.dictionary_page_offset or 0)
    head = DICTIONARY_PAGE.match(file.read(16))
    if head is None:
        return int(chunk.total_uncompressed_size)
    return int(sum((byte & 127) << 7 * at for at, byte in enumerate(head[1]))) >> 1


def _require_counts(path: Path, metadata: Any, limits: ReadLimits) -> None:  # noqa: ANN401 - pyarrow has no types
    if metadata.num_rows > limits.rows:
        message = f"{path.name} has {metadata.num_rows:,} rows; {limits.rows:,} are allowed."
        raise FileFormatError(message, advice="Answer every question once.", code=TOO_MANY)
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        most = max((group.column(column).num_values for column in range(group.num_columns)), default=0)
        if most > max(1, group.num_rows) * limits.items:
            message = f"{path.name} has lists of more than {limits.items} items per row."
            raise FileFormatError(message, advice="Use fewer contexts.", code=TOO_LARGE)


def _values(batch: pa.RecordBatch, readers: Readers) -> dict[str, list[Any]] | None:
    """Return the columns of a batch; None if a string is not UTF-8 or has a NUL character."""
    try:
        columns = {
            name: column.to_pylist() for name, column in zip(batch.schema.names, batch.columns, strict=True)
        }
        columns |= {name: [*map(convert, columns[name])] for name, convert in readers.items()}
    except ValueError:
        return None
    return columns if _is_clean(columns) else None


def _readers(schema: pa.Schema) -> Readers:
    """Return converters by column; numbers of classes become the names in the metadata of `datasets`."""
    readers = {field.name: convert for field in schema if (convert := _reader(field.type))}
    info = _of_json((schema.metadata or {}).get(b"huggingface", b"").decode(errors="replace"))
    for key in ("info", "features"):
        info = info.get(key) if isinstance(info, dict) else None
    features = info.items() if isinstance(info, dict) else ()
    return readers | {
        name: partial(_class_of, names)
        for name, one in features
        if name in schema.names and isinstance(one, dict) and isinstance(names := one.get("names"), list)
    }


def _class_of(names: Sequence[object], cell: object) -> object:
    return names[cell] if isinstance(cell, int) and cell in range(len(names)) else cell


def _is_clean(value: object) -> bool:
    if isinstance(value, str):
        return "\x00" not in value
    parts = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(parts, list):
        return True
    texts = {*map(type, parts)} == {str}
    return "\x00" not in "".join(parts) if texts else all(map(_is_clean, parts))


def _kinds(kind: Any, *names: str) -> bool:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - as above

    return any(getattr(pa.types, f"is_{name}")(kind) for name in names)


TEXTS = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")
LISTS = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")
UNSUPPORTED = re.compile(r"\b\w{0,20}(?:union|map|run_end_encoded|interval)\b")
"""Types that are not supported, even within other types."""


def _reader(kind: Any) -> Callable[[Any], Any] | None:  # noqa: ANN401 - pyarrow has no types
    """Return a converter of Python's values of a type; None if they need no conversion."""
    if hasattr(kind, "storage_type"):
        extensions = {"arrow.json": _of_json, "arrow.uuid": lambda cell: cell and str(cell)}
        return extensions.get(kind.extension_name) or _reader(kind.storage_type)
    if _kinds(kind, *LISTS) and (inner := _reader(kind.value_type)):
        return lambda cells: cells and [inner(cell) for cell in cells]
    if _kinds(kind, "struct"):
        fields = {field.name: convert for field in kind if (convert := _reader(field.type))}
        if fields:
            return lambda row: (
                row and {**row, **{name: convert(row[name]) for name, convert in fields.items()}}
            )
    if _kinds(kind, "dictionary"):
        return _reader(kind.value_type)
    return (lambda cell: cell and cell.decode()) if _kinds(kind, *TEXTS[3:]) else None


def _of_json(cell: str | None) -> object:
    """Return the string, list or object in JSON; anything else unchanged."""
    with suppress(FileFormatError):
        if isinstance(value := parse_json(cell or "null", 0), str | list | dict):
            return value
    return cell


def _leaves(array: Any) -> Iterator[Any]:  # noqa: ANN401 - pyarrow has no types
    """Yield the arrays of scalars and the dictionaries of a column."""
    if hasattr(array, "storage"):
        yield from _leaves(array.storage)
    elif _kinds(array.type, *LISTS):
        yield from _leaves(array.flatten())
    elif _kinds(array.type, "struct"):
        yield from chain.from_iterable(map(_leaves, array.flatten()))
    else:
        yield array


def _bytes_of(column: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    size = 0
    for array in _leaves(column):
        if _kinds(array.type, "dictionary") and _kinds(array.type.value_type, *TEXTS):
            lengths = pc.binary_length(array.dictionary).take(array.indices)
            size += int(pc.sum(lengths).as_py() or 0)
        else:
            size += int(array.nbytes)
    return size + 4 * len(column)
