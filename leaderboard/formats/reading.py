"""Battle files in, as checked chunks or as one table."""

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
    guess,
    parse,
)
from leaderboard.formats.rows import BattleRows, Context, LeftOut, VerdictError, covariate_columns, missing
from leaderboard.formats.sources import FIELDS, Chunk, Record, called, chunks_of, column, has
from leaderboard.vocabulary import Covariate

UNKNOWN_WORD = "Write one of the expected values in all of them, or remove these records."
NO_VOTERS = "{} has no column that names the person of each vote."
VOTER_ADVICE = f"Call it {ANNOTATOR}, or rate with --cluster question."
REPEATS, MIN_CLUSTERS = 1.5, 4
HOPELESS = 20_000
"""After so many mistaken records without a battle, the rest of the file is not read."""
SUFFIXES = (".jsonl", ".json", ".csv", ".jsonl.gz", ".json.gz", ".csv.gz", ".parquet")


@dataclass(frozen=True, kw_only=True)
class BattleFile:
    """The battles of a file, in an order of their own: neither the file's rows nor its container change it.

    Attributes:
        table: The battles, as `BattleTable.canonical` orders them; where the file names no questions, each
            battle is its own.
        questions_named: Whether the file said which battles share a question. Without that,
            intervals cannot take the sharing into account.
        clusters: Columns of a file without named questions whose values repeat as those of questions do.
        covariates: What may bias a judge, (N,) values by column, NaN for an empty cell; those columns that
            stand in the file, where the context asked for them.
    """

    table: BattleTable
    format: str
    left_out: Mapping[LeftOut, int]
    questions_named: bool
    clusters: tuple[str, ...] = ()
    first: Mapping[LeftOut, InputError] = field(default_factory=lambda: MappingProxyType({}))
    covariates: Mapping[str, NDArray[np.float64]] = field(default_factory=lambda: MappingProxyType({}))


class _Codes(dict[str, int]):
    """Numbers names in order of first appearance."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]

    def of(self, names: Iterable[str]) -> Iterator[int]:
        return map(self.__getitem__, names)


def format_of(path: Path) -> str:
    """Tell the name of the format of a battle file, or of a folder's first one, by its first record."""
    file = files_of(path)[0]
    chunk = next(chunks_of(file), None)
    if chunk is None:
        message = f"{file.name} holds no battles."
        raise FileFormatError(message, advice="A battle file has a row for each battle.")
    kind = guess(chunk.records[0])
    return kind if kind is not None else _refuse(chunk)


def _refuse(chunk: Chunk) -> NoReturn:
    columns = list(chunk.records[0])
    guessed = [one for one in battle_formats() if one.guessed]
    nearest = max(guessed, key=lambda one: sum(name in columns for name in one.signature))
    signature = nearest.signature
    lacking = [name for name in signature if name not in columns]
    listed = ", ".join(map(repr, columns[:12])) + (", …" if len(columns) > 12 else "")  # noqa: PLR2004 - used once
    if len(lacking) < len(signature):
        hint = f" The row looks like {nearest.name} otherwise; it has the columns {listed}."
        missing(chunk.place, 0, lacking[0], hint)
    message = f"{chunk.place.at(0)} is not a battle: it has the columns {listed}."
    needed = ", ".join(battle_format(NATIVE).signature)
    advice = [f"Battles need {needed}, or the columns of another arena.", *added_battle_formats().problems]
    if Column.ANSWER in read_columns(columns):
        advice.append(f"These look like answers: arena rank {chunk.place.file}")
    raise FileFormatError(message, advice=" ".join(advice))


