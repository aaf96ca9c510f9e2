"""Rounds, their battles and their accounting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from data.errors import RecordError
from data.models.judgments import Judgment
from data.models.questions import Question, require_name
from data.models.words import Outcome, Preference, RoundState

if TYPE_CHECKING:
    # Commands import the records before they know that they need arrays.
    import numpy as np
    from numpy.typing import NDArray
from data.errors import ConflictError, InputError

OUT_OF_BUDGET = "The budget's cap is reached."
"""The detail of what was not asked since the budget had no room for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBattle:
    """A battle of a round before it is judged, by the store's own numbers.

    `outcome` is set from the start where the plan already knows it: `missing` where an answer lacks.
    """

    key: str
    question: int
    a: int
    b: int
    outcome: Outcome | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingBattle:
    """A battle that waits for its verdict, with all that a judge needs.

    `reference_side` is "a" or "b" where that side is the reference of the set. `unread` counts the readings
    of earlier attempts that gave no verdict.
    """

    id: int
    key: str
    question: Question
    system_a: str
    system_b: str
    answer_a: str
    answer_b: str
    reference_side: str | None = None
    unread: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A round's fixed facts and state; `judge` is the canonical judge spec, `plan` its scope."""

    id: int
    name: str
    set_name: str
    state: RoundState
    judge_name: str
    judge: Mapping[str, Any]
    plan: Mapping[str, Any]
    seed: int
    budget_usd: float | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    def __post_init__(self) -> None:
        require_name(self.name, "Round name")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCounts:
    """A round's accounting: what was planned, how much of it ended how, and what it cost.

    `planned` = judged + unreadable + refused + failed + skipped + missing + pending. Cost and tokens are
    everything that was charged for the round;
    `cost_usd` is None where a model that was asked has no known price. `reserved_usd` is set aside for calls
    at the moment; `lost_usd` is the most that calls may have cost of which neither reply nor charge came
    back. All three count against the cap.
    """

    planned: int
    judged: int = 0
    unreadable: int = 0
    refused: int = 0
    failed: int = 0
    skipped: int = 0
    missing: int = 0
    cost_usd: float | None = 0.0
    reserved_usd: float = 0.0
    lost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0

    def __post_init__(self) -> None:
        if self.pending < 0:
            raise RecordError(f"A round has more ended battles than the {self.planned} planned ones.")

    @property
    def pending(self) -> int:
        """Battles that have not ended."""
        asked = (self.judged, self.unreadable, self.refused, self.failed, self.skipped)
        return self.planned - sum(asked) - self.missing


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleRecord:
    """A battle of a round with its verdict, without texts."""

    id: int
    key: str
    question_id: str
    domain: str
    system_a: str
    system_b: str
    outcome: Outcome | None
    preference: Preference | None
    score: float | None
    flipped: bool | None
    detail: str


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class BattleColumns:
    """The battles of a round as columns of codes, for sums over millions; a code below 0 says "none".

    Attributes:
        questions: Ids of the set's questions, in code order.
        domains: The domain of each question, in the same order.
        systems: Names, in code order.
        question: Codes of the battles' questions.
        a: Codes of the systems on side a.
        b: Codes of the systems on side b.
        outcome: Places among the members of `Outcome`.
        preference: Places among the members of `Preference`.
        flipped: 1 where the judge changed its mind with the order, else 0.
        score: Shares of the win that side a gets, NaN for none; None where no battle has one.
    """

    questions: tuple[str, ...]
    domains: tuple[str, ...]
    systems: tuple[str, ...]
    question: NDArray[np.signedinteger[Any]]
    a: NDArray[np.signedinteger[Any]]
    b: NDArray[np.signedinteger[Any]]
    outcome: NDArray[np.int8]
    preference: NDArray[np.int8]
    flipped: NDArray[np.int8]
    score: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.question)


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class VoteColumns:
    """What the judges of a round said, one judgment with a preference a row.

    Attributes:
        judges: Names, in code order; the members where the judge is a panel.
        judge: Codes of the judges.
        battle: Rows of the battles in the round's `BattleColumns`.
        preference: Places among the members of `Preference`.
    """

    judges: tuple[str, ...]
    judge: NDArray[np.int32]
    battle: NDArray[np.int64]
    preference: NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleEvidence:
    """A battle and every judgment behind its verdict."""

    battle: BattleRecord
    judgments: tuple[Judgment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A published snapshot of standings; `standings` is its JSON.

    `replaced_at` is when another snapshot of the round took its place, None where it stands. `marks` are what
    stands beside names of systems today (`arena.services.boards.marks`); the store knows none.
    """

    name: str
    round_name: str | None
    standings: Mapping[str, Any]
    content_hash: str
    notice: str
    retracted: bool
    published_at: datetime
    noted_at: datetime | None = None
    replaced_at: datetime | None = None
    marks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The money of a round in USD; `cap` is None without a budget.

    Attributes:
        spent: What was charged, as replies say.
        drawn: What is set aside for calls at the moment.
        lost: The most that calls may have cost of which neither reply nor charge came back.
    """

    cap: float | None
    spent: float
    drawn: float
    lost: float = 0.0


def require_amount(budget_usd: float) -> float:
    """Refuse what is no amount of money, and return what is.

    Raises:
        InputError: It is negative, infinite or not a number.
    """
    if not 0 <= budget_usd < float("inf"):
        raise InputError(f"The budget {budget_usd} is no amount of money.", advice="Use 0 or more.")
    return budget_usd


RESUMABLE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
"""States of rounds that can be judged."""


def require_resumable(round_: Round) -> None:
    """Check that a round can be judged.

    Raises:
        ConflictError: It has ended.
    """
    if round_.state not in RESUMABLE:
        raise ConflictError(
            f"Round {round_.name} is {round_.state}, so it cannot become {RoundState.RUNNING}.",
            advice="Judge a new round."
            if round_.state in {RoundState.PUBLISHED, RoundState.RETRACTED}
            else f"Judge what failed or was skipped again by `arena rounds resume --failed {round_.name}`.",
        )
