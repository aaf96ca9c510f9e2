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
    # Commands import the records before they know that they need arrays.
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBattle:
    """A battle of a round before it is judged, by the store's own numbers.

    `outcome` and `preference` are set from the start where an answer is missing: no judge is asked then.
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
    """A battle that waits for its verdict, with all that a judge needs.

    `reference_side` is "a" or "b" where that side is the reference of the set.
    """

    id: int
    key: str
    question: Question
    system_a: str
    system_b: str
    answer_a: str
    answer_b: str
    reference_side: str | None = None


class Round(Base, table=True):
    """A round's fixed facts and state; `judge` is the canonical judge spec, `plan` its scope.

    The column of `plan` holds the spec too. `labelling` says who may label its battles, and is None where
    nobody ever could.
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
    def without_verdict(self) -> int:
        """Battles that were asked in vain."""
        return self.unreadable + self.refused + self.failed + self.skipped

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
    """Verdicts of a round's judges, one judgment with a preference a row.

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


class Board(Base, table=True):
    """A published snapshot of standings; `standings` is its JSON, of which lists of boards read a part.

    One snapshot of a round stands under the round's name; those that it replaced are named by their hashes.
    Retracting keeps them with a notice.

    Attributes:
        round_name: The round that it shows; None for a board of published figures.
        content_hash: sha256 of the standings.
        notice: What readers must know, such as why it was retracted.
        replaced_at: When another snapshot took its place; None where it stands.
        marks: Systems that were withdrawn or disqualified since, or are partial, with the reason after ": ";
            the store knows none.
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
        """Its title, or its name."""
        return self.standings.get("title") or self.name

    @property
    def judge(self) -> str:
        """Name of the judge; empty without one."""
        return self.standings.get("facts", {}).get("judge") or ""


boards = Board.__table__


class BoardHead(Board):
    """A published board without its lines; of its standings it has the title and the judge."""

    standings: Mapping[str, Any] = col.joined(private=True)
    marks: Mapping[str, str] = col.joined({}, private=True)


ROUNDING = 1e-12
DRAWN_PART = 8


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

    def drawable(self, least: float, wished: float) -> float:
        """Return what one worker may draw, in USD; 0 where less than `least` is left.

        At most a part of what is left, so that near the cap every worker can still draw for a call.
        """
        if self.cap is None:
            return wished
        left = self.cap - self.spent - self.lost - self.drawn + ROUNDING
        return 0.0 if least > left else max(least, min(wished, left / DRAWN_PART))


# Battles, verdicts and scores keep plain columns and Core queries: a round has millions of them, and to make
# an object for each would take longer than the sums over them.
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
"""Two answers to one question, to be judged; `outcome` is null while pending."""
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
"""A person's label of a battle; `b_first` is null where the side shown first is not known."""
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
"""Accounts of rounds; `cap_usd` is null without a budget.

    `spent_usd` is what replies say was charged, `reserved_usd` what workers have set aside at the moment,
    `lost_usd` the most that calls may have cost of which no reply and no charge ever came back.
    """
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
"""Outcomes of a round's battles by question, counted once when its board is published.

    `winner_id` is the submission that alone has the largest share of the win, a number without a foreign key,
    since submissions are never deleted; `variance` is that of the systems' shares.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRound:
    """A round with who may label its battles: invited accounts, or every visitor."""

    id: int
    name: str
    set_name: str
    state: RoundState
    open: bool
    everybody: bool
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BattlePair:
    """Both answers of a battle, empty where withdrawn, with all names that would tell whose they are."""

    battle: int
    question: Question
    system_a: str
    system_b: str
    answer_a: str
    answer_b: str
    names: tuple[str, ...]
    has_reference: bool


def require_amount(budget_usd: float) -> float:
    """Refuse what is not an amount of money, and return what is."""
    if not 0 <= budget_usd < float("inf"):
        raise InputError(f"The budget {budget_usd} is not an amount of money.", advice="Use 0 or more.")
    return budget_usd


RESUMABLE = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)
"""States of rounds that can be judged."""


def require_resumable(round_: Round) -> None:
    """Check that a round can be judged."""
    if round_.state not in RESUMABLE:
        raise ConflictError(
            f"Round {round_.name} is {round_.state}, so it cannot become {RoundState.RUNNING}.",
            advice="Judge a new round."
            if round_.state in {RoundState.PUBLISHED, RoundState.RETRACTED}
            else f"Judge what failed or was skipped again by `arena rounds retry {round_.name}`.",
        )
