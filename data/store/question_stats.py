"""Store for outcomes of a round's battles by question, counted at publication."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import Field

from data.models import Preference
from data.models.rounds import battles, question_digests, rounds
from data.models.submissions import questions, submissions
from data.models.tables import judgments
from data.store.base import StorePart, to_record
from data.store.battles import first_and_last, has_side

COUNTS = ("battles", "undecided", "ties", "flips", "disputed", "contested")
FIGURES = ("winner_id", "winners", "margin", "variance")
RESOLUTION = 1e6
"""Shares are rounded to millionths, since sums in another order differ in their last digits."""
QUESTION = (questions.c.key.label("id"), questions.c.domain, questions.c.text.label("question"))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionStats:
    """Counts of a question's battles in a round.

    Attributes:
        flips: Battles whose verdict depended on the order.
        disputed: Battles whose judges disagree.
        contested: Battles that are flipped or disputed.
        number: The store's number of the question.
        winner: The system, not the reference, with the largest win share, 0–1, over its battles on the
            question: the mean of the battles' scores, or of 1, ½ and 0. None for several or without a
                verdict.
        winners: Number of systems with the largest share.
        margin: Difference of the two largest shares; None for a single system.
        spread: Standard deviation of the systems' shares, 0–½; None without a verdict.
    """

    id: str
    domain: str
    question: str
    battles: int
    undecided: int
    ties: int
    flips: int
    disputed: int
    contested: int = 0
    number: Annotated[int, Field(exclude=True)] = 0
    winner: str | None = None
    winners: int = 0
    margin: float | None = None
    spread: float | None = None

    @property
    def disagreement(self) -> float | None:
        """Contested share of the decided battles, 0–1; None if none is decided."""
        decided = self.battles - self.undecided
        return self.contested / decided if decided else None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord:
    """Outcomes of a system's battles on a question."""

    id: str
    domain: str
    question: str
    wins: int
    ties: int
    losses: int
    undecided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleResult:
    """Outcome of a system's battle; `preference` is as if the system were side a."""

    question: str
    opponent: str
    preference: Preference | None


class QuestionStatsStore(StorePart):
    """Store for outcomes by question and system."""

    def write(self, round_id: int) -> None:
        """Count a round's battles by question and replace the stored counts."""
        with self._database.begin() as connection:
            if not self._database.is_sqlite:
                # Shares of every system on every question do not fit into the default of 4 MB.
                connection.execute(sa.text("SET LOCAL work_mem = '64MB'"))
            connection.execute(sa.delete(question_digests).where(question_digests.c.round_id == round_id))
            counted = _counted(connection, round_id)
            columns = ("round_id", "question_id", *COUNTS, *FIGURES)
            connection.execute(sa.insert(question_digests).from_select(columns, counted))

    def of_round(self, round_id: int, *, among: Collection[str] | None = None) -> tuple[QuestionStats, ...]:
        """Return a round's questions, all or some by id, in the set's order; counted now if not stored."""
        with self._database.begin() as connection:
            digests = sa.select(question_digests).where(question_digests.c.round_id == round_id)
            return _read(connection, digests, among) or _read(
                connection, _counted(connection, round_id), among
            )

    def records(self, round_id: int, system: str) -> tuple[QuestionRecord, ...]:
        """Read the outcomes of a system's battles on each of its questions, in the set's order."""
        with self._database.begin() as connection:
            of_system = sa.select(submissions.c.id).where(submissions.c.system == system)
            numbers = list(connection.execute(of_system).scalars())
            of_round = battles.c.round_id == round_id
            at_a, at_b = battles.c.a_id.in_(numbers), battles.c.b_id.in_(numbers)
            won = (at_a & (battles.c.preference == Preference.A.value)) | (
                at_b & (battles.c.preference == Preference.B.value)
            )
            counts = (
                sa.select(
                    battles.c.question_id,
                    sa.func.count().label("battles"),
                    _sum_of(won, "wins"),
                    _sum_of(battles.c.preference == Preference.TIE.value, "ties"),
                    _sum_of(battles.c.preference.is_(None), "undecided"),
                )
                .where(has_side(of_round, numbers, sqlite=self._database.is_sqlite))
                .group_by(battles.c.question_id)
                .subquery()
            )
            query = (
                sa.select(*QUESTION, counts)
                .join(counts, counts.c.question_id == questions.c.id)
                .order_by(questions.c.position)
            )
            rows = connection.execute(query).all()
        return tuple(
            to_record(QuestionRecord, row, losses=row.battles - row.wins - row.ties - row.undecided)
            for row in rows
        )

    def endings(self, round_name: str, system: str, opponent: str | None = None) -> tuple[BattleResult, ...]:
        """Read the outcomes of a system's battles (against one opponent), in the order of the plan."""
        side_a, side_b = submissions.alias("side_a"), submissions.alias("side_b")
        query = (
            sa.select(
                questions.c.key,
                side_a.c.system.label("system_a"),
                side_b.c.system.label("system_b"),
                battles.c.preference,
            )
            .join(questions, questions.c.id == battles.c.question_id)
            .join(side_a, side_a.c.id == battles.c.a_id)
            .join(side_b, side_b.c.id == battles.c.b_id)
            .order_by(battles.c.id)
        )
        number = sa.select(rounds.c.id).where(rounds.c.name == round_name).scalar_subquery()
        for name in (system, opponent):
            if name is not None:
                numbers = sa.select(submissions.c.id).where(submissions.c.system == name)
                of_round = battles.c.round_id == number
                query = query.where(has_side(of_round, numbers, sqlite=self._database.is_sqlite))
        rows = self._all(query)
        return tuple(_ending(row.key, row.system_a, row.system_b, row.preference, system) for row in rows)


