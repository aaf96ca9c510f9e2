"""What may be labelled of a round: its battles, with what its judge made of them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import exists, func, select

from data.records import Outcome, Preference
from data.store.base import StorePart, to_record
from data.tables.judgments import judgments
from data.tables.questions import answers, questions
from data.tables.rounds import battles, rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameBattle:
    """A battle by the store's numbers; `preference` is None where the judge gave no verdict.

    `margin` is the mean over its judgments, −1…1; None where the judge gives no degree.
    """

    question: int
    domain: str
    a: int
    b: int
    outcome: Outcome | None
    preference: Preference | None
    score: float | None
    margin: float | None
    flipped: bool | None


class FrameStore(StorePart):
    """Reads frames."""

    def battles(self, round_name: str) -> tuple[FrameBattle, ...]:
        """The battles of a round of which both answers are there, in the order of its plan."""
        sides = [
            exists().where(answers.c.question_id == battles.c.question_id, answers.c.submission_id == side)
            for side in (battles.c.a_id, battles.c.b_id)
        ]
        margin = (
            select(func.avg(judgments.c.margin))
            .where(judgments.c.battle_id == battles.c.id)
            .scalar_subquery()
        )
        query = (
            select(
                battles.c.question_id.label("question"),
                questions.c.domain,
                battles.c.a_id.label("a"),
                battles.c.b_id.label("b"),
                battles.c.outcome,
                battles.c.preference,
                battles.c.score,
                margin.label("margin"),
                battles.c.flipped,
            )
            .join(rounds, rounds.c.id == battles.c.round_id)
            .join(questions, questions.c.id == battles.c.question_id)
            .where(rounds.c.name == round_name, *sides)
            .order_by(battles.c.id)
        )
        return tuple(to_record(FrameBattle, row) for row in self._all(query))
