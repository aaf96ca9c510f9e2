"""Battles as columns: the input of all ratings, rates and intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from functools import cached_property, reduce
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data.models.words import winning_side
from leaderboard import columns as encoding
from leaderboard.columns import Column

Codes = NDArray[np.signedinteger[Any]]
"""Non-negative integers in the smallest sufficient type."""


class Winner(IntEnum):
    """Codes of the winner column."""

    A = 0
    B = 1
    TIE = 2


class WinnerWord(StrEnum):
    """Words of the `winner` column of battle files (docs/design.md)."""

    A = "model_a"
    B = "model_b"
    TIE = "tie"
    BOTH_BAD = "tie (bothbad)"
    INCONSISTENT = "tie (inconsistent)"


SPELLINGS: Mapping[str, str] = MappingProxyType(
    {word.value: word.value for word in WinnerWord}
    | dict.fromkeys(("both_bad", "bothbad", "tie (both bad)", "both are bad"), WinnerWord.BOTH_BAD.value)
)
"""Accepted spellings of winner words."""


def winner_word(won: object, model_a: object, model_b: object) -> object:
    """Normalise a value of a `winner` column; return it unchanged if it names no side."""
    word = str(won) if type(won) is int else won
    if not isinstance(word, str) or word in SPELLINGS:
        return word
    tie = SPELLINGS.get(word.strip().casefold())
    side = winning_side(word, model_a, model_b)
    return tie if side == "tie" and tie else OF_SIDES[side] if side else won


OF_SIDES: Mapping[str, str] = MappingProxyType(
    {"a": WinnerWord.A.value, "b": WinnerWord.B.value, "tie": WinnerWord.TIE.value}
)
CODES: Mapping[str, Winner] = MappingProxyType(
    dict.fromkeys((word.value for word in WinnerWord), Winner.TIE)
    | {WinnerWord.A.value: Winner.A, WinnerWord.B.value: Winner.B}
)
WINNER_WORDS: Mapping[str, Winner] = MappingProxyType(
    {spelling: CODES[word] for spelling, word in SPELLINGS.items()}
)
SHARES = np.array([1.0, 0.0, 0.5])
"""Share of the win that the first-named system gets, by the code of the winner."""
SWAPPED = np.array([Winner.B, Winner.A, Winner.TIE], dtype=np.int8)
"""Winner codes with the two sides swapped."""
WIDEST_TIE = 0.25
"""Maximum distance of a tie's score from ½: if a tie is the most likely of three verdicts, the expected score
is at most this far away, as is the mean of two orders that disagree.
"""

__all__ = ["BattleTable", "Winner", "WinnerWord", "contradicting", "in_common", "joined"]


def contradicting(winner: NDArray[np.int8], score: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Find rows whose score contradicts the winner; a NaN score never does.

    A score above ½ means that the first-named system won, below ½ the second; a score near ½ allows a tie.
    """
    tied = winner == Winner.TIE
    return np.asarray(
        ((winner == Winner.A) & (score <= 1 / 2))
        | ((winner == Winner.B) & (score >= 1 / 2))
        | (tied & (np.abs(score - 1 / 2) > WIDEST_TIE))
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class BattleTable:
    """Judged battles, one per row.

    Attributes:
        systems: Names in code order, like `questions` and `domains`.
        a: Codes of the first-named system.
        winner: int8 codes of `Winner`.
        question: Codes of the question, the unit of resampling.
        score: Share of the win that `a` gets, 0–1; NaN for a battle without a score; None if all lack it.
        weight: How often each row counts; None if every row counts once.
        counted: Cache of counts by name, shared by a board's parts, some of which run in other processes.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    domains: tuple[str, ...]
    a: Codes
    b: Codes
    winner: NDArray[np.int8]
    question: Codes
    domain: Codes
    score: NDArray[np.float64] | None = None
    weight: NDArray[np.float64] | None = None
    counted: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.a)

    @property
    def share(self) -> NDArray[np.float64]:
        """Share of the win that `a` gets: the `score` if known, else 1, 0 or ½."""
        plain = SHARES[self.winner]
        return plain if self.score is None else np.where(np.isnan(self.score), plain, self.score)

    @cached_property
    def names_used(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(S,) and (Q,) masks of the systems and questions with a battle of positive weight."""
        rows = slice(None) if self.weight is None else self.weight > 0
        systems, questions = (
            np.zeros(len(self.systems), dtype=bool),
            np.zeros(len(self.questions), dtype=bool),
        )
        systems[self.a[rows]] = systems[self.b[rows]] = questions[self.question[rows]] = True
        return systems, questions

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
    ) -> "BattleTable":
        """Encode columns of words, millions of rows in seconds.

        Columns are lists, numpy arrays, pandas series (text or categorical) or Arrow arrays of equal length.
        Names are numbered in sorted order, so codes do not depend on the order of the rows.

        Args:
            question_id: The question of each battle.
            domain: Its domain.
            model_a: The first-named system.
            model_b: The second-named system.
            winner: `model_a`, `model_b`, `tie` or another of `SPELLINGS`.
            score: Share of the win that `model_a` gets, 0–1; missing where a battle has none.
            weight: How often each row counts.
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
        a, b = encoding.narrowed(a, len(systems)), encoding.narrowed(b, len(systems))
        question_codes, questions = encoding.encode_names(question_id, "question_id")
        question_codes = encoding.narrowed(question_codes, len(questions))
        domain_codes, domains = encoding.encode_names(domain, "domain")
        won = encoding.encode_words(winner, "winner", WINNER_WORDS)
        soft = None if score is None else encoding.encode_scores(score, "score")
        if soft is not None:
            # The winner of averaged verdicts may be a tie with any score.
            wrong = contradicting(won, soft) & (won != Winner.TIE)
            encoding.refuse_contradiction(wrong, [f"`{w}`" for w in WinnerWord][:3], won, soft)
        return cls(
            systems=systems,
            questions=questions,
            domains=domains,
            a=a,
            b=b,
            winner=won,
            question=question_codes,
            domain=encoding.narrowed(domain_codes, len(domains)),
            score=soft,
            weight=None if weight is None else encoding.encode_weights(weight, "weight"),
        )

    def canonical(self, *further: NDArray[Any]) -> NDArray[np.int64]:
        """Return the canonical order of the rows: by question, systems and result.

        Args:
            further: (rows,) additional sort keys.

        Returns:
            (rows,) row numbers; sums in this order do not depend on the original order.
        """
        size, wins = np.int64(len(self.systems)), np.int64(len(Winner))
        cells = len(self.questions) * len(self.domains) * len(self.systems) ** 2 * len(Winner)
        keys: list[NDArray[Any]] = [*further]
        if self.weight is not None:
            keys.append(self.weight)
        if self.score is not None:
            keys.append(self.share)
        if cells >= np.iinfo(np.int64).max:
            keys += [self.winner, self.b, self.a, self.domain, self.question]
            return np.asarray(np.lexsort(keys))
        battle = self.question.astype(np.int64) * np.int64(len(self.domains)) + self.domain
        battle = ((battle * size + self.a) * size + self.b) * wins + self.winner
        return np.asarray(np.lexsort((*keys, battle)) if keys else np.argsort(battle))

    def oriented(self) -> "BattleTable":
        """Return the battles with the lower system code on side a."""
        swapped = self.a > self.b
        return replace(
            self,
            a=np.minimum(self.a, self.b),
            b=np.maximum(self.a, self.b),
            winner=np.where(swapped, SWAPPED[self.winner], self.winner),
            score=None if self.score is None else np.where(swapped, 1 - self.score, self.score),
        )

    def select(self, rows: NDArray[np.bool_] | NDArray[np.int64] | slice) -> "BattleTable":
        """Select rows; names and codes stay the same."""
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


def joined(parts: Sequence[BattleTable]) -> BattleTable:
    """Concatenate tables under one coding of names, sorted by name."""
    names: dict[str, tuple[str, ...]] = {}
    columns: dict[str, NDArray[np.int32]] = {}
    for kind, sides in (("systems", ("a", "b")), ("questions", ("question",)), ("domains", ("domain",))):
        names[kind] = tuple(sorted({name for part in parts for name in getattr(part, kind)}))
        codes = {name: code for code, name in enumerate(names[kind])}
        places = [np.array([codes[name] for name in getattr(part, kind)], dtype=np.int32) for part in parts]
        for side in sides:
            columns[side] = np.concatenate(
                [place[getattr(part, side)] for place, part in zip(places, parts, strict=True)]
            )
    return BattleTable(
        systems=names["systems"],
        questions=names["questions"],
        domains=names["domains"],
        a=columns["a"],
        b=columns["b"],
        question=columns["question"],
        domain=columns["domain"],
        winner=np.concatenate([part.winner for part in parts]),
        score=np.concatenate([part.share for part in parts])
        if any(part.score is not None for part in parts)
        else None,
        weight=np.concatenate([_weights(part) for part in parts])
        if any(part.weight is not None for part in parts)
        else None,
    )


def in_common(tables: Mapping[str, BattleTable]) -> dict[str, BattleTable]:
    """Return each table's rows on battles (question and two systems) that all tables have.

    The results share one coding of systems, questions and domains, sorted by name, without unused names.
    """
    systems = _shared([table.systems for table in tables.values()])
    questions = _shared([table.questions for table in tables.values()])
    domains = tuple(sorted({name for table in tables.values() for name in table.domains}))
    recoded = {label: _recoded(table, systems, questions, domains) for label, table in tables.items()}
    keys = {label: _battle_keys(table) for label, table in recoded.items()}
    common = reduce(np.intersect1d, keys.values())
    parts = {label: table.select(np.isin(keys[label], common)) for label, table in recoded.items()}
    seen = [
        np.unique(np.concatenate([*(getattr(part, side) for part in parts.values() for side in sides)]))
        for sides in (("a", "b"), ("question",))
    ]
    names = [
        tuple(words[code] for code in used) for words, used in zip((systems, questions), seen, strict=True)
    ]
    return {label: _recoded(part, names[0], names[1], domains) for label, part in parts.items()}


def _shared(names: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted(set(names[0]).intersection(*names[1:])))


def _recoded(
    table: BattleTable, systems: tuple[str, ...], questions: tuple[str, ...], domains: tuple[str, ...]
) -> BattleTable:
    place, question, domain = (
        np.array([codes.get(name, -1) for name in names], dtype=np.int32)
        for names, codes in (
            (table.systems, {name: code for code, name in enumerate(systems)}),
            (table.questions, {name: code for code, name in enumerate(questions)}),
            (table.domains, {name: code for code, name in enumerate(domains)}),
        )
    )
    rows = (place[table.a] >= 0) & (place[table.b] >= 0) & (question[table.question] >= 0)
    part = table.select(rows)
    return replace(
        part,
        systems=systems,
        questions=questions,
        domains=domains,
        a=place[part.a],
        b=place[part.b],
        question=question[part.question],
        domain=domain[part.domain],
    )


def _battle_keys(table: BattleTable) -> NDArray[np.int64]:
    low, high = np.minimum(table.a, table.b), np.maximum(table.a, table.b)
    size = max(len(table.systems), 1)
    return np.asarray((table.question.astype(np.int64) * size + low) * size + high)


def _weights(table: BattleTable) -> NDArray[np.float64]:
    return np.ones(len(table)) if table.weight is None else table.weight
