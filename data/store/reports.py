"""Readers' reports of judgments in the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select

from data.records import Presentation
from data.store.database import Database
from data.store.moments import as_utc, now
from data.tables import battles, judgment_reports, questions, rounds, submissions


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReport:
    """What a reader says of a judgment; `reporter` is a pseudonym that tells readers apart."""

    battle_id: int
    judge: str
    presentation: Presentation
    reason: str
    reporter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentReport:
    """A report with the battle it is about."""

    battle: str
    question_id: str
    system_a: str
    system_b: str
    judge: str
    presentation: Presentation
    reason: str
    reported_at: datetime


class ReportStore:
    """Keeps what readers say of judgments."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, new: NewReport) -> None:
        """Keep a report."""
        with self._database.begin() as connection:
            connection.execute(
                insert(judgment_reports).values(
                    battle_id=new.battle_id,
                    judge=new.judge,
                    presentation=new.presentation.value,
                    reason=new.reason,
                    reporter=new.reporter,
                    created_at=now(),
                )
            )

    def count_since(self, since: datetime, *, reporter: str | None = None) -> int:
        """How many reports came since a moment, of everyone or of one reader."""
        query = (
            select(func.count()).select_from(judgment_reports).where(judgment_reports.c.created_at >= since)
        )
        if reporter is not None:
            query = query.where(judgment_reports.c.reporter == reporter)
        with self._database.begin() as connection:
            return int(connection.execute(query).scalar_one())

    def of_round(self, round_name: str) -> tuple[JudgmentReport, ...]:
        """The reports on a round's judgments, the newest first."""
        side_a, side_b = submissions.alias("side_a"), submissions.alias("side_b")
        query = (
            select(
                judgment_reports,
                battles.c.key,
                questions.c.key.label("question_key"),
                side_a.c.system.label("system_a"),
                side_b.c.system.label("system_b"),
            )
            .join(battles, battles.c.id == judgment_reports.c.battle_id)
            .join(rounds, rounds.c.id == battles.c.round_id)
            .join(questions, questions.c.id == battles.c.question_id)
            .join(side_a, side_a.c.id == battles.c.a_id)
            .join(side_b, side_b.c.id == battles.c.b_id)
            .where(rounds.c.name == round_name)
            .order_by(judgment_reports.c.id.desc())
        )
        with self._database.begin() as connection:
            rows = connection.execute(query).all()
        return tuple(
            JudgmentReport(
                battle=row.key,
                question_id=row.question_key,
                system_a=row.system_a,
                system_b=row.system_b,
                judge=row.judge,
                presentation=Presentation(row.presentation),
                reason=row.reason,
                reported_at=as_utc(row.created_at),
            )
            for row in rows
        )
