"""Folders of answers, and zip files of them: Hugging Face datasets, HELM runs, logs of inspect.

What a folder holds is told by the names that the tools themselves give, and read by content.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from data.errors import FileFormatError
from data.files.text_files import ReadLimits, parse_json, read_text
from data.files.zip_files import ArchiveLimits, opened, read_member, unpack
from submissions.formats.rows import Row
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, listed, shown

ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
MOST_FILES = 20_000
SAMPLE_FILES = 2
"""Files in a log of inspect for each sample, at most."""
DEEPEST = 8
NAMED = 5
ADVICE = "Pack the folder of one dataset, run or log into a plain zip file, without links or passwords."
TEST = "test"
HEADER, JOURNAL = "header.json", "_journal/start.json"
SAMPLES, EPOCH, JSON = "samples/", "_epoch_", ".json"
STATE, SPLITS = "state.json", "dataset_dict.json"
SCENARIO, PREDICTIONS, INSTANCES = "scenario_state.json", "display_predictions.json", "instances.json"
SHARD_PARTS = 4
# What stands beside the rows: cards, licences, and results that are no rows.
BESIDE_NAMES = (".", "readme", "licen", "dataset_info", "results_", "croissant.json", "set.toml")
BESIDE_ENDS = (".md", ".yaml", ".yml", ".toml", ".txt", ".lock")
CODES: Mapping[str, Code] = {"archive-too-large": Code.TOO_LARGE}


@dataclass(frozen=True, slots=True)
class Found:
    """The files of a folder that hold its rows.

    Attributes:
        files: In their order.
        beside: HELM's questions, where the rows do not have them.
    """

    files: Sequence[Path]
    beside: Path | None = None


def unpacked(path: Path, folder: Path, limits: IntakeLimits) -> Path:
    """Unpack a zip file, and return where its files lie.

    Raises:
        FileFormatError: It cannot be unpacked.
    """
    try:
        return unpack(path, folder, _archive_limits(limits, MOST_FILES))
    except FileFormatError as error:
        raise _as_ours(error) from error


def is_inspect_archive(path: Path) -> bool:
    """Whether a zip file is a log of inspect."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError):
        # Whoever unpacks it says what is wrong.
        return False
    return HEADER in names or JOURNAL in names


def is_office_archive(path: Path) -> bool:
    """Whether a zip file is one of Excel or another office program."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "[Content_Types].xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError):
        return False


def packed_bytes(path: Path) -> int:
    """How many bytes a zip file says that it holds."""
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return path.stat().st_size


def read_inspect_archive(path: Path, limits: IntakeLimits, findings: Findings) -> Iterator[Row]:
    """Yield the samples of an inspect log, those of the first epoch first, one in memory at a time.

    Raises:
        FileFormatError: It is damaged or over a limit, or holds no samples.
    """
    try:
        with opened(path, _archive_limits(limits, SAMPLE_FILES * limits.answers)) as (archive, members):
            epochs = {member: _epoch(member.filename) for member in members}
            ordered = sorted((one for one, epoch in epochs.items() if epoch), key=epochs.__getitem__)
            if not ordered:
                message = f"{path.name} is an inspect log without samples."
                advice = "Write the log with its samples, not its header alone."
                raise FileFormatError(message, advice=advice, code=Code.EMPTY_FILE)
            remaining = limits.file_bytes
            for number, member in enumerate(ordered, start=1):
                content = read_member(path, archive, member, min(limits.row_bytes, remaining))
                remaining -= len(content)
                try:
                    value = parse_json(content.decode("utf-8"), 0, finite=False)
                except (FileFormatError, UnicodeDecodeError) as error:
                    message = error.message if isinstance(error, FileFormatError) else "It is not UTF-8."
                    message = f"{member.filename}: {message}"
                    findings.add(number, Code.NOT_JSON, message, "Write the log again.")
                    continue
                yield Row(number, value, member.filename)
    except FileFormatError as error:
        raise _as_ours(error) from error


def files_of(folder: Path, name: str, findings: Findings) -> Found:
    """The files of a folder that hold its rows.

    Args:
        folder: The folder.
        name: What messages call it.
        findings: Splits that are left out are noted here.

    Raises:
        FileFormatError: There are none, or those of several runs or logs.
    """
    files = _files(folder, name)
    by_name: dict[str, list[Path]] = {}
    for file in files:
        by_name.setdefault(file.name, []).append(file)
    if SPLITS in by_name or STATE in by_name:
        return Found(_saved(name, by_name, findings))
    if parquet := [file for file in files if file.suffix == ".parquet"]:
        return Found(_of_split(name, _by_split(parquet), findings))
    if SCENARIO in by_name:
        return Found([_only(name, by_name[SCENARIO], "runs of HELM")])
    if PREDICTIONS in by_name:
        predictions = _only(name, by_name[PREDICTIONS], "runs of HELM")
        instances = predictions.with_name(INSTANCES)
        return Found([predictions], instances if instances.is_file() else None)
    rows = [file for file in files if not _is_beside(file.name.lower())]
    if not rows:
        message = f"{name} holds no file of answers."
        raise FileFormatError(message, advice=ADVICE, code=Code.EMPTY_FILE)
    lines = [file for file in rows if file.suffix in {".jsonl", ".eval"}]
    return Found([_only(name, lines or rows, "files of answers")])


def _epoch(name: str) -> int:
    """The epoch of a sample in a log of inspect, from 1; 0 of other files."""
    stem, marked, number = name.removesuffix(JSON).rpartition(EPOCH)
    sample = stem.startswith(SAMPLES) and marked and name.endswith(JSON)
    return int(number) if sample and number.isascii() and number.isdigit() else 0


def _is_beside(name: str) -> bool:
    return name.startswith(BESIDE_NAMES) or name.endswith(BESIDE_ENDS)


def questions_beside(file: Path, limits: ReadLimits) -> Mapping[str, object]:
    """HELM's instances by their ids, for predictions that only name them.

    Raises:
        FileFormatError: The file cannot be read.
    """
    instances = parse_json(read_text(file, limits), 0, finite=False)
    listed_ = instances if isinstance(instances, list) else []
    # The question as it was comes before its perturbations, which share its id.
    return {str(one.get("id")): one for one in reversed(listed_) if isinstance(one, Mapping)}


def _files(folder: Path, name: str) -> list[Path]:
    files = [file for file in islice(folder.rglob("*"), MOST_FILES + 1) if file.is_file()]
    if len(files) > MOST_FILES:
        message = f"{name} holds more than {MOST_FILES:,} files."
        raise FileFormatError(message, advice=ADVICE, code=Code.SEVERAL_FILES)
    return sorted(files)


def _saved(name: str, by_name: Mapping[str, Sequence[Path]], findings: Findings) -> Sequence[Path]:
    """The Arrow files that `save_to_disk` wrote, of one split."""
    states = {state.parent.name: state for state in by_name.get(STATE, ())}
    if SPLITS not in by_name:
        return _shards(_only(name, list(states.values()), "datasets"))
    return _of_split(name, {split: _shards(state) for split, state in states.items()}, findings)


def _shards(state: Path) -> list[Path]:
    """The files that a state names, which lie beside it."""
    try:
        named = parse_json(read_text(state, ReadLimits()), 0)["_data_files"]
        names = [str(one["filename"]) for one in named]
    except (FileFormatError, KeyError, TypeError, IndexError) as error:
        message = f"{state.name} does not name the files of its dataset."
        raise FileFormatError(message, advice="Save the dataset again.", code=Code.DAMAGED_FILE) from error
    for shard in names:
        if "/" in shard or "\\" in shard or not (state.parent / shard).is_file():
            message = f"{state.name} names {shown(shard)}, which is not beside it."
            raise FileFormatError(message, advice="Bring the whole dataset.", code=Code.DAMAGED_FILE)
    return [state.parent / shard for shard in names]


def _by_split(files: Sequence[Path]) -> Mapping[str, list[Path]]:
    """Parquet files by their splits: `test-00000-of-00002.parquet`, or `test/0000.parquet`."""
    splits: dict[str, list[Path]] = {}
    for file in files:
        parts = file.stem.rsplit("-", SHARD_PARTS - 1)
        shard = len(parts) == SHARD_PARTS and parts[1].isdigit() and parts[2] == "of" and parts[3].isdigit()
        split = parts[0] if shard else file.parent.name if file.stem.isdigit() else file.stem
        splits.setdefault(split, []).append(file)
    return splits


def _of_split(name: str, splits: Mapping[str, Sequence[Path]], findings: Findings) -> Sequence[Path]:
    """The files of the only split, else those of `test`, with a warning."""
    if len(splits) == 1:
        return next(iter(splits.values()))
    others = listed((shown(split) for split in splits if split != TEST), NAMED)
    if TEST not in splits:
        message = f"{name} holds several splits, and none is called test: {others}."
        raise FileFormatError(message, advice="Bring the one with the answers.", code=Code.SEVERAL_FILES)
    message = f"Only the split test is read; left out are {others}."
    findings.add(0, Code.LEFT_OUT, message, "Bring another split alone to have it read.")
    return splits[TEST]


def _only(name: str, files: Sequence[Path], what: str) -> Path:
    if len(files) == 1:
        return files[0]
    names = listed((shown("/".join(file.parts[-2:])) for file in files), NAMED)
    message = f"{name} holds {len(files)} {what}: {names}."
    raise FileFormatError(message, advice="Bring one of them.", code=Code.SEVERAL_FILES)


def _archive_limits(limits: IntakeLimits, files: int) -> ArchiveLimits:
    return ArchiveLimits(files=files, total_bytes=limits.file_bytes, deepest=DEEPEST, advice=ADVICE)


def _as_ours(error: FileFormatError) -> FileFormatError:
    """An error of an archive under a code of the checker."""
    known = {code.value for code in Code}
    code = error.code if error.code in known else CODES.get(error.code, Code.BAD_ARCHIVE)
    return FileFormatError(error.message, advice=error.advice, code=code, line=error.line)
