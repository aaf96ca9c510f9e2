"""Parquet and Arrow files of answers, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data import progress
from data.errors import FileFormatError
from data.files.parquet import BATCH, damage_told, parquet_batches, require_bytes, text_bytes
from submissions.formats.layouts import COLUMNS, QUESTION_COLUMNS
from submissions.formats.rows import Row
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings

if TYPE_CHECKING:
    import pyarrow as pa

ARROW_MAGICS = (b"\xff\xff\xff\xff", b"ARROW1")


def read_parquet(path: Path, name: str, limits: IntakeLimits, findings: Findings) -> Iterator[Row]:
    """Yield the rows of a Parquet file, noting those with unusable texts.

    Args:
        path: The file.
        name: What messages call it; empty where it is the only one.
        limits: What is refused.
        findings: What is wrong is noted here.

    Raises:
        FileFormatError: The file is damaged or over a limit, or there are too many errors.
    """
    unread: list[str] = []

    def choose(path: Path, schema: pa.Schema) -> list[str]:
        columns = _read_columns(path, schema)
        unread.extend(column for column in schema.names if column not in columns)
        return columns

    def check(metadata: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        _require_rows(path, metadata.num_rows, limits)
        _require_values(path, metadata, limits)

    batches = parquet_batches(path, choose, most_bytes=limits.file_bytes, check=check)
    yield from _rows(batches, unread, name, limits, findings)


def read_arrow(path: Path, name: str, limits: IntakeLimits, findings: Findings) -> Iterator[Row]:
    """Yield the rows of an Arrow file, a stream as `datasets` saves it or with a footer.

    Arguments and errors are those of `read_parquet`.
    """
    import pyarrow as pa  # noqa: PLC0415 - loads when such a file comes

    with damage_told(path), pa.OSFile(str(path)) as source:
        footed = source.read(len(ARROW_MAGICS[1])) == ARROW_MAGICS[1]
        source.seek(0)
        reader = pa.ipc.open_file(source) if footed else pa.ipc.open_stream(source)
        columns = _read_columns(path, reader.schema)
        unread = [column for column in reader.schema.names if column not in columns]
        batches = map(reader.get_batch, range(reader.num_record_batches)) if footed else iter(reader)
        yield from _rows(_whole(path, batches, columns, limits), unread, name, limits, findings)


def _whole(
    path: Path, batches: Iterator[pa.RecordBatch], columns: Sequence[str], limits: IntakeLimits
) -> Iterator[pa.RecordBatch]:
    """Batches of few rows, of sound offsets and sizes."""
    size = 0
    for batch in batches:
        batch.validate(full=True)
        read = batch.select(columns)
        size += text_bytes(read)
        require_bytes(path, size, limits.file_bytes)
        for start in range(0, read.num_rows, BATCH):
            yield read.slice(start, BATCH)


def _rows(
    batches: Iterator[pa.RecordBatch],
    unread: Sequence[str],
    name: str,
    limits: IntakeLimits,
    findings: Findings,
) -> Iterator[Row]:
    number = 0
    with progress.working(f"reading {name or 'rows'}") as work:
        for batch in batches:
            # What is not read is known with the first batch, and is named in a warning.
            others = dict.fromkeys(unread)
            large = batch.nbytes > limits.row_bytes
            for at, value in enumerate(_values(batch)):
                number += 1
                place = f"{name} row {number}" if name else f"Row {number}"
                if large and batch.slice(at, 1).nbytes > limits.row_bytes:
                    message = f"{place}: The row is longer than {limits.row_bytes:,} bytes."
                    findings.add(number, Code.TOO_LARGE, message, "Shorten its answer or contexts.")
                elif value is None or _has_nul(value):
                    message = f"{place}: A text is not UTF-8, or has a NUL character."
                    findings.add(number, Code.NOT_UTF8, message, "Save texts as UTF-8.")
                else:
                    yield Row(number, {**others, **value}, place)
            work.done = number


def _values(batch: pa.RecordBatch) -> list[dict[str, Any] | None]:
    """The rows of a batch; None for those whose texts are not UTF-8."""
    try:
        rows: list[dict[str, Any] | None] = batch.to_pylist()
    except ValueError:
        if batch.num_rows == 1:
            return [None]
        return [value for at in range(batch.num_rows) for value in _values(batch.slice(at, 1))]
    return rows


def _has_nul(value: object) -> bool:
    """Whether there is a character that no database takes."""
    if isinstance(value, str):
        return "\x00" in value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(map(_has_nul, inner))


def _read_columns(path: Path, schema: pa.Schema) -> list[str]:
    """The columns that are read: ours and those of known tables, else all."""
    if len(set(schema.names)) < len(schema.names):
        message = f"{path.name} has a column twice."
        raise FileFormatError(message, advice="Name every column once.", code=Code.DUPLICATE_COLUMN)
    known = [name for name in schema.names if name in COLUMNS]
    return known if any(name in QUESTION_COLUMNS for name in known) else list(schema.names)


def _require_rows(path: Path, rows: int, limits: IntakeLimits) -> None:
    if rows > limits.answers:
        message = f"{path.name} has {rows:,} rows; {limits.answers:,} are allowed."
        raise FileFormatError(message, advice="Answer every question once.", code=Code.TOO_MANY_ANSWERS)


def _require_values(path: Path, metadata: Any, limits: IntakeLimits) -> None:  # noqa: ANN401 - as above
    """Refuse lists that are longer than any answer has contexts."""
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        most = max((group.column(column).num_values for column in range(group.num_columns)), default=0)
        if most > max(1, group.num_rows) * limits.contexts:
            message = f"{path.name} has lists of more than {limits.contexts} items a row."
            raise FileFormatError(message, advice="Give fewer contexts.", code=Code.TOO_LARGE)
