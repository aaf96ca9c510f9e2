"""Checked columns of battles in chunks; errors name row and column."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import compress
from operator import eq
from types import MappingProxyType
from typing import Any, NoReturn, Self

import numpy as np

from data.errors import FileFormatError, InputError, RecordError
from data.files.tables.values import number_of
from leaderboard.battles import CODES, SHARES, SPELLINGS, Winner, WinnerWord, contradicting
from leaderboard.columns import DOMAIN, MAX_WEIGHT, MIN_WEIGHT, fault, spelled
from leaderboard.vocabulary import Covariate

MISSING_COLUMN = "missing-column"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Location of a chunk in its file, for errors.

    Attributes:
        first_row: Number of the chunk's first record, from 1 without the header.
        lines: Line number of each record, if the file has lines.
        rows_a_record: Number of consecutive rows per record.
        names: Native names of columns, with their names in the file if these differ.
    """

    file: str
    first_row: int
    lines: Sequence[int] | None = None
    rows_a_record: int = 1
    names: tuple[tuple[str, str], ...] = ()

    def at(self, index: int, column: str = "") -> str:
        """Name a record, and optionally a column, for a message."""
        record = index // self.rows_a_record
        row = self.first_row + record
        line = f" (line {self.lines[record]})" if self.lines and self.lines[record] != row else ""
        called = dict(self.names).get(column, column)
        return f"{self.file}, row {row}{line}" + (f', column "{called}"' if column else "")

    def part(self, start: int, stop: int) -> Self:
        """Return the location of a slice."""
        lines = None if self.lines is None else self.lines[start:stop]
        return replace(self, first_row=self.first_row + start, lines=lines)


def names(place: Place, column: str, values: Sequence[object], *, blank: bool = False) -> list[str]:
    """Check a column of names or ids: strings or integers, and if `blank` is set, empty cells."""
    if set(map(type, values)) == {str} and (blank or all(values)):
        return _spelled(place, column, [value for value in values if isinstance(value, str)])
    texts = [
        "" if blank and (value is None or value == "") else _text(place, column, at, value)
        for at, value in enumerate(values)
    ]
    return _spelled(place, column, texts)


def _text(place: Place, column: str, index: int, value: object) -> str:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(place, index, column, value, "a name is expected")
    return str(value)


def _spelled(place: Place, column: str, texts: list[str]) -> list[str]:
    changed: dict[str, str] = {}
    for text in set(texts):
        name = spelled(text, column)
        if text and (problem := fault(name, column)):
            index = texts.index(text)
            if column == DOMAIN and "\0" not in name and name:
                advice = "Rename the domain."
                raise FileFormatError(f"{place.at(index, column)}: {problem}.", advice=advice)
            refuse(place, index, column, text, problem)
        if name != text:
            changed[text] = name
    return [changed.get(text, text) for text in texts] if changed else texts


def winners(place: Place, values: Sequence[object]) -> list[str]:
    """Check a column of winner words."""
    try:
        return [SPELLINGS[value] for value in values]  # type: ignore[index]  # other values raise
    except (KeyError, TypeError):
        pass
    for index, value in enumerate(values):
        if not isinstance(value, str) or value not in SPELLINGS:
            allowed = ", ".join(f'"{word}"' for word in WinnerWord)
            refuse(place, index, "winner", value, f"one of {allowed} is expected", VerdictError)
    return []


def scores(place: Place, values: Sequence[object]) -> list[float | None]:
    """Check a column of optional shares, 0–1."""
    cells = enumerate(values)
    return [None if value in (None, "") else share(place, at, "score", value) for at, value in cells]


def share(place: Place, index: int, column: str, value: object) -> float:
    """Check a share, 0–1."""
    number = as_number(place, index, column, value)
    if not 0 <= number <= 1:
        refuse(place, index, column, value, "a share between 0 and 1 is expected")
    return number


