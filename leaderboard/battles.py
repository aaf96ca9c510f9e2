"""Battles as columns: the one input of every rating, rate and interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from leaderboard import columns as encoding
from leaderboard.columns import Column


class Winner(IntEnum):
    """Codes of the winner column."""

    A = 0
    B = 1
    TIE = 2


# The words of battle files (docs/design.md, section 4).
WINNER_WORDS: Mapping[str, Winner] = MappingProxyType(
    {"model_a": Winner.A, "model_b": Winner.B, "tie": Winner.TIE, "tie (bothbad)": Winner.TIE}
)

__all__ = ["BattleTable", "Winner"]


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

    @classmethod
    def from_columns(
        cls,
        question_id: Column,
        domain: Column,
        model_a: Column,
        model_b: Column,
        winner: Column,
        score: Column | None = None,
        weight: Column | None = None,
    ) -> BattleTable:
        """Encode columns of words, millions of rows in seconds.

        Columns are lists, numpy arrays, pandas series (text or categorical) or Arrow arrays, all of one
        length. Names are numbered in sorted order: the order of the rows changes no code.

        Args:
            question_id: The question of each battle.
            domain: Its domain.
            model_a: The first-named system.
            model_b: The second-named system.
            winner: `model_a`, `model_b`, `tie` or `tie (bothbad)`.
            score: Share of the win that `model_a` gets, 0–1; missing where a battle has none.
            weight: How often each row counts.

        Raises:
            RecordError: A missing value, an unknown winner word, a self-battle, a score outside 0–1, a
                weight that is negative or no number, or columns of unequal length; the message names
                row (counted from 1) and column.
        """
        columns = {
            "question_id": question_id,
            "domain": domain,
            "model_a": model_a,
            "model_b": model_b,
            "winner": winner,
            "score": score,
            "weight": weight,
        }
        encoding.require_equal_lengths({name: c for name, c in columns.items() if c is not None})
        left, right = encoding.encode_names(model_a, "model_a"), encoding.encode_names(model_b, "model_b")
        a, b, systems = encoding.merge_names(left, right)
        encoding.refuse_self_battles(a, b, systems)
        question_codes, questions = encoding.encode_names(question_id, "question_id")
        domain_codes, domains = encoding.encode_names(domain, "domain")
        return cls(
            systems=systems,
            questions=questions,
            domains=domains,
            a=a,
            b=b,
            winner=encoding.encode_words(winner, "winner", WINNER_WORDS),
            question=question_codes,
            domain=domain_codes,
            score=None if score is None else encoding.encode_scores(score, "score"),
            weight=None if weight is None else encoding.encode_weights(weight, "weight"),
        )

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
