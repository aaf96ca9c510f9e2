"""Battles that a judge read more than once: in other words, or in the same words again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from data.errors import InputError
from data.records.retests import ORIGINAL, RetestCall
from leaderboard.battles import BattleTable, Winner
from leaderboard.ratings.counts import Floats, Ints

ITS_OWN = ""
"""The wording of a row that names none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Readings:
    """Battles, and what each reading of them came to.

    A battle is a question and an unordered pair of systems. Rows that agree in battle, wording and repeat
    (both orders of one call, several judges) are one reading, their mean. Systems, questions, domains and
    wordings are numbered in sorted order, and readings are sorted: the order of the rows changes nothing.

    Attributes:
        systems: Names, in code order.
        questions: Question ids, in code order.
        domains: Domain ids, in code order.
        wordings: Names of the wordings, in code order.
        question: (N,) question of each battle.
        domain: (N,) its domain.
        a: (N,) code of its first system in code order.
        b: (N,) code of the other.
        battle: (M,) battle of each reading.
        wording: (M,) wording of each reading.
        values: (M, 3) what `a` got of each reading: share of the win, of wins, and of wins and ties.
        own: (M,) whether the estimate depends on the reading; the others say only how sure it is.
        rows: Rows that the readings come from.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    domains: tuple[str, ...]
    wordings: tuple[str, ...]
    question: Ints
    domain: Ints
    a: Ints
    b: Ints
    battle: Ints
    wording: Ints
    values: Floats
    own: NDArray[np.bool_]
    rows: int

    def __len__(self) -> int:
        return len(self.battle)

    @classmethod
    def from_table(
        cls,
        table: BattleTable,
        wording: Sequence[str] | None = None,
        repeat: Sequence[str] | None = None,
        *,
        own: NDArray[np.bool_] | None = None,
    ) -> Readings:
        """The readings of a table with several rows a battle.

        Args:
            table: Rows; each names its question.
            wording: (rows,) the wording of each; None where all are of one.
            repeat: (rows,) which call in these words; a row without (or None) is a call of its own.
            own: (rows,) whether the estimate depends on the row; None where it depends on all.

        Raises:
            InputError: Rows count several times: nobody can say which of them was read again.
        """
        if table.weight is not None:
            raise InputError(
                "Rows that count for several battles hide which of them were read again.",
                advice="Give each reading a row of its own, without `weight` or `count`.",
            )
        wordings, worded = _numbered([ITS_OWN] * len(table) if wording is None else wording)
        asked = _repeats(len(table), repeat)
        columns = np.column_stack([*_battles(table), worded, asked])
        values, rested = _values(table), np.ones(len(table), dtype=bool) if own is None else own
        order = np.lexsort((*values.T, *columns.T[::-1]))
        columns, values, rested = columns[order], values[order], rested[order]
        starts = _starts(columns) | (columns[:, -1] < 0)
        battles = _starts(columns[:, :3])
        reading = np.cumsum(starts) - 1
        count = np.bincount(reading).astype(np.float64)
        return cls(
            systems=tuple(sorted(table.systems)),
            questions=tuple(sorted(table.questions)),
            domains=tuple(sorted(table.domains)),
            wordings=wordings,
            question=columns[battles, 0],
            domain=_places(table.domains)[table.domain[order][battles]],
            a=columns[battles, 1],
            b=columns[battles, 2],
            battle=(np.cumsum(battles) - 1)[starts],
            wording=columns[starts, 3],
            values=np.column_stack([np.bincount(reading, column) / count for column in values.T]),
            own=np.bincount(reading, rested) > 0,
            rows=len(table),
        )

    @classmethod
    def of_round(cls, table: BattleTable, calls: Iterable[RetestCall]) -> Readings:
        """The readings of a judged round, on which the estimate rests, and those of retests of a part of it.

        Args:
            table: Every judged battle of the round.
            calls: Verdicts of its retests; those of repeat 0 are the round's own, which the table has.

        Raises:
            InputError: A retested battle is not one of the round's.
        """
        again = [(call, call.share_a) for call in calls if call.repeat]
        rows = [(call, share) for call, share in again if share is not None]
        names = [
            np.asarray(column, dtype=object) for column in (table.questions, table.domains, table.systems)
        ]
        judged = (names[0][table.question], names[2][table.a], names[2][table.b])
        known = {(question, *sorted(pair)) for question, *pair in zip(*judged, strict=True)}
        for call, _ in rows:
            if (call.question_id, *sorted((call.system_a, call.system_b))) not in known:
                raise InputError(
                    f"The retest has a battle of {call.system_a} with {call.system_b} on {call.question_id}, "
                    "which the round has not.",
                    advice="Publish the round with its own retest.",
                )
        whole = BattleTable.from_columns(
            [*judged[0], *(call.question_id for call, _ in rows)],
            [*names[1][table.domain], *(call.domain for call, _ in rows)],
            [*judged[1], *(call.system_a for call, _ in rows)],
            [*judged[2], *(call.system_b for call, _ in rows)],
            [*(WINNERS[code] for code in table.winner.tolist()), *(winner_of(share) for _, share in rows)],
            np.concatenate([table.share, [share for _, share in rows]]),
        )
        return cls.from_table(
            whole,
            [*([ORIGINAL] * len(table)), *(call.wording for call, _ in rows)],
            [*(["0"] * len(table)), *(str(call.repeat) for call, _ in rows)],
            own=np.arange(len(whole)) < len(table),
        )

    def cells(self, *, own: bool = False) -> Cells:
        """The readings of each battle in each wording, summed up; with `own` those of the estimate alone."""
        used = self.own if own else np.ones(len(self), dtype=bool)
        key = self.battle[used] * len(self.wordings) + self.wording[used]
        present, cell = np.unique(key, return_inverse=True)
        count = np.bincount(cell).astype(np.float64)
        values = self.values[used]
        mean = np.column_stack([np.bincount(cell, column) / count for column in values.T])
        square = (values - mean[cell]) ** 2
        spread = np.column_stack([np.bincount(cell, column) for column in square.T])
        return Cells(
            battle=present // len(self.wordings),
            wording=present % len(self.wordings),
            count=count,
            mean=mean,
            variance=spread / np.maximum(count - 1, 1)[:, None],
        )

    def table(self) -> BattleTable:
        """One row a battle: the mean over its wordings of the means over their repeats.

        A battle that only the retest read has no row. The winner is the side with the larger share.
        """
        means, weight = battle_means(self.cells(own=True), len(self.question))
        rows = np.flatnonzero(weight > 0)
        share = means[rows, 0]
        return BattleTable(
            systems=self.systems,
            questions=self.questions,
            domains=self.domains,
            a=self.a[rows].astype(np.int32),
            b=self.b[rows].astype(np.int32),
            winner=np.where(share > HALF, Winner.A, np.where(share < HALF, Winner.B, Winner.TIE)).astype(
                np.int8
            ),
            question=self.question[rows].astype(np.int32),
            domain=self.domain[rows].astype(np.int32),
            score=share,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells:
    """Battles in one wording.

    Attributes:
        battle: (C,) battle of each.
        wording: (C,) its wording.
        count: (C,) readings.
        mean: (C, 3) their means.
        variance: (C, 3) the variances of single readings around them; 0 where there is one.
    """

    battle: Ints
    wording: Ints
    count: Floats
    mean: Floats
    variance: Floats


def battle_means(cells: Cells, battles: int) -> tuple[Floats, Floats]:
    """(N, 3) means over wordings, and (N,) how many wordings each battle was read in."""
    weight = np.bincount(cells.battle, minlength=battles).astype(np.float64)
    sums = np.column_stack([np.bincount(cells.battle, column, battles) for column in cells.mean.T])
    return sums / np.maximum(weight, 1)[:, None], weight


def rows_of(cells: Cells, battles: Ints) -> Cells:
    """The cells of some battles, which are renumbered in their order."""
    place = np.full(int(max(cells.battle.max(initial=0), battles.max(initial=0))) + 1, -1, dtype=np.int64)
    place[battles] = np.arange(len(battles))
    kept = place[cells.battle] >= 0
    return Cells(
        battle=place[cells.battle[kept]],
        wording=cells.wording[kept],
        count=cells.count[kept],
        mean=cells.mean[kept],
        variance=cells.variance[kept],
    )


HALF = 0.5
WINNERS = {Winner.A: "model_a", Winner.B: "model_b", Winner.TIE: "tie"}


def winner_of(share: float) -> str:
    """The word for who got the larger share of a win."""
    return WINNERS[Winner.TIE if share == HALF else Winner.A if share > HALF else Winner.B]


def _values(table: BattleTable) -> Floats:
    """(rows, 3) what the first system in code order got: share of the win, of wins, of wins and ties."""
    swapped = _is_swapped(table)
    won = table.winner == np.where(swapped, Winner.B, Winner.A)
    share = np.where(swapped, 1 - table.share, table.share)
    return np.column_stack([share, won, won | (table.winner == Winner.TIE)]).astype(np.float64)


def _battles(table: BattleTable) -> tuple[Ints, Ints, Ints]:
    swapped = _is_swapped(table)
    place = _places(table.systems)
    return (
        _places(table.questions)[table.question],
        place[np.where(swapped, table.b, table.a)],
        place[np.where(swapped, table.a, table.b)],
    )


def _is_swapped(table: BattleTable) -> NDArray[np.bool_]:
    place = _places(table.systems)
    return np.asarray(place[table.a] > place[table.b])


def _places(names: Sequence[str]) -> Ints:
    """The place of each name in sorted order."""
    return _numbered(names)[1]


def _numbered(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    words = sorted(set(names))
    place = {word: code for code, word in enumerate(words)}
    return tuple(words), np.fromiter((place[name] for name in names), dtype=np.int64, count=len(names))


def _repeats(rows: int, repeat: Sequence[str] | None) -> Ints:
    """Codes of repeats, −1 for a row that names none."""
    if repeat is None:
        return np.full(rows, -1, dtype=np.int64)
    codes = _numbered(repeat)[1]
    return np.where(np.array([not name for name in repeat], dtype=bool), -1, codes)


def _starts(columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Where sorted rows differ from those before them."""
    changed = np.ones(len(columns), dtype=bool)
    changed[1:] = (columns[1:] != columns[:-1]).any(axis=1)
    return changed
