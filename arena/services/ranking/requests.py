"""Ranking requests and their judges."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from arena.settings import DATABASE
from data.errors import ArenaError, InputError, NotFoundError
from data.files.tables.columns import Column, read_columns
from data.files.text_files import magic_of
from data.models import MissingRule

if TYPE_CHECKING:
    from arena.services.judging.judges import JudgeService
    from judges.spec import JudgeSpec
    from submissions.answer_tables import AnswerRow, AnswerTable


STANDARD_INPUT = "-"
PATH = re.compile(r"\A[\w.:+-]+(?:/[\w.:+-]+)+")
"""Model name with its organisation or provider."""
ENDING = re.compile(r"\.[A-Za-z]\w*(?:\.(?:gz|bz2|xz|zst))?$")
HALF = 48
"""Maximum characters of each part of `system (file)`."""
Ask: TypeAlias = Callable[[str, str], bool]
ToPath: TypeAlias = Callable[[Path], Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Column names from options; each may be `FILE:COLUMN` for one file.

    With `repeats`, numbers that distinguish rows of a question are not systems. With `keep_na`, words for
    missing values (`None`) in CSV files are answers.
    """

    question: str = ""
    answers: tuple[str, ...] = ()
    system: str = ""
    reference: str = ""
    domain: str = ""
    repeats: bool = False
    keep_na: bool = False

    def in_file(self, path: Path) -> dict[Column, str]:
        """Return the column names that apply to a file."""
        options = {
            Column.QUESTION: (self.question,),
            Column.ANSWER: self.answers,
            Column.SYSTEM: (self.system,),
            Column.REFERENCE: (self.reference,),
            Column.DOMAIN: (self.domain,),
        }
        names = {column: _in_file(path, texts) for column, texts in options.items()}
        return {column: name for column, name in names.items() if name}

    def references(self, path: Path) -> AnswerTable:
        """Read a reference file, which may use our column names too."""
        from submissions.answer_tables import header_of, read_answer_table

        header = header_of(path)
        called = {column: name for column, name in self.in_file(path).items() if name in header}
        return read_answer_table(path, answers=False, called=called)


