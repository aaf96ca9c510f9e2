"""Battles as columns: the one input of every rating, rate and interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Winner(IntEnum):
    """Codes of the winner column."""

    A = 0
    B = 1
    TIE = 2


@dataclass(frozen=True, eq=False, kw_only=True)
class BattleTable:
    """Judged battles, one a row.

    Attributes:
        systems: Names, in code order.
        questions: Question ids, in code order.
        domains: Domain ids, in code order.
        a: int32 codes of the first-named system.
        b: int32 codes of the second-named system.
        winner: int8 codes of `Winner`.
        question: int32 codes of the question, the unit that is resampled.
        domain: int32 codes of the domain.
        score: Share of the win that `a` gets, 0–1; NaN where the battle has none; None where no
            battle has one.
        weight: How often each row counts; None where every row counts once.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    domains: tuple[str, ...]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    winner: NDArray[np.int8]
    question: NDArray[np.int32]
    domain: NDArray[np.int32]
    score: NDArray[np.float64] | None = None
    weight: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.a)

    @property
    def share(self) -> NDArray[np.float64]:
        """Share of the win that `a` gets: `score` where there is one, else 1, 0 or ½."""
        plain = np.array([1.0, 0.0, 0.5])[self.winner]
        return plain if self.score is None else np.where(np.isnan(self.score), plain, self.score)

    def select(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> BattleTable:
        """The same table with some of its rows; codes and names stay as they are."""
        return BattleTable(
            systems=self.systems,
            questions=self.questions,
            domains=self.domains,
            a=self.a[rows],
            b=self.b[rows],
            winner=self.winner[rows],
            question=self.question[rows],
            domain=self.domain[rows],
            score=None if self.score is None else self.score[rows],
            weight=None if self.weight is None else self.weight[rows],
        )


def codes_of(names: Sequence[str]) -> dict[str, int]:
    """Number names in order of first appearance."""
    return {name: code for code, name in enumerate(dict.fromkeys(names))}
