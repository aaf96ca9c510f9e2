"""The table of what organisers have to look at; disputes of judgments are among it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import UniqueConstraint

from data.records.concerns import ConcernKind, Decision
from data.records.vocabulary import Presentation
from data.tables import columns as col
from data.tables.columns import Base


class ConcernRow(Base, table=True):
    """Something to look at, and what was decided; of one `key` there is one."""

    __tablename__ = "concern"
    __table_args__ = (UniqueConstraint("key"),)
    id: int | None = col.number()
    kind: ConcernKind = col.word(ConcernKind, 40)
    key: str = col.prose()
    text: str = col.prose()
    evidence: Any = col.json()
    submission_id: int | None = col.parent("submission.id", nullable=True, index=True)
    round_id: int | None = col.parent("round.id", nullable=True, index=True)
    battle_id: int | None = col.parent("battle.id", nullable=True, index=True)
    judge: str = col.label(100)
    presentation: Presentation | None = col.word(Presentation, 2, nullable=True)
    raised_by: str = col.label(100)
    reporter: str = col.label(64, index=True)
    decision: Decision = col.word(Decision, 20)
    reason: str = col.prose(default="")
    decided_by: str = col.label(100)
    decided_at: datetime | None = col.moment(nullable=True)
    created_at: datetime = col.created()


concerns = ConcernRow.__table__
