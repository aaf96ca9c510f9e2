"""Parquet files of strangers: their rows in batches of bounded size, and damage in one line.

A dictionary makes a small file large: it may hold a long text once that many rows repeat. So batches have the
fewer rows the longer a text may be, and what they expand to is counted. A list of many such texts in one row
remains; whoever reads files of strangers caps the memory of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.errors import FileFormatError
from data.files.text_files import MEBIBYTE

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET_MAGIC = b"PAR1"
BATCH = 64
"""Rows that are made into Python's objects at once, at most."""
BATCH_BYTES = 64 * MEBIBYTE
"""What the texts of one column in a batch may take, where a dictionary holds them."""
LONGEST_REASON = 160
DAMAGED, TOO_LARGE, WRONG_TYPE = "damaged-file", "too-large", "wrong-type"


def parquet_batches(
    path: Path,
    choose: Callable[[Path, pa.Schema], Sequence[str]],
    *,
    most_bytes: int,
    check: Callable[[Any], object] = lambda _: None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file in batches, read by row groups.

    Args:
        path: The file.
        choose: The columns to read, of its schema.
        most_bytes: What its texts may take, decompressed.
        check: Is given the file's metadata, and may raise.

    Raises:
        FileFormatError: It is damaged, or over the limit.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads when such a file comes

    with damage_told(path), pq.ParquetFile(path, buffer_size=MEBIBYTE, pre_buffer=False) as file:
        columns = choose(path, file.schema_arrow)
        check(file.metadata)
        size = 0
        for batch in file.iter_batches(_rows_at_once(file.metadata), columns=columns):
            size += text_bytes(batch)
            require_bytes(path, size, most_bytes)
            yield batch


def stored_bytes(path: Path) -> int:
    """How many bytes the columns of a file hold, decompressed, as the file itself says."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads when such a file comes

    with damage_told(path):
        metadata = pq.read_metadata(path)
        return sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))


def require_bytes(path: Path, size: int, most: int) -> None:
    """Refuse a file that holds more.

    Raises:
        FileFormatError: It does.
    """
    if size > most:
        message = f"{path.name} holds more than {most:,} bytes once decompressed."
        raise FileFormatError(message, advice="Give a smaller file.", code=TOO_LARGE)


def text_bytes(batch: pa.RecordBatch) -> int:
    """Bytes of a batch once each of its values stands for itself.

    Raises:
        FileFormatError: A column is of a type that holds neither texts, lists of them nor numbers.
    """
    return sum(map(_bytes_of, batch.columns))


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Say in one line that a file cannot be read.

    Raises:
        FileFormatError: It cannot.
    """
    import pyarrow as pa  # noqa: PLC0415 - loaded by whoever reads

    try:
        yield
    except MemoryError as error:
        message = f"{path.name} takes more memory than it may once decompressed."
        raise FileFormatError(message, advice="Give a smaller file.", code=TOO_LARGE) from error
    except (pa.ArrowException, OSError) as error:
        text = next(iter(str(error).splitlines()), type(error).__name__)
        reason = "".join(character for character in text if character.isprintable())[:LONGEST_REASON]
        message = f"{path.name} is cut off or damaged: {reason.rstrip('. ')}."
        advice = "Write the file again and upload all of it."
        raise FileFormatError(message, advice=advice, code=DAMAGED) from error


def _rows_at_once(metadata: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """So many rows that a text which a dictionary repeats in each of them stays within bounds."""
    groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
    chunks = (group.column(at) for group in groups for at in range(group.num_columns))
    longest = max((one.total_uncompressed_size for one in chunks if one.has_dictionary_page), default=1)
    return max(1, min(BATCH, BATCH_BYTES // max(1, longest)))


def _bytes_of(array: Any) -> int:  # noqa: ANN401 - as above
    import pyarrow as pa  # noqa: PLC0415 - loaded by whoever reads
    import pyarrow.compute as pc  # noqa: PLC0415 - loaded by whoever reads

    types, kind = pa.types, array.type
    if types.is_dictionary(kind):
        if not _is_text(kind.value_type):
            return int(array.nbytes)
        lengths = pc.binary_length(array.dictionary).take(array.indices)
        return int(pc.sum(lengths).as_py() or 0) + 4 * len(array)
    if types.is_list(kind) or types.is_large_list(kind):
        return _bytes_of(array.flatten()) + 4 * len(array)
    if types.is_struct(kind):
        return sum(map(_bytes_of, array.flatten()))
    if _is_text(kind) or types.is_primitive(kind) or types.is_null(kind):
        return int(array.nbytes)
    message = f"A column has the type {str(kind)[:60]!r}, which neither questions nor answers have."
    raise FileFormatError(message, advice="Write texts, and lists of them.", code=WRONG_TYPE)


def _is_text(kind: Any) -> bool:  # noqa: ANN401 - as above
    import pyarrow as pa  # noqa: PLC0415 - loaded by whoever reads

    types = pa.types
    return any(
        is_kind(kind)
        for is_kind in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )
