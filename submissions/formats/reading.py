"""Open a file or folder of answers: a table, a log of a harness, or a folder of either."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from os.path import commonpath
from pathlib import Path

from data.errors import FileFormatError
from data.files import text_files
from data.files.strict_json import parse_json
from data.files.tables.columnar import read_columnar, stored_bytes
from data.files.tables.columns import column_of
from data.files.tables.reader import ADVICE, HEAD, Table, table_format
from data.files.tables.rows import Block, FileFormat, Header, Opening, Row, each_row
from data.files.zip_files import BINARY_MAGICS, ZIP_MAGICS, ArchiveLimits, members_of, opened, read_member
from data.models import Severity
from data.text import are, counted, have
from submissions.formats.harnesses import name_text
from submissions.formats.registry import FIGURES, FURTHER_COLUMNS, format_of, logs
from submissions.limits import IntakeLimits
from submissions.problem_codes import Code, Findings, listed, quoted

MAX_FILES = 20_000
SAMPLE_FILES = 2
"""Maximum files per sample in an inspect log."""
MAX_DEPTH = 8
MAX_NAMED = 5
PACK_ADVICE = "Pack the folder of one dataset, run or log into a plain zip file, without links or passwords."
TEST = "test"
HEADER, JOURNAL = "header.json", "_journal/start.json"
SAMPLES, EPOCH, JSON = "samples/", "_epoch_", ".json"
STATE, SPLITS = "state.json", "dataset_dict.json"
SCENARIO, PREDICTIONS, INSTANCES = "scenario_state.json", "display_predictions.json", "instances.json"
MODEL_FOLDERS = {"opencompass": "predictions", "lighteval": "details"}
"""Folders of tools with one subfolder per model."""
STAMP = re.compile(r"\d{4}-\d\d-\d\dT[\d.:-]{7,20}\d")
MAX_SPEC_BYTES = 4 * text_files.MEBIBYTE
SHARD_PARTS = 4
# Files next to the rows: cards, licences, and results that are not rows.
BESIDE_NAMES = (".", "readme", "licen", "dataset_info", "results_", "set.toml")
BESIDE_ENDS = (".md", ".yaml", ".yml", ".toml", ".txt", ".lock")
TOO_LARGE = "archive-too-large"


@contextmanager
def checker_codes() -> Iterator[None]:
    """Map error codes of archives to codes of the checker."""
    try:
        yield
    except FileFormatError as error:
        if error.code not in {code.value for code in Code}:
            error.code = Code.TOO_LARGE if error.code == TOO_LARGE else Code.BAD_ARCHIVE
        raise


def read_inspect_archive(path: Path, limits: IntakeLimits, opening: Opening) -> Iterator[Row]:
    """Yield the samples of an inspect log one at a time, first epoch first."""
    files = _archive_limits(limits, SAMPLE_FILES * limits.answers)
    with checker_codes(), opened(path, files) as (archive, members):
        epochs = {member: _epoch(member.filename) for member in members}
        ordered = sorted((member for member, epoch in epochs.items() if epoch), key=epochs.__getitem__)
        if not ordered:
            message = f"{path.name} is an inspect log without samples."
            advice = "Write the log with its samples, not only its header."
            raise FileFormatError(message, advice=advice, code=Code.EMPTY_FILE)
        remaining = limits.file_bytes
        header = next((member for member in members if member.filename in {HEADER, JOURNAL}), None)
        start = b"" if header is None else read_member(path, archive, header, limits.file_bytes)
        spec = _spec_in(start)
        for number, member in enumerate(ordered, start=1):
            try:
                content = read_member(path, archive, member, min(limits.row_bytes, remaining))
            except FileFormatError as error:
                remaining -= limits.row_bytes
                if error.code != TOO_LARGE or remaining <= 0 or opening.large is None:
                    raise
                opening.large(member.filename)
                continue
            remaining -= len(content)
            try:
                value = parse_json(text_files.decode(content, number), number, finite=False)
            except FileFormatError as error:
                error.message = f"{member.filename}: {error.message}"
                opening.note(error)
                continue
            yield Row(number, _with(value, eval=spec), member.filename)


def _with(value: object, **fields: object) -> object:
    """Add fields from elsewhere in the log to a row."""
    return {**value, **fields} if isinstance(value, Mapping) else value


def _spec_in(head: bytes) -> object:
    """Return the description of a run from the start of an inspect log, or from its header."""
    text = head.decode("utf-8", errors="replace")
    match = re.match(r'\s{0,9}\{[^\[]{0,200}?"eval"\s{0,9}:\s{0,9}(?=\{)', text)
    with suppress(ValueError):
        return json.JSONDecoder().raw_decode(text, match.end())[0] if match else None
    return None


def place_name(path: Path, tool: str) -> str:
    """Return the model in the path of a tool's file; empty if it has none."""
    stamp = STAMP.search(path.name)
    if stamp and (results := path.with_name(f"results_{stamp.group()}.json")).is_file():
        with suppress(FileFormatError):
            value = parse_json(text_files.read_text(results, text_files.ReadLimits()), 0, finite=False)
            return name_text(value.get("model_name") if isinstance(value, Mapping) else None)
    folders = (path if path.is_dir() else path.parent).absolute().parts
    above = MODEL_FOLDERS.get(tool)
    if above not in folders:
        return ""
    below = folders[len(folders) - folders[::-1].index(above) :]
    return name_text("/".join(part for part in below if not STAMP.fullmatch(part)))


def files_of(folder: Path, name: str, findings: Findings) -> tuple[Sequence[Path], Path | None]:
    """Return the files that contain a folder's rows, and HELM's file of questions if the rows lack them.

    Messages call the folder `name`; ignored splits are reported in `findings`.
    """
    files = _files(folder, name)
    by_name: dict[str, list[Path]] = {}
    for file in files:
        by_name.setdefault(file.name, []).append(file)
    if SPLITS in by_name or STATE in by_name:
        return _saved(name, by_name, findings), None
    if parquet := [file for file in files if file.suffix == ".parquet"]:
        return _of_split(name, _by_split(parquet), findings), None
    if SCENARIO in by_name:
        return by_name[SCENARIO], None
    if PREDICTIONS in by_name:
        predictions = _only(name, by_name[PREDICTIONS], "HELM runs")
        instances = predictions.with_name(INSTANCES)
        return [predictions], instances if instances.is_file() else None
    rows = [file for file in files if not _is_beside(file.name.lower())]
    if not rows:
        raise FileFormatError(f"{name} contains no answer file.", advice=PACK_ADVICE, code=Code.EMPTY_FILE)
    lines = [file for file in rows if file.suffix in {".jsonl", ".eval"}]
    return [_only(name, lines or rows, "answer files")], None


def _epoch(name: str) -> int:
    """Return the epoch of a sample in an inspect log, from 1; 0 for other files."""
    stem, marked, number = name.removesuffix(JSON).rpartition(EPOCH)
    sample = stem.startswith(SAMPLES) and marked and name.endswith(JSON)
    return int(number) if sample and number.isascii() and number.isdigit() else 0


def _is_beside(name: str) -> bool:
    return name.startswith(BESIDE_NAMES) or name.endswith(BESIDE_ENDS)


def _files(folder: Path, name: str) -> list[Path]:
    files = [file for file in islice(folder.rglob("*"), MAX_FILES + 1) if file.is_file()]
    if len(files) > MAX_FILES:
        message = f"{name} has more than {MAX_FILES:,} files."
        raise FileFormatError(message, advice=PACK_ADVICE, code=Code.SEVERAL_FILES)
    return sorted(files)


def _saved(name: str, by_name: Mapping[str, Sequence[Path]], findings: Findings) -> Sequence[Path]:
    states = {state.parent.name: state for state in by_name.get(STATE, ())}
    if SPLITS not in by_name:
        return _shards(_only(name, by_name[STATE], "datasets"))
    _only(name, by_name[SPLITS], "datasets")
    return _of_split(name, {split: _shards(state) for split, state in states.items()}, findings)


