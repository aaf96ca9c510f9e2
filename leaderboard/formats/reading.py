"""Battle files in, as checked chunks or as one table."""

from __future__ import annotations

import sys
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

from data.errors import FileFormatError
from data.progress import working
from leaderboard.battles import BattleTable, JudgeColumn, Winner
from leaderboard.formats import parquet, rag_qa_arena
from leaderboard.formats.registry import GUESSED, SIGNATURES, BattleFormat, guess, parse
from leaderboard.formats.rows import (
    READING_COLUMNS,
    BattleRows,
    Context,
    LeftOut,
    WinnerWord,
    covariate_columns,
    missing,
)
from leaderboard.formats.sources import Chunk, chunks_of, container_of
from leaderboard.vocabulary import Covariate

SUFFIXES = (".jsonl", ".json", ".csv", ".jsonl.gz", ".json.gz", ".csv.gz", ".parquet")

_CODES: Mapping[str, int] = MappingProxyType(
    {
        WinnerWord.A: int(Winner.A),
        WinnerWord.B: int(Winner.B),
        WinnerWord.TIE: int(Winner.TIE),
        WinnerWord.BOTH_BAD: int(Winner.TIE),
    }
)


@dataclass(frozen=True, kw_only=True)
class BattleFile:
    """The battles of a file.

    Attributes:
        table: The battles; where the file names no questions, each battle is its own.
        format: As what the file was read.
        left_out: How many records were no battle, by reason.
        questions_named: Whether the file said which battles share a question. Without that,
            intervals cannot take the sharing into account.
        covariates: What may sway a judge, (N,) values by column, NaN for an empty cell; those columns that
            stand in the file, where the context asked for them.
        judges: Who decided each battle; None where no row says.
        wording: The wording of each row, empty where it names none; None where the file has no such column.
        repeat: Which asking in these words each row is; likewise.
    """

    table: BattleTable
    format: BattleFormat
    left_out: Mapping[LeftOut, int]
    questions_named: bool
    covariates: Mapping[str, NDArray[np.float64]] = field(default_factory=lambda: MappingProxyType({}))
    judges: JudgeColumn | None = None
    wording: Sequence[str] | None = None
    repeat: Sequence[str] | None = None


