"""What every battle file becomes on its way in: checked columns, some thousands of rows at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import compress
from operator import eq
from types import MappingProxyType
from typing import NoReturn, TypeVar

from data.errors import FileFormatError, RecordError
from leaderboard.vocabulary import Covariate

CHUNK_ROWS = 4096

_Cell = TypeVar("_Cell")

COLUMNS = (
    "question_id",
    "domain",
    "model_a",
    "model_b",
    "winner",
    "score",
    "weight",
    "judge",
    "order",
)
"""The columns of the project's own battle files, in the order in which they are written."""
READING_COLUMNS = ("repeat", "wording")
"""Further columns of files in which a judge read battles more than once; written where a file has them."""


def covariate_columns(covariate: Covariate) -> tuple[str, ...]:
    """The columns in which a battle file has a covariate: one of each answer, or one of the battle."""
    if covariate is Covariate.POSITION:
        return (covariate.value,)
    return (f"a_{covariate}", f"b_{covariate}")


class WinnerWord(StrEnum):
    """The words of the `winner` column."""

    A = "model_a"
    B = "model_b"
    TIE = "tie"
    BOTH_BAD = "tie (bothbad)"


class LeftOut(StrEnum):
    """Why a row of a file is no battle; each is counted and shown."""

    UNREADABLE = "unreadable"
    NO_PREFERENCE = "no preference"
    ZERO_COUNT = "count of zero"