def _shards(state: Path) -> list[Path]:
    try:
        entries = parse_json(text_files.read_text(state, text_files.ReadLimits()), 0)["_data_files"]
        names = [str(entry["filename"]) for entry in entries]
    except (FileFormatError, KeyError, TypeError, IndexError) as error:
        raise _damaged(f"{state.name} does not name the files of its dataset.") from error
    for shard in names:
        if "/" in shard or "\\" in shard or not (state.parent / shard).is_file():
            message = f"{state.name} names {quoted(shard)}, which is not in the same folder."
            raise _damaged(message, "Submit the whole dataset.")
    return [state.parent / shard for shard in names]


def _damaged(message: str, advice: str = "Save the dataset again.") -> FileFormatError:
    return FileFormatError(message, advice=advice, code=Code.DAMAGED_FILE)


def _by_split(files: Sequence[Path]) -> Mapping[str, list[Path]]:
    """Group Parquet files by split: `test-00000-of-00002.parquet`, or `test/0000.parquet`."""
    splits: dict[str, list[Path]] = {}
    for file in files:
        parts = file.stem.rsplit("-", SHARD_PARTS - 1)
        shard = len(parts) == SHARD_PARTS and parts[1].isdigit() and parts[2] == "of" and parts[3].isdigit()
        split = parts[0] if shard else file.parent.name if file.stem.isdigit() else file.stem
        splits.setdefault(split, []).append(file)
    return splits


def _of_split(name: str, splits: Mapping[str, Sequence[Path]], findings: Findings) -> Sequence[Path]:
    """Return the files of the only split, else those of `test`, with a warning."""
    if not splits:
        raise _damaged(f"{name} has no split.")
    first = TEST if TEST in splits else next(iter(splits))
    names = listed((quoted(split) for split in splits if split != TEST), MAX_NAMED)
    if len(splits) > 1 and first != TEST:
        message = f"{name} has several splits, and none is named test: {names}."
        raise FileFormatError(message, advice="Submit the split with the answers.", code=Code.SEVERAL_FILES)
    _only(name, list({file.parent: file for file in splits[first]}.values()), "datasets")
    if len(splits) > 1:
        message = f"Only the split test is read, not {names}."
        findings.add(0, Code.LEFT_OUT, message, "Submit another split separately to have it read.")
    return splits[first]


def _only(name: str, files: Sequence[Path], what: str) -> Path:
    if len(files) == 1:
        return files[0]
    # Names without the temporary folder of a zip file.
    common = Path(commonpath(files))
    names = listed((quoted(file.relative_to(common).as_posix()) for file in files), MAX_NAMED)
    message = f"{name} has {len(files)} {what}: {names}."
    raise FileFormatError(message, advice="Submit one of them.", code=Code.SEVERAL_FILES)


def _archive_limits(limits: IntakeLimits, files: int) -> ArchiveLimits:
    return ArchiveLimits(files=files, total_bytes=limits.file_bytes, deepest=MAX_DEPTH, advice=PACK_ADVICE)


