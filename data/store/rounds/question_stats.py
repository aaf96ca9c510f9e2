"""How a round's battles ended, question by question: counted at publishing, read by lists of questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, delete, func, insert, select

from data.records import Preference
from data.store.base import StorePart, to_record
from data.store.rounds.verdicts import is_asked
from data.tables import battles, judgments, question_digests, questions, rounds, submissions

COUNTS = ("battles", "undecided", "ties", "flips", "disputed")
ASKED = (questions.c.key.label("id"), questions.c.domain, questions.c.text.label("question"))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionStats:
    """A question in a round.

    Attributes:
        id: The question's id in its set.
        domain: Its domain.
        question: Its text.
        battles: Planned battles on it that the judge was to decide; estimated ones are not among them.
        undecided: Those without a verdict.
        ties: Those that ended as a tie.
        flips: Those in which a judge changed its mind with the order.
        disputed: Those whose judges, of several, disagree.
    """

    id: str
    domain: str
    question: str
    battles: int
    undecided: int
    ties: int
    flips: int
    disputed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord:
    """How one system's battles on a question ended, with the question's id, domain and text."""

    id: str
    domain: str
    question: str
    wins: int
    ties: int
    losses: int
    undecided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleResult:
    """How one battle of a system ended: `preference` is as if the system were side a."""

    question: str
    opponent: str
    preference: Preference | None


class QuestionStatsStore(StorePart):
    """Counts verdicts by question, and finds the questions of a system's battles."""

    def write(self, round_id: int) -> None:
        """Count a round's battles by question and keep the counts, in place of earlier ones."""
        with self._database.begin() as connection:
            connection.execute(delete(question_digests).where(question_digests.c.round_id == round_id))
            connection.execute(
                insert(question_digests).from_select(("round_id", "question_id", *COUNTS), _counted(round_id))
            )

    def of_round(self, round_id: int) -> tuple[QuestionStats, ...]:
        """Every question of a round in the set's order; counted now where no counts are kept."""
        with self._database.begin() as connection:
            stored = select(question_digests).where(question_digests.c.round_id == round_id)
            return _read(connection, stored) or _read(connection, _counted(round_id))

    def records(self, round_id: int, system: str) -> tuple[QuestionRecord, ...]:
        """How a system's battles ended on every question on which it has some, in the set's order."""
        with self._database.begin() as connection:
            of_system = select(submissions.c.id).where(submissions.c.system == system)
            numbers = list(connection.execute(of_system).scalars())
            at_a, at_b = battles.c.a_id.in_(numbers), battles.c.b_id.in_(numbers)
            won = (at_a & (battles.c.preference == Preference.A.value)) | (
                at_b & (battles.c.preference == Preference.B.value)
            )
            counts = (
                select(
                    battles.c.question_id,
                    func.count().label("battles"),
                    _sum_of(won, "wins"),
                    _sum_of(battles.c.preference == Preference.TIE.value, "ties"),
                    _sum_of(battles.c.preference.is_(None), "undecided"),
                )
                .where(battles.c.round_id == round_id, at_a | at_b, is_asked())
                .group_by(battles.c.question_id)
                .subquery()
            )
            query = (
                select(*ASKED, counts)
                .join(counts, counts.c.question_id == questions.c.id)
                .order_by(questions.c.position)
            )
            rows = connection.execute(query).all()
        return tuple(
            to_record(QuestionRecord, row, losses=row.battles - row.wins - row.ties - row.undecided)
            for row in rows
        )

    def endings(self, round_name: str, system: str, opponent: str | None = None) -> tuple[BattleResult, ...]:
        """How every battle of a system (against one opponent) ended, in the order of the plan."""
        side_a, side_b = submissions.alias("side_a"), submissions.alias("side_b")
        query = (
            select(
                questions.c.key,
                side_a.c.system.label("system_a"),
                side_b.c.system.label("system_b"),
                battles.c.preference,
            )
            .join(rounds, rounds.c.id == battles.c.round_id)
            .join(questions, questions.c.id == battles.c.question_id)
            .join(side_a, side_a.c.id == battles.c.a_id)
            .join(side_b, side_b.c.id == battles.c.b_id)
            .where(rounds.c.name == round_name, is_asked())
            .order_by(battles.c.id)
        )
        for name in (system, opponent):
            if name is not None:
                numbers = select(submissions.c.id).where(submissions.c.system == name)
                query = query.where(battles.c.a_id.in_(numbers) | battles.c.b_id.in_(numbers))
        rows = self._all(query)
        return tuple(_ending(row.key, row.system_a, row.system_b, row.preference, system) for row in rows)


def _counted(round_id: int) -> Select[Any]:
    """Counts by question, by the store's numbers."""
    disputed = (
        select(judgments.c.battle_id)
        .join(battles, battles.c.id == judgments.c.battle_id)
        .where(battles.c.round_id == round_id, judgments.c.preference.is_not(None))
        .group_by(judgments.c.battle_id)
        .having(func.count(judgments.c.preference.distinct()) > 1)
        .having(func.count(judgments.c.judge.distinct()) > 1)
        .subquery()
    )

    return (
        select(
            battles.c.round_id,
            battles.c.question_id,
            func.count().label("battles"),
            _sum_of(battles.c.preference.is_(None), "undecided"),
            _sum_of(battles.c.preference == Preference.TIE.value, "ties"),
            _sum_of(battles.c.flipped.is_(True), "flips"),
            _sum_of(disputed.c.battle_id.is_not(None), "disputed"),
        )
        .outerjoin(disputed, disputed.c.battle_id == battles.c.id)
        .where(battles.c.round_id == round_id, is_asked())
        .group_by(battles.c.round_id, battles.c.question_id)
    )


def _sum_of(condition: ColumnElement[bool], name: str) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0)).label(name)


def _read(connection: Connection, counts: Select[Any]) -> tuple[QuestionStats, ...]:
    counted = counts.subquery()
    query = (
        select(*ASKED, *(counted.c[name] for name in COUNTS))
        .join(counted, counted.c.question_id == questions.c.id)
        .order_by(questions.c.position)
    )
    return tuple(to_record(QuestionStats, row) for row in connection.execute(query))


def _ending(
    question: str, system_a: str, system_b: str, preference: Preference | None, system: str
) -> BattleResult:
    if system_a == system:
        return BattleResult(question=question, opponent=system_b, preference=preference)
    flipped = None if preference is None else preference.flipped
    return BattleResult(question=question, opponent=system_a, preference=flipped)