WINNER_WORDS: Mapping[object, str] = MappingProxyType(
    dict[object, str]({word.value: word.value for word in WinnerWord})
    | {"both_bad": WinnerWord.BOTH_BAD.value}
)
"""What may stand in a `winner` column, and the word that it stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a chunk stands in its file, so that an error can name row and line.

    Attributes:
        file: The file's name.
        first_row: Number of the chunk's first record; records count from 1, a header does not.
        lines: Line number of each record; None where records do not stand on lines.
        rows_a_record: How many consecutive rows of the chunk come from one record.
    """

    file: str
    first_row: int
    lines: Sequence[int] | None = None
    rows_a_record: int = 1

    def at(self, index: int, column: str = "") -> str:
        """Name a record, and a column of it, for a message."""
        record = index // self.rows_a_record
        row = self.first_row + record
        line = f" (line {self.lines[record]})" if self.lines and self.lines[record] != row else ""
        return f"{self.file}, row {row}{line}" + (f', column "{column}"' if column else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleRows:
    """Checked battles as columns of equal length; what a file does not say is None.

    Attributes:
        place: Where the rows stand.
        model_a: The first-named system of each battle.
        model_b: The second-named one, never the same as `model_a`.
        winner: Values of `WinnerWord`.
        question_id: None where the file has no such column: then each battle is its own question.
        domain: None where the file has no such column.
        score: Share of the win that `model_a` gets, 0–1; None for a battle without one.
        weight: How often each battle counts, above zero.
        judge: Who decided.
        order: `ab` where `model_a` was shown first, `ba` where `model_b` was.
        covariates: What may sway a judge, by column: see `covariate_columns`; None for a cell that is empty.
        repeat: Which asking in the same words; empty where the row does not say.
        wording: In which words the judge was asked; empty where the row does not say.
        left_out: How many records were no battle, by reason.
    """

    place: Place
    model_a: Sequence[str]
    model_b: Sequence[str]
    winner: Sequence[str]
    question_id: Sequence[str] | None = None
    domain: Sequence[str] | None = None
    score: Sequence[float | None] | None = None
    weight: Sequence[float] | None = None
    judge: Sequence[str] | None = None
    order: Sequence[str] | None = None
    covariates: Mapping[str, Sequence[float | None]] = field(default_factory=lambda: MappingProxyType({}))
    repeat: Sequence[str] | None = None
    wording: Sequence[str] | None = None
    left_out: Mapping[LeftOut, int] = field(default_factory=lambda: MappingProxyType({}))

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the rows have, in the order in which they are written."""
        return tuple(name for name in (*COLUMNS, *READING_COLUMNS) if getattr(self, name) is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a file's name or the reader's caller knows and its records may not say.

    Attributes:
        domain: The domain of every record; empty where unknown.
        judge: Who judged every record; empty where unknown.
        baseline: Arena-Hard: the opponent of every `model`, where the records do not name it.
        covariates: Whether to read the columns of covariates too.
    """

    domain: str = ""
    judge: str = ""
    baseline: str = "baseline"
    covariates: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Translated rows of which some may be no battle.

    Attributes:
        rows: All rows; those that are no battle hold any winner.
        reasons: Why a row is no battle, None where it is one; None where all are.
    """

    rows: BattleRows
    reasons: Sequence[LeftOut | None] | None = None


def settled(draft: Draft) -> BattleRows:
    """Refuse self-battles, then drop the rows that are no battle and count them by reason."""
    rows = draft.rows
    no_self_battles(rows.place, rows.model_a, rows.model_b)
    if draft.reasons is None or not any(draft.reasons):
        return rows
    mask = [reason is None for reason in draft.reasons]
    return BattleRows(
        place=rows.place,
        question_id=_selected(rows.question_id, mask),
        domain=_selected(rows.domain, mask),
        model_a=list(compress(rows.model_a, mask)),
        model_b=list(compress(rows.model_b, mask)),
        winner=list(compress(rows.winner, mask)),
        score=_selected(rows.score, mask),
        weight=_selected(rows.weight, mask),
        judge=_selected(rows.judge, mask),
        order=_selected(rows.order, mask),
        covariates={name: list(compress(cells, mask)) for name, cells in rows.covariates.items()},
        repeat=_selected(rows.repeat, mask),
        wording=_selected(rows.wording, mask),
        left_out=Counter(reason for reason in draft.reasons if reason is not None),
    )


def _selected(column: Sequence[_Cell] | None, mask: Sequence[bool]) -> list[_Cell] | None:
    return None if column is None else list(compress(column, mask))


def names(place: Place, column: str, values: Sequence[object]) -> list[str]:
    """Check a column of names or ids: text, or whole numbers, which become text.

    Raises:
        RecordError: A value is empty or of another kind; the message names row and column.
    """
    if set(map(type, values)) == {str} and all(values):
        return [value for value in values if isinstance(value, str)]
    checked = []
    for index, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            refuse(place, index, column, value, "a name is expected")
        checked.append(str(value))
    return checked


def labels(place: Place, column: str, values: Sequence[object]) -> list[str]:
    """Check a column that may be empty: nothing becomes the empty text."""
    return names_or_empty(place, column, ["" if value is None else value for value in values])


def names_or_empty(place: Place, column: str, values: Sequence[object]) -> list[str]:
    """Check a column of names of which some may be empty."""
    if set(map(type, values)) <= {str}:
        return [value for value in values if isinstance(value, str)]
    return ["" if value == "" else names(place, column, [value])[0] for value in values]


def winners(place: Place, values: Sequence[object]) -> list[str]:
    """Check a column of winner words.

    Raises:
        RecordError: A word is none of `WinnerWord`; the message names row and column.
    """
    try:
        return [WINNER_WORDS[value] for value in values]
    except (KeyError, TypeError):
        pass
    for index, value in enumerate(values):
        if not isinstance(value, str) or value not in WINNER_WORDS:
            allowed = ", ".join(f'"{word}"' for word in WinnerWord)
            refuse(place, index, "winner", value, f"one of {allowed} is expected")
    return []


def scores(place: Place, values: Sequence[object]) -> list[float | None]:
    """Check a column of shares, 0–1; nothing, or an empty CSV cell, is a battle without one."""
    return [
        None if value is None or value == "" else share(place, index, "score", value)
        for index, value in enumerate(values)
    ]


def share(place: Place, index: int, column: str, value: object) -> float:
    """Check one share, 0–1."""
    number = as_number(place, index, column, value)
    if not 0 <= number <= 1:
        refuse(place, index, column, value, "a share between 0 and 1 is expected")
    return number


def counts(place: Place, column: str, values: Sequence[object]) -> list[float]:
    """Check a column of counts or weights; an empty cell counts once."""
    checked = []
    for index, value in enumerate(values):
        number = 1.0 if value is None or value == "" else as_number(place, index, column, value)
        if number < 0:
            refuse(place, index, column, value, "a count cannot be negative")
        checked.append(number)
    return checked


def as_number(place: Place, index: int, column: str, value: object) -> float:
    """Read a finite number from JSON or from the text of a CSV cell.

    Raises:
        RecordError: It is none, or NaN or infinite.
    """
    try:
        number = math.nan if isinstance(value, bool) or value is None else float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        refuse(place, index, column, value, "a finite number is expected")
    return number


def no_self_battles(place: Place, model_a: Sequence[str], model_b: Sequence[str]) -> None:
    """Refuse battles of a system with itself.

    Raises:
        RecordError: There is one; the message names its row.
    """
    if not any(map(eq, model_a, model_b)):
        return
    index = next(index for index, (a, b) in enumerate(zip(model_a, model_b, strict=True)) if a == b)
    message = f"{place.at(index, 'model_b')}: {model_b[index]!r} battles itself."
    raise RecordError(message, advice="A battle needs two different systems; remove the row.")


def refuse(place: Place, index: int, column: str, value: object, expected: str) -> NoReturn:
    """Raise the error about one cell."""
    quoted = "nothing" if value is None else repr(value)
    if len(quoted) > 60:  # noqa: PLR2004 - the width of a message, used once
        quoted = quoted[:57] + "…"
    message = f"{place.at(index, column)}: {quoted} cannot be used; {expected}."
    raise RecordError(message, advice="Correct the cell and read the file again.")


def missing(place: Place, index: int, column: str, hint: str = "") -> NoReturn:
    """Raise the error about a column that a record does not have."""
    message = f"{place.at(index, column)}: the column is missing.{hint}"
    raise FileFormatError(message, advice="See the battle formats in the documentation of `arena battles`.")
