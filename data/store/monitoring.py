"""Sums over the whole database for monitoring; cheap enough to be read every few seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, Table, func, select, text

from data.records import JobKind, JobState, RoundState
from data.store.base import AnyRow, StorePart
from data.store.engine import db_now, pairs
from data.tables.columns import now
from data.tables.jobs import jobs, lease_rows
from data.tables.judgments import judgments, replies
from data.tables.rounds import battles, boards, ledgers, retest_ledgers, rounds
from data.tables.teams import applications

SUMMED = ("spent_usd", "reserved_usd", "lost_usd", "input_tokens", "output_tokens")
OPEN = (RoundState.PLANNED, RoundState.RUNNING, RoundState.PAUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The state of an arena in numbers; ages in seconds, `battles` of rounds that have not ended.

    Messages to subscribers count neither as jobs nor as work of workers: those that failed wait for hours.
    `judgments` and `replies` are exact on SQLite and PostgreSQL's own estimate there, which follows
    within a minute.
    """

    rounds: Mapping[str, int]
    jobs: Mapping[str, int]
    battles: Mapping[str, int]
    judgments: int
    replies: int
    applications: Mapping[str, int]
    boards: int
    workers: int
    queue_age: float
    spent_usd: float
    reserved_usd: float
    lost_usd: float
    input_tokens: int
    output_tokens: int


class CountingStore(StorePart):
    """Counts what there is."""

    def figures(self) -> Figures:
        """Count everything once."""
        with self._database.begin() as connection:
            counts = connection.execute(
                select(battles.c.outcome, func.count())
                .join(rounds, rounds.c.id == battles.c.round_id)
                .where(rounds.c.state.in_(OPEN))
                .group_by(battles.c.outcome)
            )
            by_outcome: dict[str | None, int] = pairs(counts)
            work = jobs.c.kind != JobKind.NOTIFY
            by_state = select(jobs.c.state, func.count()).where(work).group_by(jobs.c.state)
            oldest = connection.execute(
                select(func.min(jobs.c.created_at)).where(jobs.c.state == JobState.QUEUED, work)
            ).scalar()
            alive = (
                select(func.count())
                .select_from(lease_rows.join(jobs, jobs.c.id == lease_rows.c.job_id))
                .where(lease_rows.c.lease_until >= db_now(connection), work)
            )
            paid = [_summed(connection, table) for table in (ledgers, retest_ledgers)]
            standing = select(func.count()).where(~boards.c.retracted, boards.c.replaced_at.is_(None))
            return Figures(
                rounds=_grouped(connection, rounds),
                jobs=pairs(connection.execute(by_state)),
                battles={outcome or "pending": count for outcome, count in by_outcome.items()},
                judgments=_size(connection, judgments),
                replies=_size(connection, replies),
                applications=_grouped(connection, applications),
                boards=int(connection.execute(standing).scalar_one()),
                workers=int(connection.execute(alive).scalar_one()),
                queue_age=0.0 if oldest is None else max(0.0, (now() - oldest).total_seconds()),
                spent_usd=sum(float(row.spent_usd) for row in paid),
                reserved_usd=max(0.0, sum(float(row.reserved_usd) for row in paid)),
                lost_usd=sum(float(row.lost_usd) for row in paid),
                input_tokens=sum(int(row.input_tokens) for row in paid),
                output_tokens=sum(int(row.output_tokens) for row in paid),
            )


def _summed(connection: Connection, table: Table) -> AnyRow:
    """The totals of all accounts of a kind."""
    sums = (func.coalesce(func.sum(table.c[name]), 0).label(name) for name in SUMMED)
    return connection.execute(select(*sums)).one()


def _grouped(connection: Connection, table: Table) -> dict[str, int]:
    return pairs(connection.execute(select(table.c.state, func.count()).group_by(table.c.state)))


def _size(connection: Connection, table: Table) -> int:
    """The rows of a table that only grows, without reading all of it."""
    if connection.dialect.name == "postgresql":
        query = text("SELECT COALESCE(SUM(n_live_tup), 0) FROM pg_stat_user_tables WHERE relname = :name")
        return int(connection.execute(query, {"name": table.name}).scalar_one())
    if table is judgments:
        # Numbers are given in order and judgments are never deleted one by one.
        return int(connection.execute(select(func.coalesce(func.max(judgments.c.id), 0))).scalar_one())
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())