def counts(place: Place, column: str, values: Sequence[object]) -> list[float | None]:
    """Check a column of optional counts or weights."""
    checked: list[float | None] = []
    for index, value in enumerate(values):
        number = None if value is None or value == "" else as_number(place, index, column, value)
        if number is not None and number < 0:
            refuse(place, index, column, value, "a count cannot be negative")
        if number and not MIN_WEIGHT <= number <= MAX_WEIGHT:
            refuse(place, index, column, value, f"0 or a count of {MIN_WEIGHT:g}–{MAX_WEIGHT:g} is expected")
        checked.append(number)
    return checked


def as_number(place: Place, index: int, column: str, value: object) -> float:
    """Parse a finite number from JSON or CSV."""
    number = number_of(value)
    if number is None:
        refuse(place, index, column, value, "a finite number is expected")
    return number


class VerdictError(RecordError):
    """Unknown winner `word`."""

    word = ""


def refuse(
    place: Place, index: int, column: str, value: object, expected: str, kind: type[RecordError] = RecordError
) -> NoReturn:
    """Raise an error on one cell."""
    quoted = "nothing" if value is None else repr(value)
    if len(quoted) > 60:  # noqa: PLR2004 - the width of a message, used once
        quoted = quoted[:57] + "…"
    message = f"{place.at(index, column)}: {quoted} is invalid; {expected}."
    error = kind(message, advice="Correct the cell and read the file again.")
    if isinstance(error, VerdictError) and value is not None and value != "":
        error.word = quoted
    raise error


def missing(place: Place, index: int, column: str, hint: str = "") -> NoReturn:
    """Raise an error on a column that a record lacks."""
    message = f"{place.at(index, column)}: the column is missing.{hint}"
    advice = "See the battle formats in the documentation of `arena battles`."
    raise FileFormatError(message, advice=advice, code=MISSING_COLUMN)


CHUNK_ROWS = 4096

COLUMNS = ("question_id", "domain", "model_a", "model_b", "winner", "score", "weight", "judge", "order")
"""Columns of native battle files, in the order in which they are written."""


def covariate_columns(covariate: Covariate) -> tuple[str, ...]:
    """Return the columns of a covariate in a battle file: one per answer, or one per battle."""
    if covariate is Covariate.POSITION:
        return (covariate.value,)
    return (f"a_{covariate}", f"b_{covariate}")


