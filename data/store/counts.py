"""Counts over the whole database for monitoring."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import func, select

from data.models import JobState, RoundState
from data.models.base import now
from data.models.jobs import jobs, lease_rows
from data.models.rounds import battles, boards, ledgers, rounds
from data.store.base import StorePart
from data.store.engine import db_now, pairs

OPEN = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)


class CountStore(StorePart):
    """Counts rounds, jobs, battles of open rounds, workers and boards, and sums the money."""

    def all(self) -> dict[str, Mapping[str, float]]:
        """Numbers by name and label; the label is empty where there is one number."""
        outcomes = (
            select(func.coalesce(battles.c.outcome, "pending"), func.count())
            .join(rounds, rounds.c.id == battles.c.round_id)
            .where(rounds.c.state.in_(OPEN))
            .group_by(battles.c.outcome)
        )
        queued = select(func.min(jobs.c.created_at)).where(jobs.c.state == JobState.QUEUED)
        standing = select(func.count()).where(~boards.c.retracted, boards.c.replaced_at.is_(None))
        money = select(func.sum(ledgers.c.spent_usd), func.sum(ledgers.c.lost_usd))
        with self._database.begin() as connection:
            alive = select(func.count()).where(lease_rows.c.lease_until >= db_now(connection))
            by_state = [select(each.c.state, func.count()).group_by(each.c.state) for each in (rounds, jobs)]
            round_states, job_states = (pairs(connection.execute(query)) for query in by_state)
            oldest = connection.scalar(queued)
            spent, lost = connection.execute(money).one()
            return {
                "rounds": {state.value: round_states.get(state, 0) for state in RoundState},
                "jobs": {state.value: job_states.get(state, 0) for state in JobState},
                "battles": pairs(connection.execute(outcomes)),
                "workers": {"": connection.scalar(alive) or 0},
                "boards": {"": connection.scalar(standing) or 0},
                "queue_age_seconds": {"": (now() - oldest).total_seconds() if oldest else 0.0},
                "spent_usd": {"": spent or 0.0},
                "lost_usd": {"": lost or 0.0},
            }
