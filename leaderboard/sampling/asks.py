"""What a round is asked, as differences of systems, and how wide their intervals are now."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import ndtri

from data.errors import InputError, NotFoundError, StatisticsError, UnrankableError
from data.intervals import LEVEL
from leaderboard.battles import BattleTable
from leaderboard.ratings import IntervalKind, RatingTable, rate
from leaderboard.sampling.adaptive import Contrast, neighbours

HALF = float(ndtri((1 + LEVEL) / 2))
RIVAL = 0.5
"""Standard errors within which a system may still be the second."""


class Question(StrEnum):
    """What a round is to tell.

    `RANKING`: the differences of neighbours in the ranking. `LEADERS`: the difference of the first and the
    second. `PAIR`: that of two named systems. `DOMAINS`: those of the ranking's neighbours in each domain.
    """

    RANKING = "ranking"
    LEADERS = "leaders"
    PAIR = "pair"
    DOMAINS = "domains"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question to a round.

    Attributes:
        question: Which.
        pair: The two systems of `PAIR`; None elsewhere.
    """

    question: Question = Question.RANKING
    pair: tuple[str, str] | None = None

    @classmethod
    def parse(cls, text: str) -> Ask:
        """Read `ranking`, `leaders`, `pair:A,B` or `domains`.

        Raises:
            InputError: It is none of them.
        """
        kind, _, names = text.partition(":")
        pair = tuple(name.strip() for name in names.split(",")) if names else ()
        if kind == Question.PAIR and len(pair) == 2 and all(pair) and pair[0] != pair[1]:  # noqa: PLR2004 - a pair
            return cls(question=Question.PAIR, pair=(pair[0], pair[1]))
        if kind in set(Question) - {Question.PAIR} and not names:
            return cls(question=Question(kind))
        message = f"{text!r} is no question that a round can be asked."
        raise InputError(message, advice="Ask for ranking, leaders, pair:A,B or domains.")

    def __str__(self) -> str:
        return self.question if self.pair is None else f"{self.question}:{','.join(self.pair)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """How wide a difference's 95 % interval is.

    Attributes:
        contrast: The difference, the better system first.
        points: Its estimate in rating points; None where there is none yet.
        width: Full width in points; infinite where there is no estimate.
    """

    contrast: Contrast
    points: float | None
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Widths:
    """The intervals that a question depends on.

    Attributes:
        asked: One of each difference asked about.
        contested: Differences worth judging for: those asked about, and those with systems that may yet
            turn out to be among them.
    """

    asked: tuple[Width, ...]
    contested: tuple[Contrast, ...]

    @property
    def widest(self) -> float:
        """Full width of the widest interval in points."""
        return max(width.width for width in self.asked)


def widths_of(table: BattleTable, ask: Ask) -> Widths:
    """The differences that a question asks about, first and second by this table, with their intervals.

    Args:
        table: Battles with scores, as `Powered.table`.
        ask: The question.

    Raises:
        NotFoundError: The pair names a system without battles.
        StatisticsError: Fewer than two systems meet.
    """
    ratings = _rated(table)
    if ask.question is Question.PAIR and ask.pair is not None:
        asked = [Contrast(*ask.pair)]
        _require(table, ask.pair)
    else:
        ranking = _ranking(table, ratings)
        pairs = neighbours(ranking[:2] if ask.question is Question.LEADERS else ranking)
        asked = [Contrast(first, second) for first, second in pairs]
    if ask.question is Question.DOMAINS:
        return _in_domains(table, asked)
    rivals = _rivals(table, ratings) if ask.question is Question.LEADERS else []
    return Widths(asked=tuple(_width(ratings, contrast) for contrast in asked), contested=(*asked, *rivals))


def _require(table: BattleTable, pair: tuple[str, str]) -> None:
    for name in pair:
        if name not in table.systems:
            message = f"No planned battle names the system {name}."
            raise NotFoundError(message, advice="Ask about systems of the round.")


def _rated(table: BattleTable) -> RatingTable | None:
    try:
        return rate(table, interval=IntervalKind.SANDWICH)
    except UnrankableError:
        return None


def _ranking(table: BattleTable, ratings: RatingTable | None) -> Sequence[str]:
    names = table.systems if ratings is None else [rating.system for rating in ratings.ratings]
    if len(names) < 2:  # noqa: PLR2004 - a difference has two ends
        raise StatisticsError("Fewer than two systems meet.", advice="Plan battles of two systems or more.")
    return names


def _width(ratings: RatingTable | None, contrast: Contrast) -> Width:
    unknown = Width(contrast=contrast, points=None, width=math.inf)
    if ratings is None or ratings.errors is None:
        return unknown
    if contrast.first not in ratings.systems or contrast.second not in ratings.systems:
        return unknown
    first, second = ratings.code(contrast.first), ratings.code(contrast.second)
    points = float(ratings.points[first] - ratings.points[second])
    error = float(ratings.errors.se[first, second])
    if not (math.isfinite(points) and math.isfinite(error)):
        return unknown
    return Width(contrast=contrast, points=points, width=2 * HALF * error)


def _in_domains(table: BattleTable, asked: Sequence[Contrast]) -> Widths:
    """Each difference in each domain where both systems have battles."""
    widths = []
    for code, name in enumerate(table.domains):
        part = table.select(table.domain == code)
        present = {table.systems[system] for system in np.unique([part.a, part.b])}
        ratings = _rated(part) if len(part) else None
        within = [
            Contrast(contrast.first, contrast.second, name)
            for contrast in asked
            if {contrast.first, contrast.second} <= present
        ]
        widths += [_width(ratings, contrast) for contrast in within]
    if not widths:
        message = "No domain has battles of two neighbours in the ranking."
        raise StatisticsError(message, advice="Ask for the ranking or a pair instead.")
    return Widths(asked=tuple(widths), contested=tuple(width.contrast for width in widths))


def _rivals(table: BattleTable, ratings: RatingTable | None) -> list[Contrast]:
    """The first against those who may yet be the second."""
    first, second, *others = _ranking(table, ratings)
    rivals = []
    for other in others:
        gap = _width(ratings, Contrast(second, other))
        if gap.points is not None and gap.points < RIVAL * gap.width / (2 * HALF):
            rivals.append(Contrast(first, other))
    return rivals
