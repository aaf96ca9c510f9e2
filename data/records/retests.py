"""Retests: battles of a round that its judge is asked about anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from data.errors import InputError
from data.records.rounds import PendingBattle, require_amount
from data.records.vocabulary import Outcome, Preference

ORIGINAL = "original"
"""The wording of a round's own prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Another prompt for the same judge: `name` tells it from every other text, `text` is all of it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRetest:
    """What a retest is to be.

    Attributes:
        seed: Of the draw of battles.
        battles: How many battles are drawn.
        repeat: How often each request is asked.
        swapped: Whether each battle is also asked with the answers in the other order.
        wordings: Other prompts that each battle is asked with.
        budget_usd: The most that it may spend; None without a cap.
    """

    seed: int
    battles: int
    repeat: int
    swapped: bool
    wordings: tuple[Wording, ...] = ()
    budget_usd: float | None = None

    def __post_init__(self) -> None:
        if self.repeat < 1:
            raise InputError(f"A request cannot be repeated {self.repeat} times.", advice="Use 1 or more.")
        if self.budget_usd is not None:
            require_amount(self.budget_usd)

    @property
    def settings(self) -> tuple[int, int, int, bool, tuple[Wording, ...]]:
        """What two retests have in common that ask the same."""
        return self.seed, self.battles, self.repeat, self.swapped, self.wordings


@dataclass(frozen=True, slots=True, kw_only=True)
class Retest(NewRetest):
    """A sample of a round's judged battles, asked anew; `number` counts those of the round from 1."""

    id: int
    round_id: int
    round_name: str
    number: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A battle that is to be asked anew, once.

    Attributes:
        key: Its own id, from which the number of its samples comes, so that no earlier reply answers it.
        battle: The store's number of the battle.
        repeat: Which call of this request it is, from 1; the battle's own verdict is 0.
        wording: `ORIGINAL`, or the name of another prompt.
        turned: Whether the answers are shown in the other order.
    """

    key: str
    battle: int
    repeat: int = 1
    wording: str = ORIGINAL
    turned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call without an outcome, with all that a judge needs."""

    id: int
    key: str
    wording: str
    turned: bool
    battle: PendingBattle


@dataclass(frozen=True, slots=True, kw_only=True)
class RetestCall:
    """A verdict on a battle: its own (`repeat` 0), or a call of a retest.

    Attributes:
        battle: The store's number of the battle.
        question_id: The set's id of its question.
        order: `ab` or `ba`: which answer was shown first; `both`; empty where nothing was asked.
        outcome: None while pending.
        asked_at: When the reply came, or the verdict was stored; None while pending.
        cost_usd: What it cost; None where a price is not known.
    """

    battle: int
    question_id: str
    domain: str
    system_a: str
    system_b: str
    repeat: int
    wording: str
    turned: bool
    order: str
    outcome: Outcome | None
    preference: Preference | None
    score: float | None
    detail: str = ""
    asked_at: datetime | None
    cost_usd: float | None = 0.0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def share_a(self) -> float | None:
        """The share of the win that side a gets, 0–1; None where there is no verdict."""
        if self.preference is None:
            return None
        return SHARES[self.preference] if self.score is None else self.score


SHARES = {Preference.A: 1.0, Preference.B: 0.0, Preference.TIE: 0.5}


def sample_number(key: str) -> int:
    """The number of a call's first sample: one of its own, so that the reply cache answers no repeat.

    Rounds number the samples of a request from 0, one for each vote, of which there are at most 99.
    """
    return 100 * (1 + int(key[:12], 16))
