"""Read battle files as checked chunks or as one table."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from data.errors import FileFormatError, InputError, RecordError
from data.files.strict_json import counting_nuls
from data.files.tables.columns import Column, read_columns
from data.models.words import ANNOTATOR
from data.progress import working
from leaderboard.battles import CODES, BattleTable
from leaderboard.columns import QUESTION
from leaderboard.formats.registry import (
    NATIVE,
    added_battle_formats,
    battle_format,
    battle_formats,
    detect_format,
    parse,
)
from leaderboard.formats.rows import BattleRows, Context, LeftOut, VerdictError, covariate_columns, missing
from leaderboard.formats.sources import FIELDS, Chunk, Record, called, chunks_of, column, has
from leaderboard.vocabulary import Covariate

UNKNOWN_WORD = "Write one of the expected values in all of them, or remove these records."
REPEATS, MIN_CLUSTERS = 1.5, 4
MAX_MISTAKEN = 20_000
"""Number of invalid records without a battle after which reading stops."""
SUFFIXES = (".jsonl", ".json", ".csv", ".jsonl.gz", ".json.gz", ".csv.gz", ".parquet")


@dataclass(frozen=True, kw_only=True)
class BattleFile:
    """Battles of a file.

    Attributes:
        table: The battles in canonical order; without question ids each battle is its own question.
        questions_named: Whether the file has question ids, so that intervals can be clustered.
        clusters: Columns of a file without question ids that might contain them, by their repeated values.
        covariates: (N,) values by column, NaN for an empty cell, if the context includes covariates.
    """

    table: BattleTable
    format: str
    left_out: Mapping[LeftOut, int]
    questions_named: bool
    clusters: tuple[str, ...] = ()
    first: Mapping[LeftOut, InputError] = field(default_factory=lambda: MappingProxyType({}))
    covariates: Mapping[str, NDArray[np.float64]] = field(default_factory=lambda: MappingProxyType({}))


class _Codes(dict[str, int]):
    """Codes of names in order of first appearance."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]

    def of(self, names: Iterable[str]) -> Iterator[int]:
        return map(self.__getitem__, names)


def format_of(path: Path) -> str:
    """Detect the format of a battle file, or of a folder's first file, by its first record."""
    file = files_of(path)[0]
    with counting_nuls():  # Those that count are read later.
        chunk = next(chunks_of(file), None)
    if chunk is None:
        message = f"{file.name} has no battles."
        raise FileFormatError(message, advice="Write one row per battle.")
    kind = detect_format(chunk.records[0])
    return kind if kind is not None else _refuse(chunk)


def _refuse(chunk: Chunk) -> NoReturn:
    columns = list(chunk.records[0])
    formats = [layout for layout in battle_formats() if layout.detectable]
    nearest = max(formats, key=lambda layout: sum(name in columns for name in layout.signature))
    signature = nearest.signature
    absent = [name for name in signature if name not in columns]
    listed = ", ".join(map(repr, columns[:12])) + (", …" if len(columns) > 12 else "")  # noqa: PLR2004 - used once
    if len(absent) < len(signature):
        hint = f" The row looks like {nearest.name} otherwise; its columns are {listed}."
        missing(chunk.place, 0, absent[0], hint)
    message = f"{chunk.place.at(0)} is not a battle: its columns are {listed}."
    needed = ", ".join(battle_format(NATIVE).signature)
    advice = [f"Battles need {needed}, or the columns of another arena.", *added_battle_formats().problems]
    if Column.ANSWER in read_columns(columns):
        advice.append(f"The columns look like answers: try `arena rank {chunk.place.file}`.")
    raise FileFormatError(message, advice=" ".join(advice))


def read_chunks(
    path: Path, kind: str | None = None, *, context: Context | None = None, clusters: _Clusters | None = None
) -> Iterator[BattleRows]:
    """Read battles as checked chunks from a file, or from a folder's files sorted by name.

    Without `kind` the format is detected from the first record.
    """
    kind = kind or format_of(path)
    from_name = battle_format(kind).from_name
    tally = _Tally()
    for file in files_of(path):
        full_context = context or Context()
        if from_name is not None:
            named = from_name(file.name)
            full_context = replace(
                full_context,
                domain=full_context.domain or named.domain,
                judge=full_context.judge or named.judge,
            )
        for chunk in chunks_of(file):
            by_person = _by_person(chunk) if full_context.by_voter else chunk
            if clusters is not None:
                clusters.add(by_person)
            for rows in parse(kind, by_person, full_context):
                tally.add(rows)
                yield rows
    tally.check()


