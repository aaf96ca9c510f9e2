"""Stores for the status of submissions and for metrics of the service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, func, select

from data.models import OUT_OF_BUDGET, JobState, Outcome, RoundState
from data.models.base import now
from data.models.jobs import jobs, lease_rows
from data.models.rounds import battles, boards, ledgers, rounds
from data.models.submissions import question_sets
from data.models.tables import judgments
from data.store.base import StorePart, to_record
from data.store.engine import db_now, pairs

RECENT_JUDGMENTS = 500
"""Number of newest judgments from which the pace of judging is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOfSet:
    """Facts of a round for the status of a submission.

    Attributes:
        systems: Version of each system.
        published: Whether it has a board, retracted or not.
        notice: Notice of that board, such as the reason for a retraction.
    """

    id: int
    name: str
    state: RoundState
    systems: Mapping[str, int]
    began: bool
    published: bool
    notice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Number of battles that the newest judgments settled, and the time of the first."""

    battles: int
    since: datetime | None


class StatusStore(StorePart):
    """Reader of the status of submissions."""

    def rounds_of(self, set_name: str) -> tuple[RoundOfSet, ...]:
        """Return the rounds on a set, oldest first."""
        return self._rounds(question_sets.c.name == set_name)

    def round_of(self, number: int) -> RoundOfSet | None:
        """Return a round, or None."""
        return next(iter(self._rounds(rounds.c.id == number)), None)

    def _rounds(self, clause: ColumnElement[bool]) -> tuple[RoundOfSet, ...]:
        query = (
            select(
                rounds.c.id,
                rounds.c.name,
                rounds.c.state,
                rounds.c.plan,
                rounds.c.started_at,
                boards.c.id.label("board"),
                boards.c.notice,
            )
            .join(question_sets, question_sets.c.id == rounds.c.set_id)
            .outerjoin(boards, and_(boards.c.round_id == rounds.c.id, boards.c.replaced_at.is_(None)))
            .where(clause)
            .order_by(rounds.c.id)
        )
        return tuple(
            to_record(
                RoundOfSet,
                row,
                systems=row.plan.get("systems", {}),
                began=row.started_at is not None,
                published=row.board is not None,
                notice=row.notice or "",
            )
            for row in self._all(query)
        )

    def waiting(self, states: Sequence[RoundState]) -> Mapping[int, int]:
        """Count the pending battles of each round in one of the states, oldest first."""
        query = (
            select(rounds.c.id, func.count(battles.c.id))
            .outerjoin(battles, (battles.c.round_id == rounds.c.id) & battles.c.outcome.is_(None))
            .where(rounds.c.state.in_(list(states)))
            .group_by(rounds.c.id)
            .order_by(rounds.c.id)
        )
        return {number: int(count) for number, count in self._all(query)}

    def skipped_by_budget(self, round_id: int) -> int:
        """Count the battles of a round that were skipped because its cap was reached."""
        query = select(func.count()).where(
            battles.c.round_id == round_id,
            battles.c.outcome == Outcome.SKIPPED,
            battles.c.detail.contains(OUT_OF_BUDGET, autoescape=True),
        )
        ((count,),) = self._all(query)
        return int(count)

    def pace(self, round_id: int) -> Pace:
        """Measure the recent pace of a round's judging."""
        newest = (
            select(judgments.c.battle_id, judgments.c.created_at)
            .join(battles, battles.c.id == judgments.c.battle_id)
            .where(battles.c.round_id == round_id)
            .order_by(judgments.c.id.desc())
            .limit(RECENT_JUDGMENTS)
            .subquery()
        )
        query = select(func.count(newest.c.battle_id.distinct()), func.min(newest.c.created_at))
        ((count, since),) = self._all(query)
        return Pace(battles=int(count), since=since)


OPEN = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)


class CountStore(StorePart):
    """Counts for the metrics endpoint."""

    def all(self) -> dict[str, Mapping[str, float]]:
        """Return numbers by name and label; the label is empty for a single number."""
        outcomes = (
            select(battles.c.outcome, func.count())
            .join(rounds, rounds.c.id == battles.c.round_id)
            .where(rounds.c.state.in_(OPEN))
            .group_by(battles.c.outcome)
        )
        queued = select(func.min(jobs.c.created_at)).where(jobs.c.state == JobState.QUEUED)
        current = select(func.count()).where(~boards.c.retracted, boards.c.replaced_at.is_(None))
        money = select(func.sum(ledgers.c.spent_usd), func.sum(ledgers.c.lost_usd))
        with self._database.begin() as connection:
            alive = select(func.count()).where(lease_rows.c.lease_until >= db_now(connection))
            by_state = [
                select(table.c.state, func.count()).group_by(table.c.state) for table in (rounds, jobs)
            ]
            round_states, job_states = (pairs(connection.execute(query)) for query in by_state)
            oldest = connection.scalar(queued)
            spent, lost = connection.execute(money).one()
            return {
                "rounds": {state.value: round_states.get(state, 0) for state in RoundState},
                "jobs": {state.value: job_states.get(state, 0) for state in JobState},
                "battles": {outcome or "pending": n for outcome, n in connection.execute(outcomes)},
                "workers": {"": connection.scalar(alive) or 0},
                "boards": {"": connection.scalar(current) or 0},
                "queue_age_seconds": {"": (now() - oldest).total_seconds() if oldest else 0.0},
                "spent_usd": {"": spent or 0.0},
                "lost_usd": {"": lost or 0.0},
            }
