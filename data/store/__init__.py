"""Store: all SQL of the project behind methods that take and return models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from data.lazy import lazy
from data.models.teams import change_counter
from data.store.engine import BUSY_TIMEOUT_MS, Database, newest_version

if TYPE_CHECKING:
    from data.store.battles import BattleStore, ClaimStore
    from data.store.boards import BoardStore
    from data.store.jobs import JobStore, LeaseStore
    from data.store.labels import LabelStore
    from data.store.question_sets import PolicyStore, SetStore
    from data.store.question_stats import QuestionStatsStore
    from data.store.replies import BatchStore, ConductStore, ReplyStore
    from data.store.rounds import LedgerStore, RoundStore
    from data.store.scores import ScoreStore
    from data.store.status import CountStore, StatusStore
    from data.store.submissions import SubmissionStore
    from data.store.teams import TeamStore, TokenStore
    from data.store.verdicts import VerdictStore


class Store:
    """All stores of one database, imported on first use."""

    sets: cached_property[SetStore] = lazy("data.store.question_sets.SetStore", "database")
    submissions: cached_property[SubmissionStore] = lazy("data.store.submissions.SubmissionStore", "database")
    statuses: cached_property[StatusStore] = lazy("data.store.status.StatusStore", "database")
    rounds: cached_property[RoundStore] = lazy("data.store.rounds.RoundStore", "database")
    battles: cached_property[BattleStore] = lazy("data.store.battles.BattleStore", "database")
    verdicts: cached_property[VerdictStore] = lazy("data.store.verdicts.VerdictStore", "database")
    conduct: cached_property[ConductStore] = lazy("data.store.replies.ConductStore", "database")
    batches: cached_property[BatchStore] = lazy("data.store.replies.BatchStore", "database")
    replies: cached_property[ReplyStore] = lazy("data.store.replies.ReplyStore", "database")
    ledgers: cached_property[LedgerStore] = lazy("data.store.rounds.LedgerStore", "database")
    counts: cached_property[CountStore] = lazy("data.store.status.CountStore", "database")
    jobs: cached_property[JobStore] = lazy("data.store.jobs.JobStore", "database")
    leases: cached_property[LeaseStore] = lazy("data.store.jobs.LeaseStore", "database")
    claims: cached_property[ClaimStore] = lazy("data.store.battles.ClaimStore", "database")
    scores: cached_property[ScoreStore] = lazy("data.store.scores.ScoreStore", "database")
    boards: cached_property[BoardStore] = lazy("data.store.boards.BoardStore", "database")
    question_stats: cached_property[QuestionStatsStore] = lazy(
        "data.store.question_stats.QuestionStatsStore", "database"
    )
    teams: cached_property[TeamStore] = lazy("data.store.teams.TeamStore", "database")
    tokens: cached_property[TokenStore] = lazy("data.store.teams.TokenStore", "database")
    policies: cached_property[PolicyStore] = lazy("data.store.question_sets.PolicyStore", "database")
    labels: cached_property[LabelStore] = lazy("data.store.labels.LabelStore", "database")

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, url: str) -> Store:
        """Open a store; create the schema in an empty database, and upgrade an SQLite database."""
        database = Database(url)
        if (version := database.version()) != newest_version():
            if version is not None and not database.is_sqlite:
                database.require_schema()
            database.upgrade()
        return cls(database)

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    @contextmanager
    def changing(self, *, visible: bool = True, wait_ms: int = BUSY_TIMEOUT_MS) -> Iterator[None]:
        """Run the block in one transaction; `visible` invalidates caches of readers."""
        with self.database.together(wait_ms=wait_ms) as connection:
            yield
            if visible:
                counted = update(change_counter).values(number=change_counter.c.number + 1)
                if not connection.execute(counted).rowcount:
                    connection.execute(insert(change_counter).values(id=1, number=1))

    def changes(self) -> int:
        """Count the visible changes; the number is part of the keys of caches."""
        with self.database.begin() as connection:
            return connection.execute(select(change_counter.c.number)).scalar() or 0
