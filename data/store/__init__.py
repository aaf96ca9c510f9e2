"""The store: every SQL statement of the project, behind plain methods that take and give models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from data.errors import StoreError
from data.models.teams import change_counter
from data.store.engine import BUSY_TIMEOUT_MS, Database

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
    """Everything that is kept, over one database. A kind is imported when it is first asked for."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, url: str) -> Store:
        """Open a store; an empty database gets the newest schema, an SQLite one is brought up to it."""
        database = Database(url)
        if not database.is_current():
            if database.version() is not None and not database.is_sqlite:
                raise StoreError(
                    f"The schema of {database.place} is of another version than this program.",
                    advice="Run `arena db upgrade`.",
                )
            database.upgrade()
        return cls(database)

    def close(self) -> None:
        """Give back every connection."""
        self.database.close()

    @contextmanager
    def changing(self, *, visible: bool = True, wait_ms: int = BUSY_TIMEOUT_MS) -> Iterator[None]:
        """Make everything that the block does one transaction; `visible` says that readers may notice it."""
        with self.database.together(wait_ms=wait_ms) as connection:
            yield
            if visible:
                counted = update(change_counter).values(number=change_counter.c.number + 1)
                if not connection.execute(counted).rowcount:
                    connection.execute(insert(change_counter).values(id=1, number=1))

    def changes(self) -> int:
        """Count the changes that readers may notice; caches of what they read are named by it."""
        with self.database.begin() as connection:
            return connection.execute(select(change_counter.c.number)).scalar() or 0

    @cached_property
    def sets(self) -> SetStore:
        from data.store.question_sets import SetStore

        return SetStore(self.database)

    @cached_property
    def submissions(self) -> SubmissionStore:
        from data.store.submissions import SubmissionStore

        return SubmissionStore(self.database)

    @cached_property
    def statuses(self) -> StatusStore:
        from data.store.status import StatusStore

        return StatusStore(self.database)

    @cached_property
    def rounds(self) -> RoundStore:
        from data.store.rounds import RoundStore

        return RoundStore(self.database)

    @cached_property
    def battles(self) -> BattleStore:
        from data.store.battles import BattleStore

        return BattleStore(self.database)

    @cached_property
    def verdicts(self) -> VerdictStore:
        from data.store.verdicts import VerdictStore

        return VerdictStore(self.database)

    @cached_property
    def conduct(self) -> ConductStore:
        from data.store.replies import ConductStore

        return ConductStore(self.database)

    @cached_property
    def batches(self) -> BatchStore:
        from data.store.replies import BatchStore

        return BatchStore(self.database)

    @cached_property
    def replies(self) -> ReplyStore:
        from data.store.replies import ReplyStore

        return ReplyStore(self.database)

    @cached_property
    def ledgers(self) -> LedgerStore:
        from data.store.rounds import LedgerStore

        return LedgerStore(self.database)

    @cached_property
    def counts(self) -> CountStore:
        from data.store.status import CountStore

        return CountStore(self.database)

    @cached_property
    def jobs(self) -> JobStore:
        from data.store.jobs import JobStore

        return JobStore(self.database)

    @cached_property
    def leases(self) -> LeaseStore:
        from data.store.jobs import LeaseStore

        return LeaseStore(self.database)

    @cached_property
    def holds(self) -> ClaimStore:
        from data.store.battles import ClaimStore

        return ClaimStore(self.database)

    @cached_property
    def scores(self) -> ScoreStore:
        from data.store.scores import ScoreStore

        return ScoreStore(self.database)

    @cached_property
    def boards(self) -> BoardStore:
        from data.store.boards import BoardStore

        return BoardStore(self.database)

    @cached_property
    def question_stats(self) -> QuestionStatsStore:
        from data.store.question_stats import QuestionStatsStore

        return QuestionStatsStore(self.database)

    @cached_property
    def teams(self) -> TeamStore:
        from data.store.teams import TeamStore

        return TeamStore(self.database)

    @cached_property
    def tokens(self) -> TokenStore:
        from data.store.teams import TokenStore

        return TokenStore(self.database)

    @cached_property
    def policies(self) -> PolicyStore:
        from data.store.question_sets import PolicyStore

        return PolicyStore(self.database)

    @cached_property
    def labels(self) -> LabelStore:
        from data.store.labels import LabelStore

        return LabelStore(self.database)
