"""Rounds, their battles, accounts, labels and boards, with their tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import computed_field
from sqlalchemy import Column, Float, Index, Integer, UniqueConstraint

from data.errors import ConflictError, InputError, RecordError
from data.models import base as col
from data.models.base import Base, table
from data.models.judgments import Judgment
from data.models.questions import Question
from data.models.words import LabelValue, Outcome, Preference, RoundState

if TYPE_CHECKING:
    # Most commands that import these models need no arrays.
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBattle:
    """Battle of a plan, by the store's numbers.

    `outcome` and `preference` are already set if an answer is missing: no judge is needed.
    """

    key: str
    question: int
    a: int
    b: int
    outcome: Outcome | None = None
    preference: Preference | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingBattle:
    """Battle without a verdict; `reference_side` is the side, "a" or "b", of the set's reference, if any."""

    id: int
    key: str
    question: Question
    system_a: str
    system_b: str
    answer_a: str
    answer_b: str
    reference_side: str | None = None


class Round(Base, table=True):
    """Round; `judge` is the canonical judge spec, `plan` its scope.

    The column of `plan` also contains the spec. `labelling` defines who may label its battles; None if it was
    never open for labels.
    """

    __tablename__ = "round"
    id: int = col.number(private=True)
    name: str = col.label(100, unique=True)
    set_name: str = col.joined(alias="set")
    set_id: int = col.parent("question_set.id", private=True)
    state: RoundState = col.word(RoundState)
    judge_name: str = col.label(100, name="judge", alias="judge")
    plan: Mapping[str, Any] = col.json(private=True)
    seed: int = col.whole(private=True)
    budget_usd: float | None = col.real(nullable=True, private=True)
    created_at: datetime = col.created()
    started_at: datetime | None = col.moment(nullable=True)
    finished_at: datetime | None = col.moment(nullable=True)
    labelling: Any = col.maybe_json(private=True)
    judge: Mapping[str, Any] = col.joined(private=True)


rounds = Round.__table__


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCounts:
    """Counts and costs of a round.

    `planned` = judged + unreadable + refused + failed + skipped + missing + pending. Cost and tokens are all
    that was charged for the round; `cost_usd` is None if the price of a model is unknown. `reserved_usd` is
    for calls in flight; `lost_usd` is the maximum cost of calls without a reply and a known charge. All three
    count against the cap.
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
            raise RecordError(f"A round has more than its {self.planned} planned battles.")

    @property
    def without_verdict(self) -> int:
        """Battles that a judge could not decide."""
        return self.unreadable + self.refused + self.failed + self.skipped

    @property
    def pending(self) -> int:
        """Battles without an outcome."""
        return self.planned - self.judged - self.without_verdict - self.missing


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleRecord:
    """Battle with its verdict, without texts."""

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
    """Battles of a round as columns of codes, for sums over millions; negative codes mean "none".

    Attributes:
        questions: Ids of the set's questions, in code order.
        domains: Domains of the questions, in the same order.
        systems: Names, in code order.
        question: Codes of the battles' questions.
        a: Codes of the systems on side a.
        b: Codes of the systems on side b.
        outcome: Indices of the members of `Outcome`.
        preference: Indices of the members of `Preference`.
        flipped: 1 if the verdict depended on the order, else 0.
        score: Side a's win shares, NaN for none; None if no battle has one.
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
    """Preferences of a round's judges, one row per judgment.

    Attributes:
        judges: Names, in code order; of the members if the judge is a panel.
        judge: Codes of the judges.
        battle: Rows of the battles in the round's `BattleColumns`.
        preference: Indices of the members of `Preference`.
    """

    judges: tuple[str, ...]
    judge: NDArray[np.int32]
    battle: NDArray[np.int64]
    preference: NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleEvidence:
    """Battle with the judgments behind its verdict."""

    battle: BattleRecord
    judgments: tuple[Judgment, ...]


class Board(Base, table=True):
    """Published snapshot of standings as JSON.

    The current snapshot of a round has the round's name; replaced ones are named by their hashes. Retracting
    keeps them with a notice.

    Attributes:
        round_name: Name of the round; None for a board of published figures.
        content_hash: sha256 of the standings.
        notice: Text for readers, such as the reason for a retraction.
        replaced_at: Time of replacement by another snapshot; None for the current snapshot.
        marks: Systems that were withdrawn or disqualified since, or are partial, with the reason after ": ";
            empty in the store.
    """

    __tablename__ = "board"
    __table_args__ = (
        Index("ix_board_standing", "round_id", unique=True, **col.where("replaced_at IS NULL")),
    )
    id: int = col.number(private=True)
    name: str = col.label(120, unique=True)
    round_name: str | None = col.joined(alias="round")
    round_id: int | None = col.parent("round.id", nullable=True, private=True)
    standings: Mapping[str, Any] = col.json()
    content_hash: str = col.label(64)
    notice: str = col.prose()
    retracted: bool = col.flag(default=False)
    published_at: datetime = col.moment()
    noted_at: datetime | None = col.moment(nullable=True, private=True)
    replaced_at: datetime | None = col.moment(nullable=True)
    marks: Mapping[str, str] = col.joined({})

    @computed_field  # type: ignore[prop-decorator] # as pydantic's manual has it
    @property
    def title(self) -> str:
        """Title, or the name if it has no title."""
        return self.standings.get("title") or self.name

    @property
    def judge(self) -> str:
        """Name of the judge; empty if unknown."""
        return self.standings.get("facts", {}).get("judge") or ""


