"""Where a system loses: in which domains, on what kinds of question, against whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from data.intervals import Interval
from leaderboard.battles import BattleTable
from leaderboard.rates import Rate, win_rates
from leaderboard.vocabulary import OVERALL


class QuestionKind(StrEnum):
    """What a question asks for, by its first word."""

    HOW = "How …"
    WHY = "Why …"
    WHAT = "What …"
    WHICH = "Which, who, when, where …"
    YES_NO = "Yes or no"
    OTHER = "Other"


FIRST_WORDS: Mapping[str, QuestionKind] = {
    "how": QuestionKind.HOW,
    "why": QuestionKind.WHY,
    "what": QuestionKind.WHAT,
    "what's": QuestionKind.WHAT,
    **dict.fromkeys(("which", "who", "whom", "whose", "when", "where", "who's"), QuestionKind.WHICH),
    **dict.fromkeys(
        (
            *("is", "are", "was", "were", "am", "isn't", "aren't", "do", "does", "did", "don't", "doesn't"),
            *("can", "could", "can't", "should", "shall", "would", "will", "may", "might", "must"),
            *("has", "have", "had"),
        ),
        QuestionKind.YES_NO,
    ),
}


def question_kind(question: str) -> QuestionKind:
    """The kind of a question in English; others, and what does not begin as a question, are `Other`."""
    words = question.split(maxsplit=1)
    first = words[0].casefold().replace("’", "'").strip("\"'“”¿?!.:;(),") if words else ""
    return FIRST_WORDS.get(first, QuestionKind.OTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class LossShare:
    """How many of a system's battles of one sort it lost.

    Attributes:
        name: The domain's id, the kind of question, or the opponent.
        lost: Battles lost.
        battles: Battles judged.
        share: Lost of judged, 0–1.
        interval: Its 95 % interval, battles on one question taken together; None where there is none.
    """

    name: str
    lost: float
    battles: float
    share: float
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LossShares:
    """Where a system loses, each the worst first.

    `field` is its rate against all but the reference; None where it met no other system.
    """

    domains: tuple[LossShare, ...] = ()
    kinds: tuple[LossShare, ...] = ()
    opponents: tuple[LossShare, ...] = ()
    field: Rate | None = None


def loss_shares(table: BattleTable, system: str, questions: Mapping[str, str], reference: str) -> LossShares:
    """Where a system loses.

    Args:
        table: Its judged battles.
        system: Its name.
        questions: Texts of the questions by id.
        reference: The reference's name.
    """
    if not len(table):
        return LossShares()
    own = table.systems.index(system)
    kinds = [question_kind(questions.get(name, "")) for name in table.questions]
    opponent = np.where(table.a == own, table.b, table.a)
    others = table.select(np.array([name != reference for name in table.systems])[opponent])
    return LossShares(
        domains=_shares(table, system, [table.domains[code] for code in table.domain]),
        kinds=_shares(table, system, [kinds[code] for code in table.question]),
        opponents=_shares(table, system, [table.systems[code] for code in opponent]),
        field=win_rates(others, by_domain=False).of(system, OVERALL) if len(others) else None,
    )


def _shares(table: BattleTable, system: str, names: Sequence[str]) -> tuple[LossShare, ...]:
    """Lost shares of a system by the name that each row has, the worst first."""
    labels = tuple(sorted(set(names)))
    codes = {label: code for code, label in enumerate(labels)}
    sorted_out = replace(
        table, domains=labels, domain=np.array([codes[name] for name in names], dtype=np.int32)
    )
    rates = [rate for rate in win_rates(sorted_out).rows if rate.system == system and rate.domain in codes]
    shares = [
        LossShare(
            name=rate.domain,
            lost=rate.losses,
            battles=rate.battles,
            share=1 - rate.win_tie_rate,
            interval=rate.win_tie_interval
            and Interval(1 - rate.win_tie_interval.upper, 1 - rate.win_tie_interval.lower),
        )
        for rate in rates
    ]
    return tuple(sorted(shares, key=lambda share: (-share.share, share.name)))