class _Clusters:
    """Counts of values in unread columns, to find question ids under other names."""

    def __init__(self) -> None:
        self.rows = 0
        self.values: dict[str, Counter[object]] = {}

    def add(self, chunk: Chunk) -> None:
        """Count the values of a chunk; only columns of texts and integers qualify."""
        if not has(chunk, QUESTION):
            for name in chunk.records[0].keys() - FIELDS if not self.rows else [*self.values]:
                cells = column(chunk, name)
                if set(map(type, cells)) <= {str, int} and "" not in cells:
                    self.values.setdefault(name, Counter()).update(cells)
                else:
                    self.values.pop(name, None)
        self.rows += len(chunk.records)

    def names(self) -> tuple[str, ...]:
        """Return the columns whose values repeat, each in at most a quarter of the rows."""
        return tuple(
            sorted(
                name
                for name, counts in self.values.items()
                if len(counts) <= self.rows / REPEATS and max(counts.values()) <= self.rows / MIN_CLUSTERS
            )
        )


def _by_person(chunk: Chunk) -> Chunk:
    """Replace questions with people."""
    if not has(chunk, ANNOTATOR):
        message = f"{chunk.place.file} has no column for the person who cast each vote."
        raise FileFormatError(message, advice=f"Name it {ANNOTATOR}, or rate with --cluster question.")
    records: list[Record] = [{**record, QUESTION: record.get(ANNOTATOR)} for record in chunk.records]
    return Chunk(place=called(chunk.place, QUESTION, ANNOTATOR), records=records)


class _Tally:
    """Counts of battles and invalid records; if invalid records prevail, the file is refused."""

    def __init__(self) -> None:
        self.battles = self.mistaken = 0
        self.first: InputError | None = None
        self.unknown: dict[str, tuple[int, InputError]] = {}

    def add(self, rows: BattleRows) -> None:
        self.battles += len(rows)
        self.mistaken += sum(count for reason, count in rows.left_out.items() if reason.mistaken)
        self.first = self.first or next(iter(rows.first.values()), None)
        for error in rows.first.values():
            if isinstance(error, VerdictError) and error.word:
                count, first = self.unknown.get(error.word, (0, error))
                self.unknown[error.word] = (count + 1, first)
        if not self.battles and self.mistaken > MAX_MISTAKEN:
            self.check()

    def check(self) -> None:
        """Raise the first error if invalid records outnumber battles, or a winner word is unknown."""
        if self.first is not None and self.mistaken > self.battles:
            raise self.first
        # Leaving out all battles with one outcome would bias the ratings.
        for word, (count, error) in self.unknown.items():
            if count > 1:
                message = f"{error.message} {count:,} records have {word}."
                raise RecordError(message, advice=UNKNOWN_WORD)


def read_battles(path: Path, kind: str | None = None, *, context: Context | None = None) -> BattleFile:
    """Read a battle file, or a folder of them, into one table; arguments are those of `read_chunks`.

    Names are coded in sorted order, and rows are in canonical order. Without domains the only one is "".
    """
    kind = kind or format_of(path)
    builder = _Builder()
    with working(f"reading battles of {path.name}") as work:
        table = None
        if kind == NATIVE and context in {None, Context(), Context(strict=True)}:
            from leaderboard.formats import parquet  # noqa: PLC0415 - loads pyarrow

            table = parquet.read_columns(files_of(path))
        if table is not None:
            table = table.select(table.canonical())
            return BattleFile(table=table, format=kind, left_out=MappingProxyType({}), questions_named=True)
        clusters = _Clusters()
        for rows in read_chunks(path, kind, context=context, clusters=clusters):
            builder.add(rows)
            work.done += len(rows)
    built = builder.built(path, kind)
    return built if built.questions_named else replace(built, clusters=clusters.names())


