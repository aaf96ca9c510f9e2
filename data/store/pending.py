"""Battles with all that a judge needs of them: question, texts, and which side is the reference."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Connection, select

from data.records import PendingBattle
from data.store.sets import restore
from data.tables import answers, battles, questions, submissions

REFERENCE = "reference"


def pending_battles(connection: Connection, *which: ColumnElement[bool]) -> Iterator[PendingBattle]:
    """Yield the battles that some clauses choose, question by question, with their texts."""
    rows = connection.execute(
        select(battles.c.id, battles.c.key, battles.c.question_id, battles.c.a_id, battles.c.b_id)
        .where(*which)
        .order_by(battles.c.question_id, battles.c.id)
    ).all()
    asked = {row.question_id for row in rows}
    entrants = {row.a_id for row in rows} | {row.b_id for row in rows}
    known = {
        row.id: restore(row.content)
        for row in connection.execute(
            select(questions.c.id, questions.c.content).where(questions.c.id.in_(asked))
        ).all()
    }
    sides = {
        row.id: row
        for row in connection.execute(
            select(submissions.c.id, submissions.c.system, submissions.c.kind).where(
                submissions.c.id.in_(entrants)
            )
        )
    }
    texts: dict[tuple[int, int], str] = {
        (entrant, question): text
        for entrant, question, text in connection.execute(
            select(answers.c.submission_id, answers.c.question_id, answers.c.text).where(
                answers.c.question_id.in_(asked), answers.c.submission_id.in_(entrants)
            )
        ).all()
    }
    for row in rows:
        yield PendingBattle(
            id=row.id,
            key=row.key,
            question=known[row.question_id],
            system_a=sides[row.a_id].system,
            system_b=sides[row.b_id].system,
            answer_a=texts[row.a_id, row.question_id],
            answer_b=texts[row.b_id, row.question_id],
            reference_side=_reference_side(sides[row.a_id].kind, sides[row.b_id].kind),
        )


def _reference_side(kind_a: str, kind_b: str) -> str | None:
    if kind_a == REFERENCE:
        return "a"
    return "b" if kind_b == REFERENCE else None
