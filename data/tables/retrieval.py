"""Tables of retrieval: what systems ranked for questions, and which passages are relevant."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import UniqueConstraint

from data.records.rankings import QrelsKind
from data.tables import columns as col
from data.tables.columns import Base


class RankingRow(Base, table=True):
    """The passages of a submission for a question, best first; `texts` is null where it had ids alone."""

    __tablename__ = "ranking"
    submission_id: int = col.key_of("submission.id")
    question_id: int = col.key_of("question.id", index=True)
    passages: Any = col.json()
    scores: Any = col.json()
    texts: Any = col.maybe_json()


rankings = RankingRow.__table__


class QrelsRow(Base, table=True):
    """Relevance judgments of a set."""

    __tablename__ = "qrels"
    __table_args__ = (UniqueConstraint("set_id", "name"),)
    id: int | None = col.number()
    set_id: int = col.parent("question_set.id")
    name: str = col.label(100)
    kind: QrelsKind = col.word(QrelsKind)
    relevant_from: float = col.real()
    content_hash: str = col.label(64)
    created_at: datetime = col.created()


qrels = QrelsRow.__table__


class QrelRow(Base, table=True):
    """The judgments of a question: grades by subtopic and passage."""

    __tablename__ = "qrel"
    qrels_id: int = col.key_of("qrels.id")
    question_id: int = col.key_of("question.id", index=True)
    grades: Any = col.json()


qrel_rows = QrelRow.__table__
