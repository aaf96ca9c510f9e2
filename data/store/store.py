"""The store as one value: what is kept, by kind."""

from __future__ import annotations

from functools import cached_property

from data.errors import StoreError
from data.store.annotations import AnnotationStore
from data.store.audit import AuditStore
from data.store.batches import BatchStore
from data.store.battles import BattleStore
from data.store.boards import BoardStore
from data.store.canaries import CanaryStore
from data.store.counting import CountingStore
from data.store.database import Database
from data.store.digests import DigestStore
from data.store.holds import HoldStore
from data.store.jobs import JobStore
from data.store.ledgers import LedgerStore
from data.store.lives import LifeStore
from data.store.policies import PolicyStore
from data.store.replies import ReplyStore
from data.store.reports import ReportStore
from data.store.rounds import RoundStore
from data.store.scores import ScoreStore
from data.store.seats import SeatStore
from data.store.sets import SetStore
from data.store.submissions import SubmissionStore
from data.store.teams import TeamStore
from data.store.tokens import TokenStore
from data.store.verdicts import VerdictStore


class Store:
    """Everything that is kept, over one database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def open(cls, url: str) -> Store:
        """Open a store; an empty database gets the newest schema, an SQLite one is brought up to it.

        Raises:
            StoreError: The database cannot be used, or is a server whose schema is old.
        """
        database = Database(url)
        if not database.is_current():
            if database.version() is not None and database.url.get_backend_name() != "sqlite":
                message = f"The schema of {database.place} is of another version than this program."
                raise StoreError(message, advice="Run `arena db upgrade`.")
            database.upgrade()
        return cls(database)

    @cached_property
    def sets(self) -> SetStore:
        """Question sets."""
        return SetStore(self.database)

    @cached_property
    def submissions(self) -> SubmissionStore:
        """Submissions and answers."""
        return SubmissionStore(self.database)

    @cached_property
    def lives(self) -> LifeStore:
        """What became of submissions."""
        return LifeStore(self.database)

    @cached_property
    def rounds(self) -> RoundStore:
        """Rounds and their books."""
        return RoundStore(self.database)

    @cached_property
    def battles(self) -> BattleStore:
        """Battles of rounds."""
        return BattleStore(self.database)

    @cached_property
    def verdicts(self) -> VerdictStore:
        """Verdicts and judgments."""
        return VerdictStore(self.database)

    @cached_property
    def canaries(self) -> CanaryStore:
        """Canaries of rounds."""
        return CanaryStore(self.database)

    @cached_property
    def batches(self) -> BatchStore:
        """Providers' batches."""
        return BatchStore(self.database)

    @cached_property
    def replies(self) -> ReplyStore:
        """Replies of LLMs."""
        return ReplyStore(self.database)

    @cached_property
    def ledgers(self) -> LedgerStore:
        """Accounts of rounds."""
        return LedgerStore(self.database)

    @cached_property
    def counting(self) -> CountingStore:
        """Sums for monitoring."""
        return CountingStore(self.database)

    @cached_property
    def jobs(self) -> JobStore:
        """Jobs for workers."""
        return JobStore(self.database)

    @cached_property
    def seats(self) -> SeatStore:
        """Seats of workers at jobs."""
        return SeatStore(self.database)

    @cached_property
    def holds(self) -> HoldStore:
        """Which seat judges which battle."""
        return HoldStore(self.database)

    @cached_property
    def scores(self) -> ScoreStore:
        """Scores of answers."""
        return ScoreStore(self.database)

    @cached_property
    def boards(self) -> BoardStore:
        """Published boards."""
        return BoardStore(self.database)

    @cached_property
    def digests(self) -> DigestStore:
        """Counts of verdicts by question."""
        return DigestStore(self.database)

    @cached_property
    def reports(self) -> ReportStore:
        """Readers' reports of judgments."""
        return ReportStore(self.database)

    @cached_property
    def teams(self) -> TeamStore:
        """Teams, accounts and memberships."""
        return TeamStore(self.database)

    @cached_property
    def tokens(self) -> TokenStore:
        """Access tokens and sessions."""
        return TokenStore(self.database)

    @cached_property
    def policies(self) -> PolicyStore:
        """What holds for submissions to each set."""
        return PolicyStore(self.database)

    @cached_property
    def annotations(self) -> AnnotationStore:
        """What people label."""
        return AnnotationStore(self.database)

    @cached_property
    def audit(self) -> AuditStore:
        """The audit log."""
        return AuditStore(self.database)

    def close(self) -> None:
        """Give back every connection."""
        self.database.close()