class LeftOut(StrEnum):
    """Reason for leaving out a row."""

    UNREADABLE = "unreadable"
    NO_PREFERENCE = "no preference"
    NO_VERDICT = "without a verdict: the outcome is not judged"
    ZERO_COUNT = "count of zero"
    NAMED = "the systems' names were shown: anony is false"
    SELF = "a system on both sides"
    CONTRADICTION = "two columns contradict each other"
    FAULTY = "an invalid cell"

    @property
    def mistaken(self) -> bool:
        """True for errors, which `strict` refuses."""
        return self in {LeftOut.SELF, LeftOut.CONTRADICTION, LeftOut.FAULTY}


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleRows:
    """Checked battles as columns of equal length; None for absent columns and cells.

    Attributes:
        question_id: Without it each battle is its own question.
        score: Share of the win that `model_a` gets, 0–1.
        weight: How often each battle counts, above zero; None counts once.
        order: `ab` if `model_a` came first, `ba` if `model_b` did.
        covariates: Covariates by column (`covariate_columns`).
        further: Other columns of the file, unchanged, if the context includes them.
        dropped: Descriptions of columns that were not read completely.
    """

    place: Place
    model_a: Sequence[str]
    model_b: Sequence[str]
    winner: Sequence[str]
    question_id: Sequence[str] | None = None
    domain: Sequence[str] | None = None
    score: Sequence[float | None] | None = None
    weight: Sequence[float | None] | None = None
    judge: Sequence[str] | None = None
    order: Sequence[str] | None = None
    covariates: Mapping[str, Sequence[float | None]] = field(default_factory=lambda: MappingProxyType({}))
    further: Mapping[str, Sequence[object]] = field(default_factory=lambda: MappingProxyType({}))
    dropped: tuple[str, ...] = ()
    left_out: Mapping[LeftOut, int] = field(default_factory=lambda: MappingProxyType({}))
    first: Mapping[LeftOut, InputError] = field(default_factory=lambda: MappingProxyType({}))

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def columns(self) -> dict[str, Sequence[object]]:
        """Columns with some value, in the order in which they are written."""
        own = {name: getattr(self, name) for name in COLUMNS}
        return {
            name: cells
            for name, cells in (own | dict(self.further)).items()
            if cells and any(cell is not None and cell != "" for cell in cells)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Facts on a file from its name or the caller, and options of reading.

    Attributes:
        domain: Domain of records that have none.
        baseline: Opponent of every `model` in Arena-Hard records that name none.
        further: Whether to keep unknown columns, and covariates unchanged.
        strict: Whether to refuse invalid records instead of leaving them out.
        named: Whether to count votes of people who saw the systems' names (`anony` is false).
        by_voter: Whether to cluster battles by person instead of question.
    """

    domain: str = ""
    judge: str = ""
    baseline: str = "baseline"
    covariates: bool = False
    further: bool = False
    strict: bool = False
    named: bool = False
    by_voter: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Translated rows before checks.

    Attributes:
        rows: All rows; rows to leave out have any winner.
        reasons: Reason to leave out each row, None to keep it.
    """

    rows: BattleRows
    reasons: Sequence[LeftOut | None] | None = None
    first: Mapping[LeftOut, InputError] = field(default_factory=lambda: MappingProxyType({}))


def settled(draft: Draft, *, strict: bool) -> BattleRows:
    """Drop the rows with a reason to leave them out, and count them by reason."""
    rows = draft.rows
    reasons: list[LeftOut | None] = list(draft.reasons or [None] * len(rows))
    first = dict(draft.first)
    for reason, index, error in _faults(rows):
        if reasons[index] is None:
            reasons[index] = reason
            first.setdefault(reason, error)
    if strict and first:
        raise next(iter(first.values()))
    if not any(reasons):
        return rows
    mask = [reason is None for reason in reasons]

    def select(column: Sequence[Any] | None) -> list[Any] | None:
        return None if column is None else list(compress(column, mask))

    own: dict[str, Any] = {name: select(getattr(rows, name)) for name in COLUMNS}
    return replace(
        rows,
        **own,
        covariates={name: select(cells) or [] for name, cells in rows.covariates.items()},
        further={name: select(cells) or [] for name, cells in rows.further.items()},
        left_out=Counter(reason for reason in reasons if reason is not None),
        first=first,
    )


def _faults(rows: BattleRows) -> Iterator[tuple[LeftOut, int, InputError]]:
    """Yield systems on both sides, then winners and scores that disagree."""
    for at in compress(range(len(rows)), map(eq, rows.model_a, rows.model_b)):
        message = f"{rows.place.at(at, 'model_b')}: {rows.model_b[at]!r} is on both sides."
        advice = "A battle needs two different systems; remove the row."
        yield LeftOut.SELF, at, RecordError(message, advice=advice)
    if rows.score is None:
        return
    scores = np.array(rows.score, dtype=np.float64)
    codes = np.array([CODES[word] for word in rows.winner], dtype=np.int8)
    for at in np.flatnonzero(contradicting(codes, scores)).tolist():
        score = float(scores[at])
        by_score = WinnerWord.A if score > 1 / 2 else WinnerWord.B if score < 1 / 2 else WinnerWord.TIE
        message = (
            f"{rows.place.at(at, 'winner')}: the winner is {rows.winner[at]!r}, but the score {score:g}, the "
            f"share of model_a, means {by_score.value!r}."
        )
        advice = (
            "Correct one of them, or leave one out; if the score is the share of model_b, write 1 minus it."
        )
        yield LeftOut.CONTRADICTION, at, RecordError(message, advice=advice)


def share_of(winner: str) -> float:
    """Return the win share that `model_a` gets for a word of `WinnerWord`."""
    return float(SHARES[CODES.get(winner, Winner.TIE)])