class RowFile(Table):
    """Open an answer file, plain, gzipped or in a zip file, or a folder of them.

    Use it as a context manager and iterate over it once; unparsable lines are reported in `findings`.
    """

    def __init__(
        self, path: Path, limits: IntakeLimits, findings: Findings, header: Header | None = None
    ) -> None:
        self._intake, self._findings = limits, findings
        self._large: list[str] = []
        opening = Opening(
            note=findings.add_failure,
            header=header or (lambda *_: None),
            reads=self._reads,
            is_log=lambda row: getattr(format_of(row), "log", False),
            is_row=lambda row: not getattr(format_of(row, findings), "columns", True),
            logs=logs(),
            large=self._large.append,
        )
        super().__init__(path, limits.reading, opening)
        self.parts = self._with_large(self.parts)

    def _with_large(self, parts: Iterator[Row | Block]) -> Iterator[Row | Block]:
        yield from parts
        if self._large:
            count = len(self._large)
            message = f"{counted(count, 'sample')} {have(count)} more than {self._intake.row_bytes:,} bytes"
            message += f", and {are(count)} left out: {listed(self._large, MAX_NAMED)}."
            advice = "Log them without the transcript of their events."
            self._findings.add(0, Code.TOO_LARGE, message, advice, Severity.WARNING)

    def _reads(self, name: str) -> bool:
        known = column_of(name) is not None or name in FURTHER_COLUMNS or name in FIGURES
        return known or (bool(self._intake.system) and name == self._intake.system)

    def _opened(self, path: Path, within: str) -> tuple[FileFormat, Iterator[Row | Block]]:
        if path.is_dir():
            return self._folder(path, path.name)
        form, parts = super()._opened(path, within)
        if form is FileFormat.JSON:
            with text_files.GuardedStream(path, self._limits) as stream:
                spec = _spec_in(stream.read(min(MAX_SPEC_BYTES, self._intake.file_bytes)))
            if spec:
                parts = (Row(row.line, _with(row.value, eval=spec), row.place) for row in each_row(parts))
        return form, parts

    def _packed(self, path: Path, within: str) -> tuple[FileFormat, Iterator[Row | Block]]:
        if {HEADER, JOURNAL} & members_of(path).keys():
            return FileFormat.ZIP, read_inspect_archive(path, self._intake, self._opening)
        with checker_codes():
            folder = self._unpacked(path, within, _archive_limits(self._intake, MAX_FILES))
        return self._folder(folder, path.name)

    def _folder(self, folder: Path, name: str) -> tuple[FileFormat, Iterator[Row | Block]]:
        files, questions = files_of(folder, name, self._findings)
        if questions is not None:
            return FileFormat.JSON, self._predictions(files[0], questions)
        if files[0].name == SCENARIO:
            return FileFormat.JSON, self._runs(files)
        if len(files) == 1:
            return self._opened(files[0], name)
        forms = {file: table_format(text_files.magic_of(file)) for file in files}
        wrong = next((file for file, form in forms.items() if form is None), None)
        if wrong is not None:
            raise _damaged(f"{wrong.name} in {name} is not a Parquet or Arrow file.", ADVICE)
        rows = (read_columnar(file, file.name, self._limits, self._opening) for file in files)
        return forms[files[0]] or FileFormat.PARQUET, chain.from_iterable(rows)

    def _runs(self, files: Sequence[Path]) -> Iterator[Row]:
        """Yield the requests of a HELM suite, with the run, since runs number their instances separately."""
        for file in files:
            with Table(file, self._limits, self._opening) as table:
                for row in table:
                    yield Row(row.line, _with(row.value, run=file.parent.name), row.place)

    def _predictions(self, file: Path, questions: Path) -> Iterator[Row]:
        listed = parse_json(text_files.read_text(questions, self._limits), 0, finite=False)
        # Reversed, because perturbations share the id of the original question, which comes first.
        rows = reversed(listed if isinstance(listed, list) else [])
        instances = {str(row.get("id")): row for row in rows if isinstance(row, Mapping)}
        for row in each_row(self._opened(file, "")[1]):
            name = row.value.get("instance_id") if isinstance(row.value, Mapping) else None
            yield Row(row.line, _with(row.value, instance=instances.get(str(name))), row.place)


def size_of(path: Path, limits: IntakeLimits) -> int:
    """Return the decompressed size of a file or folder if known, up to the limit."""
    size = 0
    with suppress(FileFormatError, OSError):
        if path.is_dir():
            size = sum(map(_table_bytes, files_of(path, path.name, Findings(1))[0]))
        elif (magic := text_files.magic_of(path)).startswith(ZIP_MAGICS):
            size = sum(members_of(path).values()) or path.stat().st_size
        elif table_format(magic) is not None:
            size = _table_bytes(path)
        else:
            return text_files.content_bytes(path, limits.reading)
    return min(size, limits.file_bytes)


def _table_bytes(path: Path) -> int:
    stored = stored_bytes(path) if text_files.magic_of(path).startswith(text_files.PARQUET_MAGIC) else 0
    return max(stored, path.stat().st_size)


def cites_passages(path: Path, limits: IntakeLimits) -> bool:
    """Return whether a file may cite the set's passages without texts, like TREC's RAG track."""
    if path.is_dir() or text_files.magic_of(path).startswith(BINARY_MAGICS):
        return True
    with suppress(FileFormatError), text_files.GuardedStream(path, limits.reading) as stream:
        return b'"references"' in stream.read(min(HEAD, limits.file_bytes))
    return False
