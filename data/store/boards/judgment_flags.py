"""Readers' reports of judgments in the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select

from data.records import Presentation
from data.store.base import StorePart, to_record, to_row
from data.tables.judgments import judgment_reports
from data.tables.questions import questions, submissions
from data.tables.rounds import battles, rounds


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


class ReportStore(StorePart):
    """Keeps what readers say of judgments."""

    def add(self, new: NewReport) -> None:
        """Keep a report."""
        self._change(insert(judgment_reports).values(to_row(judgment_reports, new)))

    def count_since(self, since: datetime, *, reporter: str | None = None) -> int:
        """How many reports came since a moment, of everyone or of one reader."""
        query = (
            select(func.count()).select_from(judgment_reports).where(judgment_reports.c.created_at >= since)
        )
        if reporter is not None:
            query = query.where(judgment_reports.c.reporter == reporter)
        (count,) = self._values(query)
        return int(count)

    def of_round(self, round_name: str) -> tuple[JudgmentReport, ...]:
        """The reports on a round's judgments, the newest first."""
        side_a, side_b = submissions.alias("side_a"), submissions.alias("side_b")
        query = (
            select(
                judgment_reports,
                battles.c.key.label("battle"),
                questions.c.key.label("question_id"),
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
        return tuple(to_record(JudgmentReport, row, reported_at=row.created_at) for row in self._all(query))