class _Builder:
    """Encoder of chunks, which frees their strings."""

    def __init__(self) -> None:
        self.systems, self.questions, self.domains = _Codes(), _Codes(), _Codes()
        self.pairs, self.question, self.domain = array("i"), array("i"), array("i")
        self.winner = array("b")
        self.score: list[NDArray[np.float64]] = []
        self.weight: list[NDArray[np.float64]] = []
        self.covariates: dict[str, list[NDArray[np.float64]]] = {}
        self.left_out: Counter[LeftOut] = Counter()
        self.first: dict[LeftOut, InputError] = {}
        self.named: bool | None = None

    def add(self, rows: BattleRows) -> None:
        self.left_out.update(rows.left_out)
        self.first = {**rows.first, **self.first}
        if not rows:
            return
        self._name_questions(rows)
        pairs = chain.from_iterable(zip(rows.model_a, rows.model_b, strict=True))
        self.pairs.extend(self.systems.of(pairs))
        self.domain.extend(self.domains.of(rows.domain or [""] * len(rows)))
        self.winner.extend(map(CODES.__getitem__, rows.winner))
        self.score.append(_floats(rows.score, len(rows), np.nan))
        self.weight.append(_floats(rows.weight, len(rows), 1.0))
        self._add_covariates(rows)

    def _add_covariates(self, rows: BattleRows) -> None:
        before = len(self.winner) - len(rows)
        for name in rows.covariates.keys() - self.covariates.keys():
            self.covariates[name] = [_floats(None, before, np.nan)]
        for name, chunks in self.covariates.items():
            chunks.append(_floats(rows.covariates.get(name), len(rows), np.nan))

    def _name_questions(self, rows: BattleRows) -> None:
        named = rows.question_id is not None
        if self.named is not None and named != self.named:
            problem = (
                "the column is missing; other rows have it" if self.named else "other rows lack the column"
            )
            message = f"{rows.place.at(0, 'question_id')}: {problem}."
            raise FileFormatError(message, advice="Set question_id in every row, or in none.")
        self.named = named
        self.question.extend(self.questions.of(rows.question_id or [""] * len(rows)))

    def built(self, path: Path, kind: str) -> BattleFile:
        if not self.winner:
            left_out = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
            message = f"{path.name} has no battles{f' ({left_out})' if left_out else ''}."
            raise FileFormatError(message, advice="Write one row per battle.")
        pairs = np.frombuffer(self.pairs, dtype=np.int32)
        score, weight = np.concatenate(self.score), np.concatenate(self.weight)
        weight[np.isnan(weight)] = 1.0
        (systems, system), (questions, question), (domains, domain) = map(
            _sorted, (self.systems, self.questions, self.domains)
        )
        table = BattleTable(
            systems=systems,
            questions=questions,
            domains=domains,
            a=system[pairs[::2]],
            b=system[pairs[1::2]],
            winner=np.frombuffer(self.winner, dtype=np.int8),
            question=question[np.frombuffer(self.question, dtype=np.int32)],
            domain=domain[np.frombuffer(self.domain, dtype=np.int32)],
            score=None if np.isnan(score).all() else score,
            weight=None if (weight == 1).all() else weight,
        )
        covariates = {
            name: np.concatenate(self.covariates[name])
            for covariate in Covariate
            for name in covariate_columns(covariate)
            if name in self.covariates
        }
        order = table.canonical(*(np.nan_to_num(values, nan=-2.0) for values in covariates.values()))
        table = table.select(order)
        return BattleFile(
            table=table if self.named else _one_question_per_battle(table),
            format=kind,
            left_out=MappingProxyType(dict(self.left_out)),
            first=MappingProxyType(self.first),
            questions_named=bool(self.named),
            covariates={name: values[order] for name, values in covariates.items()},
        )


def _sorted(codes: _Codes) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    names = tuple(sorted(codes))
    places = {name: place for place, name in enumerate(names)}
    return names, np.array([places[name] for name in codes], dtype=np.int32)


def _one_question_per_battle(table: BattleTable) -> BattleTable:
    digits = len(str(len(table)))
    return replace(
        table,
        questions=tuple(f"battle-{row + 1:0{digits}}" for row in range(len(table))),
        question=np.arange(len(table), dtype=np.int32),
    )


def _floats(values: Sequence[float | None] | None, size: int, otherwise: float) -> NDArray[np.float64]:
    if values is None:
        return np.full(size, otherwise)
    return np.array(values, dtype=np.float64)


def files_of(path: Path) -> list[Path]:
    """List the battle files of a folder, or the one file."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
    if not files:
        raise FileFormatError(f"{path} has no battle files.", advice=f"Suffixes: {', '.join(SUFFIXES)}.")
    return files