def _in_file(path: Path, texts: Iterable[str]) -> str:
    parts = [text.rpartition(":") for text in texts]
    own = [column for file, _, column in parts if file in {str(path), path.name}]
    return next(iter(own or ["".join(part) for part in parts if not Path(part[0]).is_file()]), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFile:
    """Answer file and its system; `named` if the user named the system, which overrides the file."""

    path: Path
    system: str
    named: bool = False

    @classmethod
    def of(cls, text: str) -> NamedFile:
        """Parse `FILE` or `NAME=FILE`; without a name the system is named after the file."""
        path = Path(text)
        name, equals, rest = text.partition("=")
        if not path.exists() and equals and name:
            return cls(path=_existing(Path(rest)), system=name, named=True)
        return cls(path=_existing(path), system="stdin" if text == STANDARD_INPUT else stem_of(path))

    def table(self, path: Path, columns: Columns) -> AnswerTable:
        """Read the file, which is at `path` if it came through a pipe."""
        from submissions.answer_tables import read_answer_table
        from submissions.formats.reading import place_name

        _refuse_battles(path)
        called = columns.in_file(self.path)
        table = read_answer_table(
            path, system=self.system, called=called, repeats=columns.repeats, keep_na=columns.keep_na
        )
        if self.named:
            return table.called(self.system)
        place = place_name(self.path, table.tool) if [*table.systems] == [self.system] else ""
        return table.called(place) if place else table


def _refuse_battles(path: Path) -> None:
    """Refuse a file of battles, which looks like a table of answers."""
    from leaderboard.formats.reading import format_of
    from leaderboard.formats.registry import detect_format
    from submissions.answer_tables import header_of

    try:
        # The first item of an array suffices, so the file is not read twice.
        header = header_of(path) if magic_of(path).startswith(b"[") else ()
        if Column.ANSWER in read_columns(header) and detect_format(dict.fromkeys(header)) is None:
            return
        kind = format_of(path)
    except ArenaError:
        return
    if kind:
        message = f"{path.name}: these are battles, not answers."
        raise InputError(message, advice=f"Rate them: arena battles rate {path.name}")


def named_files(texts: Sequence[str]) -> list[NamedFile]:
    """Parse `FILE` and `NAME=FILE` arguments; duplicate names are prefixed with their folders."""
    files = [NamedFile.of(text) for text in texts]
    counts = Counter(file.path.resolve() for file in files if not file.named)
    if again := next((path for path, count in counts.items() if count > 1), None):
        raise InputError(
            f"{again.name} is listed twice.", advice="List each file once, or name its system: NAME=FILE."
        )
    return [file if file.named else replace(file, system=_distinct_name(file, files)) for file in files]


def _distinct_name(file: NamedFile, files: Sequence[NamedFile]) -> str:
    """Prefix a file's system with the fewest folders that make it unique."""
    alike = [other for other in files if other is not file and other.system == file.system]
    own = file.path.resolve().parts[:-1]
    folders = [() if other.named else other.path.resolve().parts[:-1] for other in alike]
    count = next(
        (count for count in range(1, len(own)) if all(own[-count:] != other[-count:] for other in folders)),
        len(own) - 1,
    )
    return "/".join([*(own[-count:] if alike else ()), file.system])


def with_distinct_names(files: Sequence[NamedFile], tables: Sequence[AnswerTable]) -> list[AnswerTable]:
    """Shorten `org/model` from logs to a unique `model`, and add the file if logs share a system."""
    ours = [
        {} if file.named or not table.tool else {name: table.systems[name] for name in table.systems}
        for file, table in zip(files, tables, strict=True)
    ]
    last = {name: name.rpartition("/")[2] for logs in ours for name in logs if PATH.fullmatch(name)}
    names = {name for table in tables for name in table.systems}
    uses = Counter([*last.values(), *(name for name in names if name not in last)])
    answered = Counter(
        (name, key) for logs in ours for name, rows in logs.items() for key in {_key(row) for row in rows}
    )
    again = {name for (name, _), count in answered.items() if count > 1}
    renamed = []
    for file, table, logs in zip(files, tables, ours, strict=True):
        new = {name: short if uses[short := last.get(name, name)] == 1 else name for name in logs}
        new |= {name: f"{new[name][:HALF]} ({file.system[-HALF:]})" for name in again & logs.keys()}
        systems = {new.get(name, name): rows for name, rows in table.systems.items()}
        renamed.append(replace(table, systems=systems))
    return renamed


def _key(row: AnswerRow) -> str:
    return row.question_id or row.question


def stem_of(path: Path) -> str:
    """Return the name of a folder, or of a file without its format and compression suffixes."""
    return path.name if path.is_dir() else ENDING.sub("", path.name) or path.name


def tables_of(files: Sequence[NamedFile], columns: Columns, ask: Ask, path: ToPath) -> list[AnswerTable]:
    """Read answer files.

    Args:
        files: The files.
        columns: Column names; the system column must be in one of the files.
        ask: Called with the names of a file and a column to confirm that the column names the systems.
        path: Returns the path to read a file from, which may have come through a pipe.
    """
    from submissions.shapes import UnnamedSystemsError

    tables = []
    for file in files:
        try:
            tables.append(file.table(path(file.path), columns))
        except UnnamedSystemsError as error:
            if len(error.columns) != 1 or not ask(file.path.name, error.columns[0]):
                raise
            tables.append(file.table(path(file.path), replace(columns, system=error.columns[0])))
    require_system(columns, tables)
    return with_distinct_names(files, tables)


def require_system(columns: Columns, tables: Sequence[AnswerTable]) -> None:
    """Refuse a system column that no table has."""
    if columns.system and all(columns.system not in table.header for table in tables):
        has = ", ".join(dict.fromkeys(repr(name) for table in tables for name in table.header))
        message = f"No column {columns.system!r}; the columns are: {has}."
        raise InputError(message, advice="Use one of these columns.")


def _existing(path: Path) -> Path:
    if not path.exists() and str(path) != STANDARD_INPUT:
        message = f"File not found: {path}"
        raise InputError(message, advice="Check the path; name a system with NAME=FILE.")
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRequest:
    """Request for a ranking.

    Attributes:
        judge: Judge by name or path, or a model; empty for the previous judge, else the embedded judge.
        endpoint: Model endpoint; empty for the one in the settings.
        versus: System that all systems are compared with, or `reference`; empty for all pairs.
        missing: Result of a comparison in which one of the two answers is missing.
        sample: Number or share of questions to judge; None for all.
        budget_usd: Spending cap; None for no cap.
        seed: Seed of the sample and of the resampled intervals.
        afresh: Ignore files that were ranked before.
        with_reference: Rank the references among the systems.
        retry: Retry comparisons without a verdict.
        go_on: Judge to the end although many replies are unusable.
        keep_errors: Judge texts that look like harness errors as answers.
        repeats: Judge all answers of a system to one question, not only the first.
    """

    judge: str = ""
    endpoint: str = ""
    versus: str = ""
    missing: MissingRule = MissingRule.LOSE
    sample: str | None = None
    budget_usd: float | None = None
    seed: int = 0
    afresh: bool = False
    with_reference: bool = False
    retry: bool = True
    go_on: bool = False
    keep_errors: bool = False
    repeats: bool = False


def is_ranking(folder: Path) -> bool:
    """Return whether a folder contains a ranking that can be continued."""
    return (folder / DATABASE).is_file()


def require_ranking(folder: Path) -> None:
    """Check that a folder contains a ranking."""
    if not is_ranking(folder):
        raise NotFoundError(
            f"{folder} contains no ranking.", advice="Create one: arena rank FILES… --out DIR."
        )


@contextmanager
def scratch_of(folder: Path) -> Iterator[Path]:
    """Copy a ranking's folder to plan in, so that an estimate stores nothing."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / (folder.absolute().name or "ranking")
        if folder.is_dir():
            shutil.copytree(folder, copy)
        yield copy


USUAL = "reference-free"
"""Judge whose prompt and settings a bare model uses."""
EMBEDDED = "lexical"
UNSAFE = re.compile(r"[^A-Za-z0-9._+-]++")
ADVICE = (
    "Choose a judge: `--judge gpt-5-mini` with OPENAI_API_KEY set, or a model of your own, "
    "`--endpoint http://localhost:11434/v1 --judge llama3.1`."
)


class RankingJudges:
    """Resolves the judge of a ranking."""

    def __init__(self, judges: JudgeService, folder: Path) -> None:
        self._judges = judges
        self._folder = folder

    def named(self, judge: str, endpoint: str) -> str:
        """Return a judge's name or spec path; write a spec for a bare model or another endpoint."""
        if not judge:
            raise InputError("No judge is configured.", advice=ADVICE)
        try:
            spec = self._judges.spec(judge)
        except NotFoundError:
            if judge.endswith(".toml"):
                raise
            return self._write_spec(judge, {"extends": USUAL, "model": judge, "endpoint": endpoint})
        path = Path(judge).resolve() if judge.endswith(".toml") else None
        if not endpoint or not spec.models or endpoint == spec.endpoint:
            return judge if path is None else str(path)
        base = judge if path is None else str(path)
        if (self._folder / f"{judge}.toml").is_file():
            # An earlier run wrote this spec for a model; the file is the whole spec.
            return self._write_spec(judge, {"extends": USUAL, "model": spec.model, "endpoint": endpoint})
        return self._write_spec(spec.name, {"extends": base, "endpoint": endpoint})

    def spec(self, name: str) -> JudgeSpec:
        """Return the spec of a ranking's judge."""
        return self._judges.spec(name)

    def _write_spec(self, name: str, values: dict[str, str]) -> str:
        stem = UNSAFE.sub("-", name).strip("-.")[:100]
        if not stem:
            raise InputError(f"{name!r} is neither a judge nor a model name.", advice=ADVICE)
        if values["extends"] == stem:
            stem = f"{stem}-here"
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if value]
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / f"{stem}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return stem