def _counted(connection: sa.Connection, round_id: int) -> sa.Select[Any]:
    of_round = battles.c.round_id == round_id
    disputed = _disputed(round_id) if _has_several_judges(connection, round_id) else None
    is_disputed = sa.false() if disputed is None else disputed.c.battle_id.is_not(None)
    flipped = battles.c.flipped.is_(True)
    counts = (
        sa.select(
            battles.c.round_id,
            battles.c.question_id,
            sa.func.count().label("battles"),
            _sum_of(battles.c.preference.is_(None), "undecided"),
            _sum_of(battles.c.preference == Preference.TIE.value, "ties"),
            _sum_of(flipped, "flips"),
            _sum_of(is_disputed, "disputed"),
            _sum_of(is_disputed | flipped, "contested"),
        )
        .where(of_round)
        .group_by(battles.c.round_id, battles.c.question_id)
    )
    if disputed is not None:
        counts = counts.outerjoin(disputed, disputed.c.battle_id == battles.c.id)
    counted = counts.subquery()
    figures = _figures(round_id)
    return sa.select(
        counted,
        figures.c.winner_id,
        sa.func.coalesce(figures.c.winners, 0).label("winners"),
        figures.c.margin,
        figures.c.variance,
    ).outerjoin(figures, figures.c.question_id == counted.c.question_id)


def _has_several_judges(connection: sa.Connection, round_id: int) -> bool:
    """Return whether judgments between a round's first and last battle name more than one judge.

    Selecting only the round's own ones takes many times as long, and nearly all are.
    """
    first, last = first_and_last(connection, battles.c.round_id == round_id)
    between = (judgments.c.battle_id.between(first, last), judgments.c.preference.is_not(None))
    some = sa.select(judgments.c.judge).where(*between).limit(1).scalar_subquery()
    return (
        connection.execute(sa.select(1).where(*between, judgments.c.judge != some).limit(1)).first()
        is not None
    )