class _Codes(dict[str, int]):
    """Numbers names in order of first appearance."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]

    def of(self, names: Iterable[str]) -> Iterator[int]:
        return map(self.__getitem__, names)


def format_of(path: Path) -> BattleFormat:
    """Tell the format of a battle file, or of a folder's first one, by its first record.

    Raises:
        FileFormatError: The first record is of no known format; the message lists its columns.
    """
    file = _files(path)[0]
    chunk = next(chunks_of(file, container_of(file)), None)
    if chunk is None:
        message = f"{file.name} holds no battles."
        raise FileFormatError(message, advice="A battle file has a row for each battle.")
    kind = guess(chunk.records[0])
    return kind if kind is not None else _refuse(chunk)


def _refuse(chunk: Chunk) -> NoReturn:
    """Say which column the nearest format misses, or that nothing is near."""
    columns = list(chunk.records[0])
    nearest = max(GUESSED, key=lambda kind: sum(name in columns for name in SIGNATURES[kind]))
    lacking = [name for name in SIGNATURES[nearest] if name not in columns]
    if len(lacking) < len(SIGNATURES[nearest]):
        missing(chunk.place, 0, lacking[0], f" The row looks like {nearest} otherwise.")
    message = f"{chunk.place.at(0)} is no battle: it has the columns {', '.join(map(repr, columns[:12]))}."
    needed = ", ".join(SIGNATURES[BattleFormat.NATIVE])
    raise FileFormatError(message, advice=f"Battles need {needed}, or the columns of another arena.")


def read_chunks(
    path: Path, kind: BattleFormat | None = None, *, context: Context | None = None
) -> Iterator[BattleRows]:
    """Read battles as checked chunks, never the whole file at once.

    Args:
        path: A file (JSON Lines, a JSON array, JSON columns or CSV, gzipped or not), or a folder of
            such files of one format, which are read in the order of their names.
        kind: The format; None to tell it by the first record.
        context: What the records do not say. RAG-QA Arena's `eval_results` say domain and judge in
            the file's name.

    Raises:
        FileFormatError: A file or record is of another shape; the message names row and column.
        RecordError: A value breaks a rule; the message names row and column.
    """
    kind = kind or format_of(path)
    for file in _files(path):
        full_context = context or Context()
        if kind in {BattleFormat.RAG_QA_ARENA_EVAL, BattleFormat.RAG_QA_ARENA_EVAL_COMPAT}:
            from_name = rag_qa_arena.context_of(file.name)
            full_context = replace(
                full_context,
                domain=full_context.domain or from_name.domain,
                judge=full_context.judge or from_name.judge,
            )
        for chunk in chunks_of(file, container_of(file)):
            yield parse(kind, chunk, full_context)


def read_battles(
    path: Path, kind: BattleFormat | None = None, *, context: Context | None = None
) -> BattleFile:
    """Read a battle file, or a folder of them, into one table; arguments as of `read_chunks`.

    Systems, questions and domains are coded in order of first appearance. A file without domains
    has the one domain "".

    Raises:
        FileFormatError: As of `read_chunks`, and for a file without a single battle, or one that
            names questions in some rows only.
        RecordError: As of `read_chunks`.
    """
    kind = kind or format_of(path)
    builder = _Builder()
    with working(f"reading battles of {path.name}") as work:
        table = None
        if kind is BattleFormat.NATIVE and context in {None, Context()}:
            table = parquet.read_columns(_files(path))
        if table is not None:
            return BattleFile(table=table, format=kind, left_out=MappingProxyType({}), questions_named=True)
        for rows in read_chunks(path, kind, context=context):
            builder.add(rows)
            work.done += len(rows)
    return builder.built(path, kind)


class _Builder:
    """Codes chunks as they come, so that the strings of a chunk are freed with it."""

    def __init__(self) -> None:
        self.systems, self.questions, self.domains = _Codes(), _Codes(), _Codes()
        self.pairs, self.question, self.domain = array("i"), array("i"), array("i")
        self.winner = array("b")
        self.judges, self.judge = _Codes(), array("i")
        self.score: list[NDArray[np.float64]] = []
        self.weight: list[NDArray[np.float64]] = []
        self.covariates: dict[str, list[NDArray[np.float64]]] = {}
        self.left_out: Counter[LeftOut] = Counter()
        self.named: bool | None = None
        self.readings: dict[str, list[str]] = {}

    def add(self, rows: BattleRows) -> None:
        self.left_out.update(rows.left_out)
        if not rows:
            return
        self._name_questions(rows)
        pairs = chain.from_iterable(zip(rows.model_a, rows.model_b, strict=True))
        self.pairs.extend(self.systems.of(pairs))
        self.domain.extend(self.domains.of(rows.domain or [""] * len(rows)))
        self.winner.extend(map(_CODES.__getitem__, rows.winner))
        self.judge.extend(self.judges.of(rows.judge or [""] * len(rows)))
        self._tell_apart(rows)
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

    def _tell_apart(self, rows: BattleRows) -> None:
        """Keep what tells readings of one battle apart; rows before the first that says so say nothing."""
        before = len(self.winner) - len(rows)
        for name in READING_COLUMNS:
            values: Sequence[str] | None = getattr(rows, name)
            if values is not None or name in self.readings:
                known = self.readings.setdefault(name, [""] * before)
                known.extend([""] * len(rows) if values is None else map(sys.intern, values))

    def _name_questions(self, rows: BattleRows) -> None:
        named = rows.question_id is not None
        if self.named is not None and named != self.named:
            message = f"{rows.place.at(0, 'question_id')}: some rows name a question and some do not."
            raise FileFormatError(message, advice="Give every row a question_id, or none.")
        self.named = named
        start = len(self.question)
        ids = rows.question_id or [f"battle-{start + index + 1}" for index in range(len(rows))]
        self.question.extend(self.questions.of(ids))

    def built(self, path: Path, kind: BattleFormat) -> BattleFile:
        if not self.winner:
            dropped = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
            message = f"{path.name} holds no battles{f' ({dropped})' if dropped else ''}."
            raise FileFormatError(message, advice="A battle file has a row for each battle.")
        pairs = np.frombuffer(self.pairs, dtype=np.int32)
        score, weight = np.concatenate(self.score), np.concatenate(self.weight)
        table = BattleTable(
            systems=tuple(self.systems),
            questions=tuple(self.questions),
            domains=tuple(self.domains),
            a=pairs[::2].copy(),
            b=pairs[1::2].copy(),
            winner=np.frombuffer(self.winner, dtype=np.int8),
            question=np.frombuffer(self.question, dtype=np.int32),
            domain=np.frombuffer(self.domain, dtype=np.int32),
            score=None if np.isnan(score).all() else score,
            weight=None if (weight == 1).all() else weight,
        )
        return BattleFile(
            table=table,
            format=kind,
            left_out=MappingProxyType(dict(self.left_out)),
            questions_named=bool(self.named),
            covariates={
                name: np.concatenate(self.covariates[name])
                for covariate in Covariate
                for name in covariate_columns(covariate)
                if name in self.covariates
            },
            judges=self._judge_column(),
            wording=self.readings.get("wording"),
            repeat=self.readings.get("repeat"),
        )

    def _judge_column(self) -> JudgeColumn | None:
        """The judges in sorted order, so that the order of the rows changes no code."""
        names = tuple(sorted(name for name in self.judges if name))
        if not names:
            return None
        places = {name: code for code, name in enumerate(names)}
        code = np.array([places.get(name, -1) for name in self.judges], dtype=np.int32)
        return JudgeColumn(names=names, code=code[np.frombuffer(self.judge, dtype=np.int32)])


def _floats(values: Sequence[float | None] | None, size: int, otherwise: float) -> NDArray[np.float64]:
    if values is None:
        return np.full(size, otherwise)
    return np.array(values, dtype=np.float64)


def _files(path: Path) -> list[Path]:
    """The file itself, or the battle files of a folder by name."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
    if not files:
        raise FileFormatError(f"{path} holds no battle files.", advice=f"They end in {', '.join(SUFFIXES)}.")
    return files
