"""Requests for rankings, and the judges that they name."""

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
"""Name of a model with its organisation or provider."""
ENDING = re.compile(r"\.[A-Za-z]\w*(?:\.(?:gz|bz2|xz|zst))?$")
HALF = 48
"""Characters of a name of which a file's follows, and of that."""
Ask: TypeAlias = Callable[[str, str], bool]
ToPath: TypeAlias = Callable[[Path], Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Names of columns, where they are given; each may be `FILE:COLUMN`, of one file."""

    question: str = ""
    answers: tuple[str, ...] = ()
    system: str = ""
    reference: str = ""
    domain: str = ""

    def in_file(self, path: Path) -> dict[Column, str]:
        """Return the names that hold in a file."""
        named = {
            Column.QUESTION: (self.question,),
            Column.ANSWER: self.answers,
            Column.SYSTEM: (self.system,),
            Column.REFERENCE: (self.reference,),
            Column.DOMAIN: (self.domain,),
        }
        held = {column: _in_file(path, texts) for column, texts in named.items()}
        return {column: name for column, name in held.items() if name}

    def references(self, path: Path) -> AnswerTable:
        """Read a file of references, whose columns may be called as ours too."""
        from submissions.answer_tables import header_of, read_answer_table

        header = header_of(path)
        called = {column: name for column, name in self.in_file(path).items() if name in header}
        return read_answer_table(path, answers=False, called=called)


def _in_file(path: Path, texts: Iterable[str]) -> str:
    """Return the name that holds in a file, of `COLUMN` and `FILE:COLUMN`."""
    parts = [text.rpartition(":") for text in texts]
    own = [column for file, _, column in parts if file in {str(path), path.name}]
    return next(iter(own or ["".join(part) for part in parts if not Path(part[0]).is_file()]), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFile:
    """A file of answers, and whose they are.

    Attributes:
        path: The file.
        system: What the system is called, else as the file.
        named: Whether it was named, so that it has that name whatever the file says.
    """

    path: Path
    system: str
    named: bool = False

    @classmethod
    def of(cls, text: str) -> NamedFile:
        """Read `FILE` or `NAME=FILE`; without a name the system is called as the file is."""
        path = Path(text)
        name, equals, rest = text.partition("=")
        if not path.exists() and equals and name:
            return cls(path=_existing(Path(rest)), system=name, named=True)
        return cls(path=_existing(path), system="stdin" if text == STANDARD_INPUT else stem_of(path))

    def table(self, path: Path, columns: Columns) -> AnswerTable:
        """Read the file, which stands at `path` where it came by a pipe."""
        from submissions.answer_tables import read_answer_table
        from submissions.formats.reading import place_name

        _refuse_battles(path)
        table = read_answer_table(path, system=self.system, called=columns.in_file(self.path))
        if self.named:
            return table.called(self.system)
        place = place_name(self.path, table.tool) if [*table.systems] == [self.system] else ""
        return table.called(place) if place else table


def _refuse_battles(path: Path) -> None:
    """Refuse a file of battles, which a table of answers resembles."""
    from leaderboard.formats.reading import format_of
    from leaderboard.formats.registry import detect_format
    from submissions.answer_tables import header_of

    try:
        # An array of answers tells by its first item, so that not all of it is read twice.
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
    """Read several `FILE` or `NAME=FILE`; files that are called alike have their folders in their names."""
    found = [NamedFile.of(text) for text in texts]
    twice = Counter(one.path.resolve() for one in found if not one.named)
    if again := next((path for path, count in twice.items() if count > 1), None):
        raise InputError(
            f"{again.name} is given twice.", advice="Give each file once, or name it: NAME=FILE."
        )
    return [one if one.named else replace(one, system=_apart(one, found)) for one in found]


def _apart(one: NamedFile, files: Sequence[NamedFile]) -> str:
    """Return a file's system with the fewest of its folders that tell it from others called alike."""
    alike = [other for other in files if other is not one and other.system == one.system]
    own = one.path.resolve().parts[:-1]
    folders = [() if other.named else other.path.resolve().parts[:-1] for other in alike]
    count = next(
        (count for count in range(1, len(own)) if all(own[-count:] != other[-count:] for other in folders)),
        len(own) - 1,
    )
    return "/".join([*(own[-count:] if alike else ()), one.system])


def with_distinct_names(files: Sequence[NamedFile], tables: Sequence[AnswerTable]) -> list[AnswerTable]:
    """Shorten the systems' names that logs hold, and tell logs apart that answer a question for one system.

    `org/model` is `model` where no other system is called so.
    """
    ours = [
        {} if file.named or not table.tool else {name: table.systems[name] for name in table.systems}
        for file, table in zip(files, tables, strict=True)
    ]
    last = {name: name.rpartition("/")[2] for logs in ours for name in logs if PATH.fullmatch(name)}
    names = {name for table in tables for name in table.systems}
    taken = Counter([*last.values(), *(name for name in names if name not in last)])
    answered = Counter(
        (name, key) for logs in ours for name, rows in logs.items() for key in {_key(row) for row in rows}
    )
    again = {name for (name, _), count in answered.items() if count > 1}
    named = []
    for file, table, logs in zip(files, tables, ours, strict=True):
        new = {name: short if taken[short := last.get(name, name)] == 1 else name for name in logs}
        new |= {name: f"{new[name][:HALF]} ({file.system[-HALF:]})" for name in again & logs.keys()}
        systems = {new.get(name, name): rows for name, rows in table.systems.items()}
        named.append(replace(table, systems=systems))
    return named


def _key(row: AnswerRow) -> str:
    return row.question_id or row.question


def stem_of(path: Path) -> str:
    """Return the name of a folder, or of a file without its endings of format and compression."""
    return path.name if path.is_dir() else ENDING.sub("", path.name) or path.name


def tables_of(files: Sequence[NamedFile], columns: Columns, ask: Ask, path: ToPath) -> list[AnswerTable]:
    """Read files of answers; a column that looks like the systems is asked about.

    Args:
        files: The files.
        columns: Names of columns; that of the systems must be in one of the files.
        ask: Whether a file's column names the systems, by both names; refused where it says no.
        path: Where a file stands, which may have come by a pipe.
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
    """Refuse a name of the column of the systems that no table has."""
    if columns.system and all(columns.system not in table.header for table in tables):
        has = ", ".join(dict.fromkeys(repr(name) for table in tables for name in table.header))
        message = f"There is no column {columns.system!r}; there are: {has}."
        raise InputError(message, advice="Name a column that is there.")


def _existing(path: Path) -> Path:
    if not path.exists() and str(path) != STANDARD_INPUT:
        message = f"There is no file {path}."
        raise InputError(message, advice="Check the path; a system is named by NAME=FILE.")
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRequest:
    """Request for a ranking.

    Attributes:
        judge: A judge by name or path, or a model; empty for the former one, or the embedded one.
        endpoint: Where the model is asked; empty for that of the settings.
        versus: The one system that all others meet, or `reference`; empty for all pairs.
        missing: Result of a comparison in which one of the two answers is missing.
        sample: How many questions are judged, a number or a share; None for all.
        budget_usd: The most that may be spent; None without a cap.
        seed: Of the sample and of the resampled intervals.
        afresh: Whether nothing that was ranked before is joined.
        with_reference: Whether the references are ranked among the systems.
        retry: Whether comparisons that were asked in vain are asked again.
        go_on: Whether a judge whose replies are of little use judges to the end.
        keep_errors: Whether texts like the error of a harness are judged as answers, however many.
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


def is_ranking(folder: Path) -> bool:
    """Return whether a folder holds a ranking that can be continued."""
    return (folder / DATABASE).is_file()


def require_ranking(folder: Path) -> None:
    """Check that a folder holds a ranking."""
    if not is_ranking(folder):
        raise NotFoundError(f"{folder} holds no ranking.", advice="Make one: arena rank FILES… --out DIR.")


@contextmanager
def scratch_of(folder: Path) -> Iterator[Path]:
    """Copy a ranking's folder to plan in, so that an estimate stores nothing."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / (folder.absolute().name or "ranking")
        if folder.is_dir():
            shutil.copytree(folder, copy)
        yield copy


USUAL = "reference-free"
"""Judge whose prompt and settings a bare model is asked with."""
EMBEDDED = "lexical"
UNSAFE = re.compile(r"[^A-Za-z0-9._+-]++")
ADVICE = (
    "Name a judge: `--judge gpt-5-mini` with OPENAI_API_KEY set, or a model of your own, "
    "`--endpoint http://localhost:11434/v1 --judge llama3.1`."
)


class RankingJudges:
    """Finds the judge that a ranking asks for."""

    def __init__(self, judges: JudgeService, folder: Path) -> None:
        self._judges = judges
        self._folder = folder

    def named(self, judge: str, endpoint: str) -> str:
        """Return the name or path of a judge's spec; one of a model or another endpoint is written first."""
        if not judge:
            raise InputError("There is nobody to judge.", advice=ADVICE)
        try:
            spec = self._judges.spec(judge)
        except NotFoundError:
            if judge.endswith(".toml"):
                raise
            return self._written(judge, {"extends": USUAL, "model": judge, "endpoint": endpoint})
        written = Path(judge).resolve() if judge.endswith(".toml") else None
        if not endpoint or not spec.models or endpoint == spec.endpoint:
            return judge if written is None else str(written)
        base = judge if written is None else str(written)
        if (self._folder / f"{judge}.toml").is_file():
            # Written for a model before; its file is the whole spec.
            return self._written(judge, {"extends": USUAL, "model": spec.model, "endpoint": endpoint})
        return self._written(spec.name, {"extends": base, "endpoint": endpoint})

    def spec(self, name: str) -> JudgeSpec:
        """Return the spec that a ranking's judge has."""
        return self._judges.spec(name)

    def _written(self, name: str, values: dict[str, str]) -> str:
        stem = UNSAFE.sub("-", name).strip("-.")[:100]
        if not stem:
            raise InputError(f"{name!r} is neither a judge nor the name of a model.", advice=ADVICE)
        if values["extends"] == stem:
            stem = f"{stem}-here"
        lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if value]
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / f"{stem}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return stem