def _disputed(round_id: int) -> sa.CTE:
    """Return a round's battles whose judges disagree; computed once, not by each reading process."""
    preference, judge = judgments.c.preference, judgments.c.judge
    query = (
        sa.select(judgments.c.battle_id)
        .join(battles, battles.c.id == judgments.c.battle_id)
        .where(battles.c.round_id == round_id, preference.is_not(None))
        .group_by(judgments.c.battle_id)
        .having(sa.func.min(preference) != sa.func.max(preference), sa.func.min(judge) != sa.func.max(judge))
    )
    return query.cte("disputed").prefix_with("MATERIALIZED", dialect="postgresql")


def _figures(round_id: int) -> sa.Subquery:
    won = sa.case(
        (battles.c.score.is_not(None), battles.c.score),
        (battles.c.preference == Preference.A.value, 1.0),
        (battles.c.preference == Preference.B.value, 0.0),
        else_=0.5,
    )
    decided = (battles.c.round_id == round_id, battles.c.preference.is_not(None))
    sides = sa.union_all(
        sa.select(battles.c.question_id, battles.c.a_id.label("side"), won.label("won")).where(*decided),
        sa.select(battles.c.question_id, battles.c.b_id.label("side"), (1.0 - won).label("won")).where(
            *decided
        ),
    ).subquery()
    shares = (
        sa.select(
            sides.c.question_id,
            sides.c.side,
            (sa.func.round(sa.func.avg(sides.c.won) * RESOLUTION) / RESOLUTION).label("share"),
        )
        .join(submissions, submissions.c.id == sides.c.side)
        .where(submissions.c.kind != "reference")
        .group_by(sides.c.question_id, sides.c.side)
        .subquery()
    )
    question, best_first = shares.c.question_id, shares.c.share.desc()
    placed = sa.select(
        *shares.c,
        sa.func.row_number().over(partition_by=question, order_by=best_first).label("place"),
        sa.func.rank().over(partition_by=question, order_by=best_first).label("rank"),
    ).subquery()
    first, second = (sa.func.max(sa.case((placed.c.place == place, placed.c.share))) for place in (1, 2))
    winners = _sum_of(placed.c.rank == 1, "winners")
    mean = sa.func.avg(placed.c.share)
    return (
        sa.select(
            placed.c.question_id,
            winners,
            sa.case(
                (
                    _sum_of(placed.c.rank == 1, "") == 1,
                    sa.func.max(sa.case((placed.c.rank == 1, placed.c.side))),
                )
            ).label("winner_id"),
            (first - second).label("margin"),
            (sa.func.avg(placed.c.share * placed.c.share) - mean * mean).label("variance"),
        )
        .group_by(placed.c.question_id)
        .subquery()
    )


def _sum_of(condition: sa.ColumnElement[bool], name: str) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((condition, 1), else_=0)).label(name)


def _read(
    connection: sa.Connection, counts: sa.Select[Any], among: Collection[str] | None
) -> tuple[QuestionStats, ...]:
    counted = counts.subquery()
    query = (
        sa.select(
            *QUESTION,
            questions.c.id.label("number"),
            submissions.c.system.label("winner"),
            *(counted.c[name] for name in (*COUNTS, "winners", "margin", "variance")),
        )
        .join(counted, counted.c.question_id == questions.c.id)
        .outerjoin(submissions, submissions.c.id == counted.c.winner_id)
        .order_by(questions.c.position)
    )
    if among is not None:
        query = query.where(questions.c.key.in_(among))
    result = connection.execute(query)
    (*names, _) = result.keys()
    # Lookup of fields by name takes three times as long, which is noticeable at 16,000 questions.
    return tuple(
        QuestionStats(
            spread=None if variance is None else math.sqrt(max(variance, 0.0)),
            **dict(zip(names, values, strict=True)),
        )
        for *values, variance in result.all()
    )


def _ending(
    question: str, system_a: str, system_b: str, preference: Preference | None, system: str
) -> BattleResult:
    if system_a == system:
        return BattleResult(question=question, opponent=system_b, preference=preference)
    flipped = None if preference is None else preference.flipped
    return BattleResult(question=question, opponent=system_a, preference=flipped)
