"""Battle files out: one file turned into another, in the layout of any format."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from data.errors import FileFormatError, InputError
from data.files.zip_files import atomic_text
from data.progress import working
from leaderboard.battles import WinnerWord
from leaderboard.formats.reading import read_chunks
from leaderboard.formats.registry import NATIVE, BattleFormat, battle_format
from leaderboard.formats.rows import BattleRows, Context, LeftOut
from leaderboard.formats.writers import write_array, write_csv

LARGEST = 2**63
CSV, JSON, PARQUET = ".csv", ".json", ".parquet"
ENDINGS = (CSV, JSON, ".jsonl", ".ndjson", PARQUET)
KINDS_OF_TIES = (WinnerWord.BOTH_BAD.value, WinnerWord.INCONSISTENT.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Result of a conversion.

    Attributes:
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
    """Turn one battle file into another, with all of its columns.

    What the destination's format cannot hold is named in the result; votes count here whether or not their
    voters were shown the systems' names.

    Args:
        source: File or folder, read as `read_chunks` does.
        destination: File to write, by its name's ending: `.csv`, `.json` (an array), `.jsonl` or `.ndjson`,
            each gzipped with a further `.gz`, or `.parquet`.
        read_as: The name of the source's format; None to tell it by the first record.
        write_as: That of the destination's.
        context: What the source's records do not say.
    """
    context = replace(context or Context(), further=True, named=True)
    return write_chunks(read_chunks(source, read_as, context=context), destination, write_as=write_as)


def write_chunks(chunks: Iterable[BattleRows], destination: Path, *, write_as: str = NATIVE) -> Written:
    """Write chunks of battles once all are known; arguments and errors as of `convert`."""
    ending, layout = _ending(destination), battle_format(write_as)
    flat = ending in {CSV, PARQUET}
    if layout.write is None:
        advice = "Write native battles, which hold every column."
        raise FileFormatError(f"Battles are not written as {write_as}, which is read alone.", advice=advice)
    if flat and write_as != NATIVE:
        message = f"{write_as} battles cannot be written as {'CSV' if ending == CSV else 'Parquet'}."
        raise FileFormatError(message, advice="Name a .json or .jsonl file, or write native battles.")
    with working(f"writing battles to {destination.name}") as work:
        every: list[BattleRows] = []
        columns: dict[str, set[type]] = {}
        for chunk in chunks:
            every.append(chunk)
            work.done += len(chunk)
            for name, cells in chunk.columns.items():
                columns.setdefault(name, set()).update(set(map(_type, cells)) - {type(None)})
        lost = {name for name, types in columns.items() if not _holds(layout, name, types, flat=flat)}
        further = [{name: cells for name, cells in one.further.items() if name not in lost} for one in every]
        held = [replace(one, further=cells) for one, cells in zip(every, further, strict=True)]
        columns = {name: types for name, types in columns.items() if name not in lost}
        if ending == PARQUET:
            from leaderboard.formats import parquet  # noqa: PLC0415 - loads pyarrow

            parquet.write_rows(held, columns, destination)
        else:
            with atomic_text(destination) as text:
                if ending == CSV:
                    write_csv(held, columns, text)
                else:
                    (write_array if write_as == NATIVE and ending == JSON else layout.write)(held, text)
    return _written(every, layout, lost)


def _written(chunks: list[BattleRows], layout: BattleFormat, lost: set[str]) -> Written:
    left_out: Counter[LeftOut] = Counter()
    first: dict[LeftOut, InputError] = {}
    for chunk in chunks:
        left_out.update(chunk.left_out)
        first = {**chunk.first, **first}
    ties = Counter(word for chunk in chunks for word in chunk.winner if word in KINDS_OF_TIES)
    unkept = dict.fromkeys([*(name for chunk in chunks for name in chunk.unkept), *sorted(lost)])
    return Written(
        rows=sum(map(len, chunks)),
        left_out=MappingProxyType(dict(left_out)),
        first=MappingProxyType(first),
        unkept=(
            *unkept,
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
    message = f"{destination.name} ends in none of {', '.join(ENDINGS)}, which say what is written."
    raise FileFormatError(message, advice="Name the file by the format that you want.")


def _holds(layout: BattleFormat, name: str, types: set[type], *, flat: bool) -> bool:
    if layout.holds is not None:
        return name in layout.holds
    return name not in layout.taken and not (flat and types & {dict, list})


def _type(cell: object) -> type:
    """Return the type of a cell; a number that is too large for a column of numbers is text."""
    return str if isinstance(cell, int) and abs(cell) >= LARGEST else type(cell)
