"""Write and convert battle files."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from data.errors import FileFormatError, InputError
from data.files.zip_files import atomic_text
from data.progress import working
from leaderboard.battles import WinnerWord
from leaderboard.formats.arenas import NATIVE_ADVICE, as_array, records, write_csv
from leaderboard.formats.reading import read_chunks
from leaderboard.formats.registry import NATIVE, BattleFormat, battle_format
from leaderboard.formats.rows import BattleRows, Context, LeftOut

CSV, JSON, PARQUET = ".csv", ".json", ".parquet"
ENDINGS = (CSV, JSON, ".jsonl", ".ndjson", PARQUET)
KINDS_OF_TIES = (WinnerWord.BOTH_BAD.value, WinnerWord.INCONSISTENT.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Result of a conversion; `dropped` describes columns and kinds of ties that were lost."""

    rows: int
    left_out: Mapping[LeftOut, int] = field(default_factory=lambda: MappingProxyType({}))
    first: Mapping[LeftOut, InputError] = field(default_factory=lambda: MappingProxyType({}))
    dropped: tuple[str, ...] = ()


def convert(
    source: Path,
    destination: Path,
    *,
    read_as: str | None = None,
    write_as: str = NATIVE,
    context: Context | None = None,
) -> Written:
    """Convert a battle file or a folder of them, with all columns and votes that were not anonymous.

    The destination's suffix is `.csv`, `.json` (an array), `.jsonl` or `.ndjson`, each optionally with `.gz`,
    or `.parquet`. The result names columns that its format lacks. `context` has facts that records lack.
    """
    context = replace(context or Context(), further=True, named=True)
    return write_chunks(read_chunks(source, read_as, context=context), destination, write_as=write_as)


def write_chunks(chunks: Iterable[BattleRows], destination: Path, *, write_as: str = NATIVE) -> Written:
    """Write chunks of battles once all are read; arguments and errors are those of `convert`."""
    ending, layout = _ending(destination), battle_format(write_as)
    flat = ending in {CSV, PARQUET}
    if layout.write is None:
        raise FileFormatError(f"The format {write_as} can be read, but not written.", advice=NATIVE_ADVICE)
    if flat and write_as != NATIVE:
        message = f"{write_as} battles cannot be written as {'CSV' if ending == CSV else 'Parquet'}."
        raise FileFormatError(message, advice="Use a .json or .jsonl file, or write native battles.")
    with working(f"writing battles to {destination.name}") as work:
        originals: list[BattleRows] = []
        columns: dict[str, set[type]] = {}
        for chunk in chunks:
            originals.append(chunk)
            work.done += len(chunk)
            for name, cells in chunk.columns.items():
                columns.setdefault(name, set()).update(set(map(type, cells)) - {type(None)})
        lost = {name for name, types in columns.items() if not _is_writable(layout, name, types, flat=flat)}
        rows = [
            replace(chunk, further={name: cells for name, cells in chunk.further.items() if name not in lost})
            for chunk in originals
        ]
        columns = {name: types for name, types in columns.items() if name not in lost}
        if ending == PARQUET:
            from leaderboard.formats import parquet  # noqa: PLC0415 - loads pyarrow

            parquet.write_rows(rows, columns, destination)
        else:
            with atomic_text(destination) as text:
                if ending == CSV:
                    write_csv(rows, columns, text)
                else:
                    (as_array(records) if write_as == NATIVE and ending == JSON else layout.write)(rows, text)
    return _written(originals, layout, lost)


def _written(chunks: list[BattleRows], layout: BattleFormat, lost: set[str]) -> Written:
    left_out: Counter[LeftOut] = Counter()
    first: dict[LeftOut, InputError] = {}
    for chunk in chunks:
        left_out.update(chunk.left_out)
        first = {**chunk.first, **first}
    ties = Counter(word for chunk in chunks for word in chunk.winner if word in KINDS_OF_TIES)
    dropped = dict.fromkeys([*(name for chunk in chunks for name in chunk.dropped), *sorted(lost)])
    return Written(
        rows=sum(map(len, chunks)),
        left_out=MappingProxyType(dict(left_out)),
        first=MappingProxyType(first),
        dropped=(
            *dropped,
            *(
                f"{count:,} verdicts {word!r}, which became ties"
                for word, count in ties.items()
                if layout.one_tie
            ),
        ),
    )


def _ending(destination: Path) -> str:
    name = destination.name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending in ENDINGS and not name.endswith(f"{PARQUET}.gz"):
        return ending
    message = f"{destination.name} has none of the suffixes {', '.join(ENDINGS)}, which select the format."
    raise FileFormatError(message, advice="Use one of these suffixes.")


def _is_writable(layout: BattleFormat, name: str, types: set[type], *, flat: bool) -> bool:
    if layout.writable is not None:
        return name in layout.writable
    return name not in layout.reserved and not (flat and types & {dict, list})
