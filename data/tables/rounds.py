"""Tables of what is to be judged, what it may cost, and what is published of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Float, Index, Integer, UniqueConstraint
from sqlmodel import Field

from data.models import Outcome, Preference, RoundState
from data.models.labels import LabelValue
from data.tables import columns as col
from data.tables.columns import Base


class RoundRow(Base, table=True):
    """A round; `labelling` says who may label its battles, and is null where nobody ever could."""

    __tablename__ = "round"
    id: int | None = col.number()
    name: str = col.label(100, unique=True)
    set_id: int = col.parent("question_set.id")
    state: RoundState = col.word(RoundState)
    judge: str = col.label(100)
    plan: Any = col.json()
    seed: int = col.whole()
    budget_usd: float | None = col.real(nullable=True)
    created_at: datetime = col.created()
    started_at: datetime | None = col.moment(nullable=True)
    finished_at: datetime | None = col.moment(nullable=True)
    labelling: Any = col.maybe_json()


rounds = RoundRow.__table__


class BattleRow(Base, table=True):
    """Two answers to one question, to be judged; `outcome` is null while pending."""

    __tablename__ = "battle"
    __table_args__ = (
        UniqueConstraint("round_id", "key"),
        Index(None, "round_id", "outcome"),
        Index(None, "round_id", "question_id"),
        Index(None, "round_id", "a_id"),
        Index(None, "round_id", "b_id"),
        Index("ix_battle_open", "round_id", "question_id", "id", **col.where("outcome IS NULL")),
    )
    id: int | None = col.number()
    round_id: int = col.parent("round.id")
    key: str = col.label(20)
    question_id: int = col.parent("question.id")
    a_id: int = col.parent("submission.id")
    b_id: int = col.parent("submission.id")
    outcome: Outcome | None = col.word(Outcome, nullable=True)
    preference: Preference | None = col.word(Preference, 4, nullable=True)
    score: float | None = col.real(nullable=True)
    flipped: bool | None = col.flag(nullable=True)
    detail: str = col.prose()


battles = BattleRow.__table__


class LabelRow(Base, table=True):
    """A person's label of a battle; `b_first` is null where the side shown first is not known."""

    __tablename__ = "label"
    __table_args__ = (UniqueConstraint("battle_id", "person"), Index(None, "person"))
    id: int | None = col.number()
    battle_id: int = col.parent("battle.id")
    person: str = col.label(100)
    b_first: bool | None = col.flag(nullable=True)
    value: LabelValue = col.word(LabelValue)
    labelled_at: datetime = col.moment()


labels = LabelRow.__table__


class LedgerRow(Base, table=True):
    """What rounds cost; `cap_usd` is null without a budget.

    `spent_usd` is what replies say was charged, `reserved_usd` what workers have set aside at the moment,
    `lost_usd` the most that calls may have cost of which no reply and no charge ever came back.
    """

    __tablename__ = "ledger"
    round_id: int = col.key_of("round.id")
    cap_usd: float | None = col.real(nullable=True)
    reserved_usd: float = col.real(default=0.0)
    spent_usd: float = col.real(default=0.0)
    lost_usd: float = Field(sa_column=Column(Float, nullable=False, default=0.0, server_default="0"))
    input_tokens: int = col.whole(default=0)
    output_tokens: int = col.whole(default=0)


ledgers = LedgerRow.__table__


class BoardRow(Base, table=True):
    """Published snapshots of rounds' standings; retracting keeps them with a notice.

    One snapshot of a round stands under the round's name; those that it replaced are named by their hashes.
    """

    __tablename__ = "board"
    __table_args__ = (
        Index("ix_board_standing", "round_id", unique=True, **col.where("replaced_at IS NULL")),
    )
    id: int | None = col.number()
    name: str = col.label(120, unique=True)
    round_id: int | None = col.parent("round.id", nullable=True)
    standings: Any = col.json()
    content_hash: str = col.label(64)
    notice: str = col.prose()
    retracted: bool = col.flag(default=False)
    published_at: datetime = col.moment()
    noted_at: datetime | None = col.moment(nullable=True)
    replaced_at: datetime | None = col.moment(nullable=True)


boards = BoardRow.__table__


class QuestionDigestRow(Base, table=True):
    """How a round's battles on a question ended, counted once when its board is published.

    `winner_id` is the submission that alone has the largest share of the win, a number without a foreign key,
    since submissions are never deleted; `variance` is that of the systems' shares.
    """

    __tablename__ = "question_digest"
    round_id: int = col.key_of("round.id")
    question_id: int = col.key_of("question.id")
    battles: int = col.whole()
    undecided: int = col.whole()
    ties: int = col.whole()
    flips: int = col.whole()
    disputed: int = col.whole()
    contested: int = Field(sa_column=Column(Integer, nullable=False, default=0, server_default="0"))
    winner_id: int | None = col.whole(nullable=True)
    winners: int = Field(sa_column=Column(Integer, nullable=False, default=0, server_default="0"))
    margin: float | None = col.real(nullable=True)
    variance: float | None = col.real(nullable=True)


question_digests = QuestionDigestRow.__table__