def read_chunks(
    path: Path, kind: str | None = None, *, context: Context | None = None, clusters: _Clusters | None = None
) -> Iterator[BattleRows]:
    """Read battles as checked chunks from a file, or from a folder's files in the order of their names.

    Without `kind` the first record tells the format. RAG-QA Arena's `eval_results` say domain and judge in
    the file's name.
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
    """Counts the values of columns that no reader takes, where battles name no questions."""

    def __init__(self) -> None:
        self.rows = 0
        self.values: dict[str, Counter[object]] = {}

    def add(self, chunk: Chunk) -> None:
        """Count a chunk's; a column that holds anything but names and whole numbers is not a cluster."""
        if not has(chunk, QUESTION):
            for name in chunk.records[0].keys() - FIELDS if not self.rows else [*self.values]:
                cells = column(chunk, name)
                if set(map(type, cells)) <= {str, int} and "" not in cells:
                    self.values.setdefault(name, Counter()).update(cells)
                else:
                    self.values.pop(name, None)
        self.rows += len(chunk.records)

    def names(self) -> tuple[str, ...]:
        """Return the columns whose values repeat, none of them in more than a quarter of the rows."""
        found = {name: (len(of), max(of.values())) for name, of in self.values.items()}
        most = (self.rows / REPEATS, self.rows / MIN_CLUSTERS)
        return tuple(
            sorted(name for name, (count, top) in found.items() if count <= most[0] and top <= most[1])
        )


def _by_person(chunk: Chunk) -> Chunk:
    """Put people in place of questions."""
    if not has(chunk, ANNOTATOR):
        raise FileFormatError(NO_VOTERS.format(chunk.place.file), advice=VOTER_ADVICE)
    records: list[Record] = [{**record, QUESTION: record.get(ANNOTATOR)} for record in chunk.records]
    return Chunk(place=called(chunk.place, QUESTION, ANNOTATOR), records=records)


class _Tally:
    """Counts of battles and of mistaken records: where the latter are more, the file is misread."""

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
        if not self.battles and self.mistaken > HOPELESS:
            self.check()

    def check(self) -> None:
        """Raise what is wrong with the first mistaken record, where more are mistaken than are battles."""
        if self.first is not None and self.mistaken > self.battles:
            raise self.first
        # Outcomes are not missing at random: without all of one kind the rest would be rated wrongly.
        for word, (count, error) in self.unknown.items():
            if count > 1:
                message = f"{error.message} {count:,} records have {word}."
                raise RecordError(message, advice=UNKNOWN_WORD)


def read_battles(path: Path, kind: str | None = None, *, context: Context | None = None) -> BattleFile:
    """Read a battle file, or a folder of them, into one table; arguments as of `read_chunks`.

    Systems, questions and domains are coded in sorted order, and rows stand in one order of their own. A file
    without domains has the one domain "".
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
    """Codes chunks as they come, so that the strings of a chunk are freed with it."""

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
        """Each column from its first row on, filled up where former or later chunks lack it."""
        before = len(self.winner) - len(rows)
        for name in rows.covariates.keys() - self.covariates.keys():
            self.covariates[name] = [_floats(None, before, np.nan)]
        for name, chunks in self.covariates.items():
            chunks.append(_floats(rows.covariates.get(name), len(rows), np.nan))

    def _name_questions(self, rows: BattleRows) -> None:
        named = rows.question_id is not None
        if self.named is not None and named != self.named:
            said = "the column is missing; other rows have it" if self.named else "other rows lack the column"
            message = f"{rows.place.at(0, 'question_id')}: {said}."
            raise FileFormatError(message, advice="Give every row a question_id, or none.")
        self.named = named
        self.question.extend(self.questions.of(rows.question_id or [""] * len(rows)))

    def built(self, path: Path, kind: str) -> BattleFile:
        if not self.winner:
            dropped = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
            message = f"{path.name} holds no battles{f' ({dropped})' if dropped else ''}."
            raise FileFormatError(message, advice="A battle file has a row for each battle.")
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
            table=table if self.named else _each_its_own(table),
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


def _each_its_own(table: BattleTable) -> BattleTable:
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
        raise FileFormatError(f"{path} holds no battle files.", advice=f"They end in {', '.join(SUFFIXES)}.")
    return files