boards = Board.__table__


class BoardHead(Board):
    """Published board whose standings contain only the title and the judge."""

    standings: Mapping[str, Any] = col.joined(private=True)
    marks: Mapping[str, str] = col.joined({}, private=True)


ROUNDING = 1e-12
DRAWS_FROM_REST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Budget account of a round in USD; `cap` is None without a budget.

    Attributes:
        spent: Cost of the replies.
        drawn: Reserved for calls in flight.
        lost: Maximum cost of calls without a reply and a known charge.
    """

    cap: float | None
    spent: float
    drawn: float
    lost: float = 0.0

    def drawable(self, least: float, wished: float) -> float:
        """Return the USD that one worker may draw; 0 if less than `least` is available.

        A draw is at most a fraction of the rest, so that near the cap every worker can still draw for a call.
        """
        if self.cap is None:
            return wished
        rest = self.cap - self.spent - self.lost - self.drawn + ROUNDING
        return 0.0 if least > rest else max(least, min(wished, rest / DRAWS_FROM_REST))


# Battles, verdicts and scores use plain columns and Core queries: a round has millions of them, and creating
# objects would take longer than the sums over them.
battles = table(
    "battle",
    UniqueConstraint("round_id", "key"),
    Index(None, "round_id", "outcome"),
    Index(None, "round_id", "question_id"),
    Index(None, "round_id", "a_id"),
    Index(None, "round_id", "b_id"),
    Index("ix_battle_open", "round_id", "question_id", "id", **col.where("outcome IS NULL")),
    id=col.number(),
    round_id=col.parent("round.id"),
    key=col.label(20),
    question_id=col.parent("question.id"),
    a_id=col.parent("submission.id"),
    b_id=col.parent("submission.id"),
    outcome=col.word(Outcome, nullable=True),
    preference=col.word(Preference, 4, nullable=True),
    score=col.real(nullable=True),
    flipped=col.flag(nullable=True),
    detail=col.prose(),
)
"""Battles of two answers to a question; `outcome` is null while pending."""
labels = table(
    "label",
    UniqueConstraint("battle_id", "person"),
    Index(None, "person"),
    id=col.number(),
    battle_id=col.parent("battle.id"),
    person=col.label(100),
    b_first=col.flag(nullable=True),
    value=col.word(LabelValue),
    labelled_at=col.moment(),
)
"""Labels of battles by people; `b_first` is null if the side shown first is unknown."""
ledgers = table(
    "ledger",
    round_id=col.key_of("round.id"),
    cap_usd=col.real(nullable=True),
    reserved_usd=col.real(default=0.0),
    spent_usd=col.real(default=0.0),
    lost_usd=Column(Float, nullable=False, default=0.0, server_default="0"),
    input_tokens=col.whole(default=0),
    output_tokens=col.whole(default=0),
)
"""Accounts of rounds; `cap_usd` is null without a budget, for the others see `Account`."""
question_digests = table(
    "question_digest",
    round_id=col.key_of("round.id"),
    question_id=col.key_of("question.id"),
    battles=col.whole(),
    undecided=col.whole(),
    ties=col.whole(),
    flips=col.whole(),
    disputed=col.whole(),
    contested=Column(Integer, nullable=False, default=0, server_default="0"),
    winner_id=col.whole(nullable=True),
    winners=Column(Integer, nullable=False, default=0, server_default="0"),
    margin=col.real(nullable=True),
    variance=col.real(nullable=True),
)
"""Outcomes of a round's battles by question, counted when its board is published.

    `winner_id` is the submission with the largest win share, null for several. It needs no foreign
    key, since submissions are never deleted. `variance` is that of the systems' shares.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRound:
    """Round with the people who may label its battles: invited accounts or every visitor."""

    id: int
    name: str
    set_name: str
    state: RoundState
    open: bool
    everybody: bool
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BattlePair:
    """Answers of a battle, empty if withdrawn, and names that would reveal their systems."""

    battle: int
    question: Question
    system_a: str
    system_b: str
    answer_a: str
    answer_b: str
    names: tuple[str, ...]
    has_reference: bool


def require_amount(budget_usd: float) -> float:
    """Check an amount of money and return it."""
    if not 0 <= budget_usd < float("inf"):
        raise InputError(f"The budget {budget_usd} is not a valid amount in USD.", advice="Use 0 or more.")
    return budget_usd


RESUMABLE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)


def require_resumable(round_: Round) -> None:
    """Check that a round can be judged."""
    if round_.state not in RESUMABLE:
        raise ConflictError(
            f"Round {round_.name} is {round_.state}, so it cannot become {RoundState.RUNNING}.",
            advice="Judge a new round."
            if round_.state in {RoundState.PUBLISHED, RoundState.RETRACTED}
            else f"Retry failed and skipped battles with `arena rounds retry {round_.name}`.",
        )
